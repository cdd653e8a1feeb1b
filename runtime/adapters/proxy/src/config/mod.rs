//! The configuration of a proxy: the values of its file, checked. `docs/proxy-reference.md` describes the file.

pub(crate) mod settings;

mod compression;
mod compression_keys;
mod differences;
mod environment;
mod include;
mod keys;
mod rate_limit_service;
mod read;
mod read_routes;
mod read_upstreams;
mod record;
mod record_keys;
mod route;
mod telemetry_keys;
mod tls_keys;
mod upstream;
mod written_files;

pub use compression::Compression;
pub(crate) use differences::{counted, first_names};
pub use rate_limit_service::RateLimitService;
pub(crate) use read_routes::CONNECTION_HEADERS;
pub(crate) use read_upstreams::resolve;
pub use record::Record;
pub use route::{Mirror, Retry, RetryOn, Route, RouteTimeouts, Split, StaticAnswer, Target};
pub use upstream::{Balance, Ejection, HashKey, Health, Pool, Server, Upstream};
pub(crate) use written_files::older;

use crate::error::Error;
use celero_lists::FilePattern;
use celero_policy::{EndCondition, RequestCondition, RequestOrigin};
use http::request;
use ipnet::IpNet;
use serde_json::Value as Json;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The configuration of a proxy. `docs/proxy-reference.md` describes the file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// The files that the file includes, and the patterns that name them (`routes/*.yaml`).
    pub included: Vec<PathBuf>,
    /// The addresses where clients connect.
    pub listeners: Vec<Listener>,
    /// The file of the policy.
    pub policy: PathBuf,
    /// Groups of equivalent servers.
    pub upstreams: Vec<Upstream>,
    /// Which requests are sent to which upstream. The first route that fits is taken.
    pub routes: Vec<Route>,
    /// The services that count limits for many machines.
    pub rate_limit_services: Vec<RateLimitService>,
    /// Which proxies may say who the client is.
    pub forwarded: Forwarded,
    /// Whose traces are kept, and which are started. `None`: all valid ones are kept, none is started.
    pub traces: Option<Traces>,
    /// Which responses are compressed. `None`: none.
    pub compression: Option<Compression>,
    /// The longest waiting times.
    pub timeouts: Timeouts,
    /// The bounds on what clients may use.
    pub limits: Limits,
    /// When changed files are loaded.
    pub reload: Reload,
    /// How many other servers of an upstream are tried after a failed connection.
    pub retries: usize,
    /// The address of `/metrics`, `/health` and `/ready`.
    pub metrics: Option<SocketAddr>,
    /// Where all metrics are sent. `None`: nowhere.
    pub metrics_export: Option<MetricsExport>,
    /// Who may change lists at that address. `None`: nobody.
    pub admin: Option<Admin>,
    /// The folder in which copies of documents with entries of lists are kept.
    pub list_copies: Option<PathBuf>,
    /// The destination of the access log.
    pub access_log: Option<LogOutput>,
    /// Which requests are recorded. `None`: none.
    pub record: Option<Record>,
    /// The number of threads of each listener.
    pub threads: usize,
    /// How long open requests may continue after SIGTERM.
    pub grace: Duration,
    /// How long new connections are still accepted after SIGTERM, while `/ready` answers 503.
    pub drain_delay: Duration,
}

/// Who may change lists while the proxy runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    /// The file of the token that requests must show.
    pub token: PathBuf,
    /// The file in which changes of lists are kept over restarts.
    pub list_changes: Option<PathBuf>,
}

/// An address where clients connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The address. Port 0 is any free port.
    pub address: SocketAddr,
    /// Whether clients may use HTTP/2 without TLS besides HTTP/1.
    pub h2c: bool,
    /// `None`: clients use no TLS.
    pub tls: Option<ListenerTls>,
    /// The networks of load balancers whose connections begin with a header of the PROXY protocol.
    pub proxy_protocol: Vec<IpNet>,
}

/// Which proxies may say who the client is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forwarded {
    /// The networks of these proxies.
    pub trusted: Vec<IpNet>,
    /// The header in which they name the client.
    pub header: ForwardedHeader,
}

