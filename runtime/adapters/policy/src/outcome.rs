//! What a host hears from a policy, and what it tells it.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value as Json;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A phase of a request's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Its head has come.
    Request,
    /// Its body has come.
    RequestBody,
    /// The head of the response has come.
    Response,
    /// It is over.
    Log,
}

impl Phase {
    /// All phases, in the order in which they come.
    pub const ALL: [Self; 4] = [Self::Request, Self::RequestBody, Self::Response, Self::Log];

    /// As files name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::RequestBody => "requestBody",
            Self::Response => "response",
            Self::Log => "log",
        }
    }
}

/// What becomes of a request or a response after a phase.
#[derive(Clone, Debug)]
#[must_use]
pub enum Outcome {
    /// It goes on, with [`Exchange::edits`](crate::Exchange::edits).
    Continue,
    /// It ends here with this answer.
    Respond(Box<Answer>),
}

/// An answer in place of a server's.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers, without `content-length`.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// The rule that gave it.
    pub rule: Arc<str>,
}

impl Answer {
    pub(crate) fn empty(status: StatusCode, rule: &Arc<str>) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new(), rule: Arc::clone(rule) }
    }
}

/// How a request ended, for the log phase.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// When its head had come.
    pub started: SystemTime,
    /// How long it took from then on.
    pub duration: Duration,
    /// How many bytes of the response's body were sent.
    pub bytes_sent: u64,
}

/// What a policy wants to be logged of a request: names and values, in the order of the file. Displays as a JSON object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogFields {
    fields: Vec<(Arc<str>, Json)>,
}

impl LogFields {
    pub(crate) fn new(fields: Vec<(Arc<str>, Json)>) -> Self {
        Self { fields }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Names and values.
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
    /// How often its condition was evaluated a second time, standalone, to be timed: after a timed evaluation of the phase, for
    /// one rule in rotation. Always 0 for a rule whose condition calls an impure function such as `random()`.
    pub timed: u64,
    /// The sum of these durations. It includes neither the index nor anything that the rule shares with other rules.
    pub time: Duration,
}
