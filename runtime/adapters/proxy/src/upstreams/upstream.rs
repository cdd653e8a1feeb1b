//! The servers of an upstream: load balancing and health checks.

use crate::config::{Balance, HashKey, Health, Server, Upstream as Config, counted, first_names, resolve};
use crate::tls::ServerTrust;
use crate::upstreams::admission::Admission;
use crate::upstreams::retry_budget::RetryBudget;
use crate::upstreams::servers::{ServerState, Servers};
use async_trait::async_trait;
use celero_policy::Exchange;
use http::request::Parts;
use pingora::lb::discovery::ServiceDiscovery;
use pingora::lb::health_check::{HealthCheck, HttpHealthCheck, TcpHealthCheck};
use pingora::lb::selection::{BackendIter, BackendSelection, Consistent, Random, RoundRobin};
use pingora::lb::{Backend, Backends, Extensions, LoadBalancer};
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};
use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// The largest number of servers that are tried in one choice.
const MAX_TRIES: usize = 256;

/// How many addresses a line of the log has at most.
const SHOWN: usize = 10;

/// A group of servers.
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    config: Config,
    trust: Option<ServerTrust>,
    balancer: Balancer,
    pub(crate) servers: Arc<Servers>,
    /// Held while servers are replaced: a reload and the names that are resolved again may bring others.
    replacing: Mutex<()>,
    pub(crate) retries: RetryBudget,
    pub(crate) admission: Admission,
    /// Since when its requests and servers are counted.
    pub(crate) since: SystemTime,
}

enum Balancer {
    /// Pingora's only keeps the health of the servers.
    LeastRequests(LoadBalancer<RoundRobin>),
    RoundRobin(LoadBalancer<RoundRobin>),
    Random(LoadBalancer<Random>),
    Consistent(LoadBalancer<Consistent>, HashKey),
}

impl Upstream {
    /// Creates an upstream. `demo` is the address of the demo server.
    pub(crate) fn new(config: &Config, trust: Option<ServerTrust>, demo: SocketAddr) -> std::io::Result<Self> {
        let demo = [Server { address: demo, weight: 1 }];
        let list = if config.servers.is_empty() { &demo[..] } else { &config.servers };
        let http2 = config.h2c || config.tls.as_ref().is_some_and(|tls| tls.http2);
        let streams = if http2 { config.pool.streams } else { 1 };
        let servers = Servers::new(list, config.ejection.clone(), config.slow_start, config.pool, streams);
        let servers = Arc::new(servers);
        let health = config.health.as_ref().map(|health| (health, trust.as_ref()));
        let balancer = match &config.balance {
            Balance::RoundRobin => Balancer::RoundRobin(balancer(&servers, health)?),
            Balance::Random => Balancer::Random(balancer(&servers, health)?),
            Balance::LeastRequests => Balancer::LeastRequests(balancer(&servers, health)?),
            Balance::Consistent(key) => Balancer::Consistent(balancer(&servers, health)?, key.clone()),
        };
        let (name, retries) = (config.name.as_str().into(), RetryBudget::default());
        let admission = Admission::new(config.requests);
        let since = SystemTime::now();
        let (config, replacing) = (config.clone(), Mutex::default());
        Ok(Self { name, config, trust, balancer, servers, replacing, retries, admission, since })
    }

    /// Returns whether this is what a configuration asks for. Its names may lead to other servers now.
    pub(crate) fn is(&self, config: &Config, trust: Option<&ServerTrust>) -> bool {
        let same = Config { servers: self.config.servers.clone(), ..config.clone() } == self.config;
        same && self.trust.as_ref() == trust
    }

