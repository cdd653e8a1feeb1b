//! Changes of a message, collected while a phase runs and applied when it is over: of headers, of a
//! request's target, of a response's status, of a body.
//!
//! Invariant: a phase that ends with an answer applies no edits. Test:
//! `runtime/adapters/policy/tests/policy/failures.rs::guards_are_rules_whose_answer_keeps_a_message_back`.

use crate::host::body_edit::BodyEdit;
use crate::host::target_edits::TargetEdits;
use bytes::Bytes;
use celero_canonical::{Fields, Head, ResponseHead, follow_host, joined_cookies};
use http::header::{COOKIE, HOST};
use http::{HeaderName, HeaderValue, StatusCode, Uri};
use std::sync::Arc;

/// A change of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Replaces all values of a header.
    Set {
        /// The name.
        name: HeaderName,
        /// The new value.
        value: HeaderValue,
    },
    /// Adds a value to a header: a line, or the end of the only line of `cookie`.
    Add {
        /// The name.
        name: HeaderName,
        /// The added value.
        value: HeaderValue,
    },
    /// Removes a header.
    Remove {
        /// The name.
        name: HeaderName,
    },
}

/// The changes of a phase, in the order in which they are applied.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    edits: Vec<Edit>,
    /// What the rules have changed of the target so far.
    pub(crate) target: TargetEdits,
    /// The target that a request gets.
    uri: Option<Uri>,
    status: Option<StatusCode>,
    pub(crate) body: BodyEdit,
}

impl Edits {
    /// Returns whether there are no changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.uri.is_none() && self.status.is_none() && self.body.bytes().is_none()
    }

    /// Returns the changes of headers.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.edits.iter()
    }

    /// Returns the new target of a request, if it changes. It has the authority of the old one.
    #[must_use]
    pub fn uri(&self) -> Option<&Uri> {
        self.uri.as_ref()
    }

    /// Returns the new status of a response, if a rule sets one.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        self.status
    }

    /// Returns the new body of the message, if a rule sets one: after the phases `requestBody` and
    /// `responseBody`. A host sends it instead of the one that it has buffered, which was the whole
    /// body, and without trailers. [`apply_to_request`](Self::apply_to_request) and
    /// [`apply_to_response`](Self::apply_to_response) make the head fit it.
    #[must_use]
    pub fn body(&self) -> Option<&Bytes> {
        self.body.bytes()
    }

    /// Applies the changes of headers.
    fn apply(&self, head: &mut impl Fields) {
        for edit in &self.edits {
            match edit {
                Edit::Set { name, value } => head.set_field(name, value.clone()),
                // HTTP/2 and hosts join lines of cookies: rules read what they send.
                Edit::Add { name, value } if *name == COOKIE => {
                    let joined = joined_cookies(head.headers().get_all(COOKIE).iter().chain([value]));
                    head.set_field(name, joined.unwrap_or_else(|| value.clone()));
                }
                Edit::Add { name, value } => head.add_field(name, value.clone()),
                Edit::Remove { name } => head.remove_field(name),
            }
        }
    }

    /// Applies the changes to a request: headers and target. A new `Host` becomes the authority of
    /// the target too, which HTTP/2 and HTTP/3 send. With a new [`body`](Self::body),
    /// `content-length` is its length, and fields that were true of the old body only are removed.
    pub fn apply_to_request(&self, head: &mut impl Head) {
        // A rule may set such a field for the new body.
        self.body.apply(head, false);
        self.apply(head);
        if let Some(uri) = &self.uri {
            head.set_uri(uri.clone());
        }
        if self.names_given().any(|name| name == HOST) {
            follow_host(head);
        }
    }

    /// Applies the changes to a response: headers and status. A status that says how the message is
    /// sent, or that it has no body (101, 204, 205, 206, 304), stays. A new [`body`](Self::body)
    /// changes the head as in [`apply_to_request`](Self::apply_to_request); `etag`, `last-modified`
    /// and `accept-ranges` are removed too.
    pub fn apply_to_response(&self, head: &mut impl ResponseHead) {
        self.body.apply(head, true);
        self.apply(head);
        if let Some(status) = self.status.filter(|_| !is_fixed(head.parts().status)) {
            head.set_status(status);
        }
    }

    /// Returns the names of headers that get a value.
    pub(crate) fn names_given(&self) -> impl Iterator<Item = &HeaderName> {
        self.edits.iter().filter_map(|edit| match edit {
            Edit::Set { name, .. } | Edit::Add { name, .. } => Some(name),
            Edit::Remove { .. } => None,
        })
    }

    pub(crate) fn push(&mut self, edit: Edit) {
        self.edits.push(edit);
    }

    pub(crate) fn set_status(&mut self, status: StatusCode) {
        self.status = Some(status);
    }

    /// Finds the new target of a request with this one.
    ///
    /// # Errors
    /// Returns the rule whose target is too long.
    pub(crate) fn find_target(&mut self, uri: &Uri) -> Result<(), Arc<str>> {
        if !self.target.is_empty() {
            self.uri = self.target.target(uri)?;
        }
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.edits.clear();
        self.target.clear();
        self.body.clear();
        (self.uri, self.status) = (None, None);
    }
}

/// Returns whether a status says how a message is sent, or that it has no body (RFC 9110, sections 6.4.1 and 15).
pub(crate) fn is_fixed(status: StatusCode) -> bool {
    matches!(status.as_u16(), 100..=199 | 204 | 205 | 206 | 304)
}
