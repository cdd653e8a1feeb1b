//! Whether the client of a request is still there while nothing is read from it or sent to it.
//!
//! Invariant: a request whose client is gone waits for no delay. Test:
//! `runtime/adapters/proxy/tests/proxy/delays.rs::clients_that_leave_free_their_places`.
//!
//! Invariant: a request whose client is gone waits for no connection. Test:
//! `runtime/adapters/proxy/tests/proxy/pools.rs::clients_that_leave_wait_for_no_connection`.

use pingora::proxy::Session;
use std::time::Duration;
use tokio::time::sleep;

/// The time between two looks at the connection.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The states of TCP in which the client has closed the connection (`TCP_CLOSE` and `TCP_CLOSE_WAIT` of Linux).
const CLOSED: [u8; 2] = [7, 8];

/// Returns when the client has reset the stream (of HTTP/2) or closed the connection (of HTTP/1, on
/// Linux), and otherwise never. Nothing of the request's body is read.
///
/// For hosts that let a request wait before it goes to a server. The future may be dropped at any time.
pub async fn client_gone(session: &mut Session) {
    if session.is_http2() {
        // The stream is awaited whether its body has arrived or not.
        drop(session.read_body_or_idle(true).await);
        return;
    }
    // Nothing is read: what follows the head may be the body, or the next request.
    let Some(socket) = session.digest().and_then(|digest| digest.socket_digest.clone()) else {
        return std::future::pending().await;
    };
    loop {
        sleep(POLL_INTERVAL).await;
        if socket.tcp_info().is_some_and(|info| CLOSED.contains(&info.tcpi_state)) {
            return;
        }
    }
}