    /// Takes these servers instead of the ones before; none stands for the demo server, which
    /// stays. Those that stay keep their state and their health. Returns whether anything has
    /// changed.
    pub(crate) fn take_servers(&self, servers: &[Server]) -> bool {
        let _one = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = !servers.is_empty() && self.servers.replace(servers);
        if changed {
            let updated = match &self.balancer {
                Balancer::RoundRobin(balancer) | Balancer::LeastRequests(balancer) => update(balancer),
                Balancer::Random(balancer) => update(balancer),
                Balancer::Consistent(balancer, _) => update(balancer),
            };
            if let Err(error) = updated {
                log::error!("upstream {}: {error}", self.name);
            }
        }
        changed
    }

    /// Resolves the names of the servers again and again. Returns at once if there is nothing to
    /// resolve, otherwise never.
    pub(crate) async fn resolve(&self) {
        let Some(interval) = self.config.resolve else { return };
        let mut failing = false;
        loop {
            tokio::time::sleep(interval).await;
            let names = self.config.names.clone();
            let found = tokio::task::spawn_blocking(move || resolve(&names)).await;
            let found = found.unwrap_or_else(|error| Err(std::io::Error::other(error)));
            if let Some((level, line)) = self.resolved(found, &mut failing) {
                log::log!(level, "upstream {}: {line}", self.name);
            }
        }
    }

