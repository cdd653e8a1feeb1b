//! The API: from a path and a body to an answer. The crate's head has the table.

mod cost;
mod index;
mod input;
mod names;
mod policy;
mod policy_run;
mod recorded;
mod rule;
mod rule_set;
mod shown;
mod start;

use crate::files::Files;
use crate::limits;
use http::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// Why there is no answer.
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl Refusal {
    fn bad(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into() }
    }

    fn not_found(message: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: message.into() }
    }
}

/// Returns the methods of a path; `None` if there is nothing.
pub(crate) fn methods(path: &str) -> Option<&'static str> {
    match path {
        "/api/rule" | "/api/names" => Some("POST"),
        "/api/policy/check" | "/api/policy/requests" | "/api/rules/check" | "/api/rules/requests" => Some("POST"),
        "/api/start" => Some("GET"),
        "/api/policy" | "/api/rules" => Some("GET, POST"),
        _ => None,
    }
}

/// Answers a request for a path that has the method.
///
/// # Errors
/// The body is not what the path takes, or a file can't be read.
pub(crate) fn answer(path: &str, method: &Method, body: &[u8], files: &Files) -> Result<Json, Refusal> {
    match (path, method) {
        ("/api/rule", _) => rule::answer(&read(body)?),
        ("/api/names", _) => names::answer(&read(body)?),
        ("/api/start", _) => Ok(start::answer(files)),
        ("/api/rules", &Method::GET) => rule_set::answer(files, None),
        ("/api/rules/check", _) => rule_set::check(files, read(body)?),
        ("/api/rules/requests", _) => rule_set::recorded(files, read(body)?),
        ("/api/rules", _) => rule_set::one(files, read(body)?),
        ("/api/policy", &Method::GET) => policy::whole(files),
        ("/api/policy/check", _) => policy::check(files, &read(body)?),
        ("/api/policy/requests", _) => policy::recorded(files, &read(body)?),
        ("/api/policy", _) => policy::one(files, &read(body)?),
        _ => Err(Refusal::not_found("there is nothing here")),
    }
}

/// Checks the length of a changed text.
///
/// # Errors
/// It is too long.
fn admit_text(bytes: usize) -> Result<(), Refusal> {
    if bytes <= limits::TEXT_BYTES {
        return Ok(());
    }
    let most = limits::TEXT_BYTES;
    Err(Refusal::bad(format!("the changed text has {bytes} bytes, and the page tries at most {most}")))
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    // A list would be read as an object without names.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(Refusal::bad("the body must be a JSON object"));
    }
    serde_json::from_slice(body).map_err(|error| Refusal::bad(format!("the body is not understood: {error}")))
}
