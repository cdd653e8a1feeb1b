//! Streams of messages of gRPC on their way through the filters.

use bytes::{Bytes, BytesMut};
use celero_policy::{Exchange, MessageStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state of a request while a response that is held back needs it too.
#[derive(Clone)]
pub(crate) struct SharedExchange(Arc<Mutex<Exchange>>);

impl SharedExchange {
    pub(crate) fn new(exchange: Exchange) -> Self {
        Self(Arc::new(Mutex::new(exchange)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Exchange> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(self) -> Exchange {
        std::mem::take(&mut *self.lock())
    }
}

/// The messages of a call, if they are judged one at a time.
#[derive(Default)]
pub(crate) struct CallMessages {
    /// Whether the host calls the filters that judge them.
    pub(crate) enabled: bool,
    /// Those of the client.
    pub(crate) request: Option<MessageStream>,
    /// Those of the server.
    pub(crate) response: Option<MessageStream>,
    /// Whether one of them was denied.
    pub(crate) refused: Refused,
    /// Whether the end of the server's response was sent.
    pub(crate) response_ended: bool,
}

impl CallMessages {
    /// Whether the end of the client's messages has still to come.
    pub(crate) fn awaits_end(&self) -> bool {
        self.request.as_ref().is_some_and(|stream| !stream.has_ended())
    }
}

/// Whether a message was denied; the session with the client ends the response then.
#[derive(Clone, Default)]
pub(crate) struct Refused(Arc<AtomicBool>);

impl Refused {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Adds bytes that may be forwarded; most often they are the only ones.
pub(crate) fn append(passed: Bytes, more: Bytes) -> Bytes {
    if passed.is_empty() {
        return more;
    }
    let mut both = BytesMut::from(&passed[..]);
    both.extend_from_slice(&more);
    both.freeze()
}
