//! What hosts exchange with a policy: phases, outcomes, answers, log fields, counters.

use crate::host::delay::Delay;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value as Json;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A phase of a connection or a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// A connection has arrived, before anything of HTTP is read.
    Connection,
    /// The head of the request has arrived.
    Request,
    /// The body of the request has arrived.
    RequestBody,
    /// The head of the server's response has arrived.
    Response,
    /// The body of the server's response has arrived.
    ResponseBody,
    /// The request is over.
    Log,
}

impl Phase {
    /// All phases, in the order in which they run.
    pub const ALL: [Self; 6] =
        [Self::Connection, Self::Request, Self::RequestBody, Self::Response, Self::ResponseBody, Self::Log];

    /// Whether the rules of the phase may run more than once for a request: after a service has answered, and for each
    /// message of a call.
    pub(crate) fn may_run_again(self) -> bool {
        matches!(self, Self::Request | Self::RequestBody | Self::ResponseBody)
    }

    /// Returns the name of the phase in policy files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Request => "request",
            Self::RequestBody => "requestBody",
            Self::Response => "response",
            Self::ResponseBody => "responseBody",
            Self::Log => "log",
        }
    }
}

/// What the host does after a phase of the request: it waits, and then does what the outcome says.
#[derive(Debug)]
#[must_use]
pub struct Decision {
    /// How long the host waits first. `None`: not at all. The answer of a rule is delayed like a request that goes on.
    pub delay: Option<Delay>,
    /// What it does then.
    pub outcome: Outcome,
}

impl From<Outcome> for Decision {
    /// Returns the decision without a delay.
    fn from(outcome: Outcome) -> Self {
        Self { delay: None, outcome }
    }
}

/// What the host does after a phase.
#[derive(Clone, Debug)]
#[must_use]
pub enum Outcome {
    /// Apply [`Exchange::edits`](crate::Exchange::edits) and continue.
    Continue,
    /// Send this answer instead, and skip to the phase `log`.
    Respond(Box<PolicyAnswer>),
}

/// A response that the policy gives itself, instead of a server.
#[derive(Clone, Debug)]
pub struct PolicyAnswer {
    /// The status.
    pub status: StatusCode,
    /// The headers, without `content-length`.
    pub headers: HeaderMap,
    /// The body; may be empty.
    pub body: Bytes,
    /// The name of the rule that gives the answer.
    pub rule: Arc<str>,
}

impl PolicyAnswer {
    pub(crate) fn empty(status: StatusCode, rule: &Arc<str>) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new(), rule: Arc::clone(rule) }
    }

    /// The answer while what it depends on is overloaded or gives no answer.
    #[cold]
    pub(crate) fn try_again(rule: &Arc<str>) -> Self {
        let mut answer = Self::empty(StatusCode::SERVICE_UNAVAILABLE, rule);
        answer.headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        answer
    }
}

/// How a request ended, for [`Policy::log`](crate::Policy::log).
#[derive(Clone, Copy, Debug)]
pub struct RequestSummary {
    /// When the head of the request arrived.
    pub started: SystemTime,
    /// The time from then to the end.
    pub duration: Duration,
    /// The number of bytes of the response's body that were sent.
    pub bytes_sent: u64,
}

/// The fields that a policy adds to the log entry of a request, in the order of the rules. Displays as a JSON object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogFields {
    fields: Vec<(Arc<str>, Json)>,
}

impl LogFields {
    pub(crate) fn new(fields: Vec<(Arc<str>, Json)>) -> Self {
        Self { fields }
    }

    /// Returns whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.fields.iter().map(|(name, value)| (&**name, value))
    }
}

impl fmt::Display for LogFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, (name, value)) in self.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(f, "{comma}{}:{value}", Json::from(name))?;
        }
        f.write_str("}")
    }
}

/// The counters of a phase since the policy was loaded.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PhaseInfo {
    /// The phase.
    pub phase: Phase,
    /// How often the rules of the phase were evaluated. They are evaluated together, so one request counts once.
    pub evaluated: u64,
    /// How many of these evaluations were timed: one in 64 per thread.
    pub timed: u64,
    /// The sum of the timed durations, actions included.
    pub time: Duration,
}

/// The counters of the verifications that take long (passwords), since the policy was loaded.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct VerificationInfo {
    /// How many were carried out. Remembered credentials need none.
    pub done: u64,
    /// How many were refused because too many waited: the requests were answered with 503.
    pub refused: u64,
    /// How many wait for a thread now.
    pub waiting: usize,
}

/// The counters of a rule since the policy was loaded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuleInfo {
    /// The phase that the rule belongs to.
    pub phase: Phase,
    /// The name of the rule.
    pub name: Arc<str>,
    /// The position of the rule among the rules of its phase.
    pub index: usize,
    /// How often the rule was evaluated: the same number for all rules of a phase.
    pub evaluated: u64,
    /// How often the rule matched and acted.
    pub matched: u64,
    /// How often its condition or its action failed.
    pub failed: u64,
    /// How often its condition was evaluated a second time, standalone, to be timed: after a timed
    /// evaluation of the phase, for one rule in rotation. Always 0 for a rule whose condition asks
    /// a list or calls an impure function such as `random()`.
    pub timed: u64,
    /// The sum of these durations. It includes neither the index nor anything that the rule shares with other rules.
    pub time: Duration,
}
