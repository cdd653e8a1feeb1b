//! The delays of a policy: what a phase of the request has decided, with how long the host waits first.
//!
//! Invariant: a request waits as long as its longest delay, whatever the number of rules, levels and phases. Test:
//! `runtime/adapters/policy/tests/policy/delays.rs::a_request_waits_once_whatever_its_phases`.
//!
//! Invariant: without a free place a request does not go on unless the file says so. Test:
//! `runtime/adapters/policy/tests/policy/delays.rs::beyond_the_bound_requests_are_denied_or_go_on_as_the_file_says`.

use crate::host::delay::{DelayInfo, OnFull};
use crate::host::outcome::{Decision, PolicyAnswer};
use crate::phases::exchange::Exchange;
use crate::phases::phase::PhaseRules;
use crate::policy::Policy;
use crate::rules::rule::Rule;
use http::request;
use std::sync::Arc;

impl Policy {
    /// Returns whether requests may be delayed. A host that cannot wait should refuse to serve then.
    #[must_use]
    pub fn has_delays(&self) -> bool {
        fn delays<S>(rules: &PhaseRules<S>) -> bool {
            rules.rules.iter().any(Rule::delays)
        }
        delays(&self.request) || delays(&self.body)
    }

    /// Returns how many requests wait and have waited. Policies that [take over](Self::take_over)
    /// from each other count together.
    #[must_use]
    pub fn delays(&self) -> DelayInfo {
        self.delays.info()
    }

    /// Returns the decision of a phase that ended with this answer, or with none. A request waits
    /// as long as the longest delay of its rules, whatever the number of rules, levels and phases:
    /// what it has waited for in an earlier phase is not added.
    pub(crate) fn decide(
        &self,
        head: &request::Parts,
        answer: Option<PolicyAnswer>,
        exchange: &mut Exchange,
    ) -> Decision {
        let wanted = std::mem::take(&mut exchange.effects.delay);
        let time = wanted.saturating_sub(exchange.delayed);
        if time.is_zero() {
            return self.conclude(head, answer, exchange).into();
        }
        let delay = self.delays.begin(time);
        if delay.is_some() {
            exchange.delayed = wanted;
        }
        // What is answered anyway costs least at once. What would go on must not, unless the file
        // says so: clients could take all permits and then avoid the delay.
        let answer = match answer {
            None if delay.is_none() && self.delays.on_full == OnFull::Deny => {
                exchange.effects.edits.clear();
                Some(PolicyAnswer::try_again(&Arc::from("delay.busy")))
            }
            answer => answer,
        };
        Decision { delay, outcome: self.conclude(head, answer, exchange) }
    }
}
