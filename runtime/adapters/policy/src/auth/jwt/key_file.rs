//! Reads keys from files and from documents with sets of keys (RFC 7517).

use super::key_source_settings::KeySourceSettings;
use super::keys::Key;
use super::signature::is_short_rsa;
use crate::file::document::{Section, read_credentials};
use crate::lists::fetch_url::check_url;
use crate::problems::Problems;
use crate::schema::seconds;
use crate::yaml::{Node, SourceText};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value as Json;
use std::str::FromStr;
use std::time::Duration;

/// The fewest bytes of a secret; a shorter one can be guessed.
const MIN: usize = 16;

const SHORT_RSA: &str = "is an RSA key of fewer than 2048 bits; such a key can be factored";

/// Reads the source of an entry of `jwt.keys` with the key `jwksUrl`.
pub(super) fn source_of(node: &Node, problems: &mut Problems) -> Option<KeySourceSettings> {
    let url = node.text_of("jwksUrl");
    for key in ["refresh", "maxStale", "cooldown", "timeout"] {
        if let Some(text) = node.text_of(key).filter(|_| url.is_none()) {
            problems.add("policy-value", text.place, format!("`{key}` belongs to `jwksUrl`, which is not there"));
        }
    }
    let url = url?;
    if let Err(why) = check_url(&url.text) {
        problems.add("policy-value", url.place, format!("`{}` {why}", url.text));
    }
    let time = |key, usual| {
        let seconds = node.text_of(key).and_then(|text| seconds(&text.text)).unwrap_or(usual);
        Duration::from_secs(seconds.max(1))
    };
    let (refresh, max_stale, cooldown) = (time("refresh", 900), time("maxStale", 86_400), time("cooldown", 10));
    if max_stale < refresh {
        let message = "`maxStale` is shorter than `refresh`: there would be times without keys".to_owned();
        problems.add("policy-value", url.place, message);
    }
    Some(KeySourceSettings { url: url.text, refresh, max_stale, cooldown, timeout: time("timeout", 5) })
}

/// Reads the keys of an entry of `jwt.keys`.
pub(super) fn keys_of(node: &Node, section: Section<'_>, problems: &mut Problems) -> Vec<Key> {
    let [jwks, pem, secret, id] = ["jwks", "pem", "secret", "kid"].map(|key| node.text_of(key));
    let algorithm = node.text_of("algorithm").and_then(|text| Algorithm::from_str(&text.text).ok());
    let (file, is_pem) = match (&jwks, &pem, &secret, node.get("jwksUrl")) {
        (Some(file), None, None, None) => return key_set(file, section, problems),
        (None, Some(file), None, None) => (file, true),
        (None, None, Some(file), None) => (file, false),
        (None, None, None, Some(_)) => return Vec::new(),
        _ => {
            let message = "a key of `jwt` needs one of `jwks`, `jwksUrl`, `pem` and `secret`".to_owned();
            problems.add("policy-missing", node.place, message);
            return Vec::new();
        }
    };
    let Some(algorithm) = algorithm else {
        problems.add("policy-missing", node.place, "this key needs its `algorithm`".to_owned());
        return Vec::new();
    };
    let Some(bytes) = read_credentials(&section.base.join(&file.text), file, problems) else { return Vec::new() };
    match single_key(&bytes, is_pem, algorithm) {
        Ok(key) => vec![Key { id: id.map(|id| id.text), key, algorithms: vec![algorithm] }],
        Err(why) => {
            problems.add("policy-key-file", file.place, format!("`{}` {why}", file.text));
            Vec::new()
        }
    }
}