    /// Takes the servers that names lead to now. `failing` is whether the names could not be
    /// resolved last time. Returns a line for the log: for each change, and for the first failure
    /// in a row.
    fn resolved(&self, found: std::io::Result<Vec<Server>>, failing: &mut bool) -> Option<(log::Level, String)> {
        let failed_before = std::mem::replace(failing, found.is_err());
        match found {
            Ok(servers) if self.take_servers(&servers) => {
                let servers: Vec<String> = servers.iter().map(|server| server.address.to_string()).collect();
                let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
                Some((log::Level::Info, format!("its servers are now {}", first_names(&servers, SHOWN))))
            }
            Err(error) if !failed_before => {
                Some((log::Level::Warn, format!("its servers stay, because a name can't be resolved: {error}")))
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// Returns how to connect to a server.
    pub(crate) fn peer(&self, server: SocketAddr) -> HttpPeer {
        let mut peer = HttpPeer::new(server, false, String::new());
        if let Some(trust) = &self.trust {
            trust.apply(&mut peer);
        }
        if self.config.h2c {
            peer.options.set_http_version(2, 2);
        }
        peer.options.idle_timeout = self.config.pool.idle;
        peer.options.max_h2_streams = self.config.pool.streams;
        peer
    }

    /// Returns how long a request waits for a connection.
    pub(crate) fn wait(&self) -> Duration {
        self.config.pool.wait
    }

    /// Returns a healthy server that is not in `failed`, or, if there is none, another one that is not.
    pub(crate) fn choose(&self, keys: Keys<'_>, failed: &[SocketAddr]) -> Option<SocketAddr> {
        match &self.balancer {
            Balancer::RoundRobin(balancer) => self.select(balancer, b"", failed),
            Balancer::Random(balancer) => self.select(balancer, b"", failed),
            Balancer::LeastRequests(_) => {
                let fresh = |address| !failed.contains(&address);
                let works = |address| fresh(address) && self.is_usable(address);
                let found = self.servers.least_open(|server| works(server.address) && server.connections.has_permit());
                let found = found.or_else(|| self.servers.least_open(|server| works(server.address)));
                found.or_else(|| self.servers.least_open(|server| fresh(server.address)))
            }
            Balancer::Consistent(balancer, key) => keys.with(key, |key| self.select(balancer, key, failed)),
        }
    }

    fn select<S>(&self, balancer: &LoadBalancer<S>, key: &[u8], failed: &[SocketAddr]) -> Option<SocketAddr>
    where
        S: BackendSelection + 'static,
        S::Iter: BackendIter,
    {
        let fresh = |server: &Backend| server.addr.as_inet().filter(|address| !failed.contains(address)).copied();
        let works =
            |server: &Backend, healthy| fresh(server).filter(|address| healthy && !self.servers.is_ejected(*address));
        // A key that leads to a server keeps its server, also if requests wait there.
        let slow = |address| {
            if !key.is_empty() {
                return false;
            }
            let share = self.servers.share(address);
            share < 1.0 && fastrand::f64() >= share || !self.servers.has_permit(address)
        };
        let select = |accept: &dyn Fn(&Backend, bool) -> bool| balancer.select_with(key, MAX_TRIES, accept);
        // What is known may be out of date: if no server works, any other one is better than none.
        let found = select(&|server, healthy| works(server, healthy).is_some_and(|address| !slow(address)))
            .or_else(|| select(&|server, healthy| works(server, healthy).is_some()))
            .or_else(|| select(&|server, _| fresh(server).is_some()))?;
        found.addr.as_inet().copied()
    }

    /// Returns whether a server is healthy, and gets requests.
    pub(crate) fn is_usable(&self, address: SocketAddr) -> bool {
        self.is_healthy(address) && !self.servers.is_ejected(address)
    }

    fn is_healthy(&self, address: SocketAddr) -> bool {
        let backends = self.backends();
        let is = |server: &&Backend| server.addr.as_inet() == Some(&address);
        backends.get_backend().iter().find(is).is_some_and(|server| backends.ready(server))
    }

    /// Returns the state of a server, in words.
    pub(crate) fn state_of(&self, address: SocketAddr) -> String {
        match (self.is_healthy(address), self.servers.is_ejected(address), self.servers.share(address)) {
            (false, ..) => "unhealthy".to_owned(),
            (true, true, _) => "ejected".to_owned(),
            (true, false, share) if share < 1.0 => format!("healthy, starts slowly ({:.0} %)", share * 100.0),
            (true, false, _) => "healthy".to_owned(),
        }
    }

    /// Returns whether there is a server that works and is not in `failed`.
    pub(crate) fn has_another(&self, failed: &[SocketAddr]) -> bool {
        let servers = self.servers.all();
        let mut others = servers.iter().map(|server| server.address);
        others.any(|address| !failed.contains(&address) && self.is_usable(address))
    }

    /// Notes that a server failed.
    pub(crate) fn failed(&self, address: SocketAddr) {
        if let Some((failures, time)) = self.servers.failed(address) {
            let failures = counted(usize::try_from(failures).unwrap_or(usize::MAX), "failure");
            log::warn!(
                "upstream {}, server {address}: {failures} in a row, so it gets no requests for {time:?}",
                self.name
            );
        }
    }

    /// Returns the number of servers, and how many of them are healthy.
    pub(crate) fn health(&self) -> (usize, usize) {
        let backends = self.backends();
        let servers = backends.get_backend();
        (servers.len(), servers.iter().filter(|server| backends.ready(server)).count())
    }

    /// Checks all servers at each interval. Returns at once if no health checks are configured, otherwise never.
    pub(crate) async fn check(&self) {
        let Some(interval) = self.config.health.as_ref().map(|health| health.interval) else { return };
        loop {
            self.backends().run_health_check(true).await;
            tokio::time::sleep(interval).await;
        }
    }

    fn backends(&self) -> &Backends {
        match &self.balancer {
            Balancer::RoundRobin(balancer) | Balancer::LeastRequests(balancer) => balancer.backends(),
            Balancer::Random(balancer) => balancer.backends(),
            Balancer::Consistent(balancer, _) => balancer.backends(),
        }
    }
}

/// What decides where a request goes by a key.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'r> {
    pub(crate) head: &'r Parts,
    pub(crate) client: Option<IpAddr>,
    /// Has the labels that the policy has set.
    pub(crate) exchange: &'r Exchange,
}

impl Keys<'_> {
    /// Calls a function with the bytes of a key. A request without the header or the label has the
    /// client's address as its key.
    pub(crate) fn with<R>(self, key: &HashKey, use_it: impl FnOnce(&[u8]) -> R) -> R {
        let named = match key {
            HashKey::Address => None,
            HashKey::Path => Some(self.head.uri.path().as_bytes()),
            HashKey::Header(name) => self.head.headers.get(name).map(|value| value.as_bytes()),
            HashKey::Label(name) => self.exchange.label(name).map(str::as_bytes),
        };
        match (named, self.client) {
            (Some(named), _) => use_it(named),
            (None, Some(IpAddr::V4(address))) => use_it(&address.octets()),
            (None, Some(IpAddr::V6(address))) => use_it(&address.octets()),
            (None, None) => use_it(b""),
        }
    }
}

fn balancer<S>(
    servers: &Arc<Servers>,
    health: Option<(&Health, Option<&ServerTrust>)>,
) -> std::io::Result<LoadBalancer<S>>
where
    S: BackendSelection + Send + Sync + 'static,
    S::Config: Default,
    S::Iter: BackendIter,
{
    let mut backends = Backends::new(Box::new(ListedServers(Arc::clone(servers))));
    if let Some((health, trust)) = health {
        let (check, servers) = (check_of(health, trust), Arc::clone(servers));
        backends.set_health_check(Box::new(BoundedCheck { check, limit: health.timeout, servers }));
    }
    let balancer = LoadBalancer::from_backends(backends);
    update(&balancer)?;
    Ok(balancer)
}

/// Makes a balancer choose among the servers that there are now.
fn update<S>(balancer: &LoadBalancer<S>) -> std::io::Result<()>
where
    S: BackendSelection + Send + Sync + 'static,
    S::Config: Default,
    S::Iter: BackendIter,
{
    // The list is there at once.
    match pin!(balancer.update()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(())) => Ok(()),
        _ => Err(std::io::Error::other("the list of servers can't be made")),
    }
}

