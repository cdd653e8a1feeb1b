//! Gathers a request's body before a server is chosen, and hands it on afterwards.
//!
//! Pingora sends a body that was read early from its buffer for retries, which holds [`REPLAY`] bytes, and through
//! `request_body_filter`, which may put anything in its place. So that buffer only has to hold some of the body: it is switched on for the
//! last bytes of a body of known length. Of a body whose length is not known beforehand no more than [`REPLAY`] bytes can be gathered.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use std::time::Duration;

/// The size of Pingora's buffer for retries.
const REPLAY: usize = 64 << 10;

/// What came of a body.
pub(crate) enum Gathered {
    /// All of it.
    Whole(Bytes),
    /// It is larger than allowed; this much was read, which Pingora will not send of itself before the rest.
    TooLarge(Bytes),
}

/// Reads the body of at most `limit` bytes, waiting up to `patience` for each piece of it.
pub(crate) async fn gather(session: &mut Session, limit: usize, patience: Duration) -> Result<Gathered> {
    let length = content_length(&session.req_header().headers);
    if length.is_some_and(|length| length > limit) {
        return Ok(Gathered::TooLarge(Bytes::new()));
    }
    let most = if length.is_some() { limit } else { limit.min(REPLAY) };
    let mut body = BytesMut::with_capacity(length.unwrap_or_default().min(REPLAY));
    expect_no_more(session).await?;
    while !session.is_body_done() {
        if length.is_none_or(|length| length.saturating_sub(body.len()) <= REPLAY) {
            session.enable_retry_buffering();
        }
        let Some(piece) = read(session, patience).await? else { break };
        body.extend_from_slice(&piece);
        if body.len() > most {
            // What is in Pingora's buffer it sends itself.
            let lost = session.get_retry_buffer().is_none();
            return Ok(Gathered::TooLarge(if lost { body.freeze() } else { Bytes::new() }));
        }
    }
    Ok(Gathered::Whole(body.freeze()))
}

async fn read(session: &mut Session, patience: Duration) -> Result<Option<Bytes>> {
    match pingora::time::timeout(patience, session.read_request_body()).await {
        Ok(piece) => piece.map_err(|error| error.into_down()),
        Err(_) => Error::e_explain(ErrorType::HTTPStatus(408), "the client is too slow in sending the body"),
    }
}

/// A client that waits to be told to send its body is told so, once.
async fn expect_no_more(session: &mut Session) -> Result<()> {
    let waits =
        session.req_header().headers.get(header::EXPECT).is_some_and(|value| value.as_bytes() == b"100-continue");
    if waits {
        session.write_continue_response().await?;
        session.req_header_mut().remove_header(&header::EXPECT);
    }
    Ok(())
}

/// The length that the head announces, if it does.
fn content_length(headers: &HeaderMap) -> Option<usize> {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}
