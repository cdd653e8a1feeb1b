//! JSON Web Tokens (RFC 7519). A token is accepted if one of the keys verifies its signature with an algorithm of that key, if it is
//! neither expired nor from the future, and if issuer and audience are accepted ones. The token never chooses an algorithm of its own.

use super::{Verifier, credentials, single_value};
use crate::document::{Section, read_file};
use crate::problems::Problems;
use crate::schema::seconds;
use crate::yaml::{Node, SourceText};
use http::{HeaderMap, HeaderName, header};
use jsonwebtoken::crypto::CryptoProvider;
use jsonwebtoken::crypto::rust_crypto::DEFAULT_PROVIDER;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map as JsonMap, Value as Json};
use std::str::FromStr;

/// The longest accepted token, in bytes.
const LONGEST: usize = 16 << 10;

/// Where tokens are found, and how they are verified.
#[derive(Debug)]
pub(crate) struct Jwt {
    header: HeaderName,
    cookie: Option<String>,
    keys: Vec<Key>,
}

#[derive(Debug)]
struct Key {
    id: Option<String>,
    key: DecodingKey,
    /// Includes the algorithms of the key.
    validation: Validation,
}

impl Jwt {
    /// Compiles the section `jwt`, and reports its errors.
    pub(crate) fn compile(section: Section<'_>, problems: &mut Problems) -> Self {
        // A process chooses one provider. If another crate has chosen one already, that is fine too.
        let _ = CryptoProvider::install_default(&DEFAULT_PROVIDER);
        let Section { node, .. } = section;
        let texts = |key| node.texts_of(key).into_iter().map(|text| text.text).collect::<Vec<_>>();
        let leeway = node.text_of("leeway").and_then(|text| seconds(&text.text)).unwrap_or(60);
        let validation = |algorithms: &[Algorithm]| {
            let mut validation = Validation::new(algorithms.first().copied().unwrap_or_default());
            validation.algorithms = algorithms.to_vec();
            validation.leeway = leeway;
            validation.validate_nbf = true;
            if let issuers @ [_, ..] = &*texts("issuers") {
                validation.set_issuer(issuers);
                validation.required_spec_claims.insert("iss".to_owned());
            }
            if let audiences @ [_, ..] = &*texts("audiences") {
                validation.set_audience(audiences);
                validation.required_spec_claims.insert("aud".to_owned());
            }
            validation
        };
        let mut keys = Vec::new();
        for key in node.get("keys").map_or(&[][..], Node::elements) {
            for (id, key, algorithms) in keys_of(key, section, problems) {
                keys.push(Key { id, key, validation: validation(&algorithms) });
            }
        }
        if node.get("header").is_some()
            && let Some(cookie) = node.text_of("cookie")
        {
            problems.add("policy-value", cookie.place, "a token is in a header or in a cookie, not in both".to_owned());
        }
        let header = header_name(node, header::AUTHORIZATION, problems);
        Self { header, cookie: node.text_of("cookie").map(|text| text.text), keys }
    }

    fn token<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        if let Some(name) = &self.cookie {
            let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
            let mut values = cookies
                .flat_map(|line| line.split(';'))
                .filter_map(|pair| pair.trim().split_once('='))
                .filter_map(|(key, value)| (key == name).then_some(value));
            let value = values.next()?;
            return values.next().is_none().then_some(value);
        }
        let value = single_value(headers, &self.header)?;
        if self.header == header::AUTHORIZATION { credentials(value, "bearer") } else { Some(value) }
    }
}

impl Verifier for Jwt {
    fn verify(&self, headers: &HeaderMap) -> Option<JsonMap<String, Json>> {
        let token = self.token(headers).filter(|token| token.len() <= LONGEST)?;
        let header = decode_header(token).ok()?;
        let fitting = self.keys.iter().filter(|key| {
            let named = match (&header.kid, &key.id) {
                (Some(wanted), Some(id)) => wanted == id,
                _ => true,
            };
            named && key.validation.algorithms.contains(&header.alg)
        });
        // Usually one key fits. The bound limits the cost of a token that names none.
        fitting.take(8).find_map(|Key { key, validation, .. }| Some(decode(token, key, validation).ok()?.claims))
    }
}

