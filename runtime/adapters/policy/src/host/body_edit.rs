//! The new body of a message, and the fields of its head that a new body makes wrong.
//!
//! Invariant: the head of a message with a new body has no field that describes the old one. Test:
//! `runtime/adapters/policy/tests/policy/body_changes.rs::the_head_says_what_is_true_of_the_new_body`.

use bytes::Bytes;
use celero_canonical::Fields;
use http::{HeaderName, HeaderValue, header};

/// The fields with digests of a body (RFC 9530; RFC 3230 and RFC 1864, which it replaces).
pub const DIGEST_FIELDS: [&str; 4] = ["content-digest", "repr-digest", "digest", "content-md5"];

/// The fields of a message that say something about its old body besides digests: its framing (RFC
/// 9112, section 6) and its coding (RFC 9110, section 8.4). A new body is sent whole and without a
/// coding.
const OF_BODY: [&str; 3] = ["content-encoding", "transfer-encoding", "trailer"];

/// The fields of a response that identify the representation of the server (RFC 9110, sections 8.8
/// and 14.3). A client must not ask the server for a part of it, or whether it has changed.
const OF_REPRESENTATION: [&str; 3] = ["etag", "last-modified", "accept-ranges"];

/// The new body of a message, if a rule gives it one.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyEdit(Option<Bytes>);

impl BodyEdit {
    pub(crate) fn bytes(&self) -> Option<&Bytes> {
        self.0.as_ref()
    }

    pub(crate) fn set(&mut self, body: Bytes) {
        self.0 = Some(body);
    }

    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }

    /// Makes the head of a request or response say what is true of the new body.
    pub(crate) fn apply(&self, head: &mut impl Fields, of_response: bool) {
        let Some(body) = &self.0 else { return };
        for name in names_of_body(of_response) {
            head.remove_field(&name);
        }
        head.set_field(&header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
}

/// Returns the fields that a new body makes wrong, without `content-length`.
pub(crate) fn names_of_body(of_response: bool) -> impl Iterator<Item = HeaderName> {
    let of_representation = OF_REPRESENTATION.into_iter().filter(move |_| of_response);
    let names = OF_BODY.into_iter().chain(DIGEST_FIELDS).chain(of_representation);
    names.map(HeaderName::from_static)
}