/// Reads a key from its own file.
fn single_key(bytes: &[u8], is_pem: bool, algorithm: Algorithm) -> Result<DecodingKey, String> {
    use Algorithm::{ES256, ES384, EdDSA, HS256, HS384, HS512};
    let shared = matches!(algorithm, HS256 | HS384 | HS512);
    if is_pem {
        let key = match algorithm {
            HS256 | HS384 | HS512 => {
                return Err(format!("is a public key, but {algorithm:?} uses a `secret`"));
            }
            ES256 | ES384 => DecodingKey::from_ec_pem(bytes),
            EdDSA => DecodingKey::from_ed_pem(bytes),
            _ => DecodingKey::from_rsa_pem(bytes),
        };
        let key = key.map_err(|error| format!("is not a public key for {algorithm:?}: {error}"))?;
        return if is_short_rsa(&key) { Err(SHORT_RSA.to_owned()) } else { Ok(key) };
    }
    if !shared {
        return Err(format!("is a secret, but {algorithm:?} uses a public key, `pem`"));
    }
    let secret = bytes.trim_ascii();
    if secret.starts_with(b"-----BEGIN") {
        return Err("is not a secret but a PEM key, which may be public".to_owned());
    }
    if secret.len() < MIN {
        return Err(format!("has fewer than {MIN} bytes; such a secret can be guessed"));
    }
    Ok(DecodingKey::from_secret(secret))
}

/// Reads a file with a set of keys.
fn key_set(file: &SourceText, section: Section<'_>, problems: &mut Problems) -> Vec<Key> {
    let Some(bytes) = read_credentials(&section.base.join(&file.text), file, problems) else { return Vec::new() };
    parse_key_set(&bytes, true).unwrap_or_else(|why| {
        problems.add("policy-key-file", file.place, format!("`{}` {why}", file.text));
        Vec::new()
    })
}

/// Reads the keys of a set that can verify signatures. Keys of kinds, algorithms and purposes that
/// are not supported are left out, as RFC 7517, section 5, says. Secrets (`oct`) count only if the
/// document is private.
///
/// # Errors
/// Says what is wrong with a document that is not a set of keys, or has no usable key.
pub(super) fn parse_key_set(document: &[u8], private: bool) -> Result<Vec<Key>, String> {
    let set: Json = serde_json::from_slice(document).map_err(|error| format!("is not a JSON Web Key Set: {error}"))?;
    let Some(keys) = set.get("keys").and_then(Json::as_array) else {
        return Err("is not a JSON Web Key Set: there is no list `keys`".to_owned());
    };
    let usable = |key: &Json| {
        let key: Jwk = serde_json::from_value(key.clone()).ok()?;
        let algorithms = algorithms_of(&key)?;
        let decoding = DecodingKey::from_jwk(&key).ok().filter(|key| !is_short_rsa(key))?;
        if let AlgorithmParameters::OctetKey(_) = &key.algorithm
            && (!private || decoding.try_get_as_bytes().map_or(0, <[u8]>::len) < MIN)
        {
            return None;
        }
        Some(Key { id: key.common.key_id, key: decoding, algorithms })
    };
    let keys: Vec<Key> = keys.iter().filter_map(usable).collect();
    if keys.is_empty() { Err("has no key with a supported signature algorithm".to_owned()) } else { Ok(keys) }
}

/// Returns the algorithms of a key of a set: the named one if it fits the kind of key, otherwise all of that kind.
fn algorithms_of(key: &Jwk) -> Option<Vec<Algorithm>> {
    use Algorithm::{ES256, ES384, EdDSA, HS256, HS384, HS512, PS256, PS384, PS512, RS256, RS384, RS512};
    if key.common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature) {
        return None;
    }
    // RFC 7517, section 4.3: what the key is for, if the set says it.
    if key.common.key_operations.as_ref().is_some_and(|allowed| !allowed.contains(&KeyOperations::Verify)) {
        return None;
    }
    let kind: &[Algorithm] = match &key.algorithm {
        AlgorithmParameters::RSA(_) => &[RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(curve) => match curve.curve {
            EllipticCurve::P256 => &[ES256],
            EllipticCurve::P384 => &[ES384],
            _ => return None,
        },
        AlgorithmParameters::OctetKeyPair(_) => &[EdDSA],
        AlgorithmParameters::OctetKey(_) => &[HS256, HS384, HS512],
        _ => return None,
    };
    match &key.common.key_algorithm {
        None => Some(kind.to_vec()),
        Some(named) => {
            let named = Algorithm::from_str(&named.to_string()).ok()?;
            kind.contains(&named).then(|| vec![named])
        }
    }
}
