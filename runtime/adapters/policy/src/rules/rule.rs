//! A rule without its condition, compiled.

use crate::keys::error_policy::PhaseErrorPolicy;
use crate::rules::actions::{Field, HeaderEdit, NamedList, PhaseEnd, TextTemplate};
use crate::rules::body_change::BodyChange;
use crate::rules::delay::RuleDelay;
use crate::rules::limit::{Number, RuleLimit};
use crate::rules::remote_limit::RemoteLimit;
use crate::rules::requirement::Requirement;
use crate::rules::target::TargetTemplate;
use celero::ErrorPolicy;
use http::StatusCode;
use std::sync::Arc;

/// A rule without its condition.
#[derive(Debug)]
pub(crate) struct Rule<S> {
    pub(crate) name: Arc<str>,
    /// The method of gRPC that it is about.
    pub(crate) method: Option<Arc<str>>,
    /// Whether its expressions read bytes of a body.
    pub(crate) reads_bytes: bool,
    /// Whether they read messages of a call.
    pub(crate) reads_messages: bool,
    /// Whether it has no condition. In a phase that reads bodies it is about all of them, whatever it
    /// reads: the phase's settings concern each.
    pub(crate) is_unconditional: bool,
    /// Whether its condition has one value for a request: it asks no list, and calls nothing that may answer otherwise
    /// the next time.
    pub(crate) is_pure: bool,
    /// Where `when` begins in the condition of the set, in bytes: that of `method` is before it.
    pub(crate) when_start: u32,
    /// The level of its file; 0 is the first.
    pub(crate) level: usize,
    /// The share of matching requests for which it acts.
    pub(crate) sample: Option<f64>,
    /// A rule with a requirement acts only on messages that do not meet it.
    pub(crate) require: Option<Requirement<S>>,
    /// Asked before all other actions.
    pub(crate) limit: Option<Box<RuleLimit<S>>>,
    /// The same, if a service counts it.
    pub(crate) remote: Option<Box<RemoteLimit<S>>>,
    /// How long the request waits.
    pub(crate) delay: Option<RuleDelay<S>>,
    pub(crate) edits: Box<[HeaderEdit<S>]>,
    pub(crate) target: Option<TargetTemplate<S>>,
    pub(crate) status: Option<StatusCode>,
    pub(crate) body: Option<BodyChange<S>>,
    pub(crate) labels: NamedList<TextTemplate<S>>,
    pub(crate) fields: NamedList<Field<S>>,
    /// The real costs of limits that were asked earlier.
    pub(crate) settled: NamedList<Number<S>>,
    pub(crate) counter: Option<usize>,
    pub(crate) end: Option<PhaseEnd<S>>,
}

impl<S> Rule<S> {
    /// Returns whether the rule asks a limit.
    pub(crate) fn has_limit(&self) -> bool {
        self.limit.is_some() || self.remote.is_some()
    }

    /// Returns whether requests may wait because of the rule.
    pub(crate) fn delays(&self) -> bool {
        let waits = |delay: Option<&RuleDelay<S>>| delay.is_some_and(|delay| !delay.dry_run);
        waits(self.delay.as_ref())
            || self.limit.as_ref().is_some_and(|limit| !limit.dry_run && waits(limit.on_limit.delay.as_ref()))
            || self.remote.as_ref().is_some_and(|limit| !limit.dry_run && waits(limit.on_limit.delay.as_ref()))
    }

    /// Returns whether the rule reads nothing of a body but the messages of its method, each for itself, and lets no
    /// message wait.
    pub(crate) fn reads_messages_only(&self) -> bool {
        self.method.is_some() && !self.reads_bytes && !self.delays()
    }

    /// Returns whether the rule reads a body, its messages, or changes it.
    pub(crate) fn reads_body(&self) -> bool {
        self.reads_bytes || self.reads_messages || self.body.is_some()
    }

    /// Returns whether the rule answers all that it matches, and nothing of a body decides what it does.
    pub(crate) fn answers_by_head(&self) -> bool {
        matches!(self.end, Some(PhaseEnd::Deny(_) | PhaseEnd::Respond(_)))
            && !(self.reads_body() || self.has_limit() || self.delays())
            && self.sample.is_none()
            && self.require.is_none()
    }

    /// Returns whether a match of the rule leaves something behind, but that the phase may end.
    pub(crate) fn leaves_traces(&self) -> bool {
        let Self { labels, fields, settled, counter, .. } = self;
        let named = !labels.is_empty() || !fields.is_empty() || !settled.is_empty();
        named || counter.is_some() || self.has_limit() || self.require.is_some()
    }

    /// Returns the status of the answer with which the rule ends the phase.
    pub(crate) fn status_of_answer(&self) -> Option<StatusCode> {
        match &self.end {
            Some(PhaseEnd::Deny(answer) | PhaseEnd::Respond(answer)) => Some(answer.status),
            Some(PhaseEnd::Allow) | None => None,
        }
    }

    /// Returns whether the rule may skip the rest of its level.
    pub(crate) fn may_allow(&self) -> bool {
        let limits = self.limit.as_ref().map(|limit| &limit.on_limit).into_iter();
        let limits = limits.chain(self.remote.as_ref().map(|limit| &limit.on_limit));
        let mut ends = limits.map(|on_limit| &on_limit.end).chain([&self.end]);
        ends.any(|end| matches!(end, Some(PhaseEnd::Allow)))
    }

    /// Returns whether the rule is a guard: it keeps a message back, by a limit, by `delay`, by
    /// `require`, by `deny`, or by an answer of status 300 or more.
    pub(crate) fn is_guard(&self) -> bool {
        self.has_limit()
            || self.delays()
            || self.require.is_some()
            || match &self.end {
                Some(PhaseEnd::Deny(_)) => true,
                Some(PhaseEnd::Respond(answer)) => answer.status.as_u16() >= 300,
                Some(PhaseEnd::Allow) | None => false,
            }
    }

    /// Returns the rule's policy in the set of its phase. The set must report a failure that ends
    /// the phase, in the order of the rules, so such a rule counts as a match there.
    pub(crate) fn error_policy(&self, phase: PhaseErrorPolicy) -> ErrorPolicy {
        match phase {
            PhaseErrorPolicy::Closed if self.is_guard() => ErrorPolicy::Match,
            PhaseErrorPolicy::Closed | PhaseErrorPolicy::All(ErrorPolicy::NoMatch) => ErrorPolicy::NoMatch,
            PhaseErrorPolicy::All(ErrorPolicy::Match | ErrorPolicy::Stop) => ErrorPolicy::Match,
        }
    }

    /// Returns whether the rule only slows requests down, or answers that the server has too much
    /// to do: with status 429 or 503.
    pub(crate) fn sheds_load(&self) -> bool {
        match &self.end {
            Some(PhaseEnd::Deny(answer) | PhaseEnd::Respond(answer)) => matches!(answer.status.as_u16(), 429 | 503),
            Some(PhaseEnd::Allow) | None => self.has_limit() || self.delays(),
        }
    }
}