/// The servers of an upstream, for a balancer.
struct ListedServers(Arc<Servers>);

#[async_trait]
impl ServiceDiscovery for ListedServers {
    async fn discover(&self) -> Result<(BTreeSet<Backend>, HashMap<u64, bool>)> {
        let servers = self.0.all();
        let backend = |server: &Arc<ServerState>| Backend {
            addr: server.address.into(),
            weight: server.weight,
            ext: Extensions::new(),
        };
        Ok((servers.iter().map(backend).collect(), HashMap::new()))
    }
}

/// A health check with a time limit for the whole of it. Pingora's limits are for each read.
struct BoundedCheck {
    check: Box<dyn HealthCheck + Send + Sync>,
    limit: Duration,
    servers: Arc<Servers>,
}

#[async_trait]
impl HealthCheck for BoundedCheck {
    async fn check(&self, server: &Backend) -> Result<()> {
        let late = |_| Error::explain(ErrorType::ReadTimedout, "the health check took too long");
        timeout(self.limit, self.check.check(server)).await.map_err(late)?
    }

    async fn health_status_change(&self, server: &Backend, healthy: bool) {
        if let Some(address) = server.addr.as_inet().filter(|_| healthy) {
            self.servers.is_back(*address);
        }
        self.check.health_status_change(server, healthy).await;
    }

    fn backend_summary(&self, server: &Backend) -> String {
        self.check.backend_summary(server)
    }

    fn health_threshold(&self, success: bool) -> usize {
        self.check.health_threshold(success)
    }
}

