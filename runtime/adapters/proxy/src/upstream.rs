//! The servers of an upstream: load balancing and health checks.

use crate::config::{Balance, HashKey, Health, Upstream as Config};
use crate::tls::ServerTrust;
use async_trait::async_trait;
use http::request::Parts;
use pingora::lb::health_check::{HealthCheck, HttpHealthCheck, TcpHealthCheck};
use pingora::lb::selection::{BackendIter, BackendSelection, Consistent, Random, RoundRobin};
use pingora::lb::{Backend, Backends, LoadBalancer};
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The largest number of servers that are tried in one choice.
const MAX_TRIES: usize = 256;

/// A group of servers.
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    config: Config,
    trust: Option<ServerTrust>,
    balancer: Balancer,
}

enum Balancer {
    RoundRobin(LoadBalancer<RoundRobin>),
    Random(LoadBalancer<Random>),
    Consistent(LoadBalancer<Consistent>, HashKey),
}

impl Upstream {
    /// Creates an upstream. `demo` is the address of the demo server.
    pub(crate) fn new(config: &Config, trust: Option<ServerTrust>, demo: SocketAddr) -> std::io::Result<Self> {
        let servers = if config.servers.is_empty() { vec![demo] } else { config.servers.clone() };
        let health = config.health.as_ref().map(|health| (health, trust.as_ref()));
        let balancer = match &config.balance {
            Balance::RoundRobin => Balancer::RoundRobin(balancer(&servers, health)?),
            Balance::Random => Balancer::Random(balancer(&servers, health)?),
            Balance::Consistent(key) => Balancer::Consistent(balancer(&servers, health)?, key.clone()),
        };
        Ok(Self { name: config.name.as_str().into(), config: config.clone(), trust, balancer })
    }

    /// Returns whether this is what a configuration asks for.
    pub(crate) fn is(&self, config: &Config, trust: Option<&ServerTrust>) -> bool {
        self.config == *config && self.trust.as_ref() == trust
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
        peer
    }

    /// Returns a healthy server that is not in `failed`, or, if there is none, an unhealthy one that is not.
    pub(crate) fn choose(&self, head: &Parts, client: Option<IpAddr>, failed: &[SocketAddr]) -> Option<SocketAddr> {
        match &self.balancer {
            Balancer::RoundRobin(balancer) => select(balancer, b"", failed),
            Balancer::Random(balancer) => select(balancer, b"", failed),
            Balancer::Consistent(balancer, key) => match key {
                HashKey::Path => select(balancer, head.uri.path().as_bytes(), failed),
                HashKey::Header(name) => {
                    select(balancer, head.headers.get(name).map(|value| value.as_bytes()).unwrap_or_default(), failed)
                }
                HashKey::Address => match client {
                    Some(IpAddr::V4(address)) => select(balancer, &address.octets(), failed),
                    Some(IpAddr::V6(address)) => select(balancer, &address.octets(), failed),
                    None => select(balancer, b"", failed),
                },
            },
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
            Balancer::RoundRobin(balancer) => balancer.backends(),
            Balancer::Random(balancer) => balancer.backends(),
            Balancer::Consistent(balancer, _) => balancer.backends(),
        }
    }
}

fn balancer<S>(
    servers: &[SocketAddr],
    health: Option<(&Health, Option<&ServerTrust>)>,
) -> std::io::Result<LoadBalancer<S>>
where
    S: BackendSelection + Send + Sync + 'static,
    S::Config: Default,
    S::Iter: BackendIter,
{
    let mut balancer = LoadBalancer::try_from_iter(servers)?;
    if let Some((health, trust)) = health {
        balancer.set_health_check(Box::new(BoundedCheck { check: check_of(health, trust), limit: health.timeout }));
    }
    Ok(balancer)
}

/// A health check with a time limit for the whole of it. Pingora's limits are for each read.
struct BoundedCheck {
    check: Box<dyn HealthCheck + Send + Sync>,
    limit: Duration,
}

#[async_trait]
impl HealthCheck for BoundedCheck {
    async fn check(&self, server: &Backend) -> Result<()> {
        let late = |_| Error::explain(ErrorType::ReadTimedout, "the health check took too long");
        timeout(self.limit, self.check.check(server)).await.map_err(late)?
    }

    async fn health_status_change(&self, server: &Backend, healthy: bool) {
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

fn select<S>(balancer: &LoadBalancer<S>, key: &[u8], failed: &[SocketAddr]) -> Option<SocketAddr>
where
    S: BackendSelection + 'static,
    S::Iter: BackendIter,
{
    let fresh = |server: &pingora::lb::Backend| server.addr.as_inet().is_none_or(|address| !failed.contains(address));
    // Health may be out of date: if no server is healthy, an unhealthy one is better than none.
    let found = balancer
        .select_with(key, MAX_TRIES, |server, works| works && fresh(server))
        .or_else(|| balancer.select_with(key, MAX_TRIES, |server, _| fresh(server)))?;
    found.addr.as_inet().copied()
}
