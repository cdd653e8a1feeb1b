//! API keys of clients. A policy has only their SHA-256 hashes, and looks a key up by its hash: a
//! client cannot choose a hash, so the time of the comparison reveals nothing about keys.

use super::jwt::header_name;
use super::{Finding, single_value};
use crate::file::document::Section;
use crate::problems::Problems;
use crate::yaml::Node;
use http::{HeaderMap, HeaderName};
use serde_json::{Map as JsonMap, Value as Json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// The fields of each key, by its hash.
#[derive(Debug)]
pub(crate) struct ApiKeys {
    header: HeaderName,
    keys: HashMap<[u8; 32], Arc<JsonMap<String, Json>>>,
}

impl ApiKeys {
    /// Compiles the section `apiKey`, and reports its errors.
    pub(crate) fn compile(section: Section<'_>, problems: &mut Problems) -> Self {
        let Section { node, .. } = section;
        let header = header_name(node, HeaderName::from_static("x-api-key"), problems);
        let mut keys = HashMap::new();
        for key in node.get("keys").map_or(&[][..], Node::elements) {
            let (Some(name), Some(hash)) = (key.text_of("name"), key.text_of("sha256")) else { continue };
            let Some(digest) = hexadecimal(&hash.text) else {
                let message = "a SHA-256 in hexadecimal has 64 digits".to_owned();
                problems.add("policy-value", hash.place, message).help("`printf %s KEY | sha256sum` writes it");
                continue;
            };
            let mut known: JsonMap<String, Json> = JsonMap::new();
            for entry in key.get("metadata").map_or(&[][..], Node::entries) {
                known.insert(entry.key.text.clone(), entry.value.text().map_or(Json::Null, |text| text.text.into()));
            }
            known.insert("name".to_owned(), name.text.into());
            if keys.insert(digest, Arc::new(known)).is_some() {
                problems.add("policy-duplicate", hash.place, "this key occurs a second time here".to_owned());
            }
        }
        Self { header, keys }
    }

    /// Returns the header that holds the key.
    pub(crate) fn header_name(&self) -> HeaderName {
        self.header.clone()
    }

    /// Returns the fields of the key in the headers, if it is known.
    pub(crate) fn find(&self, headers: &HeaderMap) -> Finding {
        let key = single_value(headers, &self.header)?;
        let digest: [u8; 32] = Sha256::digest(key.as_bytes()).into();
        self.keys.get(&digest).cloned()
    }
}

fn hexadecimal(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}
