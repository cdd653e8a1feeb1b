//! The servers of an upstream, and what their responses say of them: which have failed too often
//! and get no requests for a while.
//!
//! Invariant: at most half of the servers of an upstream are ejected. Test:
//! `runtime/adapters/proxy/src/upstreams/servers.rs::at_most_half_of_the_servers_are_ejected`.

use crate::config::{Ejection, Pool, Server};
use crate::upstreams::connections::{ConnectionCounters, ServerConnections};
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The smallest part of its share that a server gets that is back.
const LEAST_SHARE: f64 = 0.1;

/// A server.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) address: SocketAddr,
    pub(crate) weight: usize,
    /// Requests that it has not answered yet.
    open: AtomicUsize,
    /// Failures since the last success.
    failures: AtomicU32,
    /// When it gets requests again, in milliseconds since the origin. 0: it was never ejected.
    ejected_until: AtomicU64,
    /// When it came back last. 0: it was never away.
    back: AtomicU64,
    /// How often it was ejected.
    ejections: AtomicU64,
    pub(crate) connections: Arc<ServerConnections>,
}

/// The servers of an upstream. Names may lead to others while the proxy runs.
#[derive(Debug)]
pub(crate) struct Servers {
    list: ArcSwap<ServerList>,
    pool: Pool,
    /// How many requests a connection can have at a time.
    streams: usize,
    connection_counters: Arc<ConnectionCounters>,
    /// How often a server was ejected, also one that is not listed any more.
    ejections: AtomicU64,
    origin: Instant,
    ejection: Option<Ejection>,
    slow_start: Duration,
    /// Held while a server is ejected: how many are, is decided together.
    ejecting: Mutex<()>,
    /// Where the next choice by open requests begins.
    next_start: AtomicUsize,
}

/// The servers at one time.
#[derive(Debug, Default)]
pub(crate) struct ServerList {
    all: Vec<Arc<ServerState>>,
    by_address: HashMap<SocketAddr, usize>,
}

impl ServerList {
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Arc<ServerState>> {
        self.all.iter()
    }

    fn get(&self, address: SocketAddr) -> Option<&Arc<ServerState>> {
        self.all.get(*self.by_address.get(&address)?)
    }
}

