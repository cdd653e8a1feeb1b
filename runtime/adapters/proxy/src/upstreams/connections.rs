//! The connections to one server: how many are open, and how many there may be.
//!
//! A request of HTTP/1.1 has a connection for itself, so a bound on the connections is one on the
//! requests at the server: each takes a permit before it is sent, and waits for one if there is
//! none. With a permit, Pingora's pool has an unused connection, or there are fewer connections
//! than there may be. In HTTP/2 there are several permits for a connection, but the server may
//! allow fewer requests, and Pingora may open another connection although one has room. So new
//! connections are counted, too, and refused beyond the bound: the request then tries again for as
//! long as it may wait.
//!
//! Invariant: a connection is counted before it is opened, and used only where it is counted
//! (`ServerConnections::apply`). Test:
//! `runtime/adapters/proxy/tests/proxy/pools.rs::no_more_connections_than_the_bound`.

use crate::config::Pool;
use pingora::upstreams::peer::{HttpPeer, Tracer, Tracing};
use pingora::{Error, ErrorType, Result};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpSocket;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The error of a connection that is not opened because as many are open as may be.
pub(crate) const POOL_EXHAUSTED: ErrorType = ErrorType::Custom("PoolExhausted");

/// The longest pause of a request that has a permit but no connection. The pauses double, from 2 ms.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The connections to a server.
#[derive(Debug)]
pub(crate) struct ServerConnections {
    /// Not that of any other server of this process, also of the same address. Pingora uses a
    /// connection again only for requests with the same number.
    id: u64,
    bound: Option<Bound>,
    /// Open connections, and those that are being opened.
    open: AtomicUsize,
    /// Requests that wait for a permit.
    waiting: AtomicUsize,
    counters: Arc<ConnectionCounters>,
}

/// What is counted of the connections to all servers of an upstream, also to those that it has no more.
#[derive(Debug, Default)]
pub(crate) struct ConnectionCounters {
    opened: AtomicU64,
    refused: AtomicU64,
}

impl ConnectionCounters {
    /// Returns how many connections were opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// Returns how many requests waited in vain.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
struct Bound {
    connections: usize,
    /// One for each request that the server may have at a time.
    permits: Arc<Semaphore>,
}

/// The permit of a request to use a connection to a server; empty without a bound.
#[derive(Debug)]
pub(crate) struct ConnectionPermit(
    #[expect(dead_code, reason = "held until it is dropped")] Option<OwnedSemaphorePermit>,
);

/// As many connections are open as may be, and none is free in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolExhausted;

impl ServerConnections {
    /// `streams` is the number of requests that a connection can have at a time.
    pub(crate) fn new(pool: &Pool, streams: usize, counters: Arc<ConnectionCounters>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let bound = pool.connections.map(|connections| {
            let permits = connections.saturating_mul(streams).min(Semaphore::MAX_PERMITS);
            Bound { connections, permits: Arc::new(Semaphore::new(permits)) }
        });
        Self {
            // Pingora's own is 0.
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            bound,
            open: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            counters,
        }
    }

    /// Returns whether a request would not wait.
    pub(crate) fn has_permit(&self) -> bool {
        self.bound.as_ref().is_none_or(|bound| bound.permits.available_permits() > 0)
    }

    /// Takes a permit, for which the request waits until `end` if there is none.
    pub(crate) async fn permit(&self, end: Instant) -> Result<ConnectionPermit, PoolExhausted> {
        let Some(bound) = &self.bound else { return Ok(ConnectionPermit(None)) };
        if let Ok(permit) = Arc::clone(&bound.permits).try_acquire_owned() {
            return Ok(ConnectionPermit(Some(permit)));
        }
        let _waiting = Waiting::new(&self.waiting);
        match timeout_at(end, Arc::clone(&bound.permits).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(ConnectionPermit(Some(permit))),
            _ => Err(PoolExhausted),
        }
    }

    /// Waits a little because no connection could be opened, which has happened `tries` times now.
    /// Returns an error if the time is up.
    pub(crate) async fn pause(&self, tries: u32, end: Instant) -> Result<(), PoolExhausted> {
        let pause = Duration::from_millis(1_u64.checked_shl(tries).unwrap_or(u64::MAX)).min(LONGEST_PAUSE);
        let now = Instant::now();
        if now >= end {
            return Err(PoolExhausted);
        }
        let _waiting = Waiting::new(&self.waiting);
        tokio::time::sleep(pause.min(end.saturating_duration_since(now))).await;
        Ok(())
    }

