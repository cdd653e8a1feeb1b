//! Heads of servers' responses that a client could read in another way than the proxy, and what
//! clients of HTTP/1.0 don't know.

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode, Version};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

/// Refuses a response whose framing is not what the client takes it for, and removes what its
/// status or the client's version forbids. The response has the proxy's version then.
///
/// # Errors
/// Returns an error of the server, for which clients get 502, if it switches protocols although it
/// was not asked to (RFC 9110, section 15.2.2), or has a `Transfer-Encoding` other than one
/// `chunked` (RFC 9112, section 6.1: the proxy asks for no other). A response of HTTP/1.0 may have
/// neither.
pub(crate) fn frame(session: &mut Session, response: &mut ResponseHeader) -> Result<()> {
    if response.status == StatusCode::SWITCHING_PROTOCOLS && !session.is_upgrade_req() {
        return malformed("a switch of protocols that was not asked for");
    }
    if !is_chunked_or_absent(&response.headers) {
        return malformed("a transfer-encoding other than chunked");
    }
    // Pingora reads chunks, but no other protocol, after a head of HTTP/1.0.
    if response.version < Version::HTTP_11 {
        if response.status == StatusCode::SWITCHING_PROTOCOLS {
            return malformed("a switch of protocols in HTTP/1.0");
        }
        if response.headers.contains_key(TRANSFER_ENCODING) {
            return malformed("a transfer-encoding in HTTP/1.0");
        }
    }
    set_own_version(response);
    if matches!(response.status, StatusCode::SWITCHING_PROTOCOLS | StatusCode::NO_CONTENT) {
        // RFC 9110, section 8.6, and RFC 9112, section 6.1.
        response.remove_header(&CONTENT_LENGTH);
        response.remove_header(&TRANSFER_ENCODING);
    } else if session.req_header().version < Version::HTTP_11 && !response.headers.contains_key(CONTENT_LENGTH) {
        // The body ends with the connection: this version has no chunks (RFC 9112, section 6.1).
        response.remove_header(&TRANSFER_ENCODING);
        session.set_keepalive(None);
    }
    Ok(())
}

/// Gives a response of HTTP/1.0 the proxy's own version (RFC 9112, section 2.3).
pub(crate) fn set_own_version(response: &mut ResponseHeader) {
    if response.version < Version::HTTP_11 {
        response.set_version(Version::HTTP_11);
    }
}

/// The most interim responses to a request: a server could keep a thread busy with them.
pub const MAX_INTERIM_RESPONSES: u32 = 100;

/// Counts an interim response (RFC 9110, section 15.2).
///
/// # Errors
/// Returns an error of the server if there were too many.
pub(crate) fn count_interim(count: &mut u32) -> Result<()> {
    *count = count.saturating_add(1);
    if *count > MAX_INTERIM_RESPONSES { malformed("too many interim responses") } else { Ok(()) }
}

fn is_chunked_or_absent(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(TRANSFER_ENCODING).iter();
    let first = lines.next();
    first.is_none_or(|value| value.as_bytes().eq_ignore_ascii_case(b"chunked")) && lines.next().is_none()
}

/// Fails with words as the type of the error. Unlike the context of an error, which may have bytes
/// of the server, a type can always be logged.
fn malformed(words: &'static str) -> Result<()> {
    Err(Error::new(ErrorType::CustomCode(words, 502)).into_up())
}