/// A request that a server has not answered yet.
#[derive(Debug)]
pub(crate) struct OpenRequest(Arc<ServerState>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Servers {
    /// `streams` is the number of requests that a connection can have at a time.
    pub(crate) fn new(
        servers: &[Server],
        ejection: Option<Ejection>,
        slow_start: Duration,
        pool: Pool,
        streams: usize,
    ) -> Self {
        let (ejecting, next_start) = (Mutex::default(), AtomicUsize::new(0));
        let (list, origin) = (ArcSwap::default(), Instant::now());
        let (connection_counters, ejections) = (Arc::default(), AtomicU64::new(0));
        let all = Self {
            list,
            pool,
            streams,
            connection_counters,
            ejections,
            origin,
            ejection,
            slow_start,
            ejecting,
            next_start,
        };
        all.replace(servers);
        all
    }

    /// Takes these servers instead of the ones before. Those that stay keep their state. Returns
    /// whether anything has changed. One call at a time.
    pub(crate) fn replace(&self, servers: &[Server]) -> bool {
        let before = self.list.load();
        let mut next = ServerList::default();
        for Server { address, weight } in servers {
            // A name may have been resolved to an address that is listed, too.
            if next.by_address.contains_key(address) {
                continue;
            }
            next.by_address.insert(*address, next.all.len());
            let known = before.get(*address).filter(|known| known.weight == *weight);
            next.all.push(known.map_or_else(|| Arc::new(self.server(*address, *weight)), Arc::clone));
        }
        let stays =
            |server: &Arc<ServerState>| before.get(server.address).is_some_and(|known| Arc::ptr_eq(known, server));
        if next.all.len() == before.all.len() && next.iter().all(stays) {
            return false;
        }
        self.list.store(Arc::new(next));
        true
    }

    fn server(&self, address: SocketAddr, weight: usize) -> ServerState {
        ServerState {
            address,
            weight,
            open: AtomicUsize::new(0),
            failures: AtomicU32::new(0),
            ejected_until: AtomicU64::new(0),
            back: AtomicU64::new(0),
            ejections: AtomicU64::new(0),
            connections: Arc::new(ServerConnections::new(
                &self.pool,
                self.streams,
                Arc::clone(&self.connection_counters),
            )),
        }
    }

    pub(crate) fn all(&self) -> Arc<ServerList> {
        self.list.load_full()
    }

    fn get(&self, address: SocketAddr) -> Option<Arc<ServerState>> {
        self.list.load().get(address).map(Arc::clone)
    }

    /// Milliseconds since the origin; never 0.
    fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Returns the connections to a server.
    pub(crate) fn connections(&self, address: SocketAddr) -> Option<Arc<ServerConnections>> {
        self.list.load().get(address).map(|server| Arc::clone(&server.connections))
    }

    /// Returns whether a request to a server would not wait for a connection.
    pub(crate) fn has_permit(&self, address: SocketAddr) -> bool {
        self.list.load().get(address).is_none_or(|server| server.connections.has_permit())
    }

    /// Counts a request as open at a server, until the result is dropped.
    pub(crate) fn begin(&self, address: SocketAddr) -> Option<OpenRequest> {
        let server = self.get(address)?;
        server.open.fetch_add(1, Ordering::Relaxed);
        Some(OpenRequest(server))
    }

    /// Returns whether a server gets no requests now.
    pub(crate) fn is_ejected(&self, address: SocketAddr) -> bool {
        self.ejection.is_some() && self.get(address).is_some_and(|server| self.is_out(&server))
    }

    fn is_out(&self, server: &ServerState) -> bool {
        let until = server.ejected_until.load(Ordering::Relaxed);
        until > 0 && until > self.now()
    }

    /// Returns what was counted of the connections to all servers.
    pub(crate) fn connection_counters(&self) -> &ConnectionCounters {
        &self.connection_counters
    }

    /// Returns how often a server was ejected.
    pub(crate) fn ejections(&self) -> u64 {
        self.ejections.load(Ordering::Relaxed)
    }

    /// Returns how many servers get no requests now.
    pub(crate) fn ejected(&self) -> usize {
        self.list.load().iter().filter(|server| self.is_out(server)).count()
    }

    /// Returns the part of its share that a server gets now: less than 1 while it starts slowly.
    pub(crate) fn share(&self, address: SocketAddr) -> f64 {
        let back = self.get(address).map_or(0, |server| server.back.load(Ordering::Relaxed));
        if back == 0 || self.slow_start.is_zero() {
            return 1.0;
        }
        let since = Duration::from_millis(self.now().saturating_sub(back));
        since.div_duration_f64(self.slow_start).clamp(LEAST_SHARE, 1.0)
    }

    /// Notes that a health check found a server healthy again. A server that is still ejected is
    /// back only when that ends.
    pub(crate) fn is_back(&self, address: SocketAddr) {
        if let Some(server) = self.get(address) {
            server.back.fetch_max(self.now(), Ordering::Relaxed);
        }
    }

    /// Returns whether a response with this status counts as a failure of the server.
    pub(crate) fn is_failure(&self, status: u16) -> bool {
        self.ejection.as_ref().is_some_and(|ejection| ejection.statuses.contains(&status))
    }

    /// Notes a response that is no failure.
    pub(crate) fn succeeded(&self, address: SocketAddr) {
        if let Some(server) = self.get(address)
            // A write would take the line of memory from all other threads.
            && server.failures.load(Ordering::Relaxed) > 0
        {
            server.failures.store(0, Ordering::Relaxed);
        }
    }

    /// Notes a failure. Returns how many failures in a row there were and how long the server gets
    /// no requests, if it is ejected now. Never more than half of the servers are.
    pub(crate) fn failed(&self, address: SocketAddr) -> Option<(u32, Duration)> {
        let (ejection, server) = (self.ejection.as_ref()?, self.get(address)?);
        let failures = server.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if failures < ejection.failures {
            return None;
        }
        let _one = self.ejecting.lock().unwrap_or_else(PoisonError::into_inner);
        let others = self.ejected();
        if self.is_out(&server) || others.saturating_add(1).saturating_mul(2) > self.list.load().all.len() {
            return None;
        }
        let time = u64::try_from(ejection.time.as_millis()).unwrap_or(u64::MAX);
        let until = self.now().saturating_add(time);
        server.failures.store(0, Ordering::Relaxed);
        server.ejected_until.store(until, Ordering::Relaxed);
        server.back.store(until, Ordering::Relaxed);
        server.ejections.fetch_add(1, Ordering::Relaxed);
        self.ejections.fetch_add(1, Ordering::Relaxed);
        Some((failures, ejection.time))
    }

    /// Returns the server with the fewest open requests for its share, among those that `fits` names.
    pub(crate) fn least_open(&self, fits: impl Fn(&ServerState) -> bool) -> Option<SocketAddr> {
        let begin = self.next_start.fetch_add(1, Ordering::Relaxed);
        let list = self.list.load();
        let begin = begin.checked_rem(list.all.len())?;
        let (before, after) = list.all.split_at_checked(begin)?;
        let load = |server: &ServerState| {
            let open = server.open.load(Ordering::Relaxed).saturating_add(1) as f64;
            open / (server.weight as f64 * self.share(server.address))
        };
        let servers = after.iter().chain(before).filter(|server| fits(server));
        let least = servers.map(|server| (load(server), server.address)).reduce(|a, b| if b.0 < a.0 { b } else { a });
        least.map(|(_, address)| address)
    }
}

impl ServerState {
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    pub(crate) fn ejections(&self) -> u64 {
        self.ejections.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(count: u16, time: Duration, slow_start: Duration) -> (Servers, Vec<SocketAddr>) {
        let addresses: Vec<SocketAddr> = (1..=count).map(|port| ([127, 0, 0, 1], port).into()).collect();
        let list: Vec<Server> = addresses.iter().map(|address| Server { address: *address, weight: 1 }).collect();
        let ejection = Ejection { failures: 2, time, statuses: vec![503] };
        (Servers::new(&list, Some(ejection), slow_start, Pool::default(), 1), addresses)
    }

    #[test]
    fn at_most_half_of_the_servers_are_ejected() {
        for (count, most) in [(1, 0), (2, 1), (3, 1), (5, 2)] {
            let (servers, addresses) = servers(count, Duration::from_secs(60), Duration::ZERO);
            for address in addresses.iter().cycle().take(100) {
                servers.failed(*address);
            }
            assert_eq!(servers.ejected(), most, "of {count}");
        }
    }

    #[test]
    fn only_failures_in_a_row_count() {
        let (servers, addresses) = servers(2, Duration::from_secs(60), Duration::ZERO);
        for _ in 0..10 {
            assert_eq!(servers.failed(addresses[0]), None);
            servers.succeeded(addresses[0]);
        }
        assert_eq!(servers.failed(addresses[0]), None);
        assert_eq!(servers.failed(addresses[0]), Some((2, Duration::from_secs(60))));
        assert!(servers.is_ejected(addresses[0]) && !servers.is_ejected(addresses[1]));
        assert!(servers.is_failure(503) && !servers.is_failure(500));
    }

    #[test]
    fn a_server_that_is_back_starts_slowly() {
        let (servers, addresses) = servers(2, Duration::ZERO, Duration::from_secs(3600));
        assert_eq!(servers.share(addresses[0]), 1.0);
        servers.failed(addresses[0]);
        servers.failed(addresses[0]);
        assert!(!servers.is_ejected(addresses[0]));
        assert_eq!(servers.share(addresses[0]), LEAST_SHARE);
        assert_eq!(servers.share(addresses[1]), 1.0);
    }

    #[test]
    fn a_healthy_server_that_is_ejected_is_back_later() {
        let (servers, addresses) = servers(2, Duration::from_secs(60), Duration::from_secs(1));
        servers.failed(addresses[0]);
        servers.failed(addresses[0]);
        let back = || servers.get(addresses[0]).unwrap().back.load(Ordering::Relaxed);
        let after = back();
        servers.is_back(addresses[0]);
        assert!(servers.is_ejected(addresses[0]));
        assert_eq!(back(), after);
    }

    #[test]
    fn counters_never_go_back() {
        let (servers, addresses) = servers(2, Duration::from_secs(60), Duration::ZERO);
        servers.failed(addresses[0]);
        servers.failed(addresses[0]);
        servers.connections(addresses[0]).unwrap().refuse();
        let counted = || (servers.ejections(), servers.connection_counters().refused());
        assert_eq!(counted(), (1, 1));
        for left in [1, 0] {
            assert!(servers.replace(&[Server { address: addresses[left], weight: 1 }]));
            assert_eq!(counted(), (1, 1));
        }
    }

    #[test]
    fn open_requests_and_weights_decide() {
        let addresses: Vec<SocketAddr> = (1..=2).map(|port| ([127, 0, 0, 1], port).into()).collect();
        let list = [Server { address: addresses[0], weight: 3 }, Server { address: addresses[1], weight: 1 }];
        let servers = Servers::new(&list, None, Duration::ZERO, Pool::default(), 1);
        let open: Vec<_> = (0..8).filter_map(|_| servers.begin(servers.least_open(|_| true)?)).collect();
        assert_eq!(servers.all().iter().map(|server| server.open()).collect::<Vec<_>>(), [6, 2]);
        drop(open);
        assert!(servers.all().iter().all(|server| server.open() == 0));
        assert_eq!(servers.least_open(|server| server.weight == 1), Some(addresses[1]));
        assert_eq!(servers.least_open(|_| false), None);
    }
}