/// Whose traces are kept, and which are started (W3C Trace Context).
#[derive(Clone, Debug, PartialEq)]
pub struct Traces {
    /// Whether the traces of all clients are kept, not only those of trusted proxies.
    pub accept_all: bool,
    /// The share of the traces that are started for which servers are asked to record.
    pub sampled: f64,
    /// Which traces have another share. The first rule whose condition holds counts.
    pub sample: Vec<SampleRule>,
    /// Where the proxy sends spans of its own. `None`: it records none.
    pub export: Option<SpanExport>,
}

/// The share of some of the traces that are started for which servers are asked to record.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRule {
    /// Which requests are meant.
    pub when: RequestCondition,
    /// The share, from 0 to 1.
    pub share: f64,
}

/// Where spans are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanExport {
    /// What takes them.
    pub collector: Collector,
    /// How many spans wait at most.
    pub queue: usize,
    /// Which requests have a span also if their trace is not recorded.
    pub always: Option<EndCondition>,
}

/// A collector of OpenTelemetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// The URL at which it takes what is sent (OTLP over HTTP).
    pub url: String,
    /// The attribute `service.name`.
    pub service_name: String,
    /// More attributes of all that is sent.
    pub attributes: Vec<(String, String)>,
}

/// Where metrics are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsExport {
    /// What takes them.
    pub collector: Collector,
    /// The time between two requests.
    pub interval: Duration,
    /// Which buckets histograms have.
    pub histograms: OtlpHistograms,
}

/// Which buckets the histograms have that a collector gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtlpHistograms {
    /// Those of an exponential histogram.
    #[default]
    Exponential,
    /// Those of `/metrics`.
    Explicit,
}

/// A header that names clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForwardedHeader {
    /// `x-forwarded-for`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

impl Listener {
    /// Returns what needs a restart to change.
    pub(crate) fn socket(&self) -> (SocketAddr, bool, bool) {
        (self.address, self.h2c, self.tls.is_some())
    }
}

/// TLS to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerTls {
    /// The certificates of the proxy. A client gets the first that is valid for the name that it
    /// asks for; otherwise, the first.
    pub certificates: Vec<Certificate>,
    /// Whose certificates clients may show. `None`: clients are not asked for certificates.
    pub clients: Option<ClientCertificates>,
    /// Whether TLS 1.2 is refused.
    pub only_tls13: bool,
    /// Whether clients may use HTTP/2.
    pub http2: bool,
}

/// A certificate and its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The file of the certificate and those above it, in PEM.
    pub chain: PathBuf,
    /// The file of the private key, in PEM.
    pub key: PathBuf,
    /// The file of an OCSP response in DER, which is sent with the certificate.
    pub ocsp: Option<PathBuf>,
}

/// Whose certificates clients may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificates {
    /// The file of the certificates that clients' certificates must lead to, in PEM.
    pub authorities: PathBuf,
    /// Whether clients without a certificate are refused.
    pub required: bool,
    /// The file of revocation lists, in PEM.
    pub revoked: Option<PathBuf>,
}

/// TLS to the servers of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamTls {
    /// The name for which the servers' certificates must be valid. It is sent to them, too.
    pub server_name: String,
    /// The file of the certificates that theirs must lead to, in PEM. `None`: those of the system.
    pub authorities: Option<PathBuf>,
    /// The certificate that is shown to servers that ask for one.
    pub certificate: Option<Certificate>,
    /// Whether HTTP/2 is used with servers that can.
    pub http2: bool,
}

/// The longest waiting times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until a server accepts a connection.
    pub connect: Duration,
    /// For the whole head of a server's response, and between pieces of its body.
    pub read: Duration,
    /// Until a server takes bytes.
    pub write: Duration,
    /// For the whole head of a request.
    pub head: Duration,
    /// Between bytes of a client's body.
    pub body: Duration,
    /// For a whole body of a client, before what `Limits::body_rate` adds.
    pub body_total: Duration,
    /// Until a client takes bytes.
    pub send: Duration,
    /// Until a client's connection without a request is closed.
    pub keep_alive: Duration,
    /// Until an unused connection to a server is closed.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let (short, long) = (Duration::from_secs(3), Duration::from_secs(60));
        Self {
            connect: short,
            read: long,
            write: long,
            head: Duration::from_secs(10),
            body: long,
            body_total: long,
            send: long,
            keep_alive: long,
            idle: long,
        }
    }
}

