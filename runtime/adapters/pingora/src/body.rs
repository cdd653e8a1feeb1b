//! Buffers a request's body before a server is chosen.

use crate::body_clock::{BodyClock, too_slow};
use bytes::{Bytes, BytesMut};
use celero_policy::{BodyBuffering, BufferState, expects_continue};
use http::{HeaderMap, header};
use pingora::Result;
use pingora::proxy::Session;

/// The capacity with which buffering starts, in bytes. A head can announce more than the client sends.
const FIRST_CAPACITY: usize = 64 << 10;

/// A body after buffering.
pub(crate) struct Buffered {
    /// What was read of the body.
    pub(crate) bytes: Bytes,
    pub(crate) too_large: bool,
}

/// Buffers a body, as long as the client is fast enough for `clock`. Nothing is read of a body
/// whose head says that it is too large; any other body is read up to the first piece beyond the
/// limit.
pub(crate) async fn buffer(session: &mut Session, buffering: BodyBuffering, clock: &mut BodyClock) -> Result<Buffered> {
    let length = content_length(&session.req_header().headers);
    if length.is_some_and(|length| buffering.refuses(length)) {
        return Ok(Buffered { bytes: Bytes::new(), too_large: true });
    }
    // The client need not be told to send what no rule reads.
    if buffering.state(0, false) == BufferState::Ready {
        return Ok(Buffered { bytes: Bytes::new(), too_large: false });
    }
    let capacity = length.and_then(|length| usize::try_from(length).ok()).unwrap_or_default().min(buffering.limit());
    let mut body = BytesMut::with_capacity(capacity.min(FIRST_CAPACITY));
    send_continue(session).await?;
    let mut ended = session.is_body_done();
    loop {
        match buffering.state(body.len(), ended) {
            BufferState::More => {}
            state => return Ok(Buffered { bytes: body.freeze(), too_large: state == BufferState::TooLarge }),
        }
        match read(session, clock).await? {
            Some(piece) => body.extend_from_slice(&piece),
            None => ended = true,
        }
        ended |= session.is_body_done();
    }
}

async fn read(session: &mut Session, clock: &mut BodyClock) -> Result<Option<Bytes>> {
    let Ok(piece) = pingora::time::timeout(clock.timeout(), session.read_request_body()).await else {
        return too_slow();
    };
    let piece = piece.map_err(|error| error.into_down())?;
    clock.take(piece.as_ref().map_or(0, Bytes::len))?;
    Ok(piece)
}

/// Sends `100 Continue` to a client that waits for it before it sends its body (RFC 9110, section 10.1.1).
async fn send_continue(session: &mut Session) -> Result<()> {
    if expects_continue(session.req_header()) && !session.is_body_empty() {
        session.write_continue_response().await?;
    }
    session.req_header_mut().remove_header(&header::EXPECT);
    Ok(())
}

/// Returns the length of the body, if the head has it.
fn content_length(headers: &HeaderMap) -> Option<u64> {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}
