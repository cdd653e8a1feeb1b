//! HTTP Basic authentication (RFC 7617). bcrypt takes milliseconds by design, so correct credentials are remembered by their hash.

use super::api_key::digest;
use super::{Verifier, credentials, single_value};
use crate::document::{Section, read_file};
use crate::problems::Problems;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, header};
use serde_json::{Map as JsonMap, Value as Json};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The largest number of credentials that are remembered.
const MOST_REMEMBERED: usize = 10_000;

/// The users and the hashes of their passwords.
#[derive(Debug, Default)]
pub(crate) struct Users {
    users: HashMap<String, String>,
    /// The hashes of credentials that were correct.
    right: Mutex<HashSet<[u8; 32]>>,
}

impl Users {
    /// Compiles the section `basicAuth`, and reports its errors.
    pub(crate) fn compile(section: Section<'_>, problems: &mut Problems) -> Self {
        let Some(file) = section.node.text_of("users") else { return Self::default() };
        let path = section.base.join(&file.text);
        let Some(bytes) = read_file(&path, &file, problems) else { return Self::default() };
        let mut users = HashMap::new();
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once(':').filter(|(_, hash)| hash.starts_with("$2") && hash.len() == 60) {
                Some((user, hash)) => drop(users.insert(user.to_owned(), hash.to_owned())),
                None => {
                    let line = number.saturating_add(1);
                    let message = format!("{}:{line} is not `name:hash` with a hash by bcrypt", path.display());
                    problems.add("policy-key-file", file.place, message).help("`htpasswd -nB NAME` writes such a line");
                }
            }
        }
        Self { users, right: Mutex::default() }
    }

    fn is_right(&self, credentials: &str, password: &str, hash: &str) -> bool {
        let digest = digest(credentials.as_bytes());
        let remembered = || self.right.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered().contains(&digest) {
            return true;
        }
        let right = bcrypt::verify(password, hash).unwrap_or(false);
        if right {
            let mut remembered = remembered();
            if remembered.len() >= MOST_REMEMBERED {
                remembered.clear();
            }
            remembered.insert(digest);
        }
        right
    }
}

impl Verifier for Users {
    fn verify(&self, headers: &HeaderMap) -> Option<JsonMap<String, Json>> {
        let given = credentials(single_value(headers, &header::AUTHORIZATION)?, "basic")?;
        let text = String::from_utf8(STANDARD.decode(given).ok()?).ok()?;
        let (user, password) = text.split_once(':')?;
        let hash = self.users.get(user)?;
        self.is_right(&text, password, hash).then(|| JsonMap::from_iter([("username".to_owned(), user.into())]))
    }
}
