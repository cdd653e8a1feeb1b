//! Serves the connections of clients, within deadlines and bounds.
//!
//! Pingora's own loop reads 24 bytes in search of the HTTP/2 preface, without a deadline, before it
//! answers anything, and each read of a head may take a minute. The loops here (`http1.rs`,
//! `http2.rs`) are Pingora's with what it lacks; requests are handled by a [`HttpServerApp`] as
//! before.

#[macro_use]
mod delegate_digests;

mod body_watch;
mod client_stream;
mod connections;
mod denial_log;
mod frame_budget;
mod frame_heads;
mod head_scan;
mod http1;
mod http2;
mod proxy_protocol;
mod stopping;
mod tls_socket;

pub(crate) use body_watch::BodyWatch;
pub(crate) use client_stream::ClientStream;

use crate::clients::{CONNECTION, PROXY_PROTOCOL, is_in};
use crate::generation::Generation;
use crate::metrics::counters::Event;
use crate::state::State;
use crate::tls::{accept, read_hello};
use async_trait::async_trait;
use celero_pingora::admit_connection;
use celero_policy::ClientConnection;
use client_stream::HeadProgress;
use connections::{Connections, Counted};
use denial_log::DenialLog;
use pingora::apps::{HttpServerApp, ServerApp};
use pingora::protocols::l4::socket::SocketAddr as Address;
use pingora::protocols::l4::stream::Stream as Socket;
use pingora::protocols::{ALPN, GetSocketDigest, SocketDigest, Stream};
use pingora::server::ShutdownWatch;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use stopping::stopping;
use tls_socket::{RecordBudget, TlsSocket};
use tokio::time::{Instant, timeout, timeout_at};

/// Serves the connections of one socket.
pub(crate) struct Listener<A> {
    app: Arc<A>,
    state: Arc<State>,
    connections: Arc<Connections>,
    denials: DenialLog,
    protocol: Protocol,
    /// The position in the configuration. `None`: the listener for operators.
    number: Option<usize>,
}

/// What clients of a listener speak.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Protocol {
    /// HTTP/1 without TLS.
    Http1,
    /// HTTP/1 or HTTP/2 without TLS.
    Plain,
    /// TLS as in the configuration, and in it what was agreed on.
    Tls,
}

impl<A> Listener<A> {
    /// Returns a listener whose requests `app` handles.
    pub(crate) fn new(app: Arc<A>, state: Arc<State>, protocol: Protocol, number: Option<usize>) -> Self {
        Self { app, state, connections: Arc::default(), denials: DenialLog::default(), protocol, number }
    }

