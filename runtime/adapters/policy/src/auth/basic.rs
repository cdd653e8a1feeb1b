//! HTTP Basic authentication (RFC 7617). bcrypt takes many milliseconds by design, so passwords are
//! verified on the threads of the policy's pool, and what was found is remembered: right passwords
//! for minutes, wrong ones for seconds.

use super::memory::{Digest, Memory};
use super::{Finding, Lookup, credentials, single_value};
use crate::file::document::{Section, read_credentials};
use crate::problems::Problems;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bcrypt::HashParts;
use http::{HeaderMap, header};
use serde_json::Map as JsonMap;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// The largest number of right and of wrong credentials that are remembered.
const MAX_REMEMBERED: usize = 16_384;

const RIGHT: Duration = Duration::from_secs(600);
const WRONG: Duration = Duration::from_secs(10);

/// The highest cost of a hash: each step doubles the time, and 16 takes seconds.
const HIGHEST_COST: u32 = 16;

/// The number of bytes of a password that bcrypt reads: it ignores those after them.
const LONGEST_PASSWORD: usize = 72;

/// The longest accepted credentials, in bytes of Base64.
const LONGEST: usize = 4 << 10;

/// The users and the hashes of their passwords.
#[derive(Debug)]
pub(crate) struct Users {
    /// The index of each user's hash.
    users: HashMap<String, usize>,
    hashes: Vec<String>,
    right: Arc<Memory<Finding>>,
    /// A memory of its own, so that wrong passwords never displace right ones.
    wrong: Arc<Memory<()>>,
}

/// A user's name and a password, as a client sent them.
pub(crate) struct Login {
    pub(crate) digest: Digest,
    /// The digest of the user's name.
    pub(crate) user: Digest,
    text: String,
}

impl Users {
    /// Compiles the section `basicAuth`, and reports its errors.
    pub(crate) fn compile(section: Section<'_>, problems: &mut Problems) -> Self {
        let mut known = Self {
            users: HashMap::new(),
            hashes: Vec::new(),
            right: Arc::new(Memory::new(MAX_REMEMBERED)),
            wrong: Arc::new(Memory::new(MAX_REMEMBERED)),
        };
        let Some(file) = section.node.text_of("users") else { return known };
        let path = section.base.join(&file.text);
        let Some(bytes) = read_credentials(&path, &file, problems) else { return known };
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Err((why, help)) = known.add(line) {
                let line = number.saturating_add(1);
                problems.add("policy-key-file", file.place, format!("{}:{line} {why}", path.display())).help(help);
            }
        }
        known
    }

    /// Adds the user of a line. Returns what is wrong with it, and what to do.
    fn add(&mut self, line: &str) -> Result<(), (String, &'static str)> {
        let entry = line.split_once(':').and_then(|(user, hash)| Some((user, hash, HashParts::from_str(hash).ok()?)));
        let Some((user, hash, parts)) = entry else {
            return Err(("is not `name:hash` with a hash by bcrypt".into(), "`htpasswd -nB NAME` writes such a line"));
        };
        if !(4..=HIGHEST_COST).contains(&parts.get_cost()) {
            let message = format!("has a hash of cost {}; costs are 4 to {HIGHEST_COST}", parts.get_cost());
            return Err((message, "`htpasswd -nB -C 12 NAME` writes a hash of cost 12"));
        }
        if self.users.insert(user.to_owned(), self.hashes.len()).is_some() {
            return Err((format!("names `{user}` a second time"), "a user has one password"));
        }
        self.hashes.push(hash.to_owned());
        Ok(())
    }

    /// Returns the credentials in the headers, if they have the right form.
    pub(crate) fn login(&self, headers: &HeaderMap) -> Option<Login> {
        let given = credentials(single_value(headers, &header::AUTHORIZATION)?, "basic")?;
        let given = Some(given).filter(|given| given.len() <= LONGEST)?;
        let text = String::from_utf8(STANDARD.decode(given).ok()?).ok()?;
        let (user, _) = text.split_once(':')?;
        let (hash, known) = self.hash(user)?;
        // With the hash, because another policy may use this memory, in which the user is gone or has another password.
        let digest = self.right.digest(&[text.as_bytes(), hash.as_bytes(), &[known.into()]]);
        let user = self.user_digest(user);
        Some(Login { digest, user, text })
    }

    /// Returns the hash that the password of a user is compared with, and whether it is the user's.
    /// An unknown user has the hash of some user, always the same for a name, so that the
    /// comparison costs the same.
    fn hash(&self, user: &str) -> Option<(&str, bool)> {
        let known = self.users.get(user).copied();
        let [a, b, c, d, ..] = self.user_digest(user);
        let other = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(0).checked_rem(self.hashes.len());
        Some((self.hashes.get(known.or(other)?)?, known.is_some()))
    }

    fn user_digest(&self, user: &str) -> Digest {
        self.right.digest(&[b"user", user.as_bytes()])
    }

    /// Uses the memory of an earlier policy: what it knows about the same users with the same hashes counts here, too.
    pub(crate) fn take_over(&mut self, before: &Self) {
        (self.right, self.wrong) = (Arc::clone(&before.right), Arc::clone(&before.wrong));
    }

    /// Returns what is known without hashing a password.
    pub(crate) fn look_up(&self, headers: &HeaderMap) -> Lookup {
        let Some(login) = self.login(headers) else { return Lookup::Found(None) };
        match self.right.get(&login.digest) {
            Some(known) => Lookup::Found(known),
            None if self.wrong.get(&login.digest).is_some() => Lookup::Found(None),
            None => Lookup::Slow,
        }
    }

    /// Hashes the password, and remembers what is found. Call it on a thread of the pool.
    pub(crate) fn verify(&self, login: &Login) -> Finding {
        let (user, password) = login.text.split_once(':')?;
        let (hash, known) = self.hash(user)?;
        let same = bcrypt::verify(password, hash).unwrap_or(false);
        // bcrypt ignores what is after the 72nd byte, and cannot distinguish a zero byte from its
        // own at the end of a password. Asked after hashing, so that the time is the same.
        let whole = password.len() <= LONGEST_PASSWORD && !password.contains('\0');
        if same && known && whole {
            let fields = Some(Arc::new(JsonMap::from_iter([("username".to_owned(), user.into())])));
            self.right.insert(login.digest, fields.clone(), 1, RIGHT);
            return fields;
        }
        self.wrong.insert(login.digest, (), 1, WRONG);
        None
    }
}
