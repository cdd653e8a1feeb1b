//! The state of a request on its way through the phases.

use crate::brief_entry;
use crate::clients::Client;
use crate::generation::Generation;
use crate::latency;
use crate::state::State;
use crate::status_class::class_of;
use celero_pingora::Guard;
use std::net::SocketAddr;
use std::sync::Arc;

/// The state of a request.
pub(crate) struct RequestState {
    pub(crate) state: Arc<State>,
    pub(crate) now: Arc<Generation>,
    pub(crate) guard: Guard,
    /// `None` until the request has been looked at.
    pub(crate) client: Option<Client>,
    /// The position of the route.
    pub(crate) route: Option<usize>,
    /// The status of gRPC in the response.
    pub(crate) grpc: Option<u16>,
    /// The index of the chosen upstream.
    pub(crate) upstream: Option<usize>,
    /// The last chosen server.
    pub(crate) server: Option<SocketAddr>,
    /// The servers to which a connection failed.
    pub(crate) failed: Vec<SocketAddr>,
    /// Why the proxy itself refused the request, in a word.
    pub(crate) refused: Option<&'static str>,
    /// Whether more requests are open than may be.
    pub(crate) overload: bool,
    /// Whether the request is not counted as finished.
    open: bool,
}

impl RequestState {
    /// Returns the state of a request that has just arrived, and counts it as open.
    pub(crate) fn new(state: Arc<State>, now: Arc<Generation>, guard: Guard) -> Self {
        let most = i64::try_from(now.config.limits.requests).unwrap_or(i64::MAX);
        let overload = state.metrics.began() > most;
        let (client, upstream, server, failed, refused) = (None, None, None, Vec::new(), None);
        Self {
            state,
            now,
            guard,
            client,
            route: None,
            grpc: None,
            upstream,
            server,
            failed,
            refused,
            overload,
            open: true,
        }
    }

    /// Counts the request as finished. Once, after its line was handed to the access log: a graceful shutdown waits for nothing else.
    pub(crate) fn ended(&mut self, status: Option<u16>, bytes: latency::Bytes) {
        if std::mem::take(&mut self.open) {
            let class = class_of(status, self.grpc, self.guard.answer().is_some());
            self.now.latency.finished(self.route, class, self.guard.elapsed(), bytes);
            self.state.metrics.ended(class, status, self.grpc);
            // The rest of a refused body may still arrive: that is no open request.
            self.guard.release();
        }
    }
}

impl Drop for RequestState {
    /// Logs and counts a request that was ended from outside.
    fn drop(&mut self) {
        if self.open {
            let draining = self.state.is_draining();
            if draining {
                self.state.metrics.was_cut_off();
            }
            if let Some(log) = &self.state.log {
                let reason = if draining { "the proxy ended" } else { "the client stopped sending the body" };
                let client = self.client.as_ref().map(|client| client.address.ip());
                log.line(brief_entry::brief(client, None, reason));
            }
            self.ended(None, latency::Bytes::default());
        }
    }
}