/// The bounds on what clients may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Open connections of each listener.
    pub connections: usize,
    /// Open connections of each client address and listener.
    pub connections_per_address: Option<usize>,
    /// Open requests of all listeners.
    pub requests: usize,
    /// Header lines of a request.
    pub headers: usize,
    /// Bytes of the head of a request.
    pub head: usize,
    /// Bytes of the request line.
    pub request_line: usize,
    /// Open requests of an HTTP/2 connection.
    pub streams: u32,
    /// Frames without content of an HTTP/2 connection in ten seconds that requests and responses do not pay for.
    pub control_frames: u32,
    /// Bytes of a body for which a client gets a second more.
    pub body_rate: usize,
    /// Unused connections to servers that are kept: of HTTP/1.1, and as many of HTTP/2.
    pub idle_connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            connections_per_address: None,
            requests: 10_000,
            headers: 100,
            head: 64 << 10,
            request_line: 8 << 10,
            streams: 100,
            control_frames: 1000,
            body_rate: 1 << 10,
            idle_connections: 128,
        }
    }
}

/// When changed files are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reload {
    /// How long a file that was written in place must stay unchanged.
    pub settle: Duration,
    /// Whether YAML files must end with the line `...`.
    pub end_marker: bool,
}

impl Default for Reload {
    fn default() -> Self {
        Self { settle: Duration::from_secs(1), end_marker: false }
    }
}

/// The destination of the access log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogOutput {
    /// To standard output.
    Stdout,
    /// To the end of a file.
    File(PathBuf),
}

impl Traces {
    /// Returns the share of the traces of such requests for which servers are asked to record. A
    /// condition that fails does not hold.
    pub(crate) fn share(&self, head: &request::Parts, origin: RequestOrigin<'_>) -> f64 {
        let fits = |rule: &&SampleRule| rule.when.matches(head, origin).unwrap_or(false);
        self.sample.iter().find(fits).map_or(self.sampled, |rule| rule.share)
    }
}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// Returns all errors in the file, each with its position.
    pub fn load(file: &Path) -> Result<Self, Error> {
        read::read(file)
    }

    /// Returns the format of configuration files as a JSON schema (draft 7), for editors that
    /// complete and check YAML with one.
    #[must_use]
    pub fn json_schema() -> Json {
        keys::CONFIG.json_schema("celero-proxy configuration")
    }

    /// Returns the file in which changes of lists are kept.
    pub(crate) fn list_changes(&self) -> Option<&Path> {
        self.admin.as_ref()?.list_changes.as_deref()
    }

    /// Returns the included files.
    pub(crate) fn included_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.included.iter().filter(|path| FilePattern::of_path(path).is_none())
    }

    /// Returns the files of certificates, keys, answers and the token.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let listeners = self.listeners.iter().filter_map(|listener| listener.tls.as_ref()).flat_map(|tls| {
            let certificates = tls.certificates.iter();
            let own = certificates.flat_map(|Certificate { chain, key, ocsp }| [chain, key].into_iter().chain(ocsp));
            let of_clients =
                tls.clients.iter().flat_map(|clients| [&clients.authorities].into_iter().chain(&clients.revoked));
            own.chain(of_clients)
        });
        let services = self.rate_limit_services.iter().filter_map(|service| service.tls.as_ref());
        let upstreams = self.upstreams.iter().filter_map(|upstream| upstream.tls.as_ref());
        let upstreams = upstreams.chain(services).flat_map(|tls| {
            let own = tls.certificate.iter().flat_map(|Certificate { chain, key, .. }| [chain, key]);
            own.chain(&tls.authorities)
        });
        let answers = self.routes.iter().filter_map(|route| match &route.target {
            Target::Answer(answer) => answer.file.as_ref(),
            Target::Upstream(_) | Target::Split(_) => None,
        });
        listeners.chain(upstreams).chain(answers).chain(self.admin.iter().map(|admin| &admin.token))
    }
}
