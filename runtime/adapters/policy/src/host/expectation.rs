//! The header `expect` (RFC 9110, section 10.1.1), read in one way by all hosts.

use crate::host::outcome::PolicyAnswer;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, Version, header, request};
use std::sync::Arc;

/// The only expectation that exists. Its text has no case.
const CONTINUE: &[u8] = b"100-continue";

/// Returns the answer to a request with an expectation other than `100-continue`, which nobody can
/// meet: 417 with the rule `request.expect`.
pub(crate) fn refusal(headers: &HeaderMap) -> Option<PolicyAnswer> {
    let unknown = expectations(headers).any(|expected| !expected.eq_ignore_ascii_case(CONTINUE));
    unknown.then(|| PolicyAnswer {
        body: Bytes::from_static(b"the only expectation that this server can meet is 100-continue\n"),
        ..PolicyAnswer::empty(StatusCode::EXPECTATION_FAILED, &Arc::from("request.expect"))
    })
}

/// Returns whether the client waits for the interim response `100 Continue` before it sends the
/// body. A host that reads the body sends that response first, if its server does not, and removes
/// the header `expect`.
#[must_use]
pub fn expects_continue(head: &request::Parts) -> bool {
    head.version >= Version::HTTP_11
        && expectations(&head.headers).any(|expected| expected.eq_ignore_ascii_case(CONTINUE))
}

fn expectations(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(header::EXPECT).iter().map(HeaderValue::as_bytes);
    lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}