type Found = (Option<String>, DecodingKey, Vec<Algorithm>);

/// Reads the keys of an entry.
fn keys_of(node: &Node, section: Section<'_>, problems: &mut Problems) -> Vec<Found> {
    let [jwks, pem, secret, id] = ["jwks", "pem", "secret", "kid"].map(|key| node.text_of(key));
    let algorithm = node.text_of("algorithm").and_then(|text| Algorithm::from_str(&text.text).ok());
    let (file, is_pem) = match (&jwks, &pem, &secret) {
        (Some(file), None, None) => return key_set(file, section, problems),
        (None, Some(file), None) => (file, true),
        (None, None, Some(file)) => (file, false),
        _ => {
            let message = "a key of `jwt` needs one of `jwks`, `pem` and `secret`".to_owned();
            problems.add("policy-missing", node.place, message);
            return Vec::new();
        }
    };
    let Some(algorithm) = algorithm else {
        problems.add("policy-missing", node.place, "this key needs its `algorithm`".to_owned());
        return Vec::new();
    };
    let Some(bytes) = read_file(&section.base.join(&file.text), file, problems) else { return Vec::new() };
    match single_key(&bytes, is_pem, algorithm) {
        Ok(key) => vec![(id.map(|id| id.text), key, vec![algorithm])],
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
        return key.map_err(|error| format!("is not a public key for {algorithm:?}: {error}"));
    }
    if !shared {
        return Err(format!("is a secret, but {algorithm:?} uses a public key, `pem`"));
    }
    let secret = bytes.trim_ascii();
    if secret.starts_with(b"-----BEGIN") {
        return Err("is not a secret but a PEM key, which may be public".to_owned());
    }
    if secret.len() < 16 {
        return Err("has fewer than 16 bytes; such a secret can be guessed".to_owned());
    }
    Ok(DecodingKey::from_secret(secret))
}

/// Reads the keys of a set whose signature algorithms are supported.
fn key_set(file: &SourceText, section: Section<'_>, problems: &mut Problems) -> Vec<Found> {
    let Some(bytes) = read_file(&section.base.join(&file.text), file, problems) else { return Vec::new() };
    let set: JwkSet = match serde_json::from_slice(&bytes) {
        Ok(set) => set,
        Err(error) => {
            problems.add("policy-key-file", file.place, format!("`{}` is not a JSON Web Key Set: {error}", file.text));
            return Vec::new();
        }
    };
    let usable = |key: &Jwk| {
        let algorithms = algorithms_of(key)?;
        Some((key.common.key_id.clone(), DecodingKey::from_jwk(key).ok()?, algorithms))
    };
    let keys: Vec<Found> = set.keys.iter().filter_map(usable).collect();
    if keys.is_empty() {
        let message = format!("`{}` has no key with a supported signature algorithm", file.text);
        problems.add("policy-key-file", file.place, message);
    }
    keys
}

/// Returns the algorithms of a key of a set: the named one if it fits the kind of key, otherwise all of that kind.
fn algorithms_of(key: &Jwk) -> Option<Vec<Algorithm>> {
    use Algorithm::{ES256, ES384, EdDSA, HS256, HS384, HS512, PS256, PS384, PS512, RS256, RS384, RS512};
    if key.common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature) {
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

/// Reads the key `header` of a section.
pub(super) fn header_name(node: &Node, usual: HeaderName, problems: &mut Problems) -> HeaderName {
    let Some(text) = node.text_of("header") else { return usual };
    HeaderName::from_bytes(text.text.as_bytes()).unwrap_or_else(|_| {
        problems.add("policy-value", text.place, format!("`{}` is not the name of a header", text.text));
        usual
    })
}
