//! Who asks: what a request says of itself, verified. Each proof is looked at once a request, when an expression first asks for it.

mod api_key;
mod basic;
mod jwt;

use api_key::ApiKeys;
use basic::Users;
use jwt::Jwt;

use crate::document::Document;
use crate::expressions::Reads;
use crate::problems::Problems;
use crate::values::Object;
use celero::{Arena, EvalResult, HostMap, Map, Value};
use http::HeaderMap;
use serde_json::{Map as JsonMap, Value as Json};
use std::sync::OnceLock;

/// What can be proven, and how.
#[derive(Debug, Default)]
pub(crate) struct Auth {
    jwt: Option<Jwt>,
    api_key: Option<ApiKeys>,
    basic: Option<Users>,
}

impl Auth {
    /// Which kinds there are.
    pub(crate) fn configured(&self) -> Reads {
        Reads { jwt: self.jwt.is_some(), api_key: self.api_key.is_some(), basic: self.basic.is_some() }
    }

    /// From the sections of a document; what is wrong with these is reported.
    pub(crate) fn compile(document: &Document, problems: &mut Problems) -> Self {
        Self {
            jwt: document.one("jwt", problems).map(|section| Jwt::compile(section, problems)),
            api_key: document.one("apiKey", problems).map(|section| ApiKeys::compile(section, problems)),
            basic: document.one("basicAuth", problems).map(|section| Users::compile(section, problems)),
        }
    }

    /// What a request's headers prove, to be looked at when it is asked for.
    pub(crate) fn lazy<'a>(&'a self, headers: &'a HeaderMap, findings: &'a Findings) -> Proofs<'a> {
        let Self { jwt, api_key, basic } = self;
        Proofs {
            jwt: Lazy { proof: jwt.as_ref().map(|proof| proof as &dyn Proof), headers, finding: &findings.jwt },
            api_key: Lazy {
                proof: api_key.as_ref().map(|proof| proof as &dyn Proof),
                headers,
                finding: &findings.api_key,
            },
            basic: Lazy { proof: basic.as_ref().map(|proof| proof as &dyn Proof), headers, finding: &findings.basic },
        }
    }
}

/// The proofs of a request.
#[derive(Debug)]
pub(crate) struct Proofs<'a> {
    pub(crate) jwt: Lazy<'a>,
    pub(crate) api_key: Lazy<'a>,
    pub(crate) basic: Lazy<'a>,
}

/// One kind of proof.
pub(crate) trait Proof: std::fmt::Debug {
    /// What a request's headers prove, if anything.
    fn verify(&self, headers: &HeaderMap) -> Option<JsonMap<String, Json>>;
}

/// What was found out of a request.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) jwt: Finding,
    pub(crate) api_key: Finding,
    pub(crate) basic: Finding,
}

/// What one kind of proof has shown: nothing is an empty object.
pub(crate) type Finding = OnceLock<JsonMap<String, Json>>;

/// A proof as a map of expressions, verified when it is first read. One that fails is an empty map.
#[derive(Debug)]
pub(crate) struct Lazy<'a> {
    proof: Option<&'a dyn Proof>,
    headers: &'a HeaderMap,
    finding: &'a Finding,
}

impl Lazy<'_> {
    pub(crate) fn value(&self) -> Value<'_> {
        Value::Map(Map::Host(self))
    }

    /// What it proves.
    pub(crate) fn settle(&self) -> Object<'_> {
        let verify = || self.proof.and_then(|proof| proof.verify(self.headers)).unwrap_or_default();
        Object(self.finding.get_or_init(verify))
    }
}

impl HostMap for Lazy<'_> {
    fn len(&self) -> usize {
        self.settle().len()
    }

    fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        arena.alloc(self.settle())?.get(key, arena)
    }

    fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        arena.alloc(self.settle())?.entry(index, arena)
    }
}

/// The only value of a header; none if it is sent twice, because then another reader may take the other one.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &http::HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// What follows a scheme, `Bearer` or `Basic`, in an `authorization` header.
pub(crate) fn credentials<'v>(value: &'v str, scheme: &str) -> Option<&'v str> {
    let (given, rest) = value.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim_matches(' '))
}
