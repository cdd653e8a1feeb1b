//! What the head of a request says about its body, read in one way by all hosts.
//!
//! A host calls [`refusal`] before the first phase of a request. A body can then hide neither behind an upgrade nor behind an
//! expectation that nobody meets.

use crate::outcome::PolicyAnswer;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, Version, header, request};
use std::sync::Arc;

/// The only expectation that exists (RFC 9110, section 10.1.1). Its text has no case.
const CONTINUE: &[u8] = b"100-continue";

/// Returns the answer to a request that no server should see, whatever the policy says:
///
/// - 400 with the rule `request.upgrade`: an HTTP/1.1 request with the header `upgrade` and a body. After the upgrade its bytes would
///   belong to another protocol, so no phase could look at them (RFC 9110, section 7.8);
/// - 417 with the rule `request.expect`: the header `expect` has a member other than `100-continue` (RFC 9110, section 10.1.1);
/// - 501 with the rule `request.transferEncoding`: a transfer coding other than `chunked`, which no host undoes, or `chunked` twice
///   (RFC 9112, section 6.1).
///
/// `has_body` says whether the message is framed with a body: by a `content-length` above 0, by `transfer-encoding`, or by HTTP/2
/// frames. Costs three lookups of headers.
#[must_use]
pub fn refusal(head: &request::Parts, has_body: bool) -> Option<PolicyAnswer> {
    if has_body && head.version < Version::HTTP_2 && head.headers.contains_key(header::UPGRADE) {
        let text = "a request that asks for an upgrade can't have a body\n";
        return Some(answer(StatusCode::BAD_REQUEST, "request.upgrade", text));
    }
    if expectations(&head.headers).any(|expected| !expected.eq_ignore_ascii_case(CONTINUE)) {
        let text = "the only expectation that this server can meet is 100-continue\n";
        return Some(answer(StatusCode::EXPECTATION_FAILED, "request.expect", text));
    }
    if transfer_coded(&head.headers) {
        let text = "the only transfer coding that this server can undo is chunked\n";
        return Some(answer(StatusCode::NOT_IMPLEMENTED, "request.transferEncoding", text));
    }
    None
}

/// Returns whether a body has a transfer coding other than `chunked`, or `chunked` twice.
pub(crate) fn transfer_coded(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(header::TRANSFER_ENCODING).iter();
    let chunked = |line: &HeaderValue| line.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    lines.next().is_some_and(|first| !chunked(first) || lines.next().is_some())
}

/// Returns whether the client waits for the interim response `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
/// A host that reads the body sends that response first, if its server does not, and removes the header `expect`.
#[must_use]
pub fn expects_continue(head: &request::Parts) -> bool {
    head.version >= Version::HTTP_11
        && expectations(&head.headers).any(|expected| expected.eq_ignore_ascii_case(CONTINUE))
}

fn expectations(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(header::EXPECT).iter().map(HeaderValue::as_bytes);
    lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}

fn answer(status: StatusCode, reason: &str, text: &'static str) -> PolicyAnswer {
    PolicyAnswer { body: Bytes::from_static(text.as_bytes()), ..PolicyAnswer::empty(status, &Arc::from(reason)) }
}
