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

/// A phase of a policy, and what its rules cost so far.
#[derive(Clone, Copy, Debug)]
pub struct PhaseInfo {
    /// The phase.
    pub phase: Phase,
    /// How often its rules were evaluated: all of them together, as far as the index leaves anything to do.
    pub evaluated: u64,
    /// How many of those evaluations were timed; about one in 64.
    pub timed: u64,
    /// What the timed ones took, actions included.
    pub time: Duration,
}

/// A rule of a policy, and what became of it so far.
#[derive(Clone, Debug)]
pub struct RuleInfo {
    /// Its phase.
    pub phase: Phase,
    /// Its name.
    pub name: Arc<str>,
    /// Its place among the rules of its phase.
    pub index: usize,
    /// How often it was evaluated: as often as all rules of its phase.
    pub evaluated: u64,
    /// How often it matched.
    pub matched: u64,
    /// How often its condition or its action failed.
    pub failed: u64,
    /// How often its condition was evaluated by itself to be timed: after an evaluation of the phase that was timed, for one rule
    /// in turn.
    pub timed: u64,
    /// What the condition took then, without the index and without what it shares with other rules.
    pub time: Duration,
}
