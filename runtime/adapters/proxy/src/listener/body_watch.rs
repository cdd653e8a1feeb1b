//! Notices an HTTP/2 request whose body has stopped to arrive.
//!
//! Pingora waits for the rest of a body of HTTP/2 without a time limit once the server's response is complete.

use pingora::proxy::Session;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Sender;
use tokio::time::{Instant, timeout_at};

/// The last sign of life of a request's body; shared by the connection and the phases of the
/// request, through the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct BodyWatch {
    /// `None`: no piece of the body is awaited.
    last: Arc<Sender<Option<Instant>>>,
    timeout: Duration,
}

impl BodyWatch {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { last: Arc::new(Sender::new(None)), timeout }
    }

    /// Notes that the next piece of a body is awaited from now on, or, with `end`, no further piece.
    pub(crate) fn awaits(session: &Session, end: bool) {
        if let Some(watch) = session.req_header().extensions.get::<Self>() {
            watch.last.send_replace((!end).then(Instant::now));
        }
    }

    /// Returns when a piece has been awaited for too long.
    pub(super) async fn stalled(self) {
        let mut changes = self.last.subscribe();
        loop {
            let last = *changes.borrow_and_update();
            // The sender lives as long as this does.
            let Some(end) = last.and_then(|last| last.checked_add(self.timeout)) else {
                let _ = changes.changed().await;
                continue;
            };
            if timeout_at(end, changes.changed()).await.is_err() {
                return;
            }
        }
    }
}
