//! The values of an upstream.

use super::UpstreamTls;
use std::net::SocketAddr;
use std::time::Duration;

/// A group of equivalent servers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Upstream {
    /// The name, which routes refer to.
    pub name: String,
    /// The servers as the file names them, with their weights.
    pub names: Vec<(String, usize)>,
    /// The servers that the names lead to. Empty: the built-in demo server.
    pub servers: Vec<Server>,
    /// The time after which the names are resolved again. `None`: never.
    pub resolve: Option<Duration>,
    /// How a server is chosen.
    pub balance: Balance,
    /// The health checks of the servers.
    pub health: Option<Health>,
    /// When a server that fails gets no requests for a while. `None`: never.
    pub ejection: Option<Ejection>,
    /// How long a server that is back gets fewer requests than its share.
    pub slow_start: Duration,
    /// How many requests are open at a time. `None`: no bound.
    pub requests: Option<usize>,
    /// The connections to each server.
    pub pool: Pool,
    /// Whether the servers are spoken to in HTTP/2 without TLS.
    pub h2c: bool,
    /// `None`: the servers are spoken to without TLS.
    pub tls: Option<UpstreamTls>,
}

/// The connections to each server of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// How many are open at a time, unused ones included. `None`: no bound.
    pub connections: Option<usize>,
    /// How long a request waits for one.
    pub wait: Duration,
    /// Until an unused one is closed. `None`: as [`Timeouts::idle`](super::Timeouts::idle) says.
    pub idle: Option<Duration>,
    /// How many requests one has at a time in HTTP/2.
    pub streams: usize,
}

impl Default for Pool {
    fn default() -> Self {
        Self { connections: None, wait: Duration::from_secs(1), idle: None, streams: 1 }
    }
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its address.
    pub address: SocketAddr,
    /// Its share of the requests, relative to those of the others.
    pub weight: usize,
}

/// When a server that fails gets no requests for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ejection {
    /// How many failures in a row.
    pub failures: u32,
    /// How long it gets none.
    pub time: Duration,
    /// The statuses of responses that count as failures.
    pub statuses: Vec<u16>,
}

/// How a server is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Balance {
    /// One server after another.
    RoundRobin,
    /// A random server.
    Random,
    /// The server with the fewest open requests, relative to its weight.
    LeastRequests,
    /// The same server for equal keys, by consistent hashing.
    Consistent(HashKey),
}

/// The key of consistent hashing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HashKey {
    /// The client's IP address.
    Address,
    /// The path of the request.
    Path,
    /// The value of a header.
    Header(http::HeaderName),
    /// The value of a label that the policy has set.
    Label(String),
}

/// The health checks of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The path whose GET must be answered with 200. `None`: a connection is enough.
    pub path: Option<String>,
    /// The time between two checks.
    pub interval: Duration,
    /// The longest time of a check.
    pub timeout: Duration,
    /// How many successful checks in a row make a server healthy.
    pub healthy_after: usize,
    /// How many failed checks in a row make a server unhealthy.
    pub unhealthy_after: usize,
}