fn check_of(health: &Health, trust: Option<&ServerTrust>) -> Box<dyn HealthCheck + Send + Sync> {
    let Some(path) = &health.path else {
        let mut check = TcpHealthCheck::new();
        check.consecutive_success = health.healthy_after;
        check.consecutive_failure = health.unhealthy_after;
        check.peer_template.options.connection_timeout = Some(health.timeout);
        return check;
    };
    let mut check = HttpHealthCheck::new("health", false);
    if let Some(trust) = trust {
        trust.apply(&mut check.peer_template);
    }
    check.consecutive_success = health.healthy_after;
    check.consecutive_failure = health.unhealthy_after;
    check.peer_template.options.connection_timeout = Some(health.timeout);
    check.peer_template.options.read_timeout = Some(health.timeout);
    if let Ok(uri) = path.parse() {
        check.req.set_uri(uri);
    }
    Box::new(check)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Ejection, Pool};

    fn server(port: u16) -> Server {
        Server { address: ([127, 0, 0, 1], port).into(), weight: 1 }
    }

    /// The servers that 200 requests are sent to.
    fn chosen(upstream: &Upstream) -> BTreeSet<u16> {
        let exchange = Exchange::new(None, None);
        let port = |number: usize| {
            let request = http::Request::builder().uri(format!("/{number}")).body(()).unwrap();
            let (head, ()) = request.into_parts();
            let keys = Keys { head: &head, client: None, exchange: &exchange };
            upstream.choose(keys, &[]).map(|address| address.port())
        };
        (0..200).filter_map(port).collect()
    }

    /// With the servers 1 to 4.
    fn config(balance: Balance) -> Config {
        Config {
            name: "a".to_owned(),
            names: vec![("a:1".to_owned(), 1)],
            servers: vec![server(1), server(2), server(3), server(4)],
            resolve: None,
            balance,
            health: None,
            ejection: Some(Ejection { failures: 1, time: Duration::from_secs(60), statuses: vec![503] }),
            slow_start: Duration::ZERO,
            requests: None,
            pool: Pool::default(),
            h2c: false,
            tls: None,
        }
    }

    #[test]
    fn names_that_cannot_be_resolved_are_told_once_and_change_nothing() {
        let upstream = Upstream::new(&config(Balance::RoundRobin), None, server(9).address).unwrap();
        let mut failing = false;
        let mut turn = |found: std::io::Result<Vec<Server>>| upstream.resolved(found, &mut failing);
        let gone = || Err(std::io::Error::other("no such name"));
        for _ in 0..2 {
            let (level, line) = turn(gone()).unwrap();
            assert_eq!(level, log::Level::Warn);
            assert!(line.contains("its servers stay") && line.contains("no such name"), "{line}");
            assert_eq!((turn(gone()), turn(gone())), (None, None));
            assert_eq!(chosen(&upstream), BTreeSet::from([1, 2, 3, 4]));
            // The same servers as before.
            assert_eq!(turn(Ok(vec![server(4), server(3), server(2), server(1)])), None);
        }
        let (level, line) = turn(Ok(vec![server(5)])).unwrap();
        assert_eq!((level, line.as_str()), (log::Level::Info, "its servers are now 127.0.0.1:5"));
        assert_eq!(chosen(&upstream), BTreeSet::from([5]));
    }

    #[test]
    fn servers_that_stay_keep_their_state() {
        for balance in
            [Balance::RoundRobin, Balance::Random, Balance::LeastRequests, Balance::Consistent(HashKey::Path)]
        {
            let config = config(balance);
            let upstream = Upstream::new(&config, None, server(9).address).unwrap();
            assert_eq!(chosen(&upstream), BTreeSet::from([1, 2, 3, 4]));
            let open = upstream.servers.begin(server(2).address);
            upstream.failed(server(3).address);
            // The order of addresses changes with each answer of a name server.
            assert!(!upstream.take_servers(&[server(4), server(3), server(2), server(1)]));
            assert!(!upstream.take_servers(&[]));
            assert!(upstream.take_servers(&[server(5), server(2), server(3), server(2)]));
            assert_eq!(upstream.health(), (3, 3));
            let count = |port: u16| {
                let servers = upstream.servers.all();
                servers.iter().find(|known| known.address.port() == port).map(|known| known.open())
            };
            assert_eq!((count(2), count(1)), (Some(1), None));
            drop(open);
            assert_eq!(count(2), Some(0));
            assert_eq!(chosen(&upstream), BTreeSet::from([2, 5]), "1 and 4 are gone, 3 is ejected");
            // What a reload reads may have other addresses for the same names.
            assert!(upstream.is(&Config { servers: vec![server(7)], ..config.clone() }, None));
            assert!(!upstream.is(&Config { names: Vec::new(), ..config.clone() }, None));
        }
    }
}
