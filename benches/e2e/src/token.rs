//! The token in the requests of the job "jwt", and the claims that the job reads.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

/// The key that signs and verifies.
pub(crate) const SECRET: &str = "an-hs256-secret-of-at-least-thirty-two-bytes";

/// The claims that are read.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Claims {
    pub(crate) client_name: String,
    pub(crate) client_version: String,
    sub: String,
    exp: u64,
}

/// Signs a token that is valid until the year 2100.
pub(crate) fn signed() -> String {
    let claims = Claims {
        client_name: "checkout-web".into(),
        client_version: "4.2.1".into(),
        sub: "user-1234".into(),
        exp: 4_102_444_800,
    };
    encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(SECRET.as_bytes())).expect("a token")
}

/// Verifies tokens.
pub(crate) struct Verifier {
    key: DecodingKey,
    validation: Validation,
}

impl Verifier {
    pub(crate) fn new() -> Self {
        Self { key: DecodingKey::from_secret(SECRET.as_bytes()), validation: Validation::new(Algorithm::HS256) }
    }

    /// The claims of the token in an `authorization` header, if the token is valid.
    pub(crate) fn claims(&self, authorization: &[u8]) -> Option<Claims> {
        let token = authorization.strip_prefix(b"Bearer ")?;
        decode::<Claims>(token, &self.key, &self.validation).ok().map(|token| token.claims)
    }
}
