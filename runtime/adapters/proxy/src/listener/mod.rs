//! Serves the connections of clients, within deadlines and bounds.
//!
//! Pingora's own loop reads 24 bytes in search of the HTTP/2 preface, without a deadline, before it answers anything, and each read
//! of a head may take a minute. The loops here (`http1.rs`, `http2.rs`) are Pingora's with what it lacks; requests are handled by a
//! [`HttpServerApp`] as before.

mod body_watch;
mod client_stream;
mod connections;
mod frame_budget;
mod head_scan;
mod http1;
mod http2;

pub(crate) use body_watch::BodyWatch;
pub(crate) use client_stream::ClientStream;

use crate::state::State;
use async_trait::async_trait;
use client_stream::HeadProgress;
use connections::Connections;
use pingora::apps::{HttpServerApp, ServerApp};
use pingora::protocols::Stream;
use pingora::server::ShutdownWatch;
use std::net::IpAddr;
use std::sync::Arc;

/// Serves the connections of one socket.
pub(crate) struct Listener<A> {
    app: Arc<A>,
    state: Arc<State>,
    connections: Arc<Connections>,
    h2c: bool,
}

impl<A> Listener<A> {
    /// Returns a listener whose requests `app` handles; clients may use HTTP/2 if `h2c` is set.
    pub(crate) fn new(app: A, state: Arc<State>, h2c: bool) -> Self {
        Self { app: Arc::new(app), state, connections: Arc::default(), h2c }
    }

    /// Counts and logs a head that was refused before a request was handled.
    fn report(&self, client: Option<IpAddr>, progress: &HeadProgress) {
        if let Some(status) = progress.refused() {
            self.state.refused_head(client, status);
        }
        if progress.flooded() {
            self.state.metrics.connection_refused();
        }
    }
}

#[async_trait]
impl<A: HttpServerApp + Send + Sync + 'static> ServerApp for Listener<A> {
    async fn process_new(self: &Arc<Self>, stream: Stream, shutdown: &ShutdownWatch) -> Option<Stream> {
        let now = self.state.current();
        let (timeouts, limits) = (*now.timeouts(), now.config.limits);
        drop(now);
        let socket = stream.get_socket_digest();
        let client = socket.as_ref().and_then(|socket| Some(socket.peer_addr()?.as_inet()?.ip()));
        let Some(_open) = Connections::open(&self.connections, client, &limits) else {
            self.state.metrics.connection_refused();
            return None;
        };
        let mut stream = ClientStream::new(stream, timeouts, limits);
        let progress = stream.progress();
        let preface = if self.h2c { stream.has_preface().await } else { Ok(false) };
        match preface {
            Ok(true) => http2::serve(&self.app, stream, shutdown, &timeouts, &limits).await,
            Ok(false) => http1::serve(&self.app, stream, shutdown).await,
            Err(error) => log::debug!("a connection ended before its first request: {error}"),
        }
        self.report(client, &progress);
        None
    }

    async fn cleanup(&self) {
        self.app.http_cleanup().await;
    }
}
