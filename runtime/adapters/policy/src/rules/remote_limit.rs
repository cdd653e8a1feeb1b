//! A `limit` of a rule that a service counts: what it asks for a request, and what follows.
//!
//! Invariant: a service is asked at most once for a limit and a request. Test:
//! `runtime/adapters/policy/tests/policy/remote_limits.rs::descriptors_and_hits_are_computed_and_asked_once`.
//!
//! Invariant: if the service does not answer, a request passes only if the file says so. Test:
//! `runtime/adapters/policy/tests/policy/remote_limits.rs::without_an_answer_requests_pass_only_if_the_file_says_so`.

use crate::limits::remote::{RemoteQuestion, RemoteState, RemoteVerdict};
use crate::limits::request::RequestLimits;
use crate::limits::settings::{LimitErrorPolicy, TellsClient};
use crate::rules::action_failure::{ActionFailure, ActionPart};
use crate::rules::actions::{NamedList, TextTemplate};
use crate::rules::limit::{Number, OnLimit, network};
use celero::{Context, Scratch};
use std::sync::Arc;

/// The longest value of a descriptor, in bytes. A longer one fails.
const LONGEST_VALUE: usize = 1024;

/// A `limit` of a rule that a service counts.
#[derive(Debug)]
pub(crate) struct RemoteLimit<S> {
    pub(crate) state: Arc<RemoteState>,
    pub(crate) descriptors: Box<[NamedList<TextTemplate<S>>]>,
    /// The prefix lengths of the networks that addresses stand for, of IPv4 and of IPv6.
    pub(crate) groups: (u8, u8),
    pub(crate) hits: Number<S>,
    pub(crate) on_limit: OnLimit<S>,
    /// What happens if a descriptor or the hits fail.
    pub(crate) on_error: LimitErrorPolicy,
    /// What happens if the service gives no answer.
    pub(crate) on_unavailable: LimitErrorPolicy,
    pub(crate) tells: TellsClient,
    pub(crate) dry_run: bool,
}

/// What follows from a remote limit.
pub(crate) enum RemoteStep {
    Pass,
    Above,
    Unavailable,
    /// The service is to be asked first.
    Ask(RemoteQuestion),
    /// A descriptor or the hits failed, and then this follows.
    Failed(Box<RemoteStep>),
}

impl<S: Context + 'static> RemoteLimit<S> {
    /// Returns what follows for a request. An expression that fails is added to `failures`.
    pub(crate) fn step<'r, C: Context<Static = S>>(
        &'r self,
        context: &C,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
        limits: &RequestLimits,
    ) -> RemoteStep {
        let known = limits.remote_verdict(&self.state);
        match known {
            Some(RemoteVerdict::Answered(answer)) if answer.is_within => return RemoteStep::Pass,
            Some(RemoteVerdict::Answered(_)) => return RemoteStep::Above,
            Some(RemoteVerdict::Unavailable) => {
                return self.unless_passing(self.on_unavailable, RemoteStep::Unavailable);
            }
            Some(RemoteVerdict::Failed) => {
                // Only for the report. What has failed may have a value now, but a request has one
                // verdict: else the phase might ask without end.
                failures.extend(self.question(context, scratch).err());
                return self.unless_passing(self.on_error, RemoteStep::Above);
            }
            None => {}
        }
        match self.question(context, scratch) {
            Ok(question) if question.hits == 0 => RemoteStep::Pass,
            Ok(question) => RemoteStep::Ask(question),
            Err(failure) => {
                failures.push(failure);
                RemoteStep::Failed(Box::new(self.unless_passing(self.on_error, RemoteStep::Above)))
            }
        }
    }

    fn unless_passing(&self, policy: LimitErrorPolicy, step: RemoteStep) -> RemoteStep {
        if policy == LimitErrorPolicy::Pass || self.dry_run { RemoteStep::Pass } else { step }
    }

    fn question<'r, C: Context<Static = S>>(
        &'r self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<RemoteQuestion, ActionFailure<'r, S>> {
        let mut descriptors = Vec::with_capacity(self.descriptors.len());
        for wanted in &self.descriptors {
            let mut descriptor = Vec::with_capacity(wanted.len());
            for (key, value) in wanted {
                descriptor.push((Arc::clone(key), self.value(key, value, context, scratch)?));
            }
            descriptors.push(descriptor);
        }
        let hits = self.hits.value(ActionPart::LimitHits, context, scratch)?;
        let hits = u32::try_from(hits).unwrap_or(u32::MAX);
        Ok(RemoteQuestion { service: Arc::clone(&self.state.service), descriptors, hits })
    }

    fn value<'r, C: Context<Static = S>>(
        &'r self,
        key: &'r str,
        value: &'r TextTemplate<S>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<String, ActionFailure<'r, S>> {
        let part = ActionPart::Descriptor(key);
        let groups = matches!(value, TextTemplate::Computed(_)).then_some(self.groups);
        value.with_text(part, context, scratch, |text| match groups.and_then(|groups| network(text, groups)) {
            Some(network) => Some(network.to_string()),
            None => std::str::from_utf8(text).ok().filter(|_| fits(text)).map(str::to_owned),
        })
    }
}

/// Returns whether a text can be the key or the value of a descriptor.
pub(crate) fn fits(value: &[u8]) -> bool {
    value.len() <= LONGEST_VALUE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::limit::too_many;
    use crate::limits::remote::RemoteCounts;
    use celero::{Bindings, Engine, Env, Type, Value};

    /// What a descriptor reads may change before the phase runs again: a list, for instance.
    #[test]
    fn a_descriptor_that_has_failed_asks_nothing_when_it_has_a_value() {
        for (on_error, passes) in [(LimitErrorPolicy::Closed, false), (LimitErrorPolicy::Pass, true)] {
            let env = Env::dynamic().variable("user", Type::String);
            let program = Engine::new().compile(&env, "user").unwrap();
            let descriptor: NamedList<TextTemplate<Bindings<'static>>> =
                Box::new([(Arc::from("user"), TextTemplate::Computed(program))]);
            let state =
                RemoteState { name: "shared".into(), service: "counter".into(), counts: RemoteCounts::default() };
            let limit = RemoteLimit {
                state: Arc::new(state),
                descriptors: Box::new([descriptor]),
                groups: (32, 64),
                hits: Number::Fixed(1),
                on_limit: OnLimit { delay: None, end: Some(too_many()) },
                on_error,
                on_unavailable: LimitErrorPolicy::Closed,
                tells: TellsClient::Never,
                dry_run: false,
            };
            let (mut bindings, mut scratch) = (Bindings::new(&env), Scratch::new());
            let (mut limits, mut failures) = (RequestLimits::default(), Vec::new());
            let first = limit.step(&bindings, &mut scratch, &mut failures, &limits);
            assert!(matches!(first, RemoteStep::Failed(_)) && failures.len() == 1);
            limits.record(Arc::clone(&limit.state), RemoteVerdict::Failed, false, false);
            let again = limit.step(&bindings, &mut scratch, &mut failures, &limits);
            assert!(failures.len() == 2, "the failure is reported by the run that has an outcome");
            bindings.set("user", Value::String("ada")).unwrap();
            let changed = limit.step(&bindings, &mut scratch, &mut failures, &limits);
            for step in [again, changed] {
                assert!(matches!((step, passes), (RemoteStep::Above, false) | (RemoteStep::Pass, true)));
            }
        }
    }
}
