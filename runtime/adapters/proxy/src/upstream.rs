//! The servers of an upstream: which of them takes a request, and which of them work.

use crate::config::{Balance, Health, Key, Upstream as Wanted};
use http::request::Parts;
use pingora::lb::health_check::{HealthCheck, HttpHealthCheck, TcpHealthCheck};
use pingora::lb::selection::{BackendIter, BackendSelection, Consistent, Random, RoundRobin};
use pingora::lb::{Backends, LoadBalancer};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// How many servers are looked at before a choice is given up.
const LOOKS: usize = 256;

/// A group of servers.
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    pub(crate) wanted: Wanted,
    balancer: Balancer,
}

enum Balancer {
    RoundRobin(LoadBalancer<RoundRobin>),
    Random(LoadBalancer<Random>),
    Consistent(LoadBalancer<Consistent>, Key),
}

impl Upstream {
    /// From its configuration. `demo` is the address of the demo server.
    pub(crate) fn new(wanted: &Wanted, demo: SocketAddr) -> std::io::Result<Self> {
        let servers = if wanted.servers.is_empty() { vec![demo] } else { wanted.servers.clone() };
        let health = wanted.health.as_ref();
        let balancer = match &wanted.balance {
            Balance::RoundRobin => Balancer::RoundRobin(balancer(&servers, health)?),
            Balance::Random => Balancer::Random(balancer(&servers, health)?),
            Balance::Consistent(key) => Balancer::Consistent(balancer(&servers, health)?, key.clone()),
        };
        Ok(Self { name: wanted.name.as_str().into(), wanted: wanted.clone(), balancer })
    }

    /// A server that works and is not among `failed`; of those that don't work, one that was not tried, if there is no other.
    pub(crate) fn choose(&self, head: &Parts, client: Option<IpAddr>, failed: &[SocketAddr]) -> Option<SocketAddr> {
        match &self.balancer {
            Balancer::RoundRobin(balancer) => select(balancer, b"", failed),
            Balancer::Random(balancer) => select(balancer, b"", failed),
            Balancer::Consistent(balancer, key) => match key {
                Key::Path => select(balancer, head.uri.path().as_bytes(), failed),
                Key::Header(name) => {
                    select(balancer, head.headers.get(name).map(|value| value.as_bytes()).unwrap_or_default(), failed)
                }
                Key::Address => match client {
                    Some(IpAddr::V4(address)) => select(balancer, &address.octets(), failed),
                    Some(IpAddr::V6(address)) => select(balancer, &address.octets(), failed),
                    None => select(balancer, b"", failed),
                },
            },
        }
    }

    /// How many servers there are, and how many of them work.
    pub(crate) fn health(&self) -> (usize, usize) {
        let backends = self.backends();
        let servers = backends.get_backend();
        (servers.len(), servers.iter().filter(|server| backends.ready(server)).count())
    }

    /// Checks all servers, again and again. Ends at once if there is nothing to check, else never.
    pub(crate) async fn check(&self) {
        let Some(interval) = self.wanted.health.as_ref().map(|health| health.interval) else { return };
        loop {
            self.backends().run_health_check(true).await;
            tokio::time::sleep(interval).await;
        }
    }

    fn backends(&self) -> &Backends {
        match &self.balancer {
            Balancer::RoundRobin(balancer) => balancer.backends(),
            Balancer::Random(balancer) => balancer.backends(),
            Balancer::Consistent(balancer, _) => balancer.backends(),
        }
    }
}

fn balancer<S>(servers: &[SocketAddr], health: Option<&Health>) -> std::io::Result<LoadBalancer<S>>
where
    S: BackendSelection + Send + Sync + 'static,
    S::Config: Default,
    S::Iter: BackendIter,
{
    let mut balancer = LoadBalancer::try_from_iter(servers)?;
    if let Some(health) = health {
        balancer.set_health_check(check_of(health));
    }
    Ok(balancer)
}

fn check_of(health: &Health) -> Box<dyn HealthCheck + Send + Sync> {
    let Some(path) = &health.path else {
        let mut check = TcpHealthCheck::new();
        check.consecutive_success = health.healthy_after;
        check.consecutive_failure = health.unhealthy_after;
        check.peer_template.options.connection_timeout = Some(health.timeout);
        return check;
    };
    let mut check = HttpHealthCheck::new("health", false);
    check.consecutive_success = health.healthy_after;
    check.consecutive_failure = health.unhealthy_after;
    check.peer_template.options.connection_timeout = Some(health.timeout);
    check.peer_template.options.read_timeout = Some(health.timeout);
    if let Ok(uri) = path.parse() {
        check.req.set_uri(uri);
    }
    Box::new(check)
}

fn select<S>(balancer: &LoadBalancer<S>, key: &[u8], failed: &[SocketAddr]) -> Option<SocketAddr>
where
    S: BackendSelection + 'static,
    S::Iter: BackendIter,
{
    let fresh = |server: &pingora::lb::Backend| server.addr.as_inet().is_none_or(|address| !failed.contains(address));
    // Where no server is known to work, one that may work is better than none.
    let found = balancer
        .select_with(key, LOOKS, |server, works| works && fresh(server))
        .or_else(|| balancer.select_with(key, LOOKS, |server, _| fresh(server)))?;
    found.addr.as_inet().copied()
}
