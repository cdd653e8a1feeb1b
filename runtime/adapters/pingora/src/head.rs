//! Pingora's heads as those that a policy reads and changes.
//!
//! Changes use Pingora's own methods, which keep the case of header names as it was received.

use celero_policy::canonical::{Fields, Head, ResponseHead};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, Version, request, response};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::proxy::Session;

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

/// Puts back the `Content-Length` of a request that has `Transfer-Encoding` too. Pingora removes it
/// before anything else sees the request, which the policy refuses (RFC 9112, section 6.1).
pub(crate) fn restore_content_length(session: &mut Session) {
    let head = session.req_header();
    if head.version >= Version::HTTP_2 || !head.headers.contains_key(TRANSFER_ENCODING) {
        return;
    }
    let raw = session.as_downstream().to_h1_raw();
    if let Some(value) = content_length(&raw) {
        // A value that is none is refused as well.
        let value = HeaderValue::from_bytes(value).unwrap_or(HeaderValue::from_static(""));
        PingoraRequestHead(session.req_header_mut()).set_field(&CONTENT_LENGTH, value);
    }
}

/// Returns the value of the first line of `Content-Length` in the bytes of a head.
fn content_length(head: &[u8]) -> Option<&[u8]> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at_checked(colon)?;
        name.eq_ignore_ascii_case(b"content-length").then(|| value.strip_prefix(b":"))?.map(<[u8]>::trim_ascii)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_found_in_the_bytes_of_a_head() {
        for (head, length) in [
            ("POST / HTTP/1.1\r\nhost: a\r\nContent-Length:  5 \r\n\r\n", Some("5")),
            ("POST / HTTP/1.1\ncontent-length:\n\n", Some("")),
            ("POST /content-length:5 HTTP/1.1\r\nx: content-length: 5\r\n\r\n", None),
        ] {
            assert_eq!(content_length(head.as_bytes()), length.map(str::as_bytes), "{head}");
        }
    }

    #[test]
    fn another_status_has_its_own_reason_phrase() {
        let mut head = ResponseHeader::build(200, None).unwrap();
        head.set_reason_phrase(Some("All is well")).unwrap();
        OfResponse(&mut head).set_status(StatusCode::NOT_FOUND);
        assert_eq!(head.get_reason_phrase(), Some("Not Found"));
    }
}
