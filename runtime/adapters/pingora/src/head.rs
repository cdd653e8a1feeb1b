//! Pingora's heads as those that a policy reads and changes.
//!
//! Changes use Pingora's own methods, which keep the case of header names as it was received.

use celero_policy::canonical::{Fields, Head, ResponseHead};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, Version, request, response};
use pingora::http::{RequestHeader, ResponseHeader};

/// Lets a policy change a Pingora request head. Use it to run `Policy::request` without a session, as a replay does.
pub struct PingoraRequestHead<'s>(pub &'s mut RequestHeader);

/// The head of a response.
pub(crate) struct OfResponse<'s>(pub(crate) &'s mut ResponseHeader);

macro_rules! fields {
    ($($head:ty)*) => {$(
        impl Fields for $head {
            fn headers(&self) -> &HeaderMap {
                &self.0.headers
            }

            fn set_field(&mut self, name: &HeaderName, value: HeaderValue) {
                if self.0.insert_header(name.clone(), value).is_err() {
                    // A value of the client must not pass for the policy's.
                    self.0.remove_header(name);
                }
            }

            fn add_field(&mut self, name: &HeaderName, value: HeaderValue) {
                if let Err(error) = self.0.append_header(name.clone(), value) {
                    log::warn!("the header {name} could not be added: {error}");
                }
            }

            fn remove_field(&mut self, name: &HeaderName) {
                self.0.remove_header(name);
            }
        }
    )*};
}

fields! { PingoraRequestHead<'_> OfResponse<'_> }

impl Head for PingoraRequestHead<'_> {
    fn parts(&self) -> &request::Parts {
        self.0
    }

    /// Pingora's URI has only the path of an absolute-form target, and replaces what is not UTF-8.
    fn raw_target(&self) -> Option<&[u8]> {
        (self.0.version < Version::HTTP_2).then(|| self.0.raw_path())
    }

    fn set_uri(&mut self, uri: Uri) {
        self.0.set_uri(uri);
    }
}

impl ResponseHead for OfResponse<'_> {
    fn parts(&self) -> &response::Parts {
        self.0
    }

    fn set_status(&mut self, status: StatusCode) {
        match self.0.set_status(status) {
            // The server's reason phrase belongs to its status. `None` is always accepted.
            Ok(()) => {
                let _ = self.0.set_reason_phrase(None);
            }
            Err(error) => log::warn!("the status {status} could not be set: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_status_has_its_own_reason_phrase() {
        let mut head = ResponseHeader::build(200, None).unwrap();
        head.set_reason_phrase(Some("All is well")).unwrap();
        OfResponse(&mut head).set_status(StatusCode::NOT_FOUND);
        assert_eq!(head.get_reason_phrase(), Some("Not Found"));
    }
}
