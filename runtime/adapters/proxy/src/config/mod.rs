//! What a proxy is told to do: the contents of its configuration file, checked.

mod fields;
mod read;

use crate::error::Error;
use celero_policy::Policy;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A configuration. `docs/proxy.md` describes it as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where clients connect.
    pub listeners: Vec<Listener>,
    /// The file of the policy.
    pub policy: PathBuf,
    /// The groups of servers.
    pub upstreams: Vec<Upstream>,
    /// Which requests go where; the first that fits counts.
    pub routes: Vec<Route>,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// How many other servers of an upstream are tried when one can't be connected to.
    pub retries: usize,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Where the access log goes.
    pub access_log: Option<Output>,
    /// Threads that serve clients.
    pub threads: usize,
    /// How long requests may go on after the proxy was told to stop.
    pub grace: Duration,
}

/// Where clients connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The address; port 0 is any free one.
    pub address: SocketAddr,
    /// Whether HTTP/2 without TLS is understood beside HTTP/1.
    pub h2c: bool,
}

/// A group of servers that do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Upstream {
    /// Its name, by which routes refer to it.
    pub name: String,
    /// Its servers; none: the demo server within the proxy.
    pub servers: Vec<SocketAddr>,
    /// How one of them is chosen.
    pub balance: Balance,
    /// How it is found out which of them work.
    pub health: Option<Health>,
    /// Whether they speak HTTP/2 without TLS.
    pub h2c: bool,
}

/// How a server is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Balance {
    /// One after the other.
    RoundRobin,
    /// By chance.
    Random,
    /// Always the same for equal keys, as far as possible.
    Consistent(Key),
}

/// What a consistent choice hangs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// The client's IP address.
    Address,
    /// The path of the request.
    Path,
    /// The value of a header.
    Header(http::HeaderName),
}

/// How it is found out whether a server works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The path that must answer 200; `None`: a connection is enough.
    pub path: Option<String>,
    /// The time between two checks.
    pub interval: Duration,
    /// How long to wait for one.
    pub timeout: Duration,
    /// How many good checks in a row make a server work again.
    pub healthy_after: usize,
    /// How many bad ones in a row take it out.
    pub unhealthy_after: usize,
}

/// Which requests go to an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The host, in lower case; with a leading `.` all hosts that end so.
    pub host: Option<String>,
    /// What the path must be or begin with, whole segments only.
    pub prefix: Option<String>,
    /// A label that the policy must have set, and its value.
    pub label: Option<(String, String)>,
    /// The index of the upstream.
    pub upstream: usize,
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection to a server.
    pub connect: Duration,
    /// For the next bytes of a server.
    pub read: Duration,
    /// For a server to take bytes.
    pub write: Duration,
    /// For the next bytes of a client's body.
    pub body: Duration,
    /// How long an unused connection to a server is kept.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let (short, long) = (Duration::from_secs(3), Duration::from_secs(60));
        Self { connect: short, read: long, write: long, body: long, idle: long }
    }
}

/// Where a log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// To standard output.
    Stdout,
    /// To the end of a file.
    File(PathBuf),
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn load(file: &Path) -> Result<Self, Error> {
        read::read(file)
    }

    /// Reads a configuration and its policy, and does nothing with them.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn check(file: &Path) -> Result<(), Error> {
        Policy::load(&Self::load(file)?.policy)?;
        Ok(())
    }
}
