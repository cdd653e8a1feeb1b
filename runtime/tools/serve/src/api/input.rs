//! What a rule is evaluated with: a request as HTTP/1.1 text or as a line of curl, or variables in
//! JSON. The text says which it is.

use crate::limits;
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::values::Arena;
use celero::{Bindings, Env, Type};
use celero_tooling::envs::Envs;
use celero_tooling::language::{Language, REQUEST_ENVS};
use celero_tooling::{requests, values};
use http::Request;
use http::header::HOST;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use std::net::SocketAddr;

/// Reads the name of a language.
///
/// # Errors
/// A name of no language.
pub(super) fn language<'de, D: Deserializer<'de>>(from: D) -> Result<Language, D::Error> {
    let name = Cow::<'de, str>::deserialize(from)?;
    Language::named(&name).map_err(D::Error::custom)
}

/// What was given.
pub(super) enum Input {
    Nothing,
    /// A request, and how it was written.
    Request(Box<Request<Vec<u8>>>, &'static str),
    Variables(Map<String, Json>),
}

/// Why a text is no input, and in which of its lines, from 0.
#[derive(Debug)]
pub(super) struct NotAnInput {
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

impl From<String> for NotAnInput {
    fn from(message: String) -> Self {
        Self { line: None, message }
    }
}

impl Input {
    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, NotAnInput> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Ok(Self::Nothing);
        }
        if trimmed.strip_prefix("curl").is_some_and(|rest| rest.starts_with(char::is_whitespace)) {
            return Ok(Self::Request(Box::new(requests::curl::request(trimmed)?), "a line of curl"));
        }
        if trimmed.starts_with('{') {
            return match serde_json::from_str(text) {
                Ok(Json::Object(variables)) => Ok(Self::Variables(variables)),
                Ok(_) => Err("expected one object: names and values".to_owned().into()),
                Err(error) => {
                    Err(NotAnInput { line: error.line().checked_sub(1), message: format!("not JSON: {error}") })
                }
            };
        }
        let start = text.trim_start();
        let skipped = text.get(..text.len().saturating_sub(start.len())).unwrap_or_default().matches('\n').count();
        match requests::message::parse(start.as_bytes()) {
            Ok(request) => Ok(Self::Request(Box::new(request), "an HTTP request")),
            Err(error) => Err(NotAnInput { line: Some(error.line.saturating_add(skipped)), message: error.why }),
        }
    }

    /// Returns what it is, for people.
    pub(super) fn json(&self) -> Json {
        match self {
            Self::Nothing => json!({ "kind": "nothing", "text": "no request" }),
            Self::Request(request, kind) => {
                json!({ "kind": kind, "text": one_line(request) })
            }
            Self::Variables(variables) => {
                let names: Vec<&str> = variables.keys().map(String::as_str).collect();
                json!({ "kind": "variables", "text": names.join(", ") })
            }
        }
    }
}

/// Reads a request.
///
/// # Errors
/// What is wrong with it, or that it is something else.
pub(super) fn request(text: &str) -> Result<Request<Vec<u8>>, String> {
    match Input::read(text) {
        Ok(Input::Request(request, _)) => Ok(*request),
        Ok(_) => Err("this needs a request: HTTP/1.1 as text, or a line of curl".to_owned()),
        Err(error) => Err(error.message),
    }
}

/// Returns a request on one line.
pub(super) fn one_line(request: &Request<Vec<u8>>) -> String {
    let host = request.headers().get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()));
    format!("{} {}{}", request.method(), host.unwrap_or_default(), request.uri())
}

/// Returns the environment of rules about requests in a language.
pub(super) fn request_env(language: Language) -> &'static Env<RequestContext<'static>> {
    REQUEST_ENVS.of(language)
}

/// Returns the type of a variable: CEL takes any value, other languages need a type.
fn type_of(value: &Json, language: Language) -> Type {
    if language.is_default() { Type::Dyn } else { values::inferred_type::inferred_type(value) }
}

/// Returns an environment that declares variables.
///
/// # Errors
/// A name that can't be declared.
pub(super) fn variables_env(
    variables: &Map<String, Json>,
    language: Language,
) -> Result<Env<Bindings<'static>>, String> {
    let declare = |env: Env<_>, (name, value): (&String, &Json)| env.variable(name, type_of(value, language));
    let env = variables.iter().fold(Env::dynamic(), declare);
    let env = Envs::new(env, FilterLanguage::new()).of(language).clone();
    match env.problems().first() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(env),
    }
}

/// Returns variables with their values.
///
/// # Errors
/// A value that is not of the type that its form names, or is too large.
pub(super) fn bound<'a>(
    env: &Env<Bindings<'static>>,
    variables: &Map<String, Json>,
    language: Language,
    arena: &'a Arena,
) -> Result<Bindings<'a>, String> {
    let mut bindings = Bindings::new(env);
    for (name, value) in variables {
        let value = values::json::to_value(value, &type_of(value, language), arena)
            .map_err(|why| format!("variable `{name}`: {why}"))?;
        bindings.set(name, value).map_err(|why| why.to_string())?;
    }
    Ok(bindings)
}

/// The client, where nothing else is said. An address of documentation (RFC 5737).
pub(super) const CLIENT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7)), 4711);

/// Reads the address of the client.
///
/// # Errors
/// How to write it.
pub(super) fn client(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim();
    if text.is_empty() {
        Ok(CLIENT)
    } else {
        celero_tooling::requests::address::address(text).map_err(|why| format!("client: {why}"))
    }
}

/// Returns the memory for the values of variables.
pub(super) fn arena() -> Arena {
    Arena::new(limits::INPUT_MEMORY)
}
