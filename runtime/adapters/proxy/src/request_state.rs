//! The state of a request on its way through the phases.

use crate::brief_entry;
use crate::generation::Generation;
use crate::state::State;
use celero_pingora::Guard;
use std::net::SocketAddr;
use std::sync::Arc;

/// The state of a request.
pub(crate) struct RequestState {
    pub(crate) state: Arc<State>,
    pub(crate) now: Arc<Generation>,
    pub(crate) guard: Guard,
    /// The index of the chosen upstream.
    pub(crate) upstream: Option<usize>,
    /// The last chosen server.
    pub(crate) server: Option<SocketAddr>,
    /// The servers to which a connection failed.
    pub(crate) failed: Vec<SocketAddr>,
    /// Whether the request is not counted as finished.
    open: bool,
}

impl RequestState {
    /// Returns the state of a request that has just arrived, and counts it as open.
    pub(crate) fn new(state: Arc<State>, now: Arc<Generation>, guard: Guard) -> Self {
        state.metrics.began();
        Self { state, now, guard, upstream: None, server: None, failed: Vec::new(), open: true }
    }

    /// Counts the request as finished. Once, after its line was handed to the access log: a graceful shutdown waits for nothing else.
    pub(crate) fn ended(&mut self, status: Option<u16>) {
        if std::mem::take(&mut self.open) {
            self.state.metrics.ended(status, self.guard.elapsed());
        }
    }
}

impl Drop for RequestState {
    /// Logs and counts a request that was ended from outside.
    fn drop(&mut self) {
        if self.open {
            if let Some(log) = &self.state.log {
                let client = self.guard.exchange().peer().map(|peer| peer.ip());
                log.line(brief_entry::brief(client, None, "the client stopped sending the body"));
            }
            self.ended(None);
        }
    }
}
