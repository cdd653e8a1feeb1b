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

use crate::generation::Generation;
use crate::state::State;
use crate::tls::accept;
use async_trait::async_trait;
use client_stream::HeadProgress;
use connections::Connections;
use pingora::apps::{HttpServerApp, ServerApp};
use pingora::protocols::l4::stream::Stream as Socket;
use pingora::protocols::{ALPN, Stream};
use pingora::server::ShutdownWatch;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::timeout;

/// Serves the connections of one socket.
pub(crate) struct Listener<A> {
    app: Arc<A>,
    state: Arc<State>,
    connections: Arc<Connections>,
    protocol: Protocol,
}

/// What clients of a listener speak.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Protocol {
    /// HTTP/1 without TLS.
    Http1,
    /// HTTP/1 or HTTP/2 without TLS.
    Plain,
    /// TLS as the listener with this number in the configuration, and in it what was agreed on.
    Tls(usize),
}

impl<A> Listener<A> {
    /// Returns a listener whose requests `app` handles.
    pub(crate) fn new(app: A, state: Arc<State>, protocol: Protocol) -> Self {
        Self { app: Arc::new(app), state, connections: Arc::default(), protocol }
    }

    /// Does the handshake of TLS, if the listener has it. Returns `None` if it fails, or takes longer than a head may.
    async fn secured(&self, stream: Stream, now: &Generation) -> Option<Stream> {
        let Protocol::Tls(number) = self.protocol else { return Some(stream) };
        let socket = stream.into_any().downcast::<Socket>().ok()?;
        let handshake = accept(now.tls(number)?, *socket);
        let failure = match timeout(now.timeouts().head, handshake).await {
            Ok(Ok(stream)) => return Some(Box::new(stream)),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it took too long".to_owned(),
        };
        log::debug!("a TLS handshake failed: {failure}");
        self.state.metrics.handshake_failed();
        None
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
        let socket = stream.get_socket_digest();
        let client = socket.as_ref().and_then(|socket| Some(socket.peer_addr()?.as_inet()?.ip()));
        let Some(_open) = Connections::open(&self.connections, client, &limits) else {
            self.state.metrics.connection_refused();
            return None;
        };
        let stream = self.secured(stream, &now).await?;
        drop(now);
        let agreed = stream.selected_alpn_proto();
        let mut stream = ClientStream::new(stream, timeouts, limits);
        let progress = stream.progress();
        let http2 = match self.protocol {
            Protocol::Http1 => Ok(false),
            Protocol::Plain => stream.has_preface().await,
            Protocol::Tls(_) => Ok(agreed == Some(ALPN::H2)),
        };
        match http2 {
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
