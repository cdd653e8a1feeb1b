//! Credentials of clients: JSON Web Tokens, API keys, passwords. Each is verified at most once per request, when an expression first
//! reads it.

mod api_key;
mod basic;
mod jwt;

use api_key::ApiKeys;
use basic::Users;
use jwt::Jwt;

use crate::document::Document;
use crate::expressions::CredentialReads;
use crate::problems::Problems;
use crate::values::JsonObject;
use celero::{Arena, EvalResult, HostMap, Map, Value};
use http::HeaderMap;
use serde_json::{Map as JsonMap, Value as Json};
use std::sync::OnceLock;

/// The kinds of credentials that a policy accepts.
#[derive(Debug, Default)]
pub(crate) struct Auth {
    jwt: Option<Jwt>,
    api_key: Option<ApiKeys>,
    basic: Option<Users>,
}

impl Auth {
    /// Returns which kinds are configured.
    pub(crate) fn configured(&self) -> CredentialReads {
        CredentialReads { jwt: self.jwt.is_some(), api_key: self.api_key.is_some(), basic: self.basic.is_some() }
    }

    /// Compiles the sections of a document, and reports their errors.
    pub(crate) fn compile(document: &Document, problems: &mut Problems) -> Self {
        Self {
            jwt: document.one("jwt", problems).map(|section| Jwt::compile(section, problems)),
            api_key: document.one("apiKey", problems).map(|section| ApiKeys::compile(section, problems)),
            basic: document.one("basicAuth", problems).map(|section| Users::compile(section, problems)),
        }
    }

    /// Returns the credentials of a request, which are verified when they are read.
    pub(crate) fn lazy<'a>(&'a self, headers: &'a HeaderMap, findings: &'a VerifiedCredentials) -> LazyCredentials<'a> {
        let Self { jwt, api_key, basic } = self;
        LazyCredentials {
            jwt: LazyCredential {
                proof: jwt.as_ref().map(|proof| proof as &dyn Verifier),
                headers,
                finding: &findings.jwt,
            },
            api_key: LazyCredential {
                proof: api_key.as_ref().map(|proof| proof as &dyn Verifier),
                headers,
                finding: &findings.api_key,
            },
            basic: LazyCredential {
                proof: basic.as_ref().map(|proof| proof as &dyn Verifier),
                headers,
                finding: &findings.basic,
            },
        }
    }
}

/// The credentials of a request.
#[derive(Debug)]
pub(crate) struct LazyCredentials<'a> {
    pub(crate) jwt: LazyCredential<'a>,
    pub(crate) api_key: LazyCredential<'a>,
    pub(crate) basic: LazyCredential<'a>,
}

/// Verifies one kind of credentials.
pub(crate) trait Verifier: std::fmt::Debug {
    /// Returns the fields of the credentials in a request's headers, if they are valid.
    fn verify(&self, headers: &HeaderMap) -> Option<JsonMap<String, Json>>;
}

/// The credentials of a request that were verified so far.
#[derive(Debug, Default)]
pub(crate) struct VerifiedCredentials {
    pub(crate) jwt: VerifiedFields,
    pub(crate) api_key: VerifiedFields,
    pub(crate) basic: VerifiedFields,
}

/// The fields of verified credentials; empty if they are absent or invalid.
pub(crate) type VerifiedFields = OnceLock<JsonMap<String, Json>>;

/// Credentials as a map for expressions, verified when it is first read. The map is empty if they are absent or invalid.
#[derive(Debug)]
pub(crate) struct LazyCredential<'a> {
    proof: Option<&'a dyn Verifier>,
    headers: &'a HeaderMap,
    finding: &'a VerifiedFields,
}

impl LazyCredential<'_> {
    pub(crate) fn value(&self) -> Value<'_> {
        Value::Map(Map::Host(self))
    }

    /// Verifies the credentials, once.
    pub(crate) fn verified(&self) -> JsonObject<'_> {
        let verify = || self.proof.and_then(|proof| proof.verify(self.headers)).unwrap_or_default();
        JsonObject(self.finding.get_or_init(verify))
    }
}

impl HostMap for LazyCredential<'_> {
    fn len(&self) -> usize {
        self.verified().len()
    }

    fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        arena.alloc(self.verified())?.get(key, arena)
    }

    fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        arena.alloc(self.verified())?.entry(index, arena)
    }
}

/// Returns the value of a header. `None` if it occurs twice, because another reader may take the other value.
pub(crate) fn single_value<'h>(headers: &'h HeaderMap, name: &http::HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Returns the credentials after a scheme, `Bearer` or `Basic`, in an `authorization` header.
pub(crate) fn credentials<'v>(value: &'v str, scheme: &str) -> Option<&'v str> {
    let (given, rest) = value.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim_matches(' '))
}
