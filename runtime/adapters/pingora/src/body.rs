//! Buffers a request's body before a server is chosen.
//!
//! Pingora sends a body that was read early from its retry buffer, which holds [`RETRY_BUFFER`] bytes, through `request_body_filter`,
//! which may replace it. So the retry buffer only has to hold some bytes of the body: it is enabled for the last bytes of a body of
//! known length. Of a body of unknown length, at most [`RETRY_BUFFER`] bytes can be buffered.

use bytes::{Bytes, BytesMut};
use celero_policy::framing;
use http::{HeaderMap, header};
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use std::time::Duration;

/// The size of Pingora's retry buffer, in bytes.
const RETRY_BUFFER: usize = 64 << 10;

/// A body after buffering.
pub(crate) enum BufferResult {
    /// All of it.
    Whole(Bytes),
    /// It is larger than the limit. These bytes were read, and Pingora will not send them.
    TooLarge(Bytes),
}

/// Buffers a body of at most `limit` bytes, waiting up to `timeout` for each piece of it.
pub(crate) async fn buffer(session: &mut Session, limit: usize, timeout: Duration) -> Result<BufferResult> {
    let length = content_length(&session.req_header().headers);
    if length.is_some_and(|length| length > limit) {
        return Ok(BufferResult::TooLarge(Bytes::new()));
    }
    let most = if length.is_some() { limit } else { limit.min(RETRY_BUFFER) };
    let mut body = BytesMut::with_capacity(length.unwrap_or_default().min(RETRY_BUFFER));
    send_continue(session).await?;
    while !session.is_body_done() {
        if length.is_none_or(|length| length.saturating_sub(body.len()) <= RETRY_BUFFER) {
            session.enable_retry_buffering();
        }
        let Some(piece) = read(session, timeout).await? else { break };
        body.extend_from_slice(&piece);
        if body.len() > most {
            // Pingora sends what its retry buffer holds.
            let lost = session.get_retry_buffer().is_none();
            return Ok(BufferResult::TooLarge(if lost { body.freeze() } else { Bytes::new() }));
        }
    }
    Ok(BufferResult::Whole(body.freeze()))
}

async fn read(session: &mut Session, timeout: Duration) -> Result<Option<Bytes>> {
    match pingora::time::timeout(timeout, session.read_request_body()).await {
        Ok(piece) => piece.map_err(|error| error.into_down()),
        Err(_) => Error::e_explain(ErrorType::HTTPStatus(408), "the client is too slow in sending the body"),
    }
}

/// Sends `100 Continue` to a client that waits for it before it sends its body (RFC 9110, section 10.1.1).
async fn send_continue(session: &mut Session) -> Result<()> {
    if framing::expects_continue(session.req_header()) && !session.is_body_empty() {
        session.write_continue_response().await?;
    }
    session.req_header_mut().remove_header(&header::EXPECT);
    Ok(())
}

/// Returns the length of the body, if the head has it.
fn content_length(headers: &HeaderMap) -> Option<usize> {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}
