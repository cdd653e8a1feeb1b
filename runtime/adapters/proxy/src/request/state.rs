//! The state of a request on its way through the phases.

use crate::clients::Client;
use crate::config::Retry;
use crate::generation::Generation;
use crate::logs::brief_entry;
use crate::metrics::latency;
use crate::mirror::MirroredRequest;
use crate::request::content_clock::ContentClock;
use crate::request::status_class::class_of;
use crate::state::State;
use crate::upstreams::admission::Admitted;
use crate::upstreams::connections::{ConnectionPermit, PoolExhausted, ServerConnections};
use crate::upstreams::servers::OpenRequest;
use crate::upstreams::upstream::{Keys, Upstream};
use celero_pingora::Guard;
use http::request::Parts;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

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
    /// The request as one of those of the upstream, if they are bounded.
    pub(crate) admitted: Option<Admitted>,
    /// The last chosen server.
    pub(crate) server: Option<SocketAddr>,
    /// The request as one that this server has not answered yet.
    pub(crate) at_server: Option<OpenRequest>,
    /// Its permit to use a connection to this server.
    pub(crate) connection_permit: Option<ConnectionPermit>,
    /// How long it has waited for connections to servers, in all.
    waited: Duration,
    /// How often no connection could be opened, since the last one that it had, because as many were open as may be.
    pub(crate) pool_exhausted: u32,
    /// The servers that failed.
    pub(crate) failed: Vec<SocketAddr>,
    /// How many connections failed.
    pub(crate) failed_connections: usize,
    /// How often the request was sent again because a server failed that had accepted it.
    pub(crate) retries: usize,
    /// How often the request was sent again because a kept connection was closed.
    pub(crate) repeated: usize,
    /// Whether this server has sent the head of a response that is no failure.
    pub(crate) answered: bool,
    /// The time for the next piece of the response that has content; `None` before a server is chosen.
    pub(crate) content: Option<ContentClock>,
    /// Whether the response of the server is dropped, and another server is tried.
    pub(crate) retry_status: bool,
    /// A copy that was not sent yet.
    pub(crate) copy: Option<MirroredRequest>,
    /// Whether the request has a body.
    pub(crate) has_body: bool,
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
        Self {
            state,
            now,
            guard,
            client: None,
            route: None,
            grpc: None,
            upstream: None,
            admitted: None,
            server: None,
            at_server: None,
            connection_permit: None,
            waited: Duration::ZERO,
            pool_exhausted: 0,
            failed: Vec::new(),
            failed_connections: 0,
            retries: 0,
            repeated: 0,
            answered: false,
            content: None,
            retry_status: false,
            copy: None,
            has_body: false,
            refused: None,
            overload,
            open: true,
        }
    }

    /// Returns what decides where the request with this head goes.
    pub(crate) fn keys<'r>(&'r self, head: &'r Parts) -> Keys<'r> {
        let client = self.client.as_ref().map(|client| client.address.ip());
        Keys { head, client, exchange: self.guard.exchange() }
    }

    /// Returns the chosen upstream.
    pub(crate) fn upstream(&self) -> Option<&Arc<Upstream>> {
        self.now.upstreams.get(self.upstream?)
    }

    /// Returns when another server is tried.
    pub(crate) fn retry(&self) -> Option<&Retry> {
        self.now.routes().get(self.route?)?.retry.as_ref()
    }

    /// Waits until the request may have a connection to the server that was chosen.
    pub(crate) async fn await_connection(&mut self, connections: &ServerConnections) -> Result<(), PoolExhausted> {
        self.connection_permit = None;
        let Some(upstream) = self.upstream() else { return Ok(()) };
        let start = Instant::now();
        let end = start.checked_add(upstream.wait().saturating_sub(self.waited)).unwrap_or(start);
        let paused = match self.pool_exhausted {
            0 => Ok(()),
            tries => connections.pause(tries, end).await,
        };
        let permit = match paused {
            Ok(()) => connections.permit(end).await,
            Err(exhausted) => Err(exhausted),
        };
        self.waited = self.waited.saturating_add(start.elapsed());
        match permit {
            Ok(permit) => self.connection_permit = Some(permit),
            Err(_) => {
                connections.refuse();
                self.refused = Some("connections");
                return Err(PoolExhausted);
            }
        }
        Ok(())
    }

    /// Notes that the server failed that was asked last.
    pub(crate) fn server_failed(&self) {
        if let (Some(upstream), Some(server)) = (self.upstream(), self.server) {
            upstream.failed(server);
        }
    }

    /// Counts the request as finished. Once, after its line was handed to the access log: a
    /// graceful shutdown waits for nothing else.
    pub(crate) fn ended(&mut self, status: Option<u16>, bytes: latency::Bytes) {
        if std::mem::take(&mut self.open) {
            let class = class_of(status, self.grpc, self.guard.answer().is_some());
            self.now.latency.finished((self.route, self.upstream), class, self.guard.elapsed(), bytes);
            self.state.metrics.ended(class, status, self.grpc);
            self.at_server = None;
            self.connection_permit = None;
            self.admitted = None;
            // The rest of a refused body may still arrive: that is no open request.
            self.guard.release();
        }
    }
}

impl Drop for RequestState {
    /// Logs and counts a request that was ended from outside.
    fn drop(&mut self) {
        if self.open {
            let draining = self.state.is_draining() || self.state.is_stopping();
            if let Some(log) = &self.state.log {
                let reason = if draining { "the proxy ended" } else { "the client stopped sending the body" };
                let client = self.client.as_ref().map(|client| client.address.ip());
                log.line(brief_entry::brief(client, None, reason));
            }
            self.ended(None, latency::Bytes::default());
            if draining {
                self.state.metrics.was_cut_off();
            }
        }
    }
}
