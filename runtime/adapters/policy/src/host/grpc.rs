//! Answers to calls of gRPC, whose clients expect a status of gRPC where others expect a status of HTTP.

use crate::host::outcome::PolicyAnswer;
use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version, request};
use std::fmt::Write as _;
use std::sync::Arc;

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// The longest part of a body that becomes the message of a status, in bytes.
const LONGEST_MESSAGE: usize = 1024;

/// Returns whether a request is a call of gRPC:
/// <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>, "Requests".
pub(crate) fn is_call(head: &request::Parts) -> bool {
    head.method == Method::POST
        && head.version >= Version::HTTP_2
        && head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| {
            let name = kind.as_bytes().split(|byte| matches!(byte, b'+' | b';')).next().unwrap_or_default();
            name.trim_ascii().eq_ignore_ascii_case(b"application/grpc")
        })
}

/// Returns an answer as a call's client expects it: status 200, and the status of gRPC in a header,
/// without a body ("Trailers-Only"). The body, if it is text, becomes the message. An answer that
/// is no error, or has the header `grpc-status`, stays as it is.
pub(crate) fn answer_to_call(mut answer: PolicyAnswer) -> PolicyAnswer {
    if answer.status.as_u16() < 400 || answer.headers.contains_key(STATUS) {
        return answer;
    }
    let headers = &mut answer.headers;
    headers.remove(header::CONTENT_ENCODING);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(STATUS, HeaderValue::from_static(status_of(answer.status)));
    let text = std::str::from_utf8(&answer.body).unwrap_or_default().trim_ascii_end();
    if let Some(message) = message(text) {
        headers.insert(MESSAGE, message);
    }
    answer.status = StatusCode::OK;
    answer.body = Bytes::new();
    answer
}

impl PolicyAnswer {
    /// Returns the trailers that end a call whose response has begun: the status of gRPC, and the other fields of the
    /// answer. An answer without a status of gRPC is no answer to a call then, and has the status `UNKNOWN`.
    #[must_use]
    pub fn trailers(&self) -> HeaderMap {
        let is_about_body = |name: &HeaderName| name.as_str().starts_with("content-");
        let kept = self.headers.iter().filter(|(name, _)| !is_about_body(name));
        let mut trailers: HeaderMap = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        trailers.entry(STATUS).or_insert(HeaderValue::from_static("2"));
        trailers
    }
}

/// Returns an answer to a call with this status of gRPC, and a message about it.
pub(crate) fn status_answer(code: u8, why: &str, rule: &Arc<str>) -> PolicyAnswer {
    let mut answer = PolicyAnswer::empty(StatusCode::OK, rule);
    answer.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    answer.headers.insert(STATUS, HeaderValue::from(u16::from(code)));
    if let Some(message) = message(why) {
        answer.headers.insert(MESSAGE, message);
    }
    answer
}

/// Returns the status of gRPC for an error of HTTP:
/// <https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md>. A body that is too large has its own.
fn status_of(status: StatusCode) -> &'static str {
    match status.as_u16() {
        400 => "13",                   // INTERNAL
        401 => "16",                   // UNAUTHENTICATED
        403 => "7",                    // PERMISSION_DENIED
        404 => "12",                   // UNIMPLEMENTED
        413 => "8",                    // RESOURCE_EXHAUSTED
        429 | 502 | 503 | 504 => "14", // UNAVAILABLE
        _ => "2",                      // UNKNOWN
    }
}

/// Returns a text as the value of `grpc-message`: bytes other than printable ASCII, and `%`, are percent-encoded.
fn message(text: &str) -> Option<HeaderValue> {
    let text = text.get(..text.floor_char_boundary(LONGEST_MESSAGE))?;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' | ..=0x1f | 0x7f.. => write!(encoded, "%{byte:02X}").ok()?,
            _ => encoded.push(char::from(byte)),
        }
    }
    (!encoded.is_empty()).then(|| HeaderValue::try_from(encoded).ok())?
}