    /// Reads the header of the PROXY protocol, if the other end is a load balancer that sends one.
    /// The connection then has the two ends that the header names. Returns `None` if there is no
    /// header, or it takes longer than a head may.
    async fn named_by_balancer(&self, mut socket: Box<Socket>, now: &Generation) -> Option<Box<Socket>> {
        let Some(listener) = self.number.and_then(|number| now.config.listeners.get(number)) else {
            return Some(socket);
        };
        let peer = peer_of(&*socket);
        if !peer.is_some_and(|peer| is_in(&listener.proxy_protocol, peer)) {
            return Some(socket);
        }
        let failure = match timeout(now.timeouts().head, proxy_protocol::read(&mut *socket)).await {
            Ok(Ok(None)) => return Some(socket),
            Ok(Ok(Some(ends))) => {
                let digest = SocketDigest::from_raw_fd(socket.as_raw_fd());
                let _ = digest.peer_addr.set(Some(Address::Inet(ends.source)));
                let _ = digest.local_addr.set(Some(Address::Inet(ends.destination)));
                // That this is known tells requests that a header named both ends.
                let _ = digest.original_dst.set(Some(Address::Inet(ends.destination)));
                socket.set_socket_digest(digest);
                return Some(socket);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the header of the PROXY protocol took too long".to_owned(),
        };
        log::debug!("{failure}");
        self.state.metrics.count(Event::ProxyHeaderRefused);
        None
    }

    /// Runs the phase `connection` of the policy. Returns what it holds until the connection ends,
    /// or `None` if a rule denies the connection, or the rules read what the client says when it
    /// begins TLS, and it does not say it before the deadline.
    async fn admitted(
        &self,
        socket: &mut Socket,
        now: &Generation,
        deadline: Instant,
    ) -> Option<Option<ClientConnection>> {
        if self.number.is_none() || !now.policy.has_connection_rules() {
            return Some(None);
        }
        let digest = socket.get_socket_digest();
        let is_named = digest.is_some_and(|digest| digest.original_dst.get().is_some());
        let via = if is_named { PROXY_PROTOCOL } else { CONNECTION };
        let hello = match self.protocol {
            Protocol::Tls if now.policy.reads_tls_hello() => match timeout_at(deadline, read_hello(socket)).await {
                Ok(Ok(hello)) => Some(hello),
                Ok(Err(error)) => return self.no_handshake(&error.to_string()),
                Err(_) => return self.no_handshake("it took too long"),
            },
            _ => None,
        };
        match admit_connection(&now.policy, socket, via, hello) {
            Ok(connection) => Some(Some(connection)),
            Err(rule) => {
                self.denials.denied(&self.state, peer_of(socket), &rule);
                None
            }
        }
    }

    /// Does the handshake of TLS, if the listener has it. Returns `None` if it fails, or takes longer than a head may.
    async fn secured(
        &self,
        socket: Box<Socket>,
        now: &Generation,
        deadline: Instant,
        records: &Arc<RecordBudget>,
    ) -> Option<Stream> {
        let (Protocol::Tls, Some(number)) = (self.protocol, self.number) else { return Some(socket) };
        let handshake = accept(now.tls(number)?, TlsSocket::new(*socket, Arc::clone(records)));
        match timeout_at(deadline, handshake).await {
            Ok(Ok(stream)) => Some(Box::new(stream)),
            Ok(Err(error)) => self.no_handshake(&error.to_string()),
            Err(_) => self.no_handshake("it took too long"),
        }
    }

    /// Counts and logs a handshake that failed.
    fn no_handshake<T>(&self, why: &str) -> Option<T> {
        log::debug!("a TLS handshake failed: {why}");
        self.state.metrics.count(Event::HandshakeFailed);
        None
    }

    /// Counts and logs a head that was refused before a request was handled.
    fn report(&self, client: Option<IpAddr>, progress: &HeadProgress) {
        if let Some(status) = progress.refused() {
            self.state.refused_head(client, status);
        }
        if progress.flooded() {
            self.state.metrics.count(Event::ConnectionRefused);
        }
    }
}

#[async_trait]
impl<A: HttpServerApp + Send + Sync + 'static> ServerApp for Listener<A> {
    async fn process_new(self: &Arc<Self>, stream: Stream, shutdown: &ShutdownWatch) -> Option<Stream> {
        let now = self.state.current();
        let (timeouts, limits) = (*now.timeouts(), now.config.limits);
        let _counted = Counted::new(&self.state.connections);
        let Some(mut open) = Connections::open(&self.connections, &limits) else {
            self.state.metrics.count(Event::ConnectionRefused);
            return None;
        };
        let socket = stream.into_any().downcast::<Socket>().ok()?;
        let mut socket = self.named_by_balancer(socket, &now).await?;
        let client = peer_of(&*socket);
        if !client.is_none_or(|client| open.is_within(client, &limits)) {
            self.state.metrics.count(Event::ConnectionRefused);
            return None;
        }
        let deadline = after(timeouts.head);
        let _admitted = self.admitted(&mut socket, &now, deadline).await?;
        let records = Arc::default();
        let stream = self.secured(socket, &now, deadline, &records).await?;
        drop(now);
        let agreed = stream.selected_alpn_proto();
        let mut stream = ClientStream::new(stream, timeouts, limits, Arc::clone(&records));
        let progress = stream.progress();
        let stops = stopping(shutdown);
        let served = async {
            let http2 = match self.protocol {
                Protocol::Http1 => Ok(false),
                Protocol::Plain => stream.has_preface().await,
                Protocol::Tls => Ok(agreed == Some(ALPN::H2)),
            };
            match http2 {
                Ok(true) => http2::serve(&self.app, stream, shutdown, &timeouts, &limits).await,
                Ok(false) => http1::serve(&self.app, stream, shutdown).await,
                Err(error) => log::debug!("a connection ended before its first request: {error}"),
            }
        };
        tokio::pin!(served);
        tokio::select! {
            biased;
            () = &mut served => {}
            () = stops => {
                // What waits for a request notices that it does not wait for long any more.
                progress.expect_last();
                served.await;
            }
        }
        self.report(client, &progress);
        if records.is_spent() {
            self.state.metrics.count(Event::ConnectionRefused);
        }
        None
    }

    /// Pingora would close the connections here on which no request was read, also if one is on its
    /// way. They have their own end: see [`HeadProgress::expect_last`].
    async fn cleanup(&self) {}
}

/// Returns the address of the other end.
fn peer_of(socket: &impl GetSocketDigest) -> Option<IpAddr> {
    Some(socket.get_socket_digest()?.peer_addr()?.as_inet()?.ip())
}

fn after(time: std::time::Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now)
}