    /// Counts a request that got no connection.
    pub(crate) fn refuse(&self) {
        self.counters.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets this peer use these connections and no others, and a new one count, and fail with
    /// [`POOL_EXHAUSTED`] beyond the bound.
    pub(crate) fn apply(self: &Arc<Self>, peer: &mut HttpPeer) {
        peer.group_key = self.id;
        let attempt = Arc::new(Attempt { connections: Arc::clone(self), counted: Mutex::default() });
        peer.options.tracer = Some(Tracer(Box::new(AttemptTracer(Arc::clone(&attempt)))));
        peer.options.upstream_tcp_sock_tweak_hook = Some(Arc::new(move |_: &TcpSocket| attempt.begin()));
    }

    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// A request that waits, counted until it is dropped.
struct Waiting<'c>(&'c AtomicUsize);

impl<'c> Waiting<'c> {
    fn new(count: &'c AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection that may be opened for a request. The connection keeps it, so it is counted until
/// the connection is closed, or could not be opened.
#[derive(Debug)]
struct Attempt {
    connections: Arc<ServerConnections>,
    counted: Mutex<Option<Counted>>,
}

/// A connection, counted until it is dropped.
#[derive(Debug)]
struct Counted(Arc<ServerConnections>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Attempt {
    /// Counts a connection before it is opened.
    fn begin(&self) -> Result<()> {
        let most = self.connections.bound.as_ref().map_or(usize::MAX, |bound| bound.connections);
        let one_more = |open: usize| if open < most { open.checked_add(1) } else { None };
        if self.connections.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
            return Error::e_explain(POOL_EXHAUSTED, "as many connections to the server are open as may be");
        }
        self.set(Some(Counted(Arc::clone(&self.connections))));
        Ok(())
    }

    fn set(&self, counted: Option<Counted>) {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
    }
}

/// What a connection tells when it is opened and closed.
#[derive(Clone, Debug)]
struct AttemptTracer(Arc<Attempt>);

impl Tracing for AttemptTracer {
    fn on_connected(&self) {
        self.0.connections.counters.opened.fetch_add(1, Ordering::Relaxed);
    }

    fn on_disconnected(&self) {
        // The request may still be there.
        self.0.set(None);
    }

    fn boxed_clone(&self) -> Box<dyn Tracing> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pingora::upstreams::peer::Peer;

    fn connections(most: Option<usize>, streams: usize) -> Arc<ServerConnections> {
        let pool = Pool { connections: most, ..Pool::default() };
        Arc::new(ServerConnections::new(&pool, streams, Arc::default()))
    }

    fn attempt(connections: &Arc<ServerConnections>) -> Arc<Attempt> {
        Arc::new(Attempt { connections: Arc::clone(connections), counted: Mutex::default() })
    }

    #[test]
    fn connections_count_until_they_are_closed_or_fail() {
        let connections = connections(Some(2), 1);
        let (first, failing) = (attempt(&connections), attempt(&connections));
        assert!(first.begin().is_ok() && failing.begin().is_ok());
        let refused = attempt(&connections).begin();
        assert_eq!(refused.err().map(|error| error.etype().clone()), Some(POOL_EXHAUSTED));
        assert_eq!((connections.open(), connections.counters.opened()), (2, 0));
        drop(failing);
        assert_eq!(connections.open(), 1);
        let stream = AttemptTracer(Arc::clone(&first)).boxed_clone();
        stream.on_connected();
        stream.on_disconnected();
        assert_eq!((connections.open(), connections.counters.opened()), (0, 1));
        drop((stream, first));
        assert_eq!(connections.open(), 0);
        let unbounded = self::connections(None, 1);
        let all: Vec<_> = (0..100).map(|_| attempt(&unbounded)).collect();
        assert!(all.iter().all(|attempt| attempt.begin().is_ok()) && unbounded.open() == 100);
    }

    /// What one server of an address counts and bounds is never used by another one.
    #[test]
    fn servers_share_no_connections() {
        let key = |connections: &Arc<ServerConnections>| {
            let mut peer = HttpPeer::new("127.0.0.1:1", false, String::new());
            connections.apply(&mut peer);
            peer.reuse_hash()
        };
        let (one, other) = (connections(Some(1), 1), connections(Some(1), 1));
        assert_eq!(key(&one), key(&one));
        assert_ne!(key(&one), key(&other));
    }

    #[tokio::test]
    async fn permits_are_waited_for_in_order_and_no_longer_than_allowed() {
        let connections = connections(Some(1), 2);
        let after = |millis| Instant::now().checked_add(Duration::from_millis(millis)).unwrap();
        let (soon, late) = (move || after(20), move || after(60_000));
        let (first, second) = (connections.permit(soon()).await.unwrap(), connections.permit(soon()).await.unwrap());
        assert!(!connections.has_permit());
        assert_eq!(connections.permit(soon()).await.err(), Some(PoolExhausted));
        let waiting = tokio::spawn({
            let connections = Arc::clone(&connections);
            async move { connections.permit(late()).await.map(drop) }
        });
        while connections.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        drop(first);
        assert_eq!(waiting.await.unwrap(), Ok(()));
        assert_eq!(connections.waiting(), 0);
        drop(second);
        assert!(connections.has_permit());
        // However often: only the time counts.
        assert_eq!(connections.pause(1_000, late()).await, Ok(()));
        assert_eq!(connections.pause(0, Instant::now()).await, Err(PoolExhausted));
        assert_eq!(connections.pause(0, late()).await, Ok(()));
    }
}
