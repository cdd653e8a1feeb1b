//! Copies of requests for another upstream. Their responses are read and dropped; they are bounded
//! in number, bytes and time.
//!
//! Invariant: no request waits for its copy. Test:
//! `runtime/adapters/proxy/tests/proxy/route_actions.rs::nobody_waits_for_copies`.

use crate::config::CONNECTION_HEADERS;
use crate::generation::Generation;
use crate::upstreams::admission::Admitted;
use crate::upstreams::upstream::{Keys, Upstream};
use bytes::{Bytes, BytesMut};
use celero_pingora::MAX_INTERIM_RESPONSES;
use http::header::{CONTENT_LENGTH, EXPECT, HOST};
use http::{StatusCode, Version};
use pingora::connectors::http::Connector;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::http::client::HttpSession;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The number of copies at a time.
const COPIES: usize = 256;
/// The largest body that is copied, in bytes.
const LARGEST_BODY: usize = 64 << 10;
/// The largest body of a response that is read: then the connection is closed.
const LARGEST_RESPONSE: usize = 1 << 20;
/// The longest time of a copy, from sending it to the end of its response.
const MAX_DURATION: Duration = Duration::from_secs(30);

/// What sends copies.
pub(crate) struct Mirrors {
    connector: Arc<Connector>,
    permits: Arc<Semaphore>,
    counts: Arc<MirrorCounts>,
}

/// How many copies there were.
#[derive(Debug, Default)]
pub(crate) struct MirrorCounts {
    pub(crate) answered: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) skipped: AtomicU64,
}

/// A copy of a request that is not sent yet.
pub(crate) struct MirroredRequest {
    upstream: Arc<Upstream>,
    body: BytesMut,
    /// Whether the whole body has arrived.
    whole: bool,
    /// Held from the start of the request until its copy is answered, has failed or is skipped.
    _permit: OwnedSemaphorePermit,
    /// Held as long: a place among the open requests of the upstream, if they are bounded.
    _admitted: Option<Admitted>,
}

impl Default for Mirrors {
    fn default() -> Self {
        let permits = Arc::new(Semaphore::new(COPIES));
        Self { connector: Arc::new(Connector::new(None)), permits, counts: Arc::default() }
    }
}

impl Mirrors {
    pub(crate) fn counts(&self) -> &MirrorCounts {
        &self.counts
    }

    /// Begins a copy, if the route asks for one and there are not too many.
    pub(crate) fn begin(&self, now: &Generation, route: usize, has_body: bool) -> Option<MirroredRequest> {
        let mirror = now.routes().get(route)?.mirror.as_ref()?;
        if mirror.share < 1.0 && fastrand::f64() >= mirror.share {
            return None;
        }
        let upstream = Arc::clone(now.upstreams.get(mirror.upstream)?);
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let (Ok(permit), Ok(admitted)) = (permit, upstream.admission.admit_copy()) else {
            self.skipped();
            return None;
        };
        let body = BytesMut::new();
        Some(MirroredRequest { upstream, body, whole: !has_body, _permit: permit, _admitted: admitted })
    }

    /// Counts a copy that is not sent.
    pub(crate) fn skipped(&self) {
        self.counts.skipped.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends a copy of a request whose head this is, and waits for nothing.
    pub(crate) fn send(&self, copy: MirroredRequest, head: &RequestHeader, keys: Keys<'_>, now: &Generation) {
        let Some(server) = copy.upstream.choose(keys, &[]) else { return self.skipped() };
        let mut peer = copy.upstream.peer(server);
        peer.options.set_http_version(1, 1);
        now.apply_timeouts(&mut peer, None);
        let Ok(head) = head_of_copy(head, copy.body.len()) else { return self.skipped() };
        let (connector, counts) = (Arc::clone(&self.connector), Arc::clone(&self.counts));
        tokio::spawn(async move {
            let MirroredRequest { upstream, body, _permit, _admitted, .. } = copy;
            let done = timeout(MAX_DURATION, exchange(&connector, &peer, head, body.freeze())).await;
            let done = done.unwrap_or_else(|_| Err(late()));
            let counter = if done.is_ok() { &counts.answered } else { &counts.failed };
            counter.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = done {
                log::debug!("a copy for upstream {}, server {server}: {error}", upstream.name);
            }
        });
    }
}

impl MirroredRequest {
    /// Forgets the body: the request is sent again.
    pub(crate) fn again(&mut self, has_body: bool) {
        self.body.clear();
        self.whole = !has_body;
    }

    /// Takes a piece of the body. Returns `false` if the body is too large to be copied.
    pub(crate) fn take(&mut self, piece: &[u8], end: bool) -> bool {
        let fits = self.body.len().saturating_add(piece.len()) <= LARGEST_BODY;
        if fits {
            self.body.extend_from_slice(piece);
            self.whole |= end;
        }
        fits
    }

    /// Returns whether there is nothing to wait for.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }
}

/// Returns the head of the copy, in HTTP/1.1.
fn head_of_copy(head: &RequestHeader, body: usize) -> Result<RequestHeader> {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut copy = RequestHeader::build(head.method.clone(), path.as_bytes(), Some(head.headers.len()))?;
    copy.set_version(Version::HTTP_11);
    if let Some(authority) = head.uri.authority() {
        copy.insert_header(HOST, authority.as_str())?;
    }
    for (name, value) in &head.headers {
        let is_second_host = *name == HOST && copy.headers.contains_key(HOST);
        if !is_second_host && *name != EXPECT && !CONNECTION_HEADERS.contains(name) {
            copy.append_header(name.clone(), value.clone())?;
        }
    }
    if body > 0 || head.headers.contains_key(CONTENT_LENGTH) {
        copy.insert_header(CONTENT_LENGTH, body)?;
    }
    Ok(copy)
}

/// Sends a copy, and reads its response.
async fn exchange(connector: &Connector, peer: &HttpPeer, head: RequestHeader, body: Bytes) -> Result<()> {
    let (mut session, _) = connector.get_http_session(peer).await?;
    session.set_read_timeout(peer.options.read_timeout);
    session.set_write_timeout(peer.options.write_timeout);
    session.write_request_header(Box::new(head)).await?;
    if !body.is_empty() {
        session.write_request_body(body, true).await?;
    }
    session.finish_request_body().await?;
    let head = read_final_head(&mut session);
    match peer.options.read_timeout {
        Some(limit) => timeout(limit, head).await.map_err(|_| late())??,
        None => head.await?,
    }
    let mut length = 0_usize;
    while let Some(piece) = session.read_response_body().await? {
        length = length.saturating_add(piece.len());
        if length > LARGEST_RESPONSE {
            session.shutdown().await;
            return Ok(());
        }
    }
    connector.release_http_session(session, peer, peer.options.idle_timeout).await;
    Ok(())
}

/// Returns the error of a response that takes too long.
fn late() -> Box<Error> {
    Error::explain(ErrorType::ReadTimedout, "the response takes too long")
}

/// Reads the head of the final response. Pingora can't read a body before that.
async fn read_final_head(session: &mut HttpSession) -> Result<()> {
    for _ in 0..=MAX_INTERIM_RESPONSES {
        session.read_response_header().await?;
        let is_interim =
            |head: &ResponseHeader| head.status.is_informational() && head.status != StatusCode::SWITCHING_PROTOCOLS;
        if !session.response_header().is_some_and(is_interim) {
            return Ok(());
        }
    }
    Error::e_explain(ErrorType::InvalidHTTPHeader, "too many interim responses")
}
