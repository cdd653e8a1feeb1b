//! One token: its parts (RFC 7515, section 7.1), what its header says (section 4), and the check of its signature.

use super::signature::verifies;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::{Map as JsonMap, Value as Json};
use std::str::FromStr;

/// A token whose signature was not verified yet.
#[derive(Debug)]
pub(super) struct Token<'t> {
    /// The algorithm that the header names. A key decides whether it may be used.
    pub(super) algorithm: Algorithm,
    /// The id of the key.
    pub(super) key_id: Option<String>,
    /// What is signed: header, dot, claims.
    signed: &'t str,
    claims: &'t str,
    signature: &'t str,
}

impl<'t> Token<'t> {
    /// Reads a token. `None`: it is malformed, or its header has the parameter `crit`, which makes
    /// extensions mandatory: none are supported, so such a token is invalid (RFC 7515, section
    /// 4.1.11). Other parameters that are not known are ignored, as section 4 says; none of them
    /// chooses a key (`jku`, `jwk`, `x5u`, `x5c`).
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        if claims.contains('.') {
            return None;
        }
        let header = object(header)?;
        if header.contains_key("crit") {
            return None;
        }
        let key_id = match header.get("kid") {
            None => None,
            Some(Json::String(id)) => Some(id.clone()),
            Some(_) => return None,
        };
        let algorithm = Algorithm::from_str(header.get("alg")?.as_str()?).ok()?;
        Some(Self { algorithm, key_id, signed, claims, signature })
    }

    /// Returns whether the signature is that of a key. The caller checks that the key is one for this algorithm.
    pub(super) fn is_signed_by(&self, key: &DecodingKey) -> bool {
        let Ok(signature) = URL_SAFE_NO_PAD.decode(self.signature) else { return false };
        verifies(key, self.algorithm, self.signed.as_bytes(), &signature)
    }

    /// Returns the claims, which are worth nothing unless a key has signed them.
    pub(super) fn claims(&self) -> Option<JsonMap<String, Json>> {
        object(self.claims)
    }
}

/// Reads a part that is a JSON object. If a name occurs twice, the last one counts.
fn object(part: &str) -> Option<JsonMap<String, Json>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}
