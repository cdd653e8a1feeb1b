//! The limits of a policy between phases: costs that responses decide about, headers, and what a reload takes over.

use crate::host::edits::Edit;
use crate::host::outcome::{Outcome, PolicyAnswer};
use crate::limits::remote::{RemoteLimits, RemoteState};
use crate::limits::settings::LimitErrorPolicy;
use crate::limits::state::{LimitInfo, LimitState};
use crate::phases::context::{CommonData, ResponseData, ResponseHead};
use crate::phases::exchange::Exchange;
use crate::policy::Policy;
use celero::{Scratch, Value};
use http::{HeaderMap, StatusCode, request};
use std::sync::Arc;

impl Policy {
    /// Returns the limits with their counters, in the order of the file. Reading them locks each
    /// part of their tables for some nanoseconds; takes about 10 µs for each thousand keys that a
    /// limit remembers.
    pub fn limits(&self) -> impl Iterator<Item = LimitInfo> {
        let remote = self.remote_states().map(|state| {
            let [admitted, limited, tolerated, failed, unavailable] = state.counts();
            let name = Arc::clone(&state.name);
            LimitInfo { name, admitted, limited, tolerated, failed, unavailable, keys: 0, capacity: 0, merged: 0 }
        });
        self.limit_states().map(|state| state.info()).chain(remote)
    }

    /// Sets what asks the services that count limits of many machines (`limit: {remote: NAME}`).
    /// Without it they are unavailable. Call it before the policy is used.
    pub fn set_remote_limits(&mut self, services: Arc<dyn RemoteLimits>) {
        self.remote_limits = Some(services);
    }

    /// Returns the limits that a service counts, each with the name of the service, in the order of the file.
    pub fn remote_services(&self) -> impl Iterator<Item = (&str, &str)> {
        self.remote_states().map(|state| (&*state.name, &*state.service))
    }

    fn remote_states(&self) -> impl Iterator<Item = &Arc<RemoteState>> {
        let request = self.request.rules.iter().filter_map(|rule| Some(&rule.remote.as_ref()?.state));
        request.chain(self.body.rules.iter().filter_map(|rule| Some(&rule.remote.as_ref()?.state)))
    }

    fn remote_states_mut(&mut self) -> impl Iterator<Item = &mut Arc<RemoteState>> {
        let request = self.request.rules.iter_mut().filter_map(|rule| Some(&mut rule.remote.as_mut()?.state));
        request.chain(self.body.rules.iter_mut().filter_map(|rule| Some(&mut rule.remote.as_mut()?.state)))
    }

    /// Forgets what the keys of all limits have used, and their penalties. Open requests stay open.
    pub fn clear_limits(&self) {
        self.limit_states().for_each(|state| state.clear());
    }

    fn limit_states(&self) -> impl Iterator<Item = &Arc<LimitState>> {
        let connection = self.connection.rules.iter().filter_map(|rule| Some(&rule.limit.as_ref()?.state));
        connection.chain(self.request_limits())
    }

    /// Returns the limits that requests ask.
    fn request_limits(&self) -> impl Iterator<Item = &Arc<LimitState>> {
        let request = self.request.rules.iter().filter_map(|rule| Some(&rule.limit.as_ref()?.state));
        request.chain(self.body.rules.iter().filter_map(|rule| Some(&rule.limit.as_ref()?.state)))
    }

    /// Takes over the counters of limits with the same name and definition.
    pub(crate) fn take_over_limits(&mut self, before: &Self) {
        let take_over = |state: &mut Arc<LimitState>| {
            let is_same = |known: &&Arc<LimitState>| known.name == state.name && known.definition == state.definition;
            if let Some(known) = before.limit_states().find(is_same) {
                *state = Arc::clone(known);
            }
        };
        let connection = self.connection.rules.iter_mut().filter_map(|rule| Some(&mut rule.limit.as_mut()?.state));
        let request = self.request.rules.iter_mut().filter_map(|rule| Some(&mut rule.limit.as_mut()?.state));
        connection
            .chain(request)
            .chain(self.body.rules.iter_mut().filter_map(|rule| Some(&mut rule.limit.as_mut()?.state)))
            .for_each(take_over);
        if self.remote_limits.is_none() {
            self.remote_limits.clone_from(&before.remote_limits);
        }
        for state in self.remote_states_mut() {
            let is_same = |known: &&Arc<RemoteState>| known.name == state.name && known.service == state.service;
            if let Some(known) = before.remote_states().find(is_same) {
                *state = Arc::clone(known);
            }
        }
    }

    /// Asks the processor to load what limits have counted for the client of a request: it does so
    /// while the request is made canonical and conditions are evaluated. Of limits whose key is
    /// something else, the place is not known so early.
    pub(crate) fn prefetch_limits(&self, exchange: &Exchange) {
        if self.early_limits.is_empty() {
            return;
        }
        let Some(client) = exchange.source().address else { return };
        for rule in self.early_limits.iter().filter_map(|rule| self.request.rules.get(*rule)) {
            rule.limit.iter().for_each(|limit| limit.prefetch(client.ip()));
        }
    }

    /// Returns the outcome of a phase before the server. An answer of the policy is a response: `countWhen` reads it.
    pub(crate) fn conclude(
        &self,
        head: &request::Parts,
        answer: Option<PolicyAnswer>,
        exchange: &mut Exchange,
    ) -> Outcome {
        if let Some(answer) = &answer {
            self.count_response(head, answer.status, &answer.headers, exchange);
            exchange.effects.limits.apply_verdicts();
        }
        exchange.outcome(answer)
    }

    /// Evaluates `countWhen` of each limit that waits for it. [`RequestLimits::apply_verdicts`]
    /// then counts or releases the costs. A second call has no effect, unless the response was
    /// [dropped](Exchange::forget_response).
    ///
    /// [`RequestLimits::apply_verdicts`]: crate::limits::request::RequestLimits::apply_verdicts
    pub(crate) fn count_response(
        &self,
        head: &request::Parts,
        status: StatusCode,
        headers: &HeaderMap,
        exchange: &mut Exchange,
    ) {
        if self.count_when.is_empty() {
            return;
        }
        let (started, origin) = (exchange.start_time(), exchange.source());
        let Exchange { findings, attributes, effects, local, tls, arrival, .. } = exchange;
        let proofs = self.auth.lazy(&head.headers, findings);
        let context = ResponseData {
            request: arrival.head(head),
            response: ResponseHead { code: Some(status), headers },
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        let mut scratch = Scratch::new();
        for asked in effects.limits.counting_later() {
            let Some(known) = self.count_when.iter().find(|known| known.limit == asked.state.name) else {
                asked.counts_later = false;
                continue;
            };
            let counts = match known.program.eval(&context, &mut scratch) {
                Ok(Value::Bool(counts)) => counts,
                _ => {
                    asked.state.count_failed();
                    known.on_error != LimitErrorPolicy::Pass
                }
            };
            asked.verdict = Some(counts);
        }
    }

    /// Adds the headers of limits to those that a phase changes.
    pub(crate) fn tell_limits(&self, exchange: &mut Exchange) {
        let effects = &mut exchange.effects;
        effects.limits.tell(|name, value| effects.edits.push(Edit::Add { name, value }));
    }
}
