//! What a policy needs of its host.

use crate::limit_state::Measure;
use crate::phase::PhaseRules;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::rule_limit::TellsClient;

/// What a policy needs of its host after a request has arrived. Found once, because it is asked for each request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostNeeds {
    response_rules: bool,
    log_fields: bool,
    until_end: bool,
}

impl HostNeeds {
    pub(crate) fn of(policy: &Policy) -> Self {
        let Policy { request, body, response, response_body, log, count_when, .. } = policy;
        let log_fields = !log.rules.is_empty() || logs(request) || logs(body) || logs(response) || logs(response_body);
        Self {
            response_rules: !response.rules.is_empty()
                || !response_body.rules.is_empty()
                || !count_when.is_empty()
                || tells(request)
                || tells(body),
            log_fields,
            until_end: log_fields || holds(request) || holds(body),
        }
    }
}

/// Returns whether rules add fields to the log entry.
fn logs<S>(rules: &PhaseRules<S>) -> bool {
    let dry = |rule: &Rule<S>| {
        rule.delay.as_ref().is_some_and(|delay| delay.dry_run)
            || rule.limit.as_ref().is_some_and(|limit| limit.dry_run)
            || rule.remote.as_ref().is_some_and(|limit| limit.dry_run)
    };
    rules.rules.iter().any(|rule| !rule.fields.is_empty() || dry(rule))
}

/// Returns whether all responses tell about limits of the rules.
fn tells<S>(rules: &PhaseRules<S>) -> bool {
    rules.rules.iter().any(|rule| {
        let local = rule.limit.as_ref().map(|limit| limit.tells);
        local.or(rule.remote.as_ref().map(|limit| limit.tells)) == Some(TellsClient::Always)
    })
}

/// Returns whether requests hold something of limits of the rules until they end.
fn holds<S>(rules: &PhaseRules<S>) -> bool {
    rules
        .rules
        .iter()
        .filter_map(|rule| rule.limit.as_ref())
        .any(|limit| limit.reserves() || matches!(limit.state.definition.measure, Measure::Open(_)))
}

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
        self.needs.response_rules
    }

    /// Returns whether any phase adds fields to the log entry, or the phase `log` has rules. If not, a host need not call it.
    #[must_use]
    pub fn has_log_fields(&self) -> bool {
        self.needs.log_fields
    }

    /// Returns whether the phase [`log`](Self::log) has something to do, or requests hold something of a limit until they end: a cost that may
    /// still change, or a place among open requests. Then a host keeps the [`Exchange`](crate::Exchange) until the response was sent or given up, calls
    /// `log`, and drops or [resets](crate::Exchange::reset) it.
    #[must_use]
    pub fn lasts_until_end(&self) -> bool {
        self.needs.until_end
    }
}
