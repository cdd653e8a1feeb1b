//! What a policy needs of its host.

use crate::phase::PhaseRules;
use crate::policy::Policy;
use crate::rule::Rule;

impl Policy {
    /// Returns whether a phase before `log` reads the client's address or port, or asks whether they are present. A host that does not
    /// know the address should refuse requests then: rules that admit by address would deny everybody, without a word.
    #[must_use]
    pub fn reads_client(&self) -> bool {
        self.reads_ends.client
    }

    /// As [`reads_client`](Self::reads_client), for the address and the port at which the request was received.
    #[must_use]
    pub fn reads_destination(&self) -> bool {
        self.reads_ends.destination
    }

    /// Returns whether the phases `response` or `responseBody` have rules, or limits see responses. If not, a host need not call them.
    #[must_use]
    pub fn has_response_rules(&self) -> bool {
        !self.response.rules.is_empty() || !self.response_body.rules.is_empty() || self.limits_see_responses()
    }

    /// Returns whether any phase adds fields to the log entry, or the phase `log` has rules. If not, a host need not call it.
    #[must_use]
    pub fn has_log_fields(&self) -> bool {
        fn logs<S>(rules: &PhaseRules<S>) -> bool {
            let dry = |rule: &Rule<S>| {
                rule.delay.as_ref().is_some_and(|delay| delay.dry_run)
                    || rule.limit.as_ref().is_some_and(|limit| limit.dry_run)
                    || rule.remote.as_ref().is_some_and(|limit| limit.dry_run)
            };
            rules.rules.iter().any(|rule| !rule.fields.is_empty() || dry(rule))
        }
        !self.log.rules.is_empty()
            || logs(&self.request)
            || logs(&self.body)
            || logs(&self.response)
            || logs(&self.response_body)
    }
}
