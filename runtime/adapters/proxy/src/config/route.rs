//! The routes of a configuration: which requests are meant, and what is done with them.

use super::{Config, HashKey, counted};
use bytes::Bytes;
use celero_policy::ResponseCondition;
use http::{HeaderMap, Method, StatusCode};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What is done with some requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The host of the request in lower case. With a leading `.`: a suffix of the host.
    pub host: Option<String>,
    /// The path of the request, or whole segments that it starts with.
    pub prefix: Option<String>,
    /// The name and value of a label that the policy set.
    pub label: Option<(String, String)>,
    /// Where the requests go.
    pub target: Target,
    /// The waiting times that differ from those of the configuration.
    pub timeouts: RouteTimeouts,
    /// When another server is tried after a failed one. `None`: after failed connections only.
    pub retry: Option<Retry>,
    /// Where copies of requests are sent.
    pub mirror: Option<Mirror>,
    /// Whether responses are compressed, if the configuration says which.
    pub compression: bool,
}

/// Where requests go.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Target {
    /// To the upstream of this index.
    Upstream(usize),
    /// To one of several upstreams, by a key.
    Split(Split),
    /// Nowhere: the proxy answers.
    Answer(Arc<StaticAnswer>),
}

/// Several upstreams, each with its share of the keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The indexes of the upstreams, with their weights.
    pub parts: Vec<(usize, u32)>,
    /// What decides: requests with equal keys go to the same upstream.
    pub by: HashKey,
}

/// An answer of the proxy itself.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticAnswer {
    /// The status.
    pub status: StatusCode,
    /// The headers, without `content-length`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// The file that the body comes from.
    pub file: Option<PathBuf>,
}

/// The waiting times of a route. `None`: that of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RouteTimeouts {
    /// Until a server accepts a connection.
    pub connect: Option<Duration>,
    /// Between bytes from a server.
    pub read: Option<Duration>,
    /// Until a server takes bytes.
    pub write: Option<Duration>,
}

/// When another server is tried after one that accepted the request and failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// How many other servers are tried.
    pub attempts: usize,
    /// Which responses count as failures.
    pub on: RetryOn,
    /// The methods of requests that may be sent twice. `None`: those that are idempotent (RFC 9110, section 9.2.2).
    pub methods: Option<Vec<Method>>,
    /// The retries for each request, on average.
    pub budget: f64,
}

/// Which responses of servers count as failures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RetryOn {
    /// Those with one of these statuses.
    Statuses(Vec<u16>),
    /// Those for which a condition holds.
    When(ResponseCondition),
}

impl Retry {
    /// Returns whether requests of a method may be sent twice.
    pub(crate) fn allows(&self, method: &Method) -> bool {
        self.methods.as_ref().map_or(method.is_idempotent(), |methods| methods.contains(method))
    }
}

/// Where copies of requests are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// The index of the upstream.
    pub upstream: usize,
    /// The share of the requests that are copied.
    pub share: f64,
}

impl Route {
    /// Returns what the route fits, as a text: `*.example.com/api tier=canary`, `*` for all requests.
    pub(crate) fn name(&self) -> String {
        let host = match self.host.as_deref() {
            None => "*".to_owned(),
            Some(suffix) if suffix.starts_with('.') => format!("*{suffix}"),
            Some(host) => host.to_owned(),
        };
        let label = self.label.as_ref().map(|(name, value)| format!(" {name}={value}"));
        format!("{host}{}{}", self.prefix.as_deref().unwrap_or_default(), label.unwrap_or_default())
    }

    /// Returns the answer of the proxy itself, if the route has one.
    pub(crate) fn answer(&self) -> Option<&StaticAnswer> {
        match &self.target {
            Target::Answer(answer) => Some(answer),
            Target::Upstream(_) | Target::Split(_) => None,
        }
    }

    /// Returns the indexes of the upstreams to which requests may go, copies not among them.
    pub(crate) fn upstreams(&self) -> Vec<usize> {
        match &self.target {
            Target::Upstream(index) => vec![*index],
            Target::Split(split) => split.parts.iter().map(|(index, _)| *index).collect(),
            Target::Answer(_) => Vec::new(),
        }
    }
}

impl Config {
    /// Returns what a route does, as a text.
    pub(crate) fn describe_target(&self, route: &Route) -> String {
        let name = |index: usize| self.upstreams.get(index).map(|upstream| upstream.name.as_str()).unwrap_or_default();
        let mut text = match &route.target {
            Target::Upstream(index) => name(*index).to_owned(),
            Target::Split(split) => {
                let parts = split.parts.iter().map(|(index, weight)| format!("{} ({weight})", name(*index)));
                format!("{} by {}", parts.collect::<Vec<_>>().join(", "), split.by.name())
            }
            Target::Answer(answer) => {
                format!("the answer {} with {} bytes", answer.status.as_u16(), answer.body.len())
            }
        };
        if let Some(retry) = &route.retry {
            let _ = write!(text, "; tries up to {}", counted(retry.attempts, "other server"));
            if let RetryOn::When(when) = &retry.on {
                let words: Vec<&str> = when.text().split_whitespace().collect();
                let _ = write!(text, " when {}", words.join(" "));
            }
        }
        if let Some(mirror) = &route.mirror {
            let _ = write!(text, "; copies to {} ({} of the requests)", name(mirror.upstream), mirror.share);
        }
        if self.compression.is_some() && !route.compression {
            text.push_str("; not compressed");
        }
        text
    }
}

impl HashKey {
    /// Returns the key as it is written.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Address => "address".to_owned(),
            Self::Path => "path".to_owned(),
            Self::Header(name) => format!("header {name}"),
            Self::Label(name) => format!("label {name}"),
        }
    }
}
