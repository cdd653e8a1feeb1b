//! Recorded requests: those of the file that the command was given, or others that a request has.

use super::{Refusal, input};
use crate::files::{self, Files};
use crate::limits;
use celero_tooling::requests::recorded::{self, RecordedRequest};
use http::Request;
use serde_json::{Value as Json, json};
use std::net::SocketAddr;
use std::time::Instant;

/// Tries requests one after the other, as many as there is time for. Returns the name of their file,
/// its text if it was read, what was decided about each, how many are left, and the messages about
/// those that are none.
///
/// # Errors
/// The file can't be read, the text holds no requests, or the address of the client is not one.
pub(super) fn tried(
    files: &Files,
    changed: Option<&str>,
    client: &str,
    mut decide: impl FnMut(Request<Vec<u8>>, SocketAddr) -> Json,
) -> Result<Json, Refusal> {
    let usual = input::client(client).map_err(Refusal::bad)?;
    let name = files.requests.as_ref().map_or_else(|| "requests".to_owned(), |path| path.display().to_string());
    let file = match (changed, &files.requests) {
        (None, Some(path)) => Some(files::read(path).map_err(Refusal::not_found)?),
        _ => None,
    };
    let text = changed.or(file.as_deref()).unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(json!({ "name": name, "text": file, "decisions": [], "left": 0, "left_out": [] }));
    }
    let read = recorded::parse(&name, text.as_bytes()).map_err(Refusal::bad)?;
    let (start, mut texts) = (Instant::now(), limits::RECORDED_TEXTS);
    let mut decisions: Vec<Json> = Vec::new();
    let count = read.requests.len();
    for RecordedRequest { message, source } in read.requests.into_iter().take(limits::RECORDED) {
        if start.elapsed() >= limits::RECORDED_TIME {
            break;
        }
        let request = input::one_line(&message);
        let shown = as_text(&message).filter(|shown| shown.len() <= texts.min(limits::RECORDED_TEXT));
        texts = texts.saturating_sub(shown.as_ref().map_or(0, String::len));
        let from = source.map(|source| source.to_string());
        let decision = decide(message, source.unwrap_or(usual));
        decisions.push(json!({ "request": request, "text": shown, "source": from, "decision": decision }));
    }
    let left = count.saturating_sub(decisions.len());
    let left_out: Vec<&String> = read.left_out.iter().take(limits::NAMED_RULES).collect();
    Ok(json!({ "name": name, "text": file, "decisions": decisions, "left": left, "left_out": left_out }))
}

/// Returns a request as HTTP/1.1 text; `None` if it is not text.
fn as_text(request: &Request<Vec<u8>>) -> Option<String> {
    let mut text = format!("{} {} HTTP/1.1\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        text.push_str(&format!("{name}: {}\n", value.to_str().ok()?));
    }
    if !request.body().is_empty() {
        text.push('\n');
        text.push_str(std::str::from_utf8(request.body()).ok()?);
    }
    Some(text)
}
