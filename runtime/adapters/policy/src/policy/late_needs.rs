//! What a policy needs of its host after a request has arrived.

use crate::limits::settings::TellsClient;
use crate::limits::state::Measure;
use crate::phases::phase::PhaseRules;
use crate::rules::rule::Rule;

/// What a policy needs of its host after a request has arrived. Found once, because hosts ask for each request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LateNeeds {
    /// The phases of the response.
    pub(crate) response: bool,
    /// The phase `log`, for its fields.
    pub(crate) log_fields: bool,
    /// The phase `log`, or the end of what a request holds.
    pub(crate) end: bool,
}

impl LateNeeds {
    /// Adds the needs of a phase of the request.
    pub(crate) fn of_request<S>(mut self, rules: &PhaseRules<S>) -> Self {
        self.response |= sees_responses(rules);
        self.end |= holds(rules);
        self.of_fields(logs(rules))
    }

    /// Adds the needs of a phase of the response.
    pub(crate) fn of_response<S>(mut self, rules: &PhaseRules<S>) -> Self {
        self.response |= !rules.rules.is_empty();
        self.of_fields(logs(rules))
    }

    /// Adds the needs of the phase `log`.
    pub(crate) fn of_log<S>(self, rules: &PhaseRules<S>) -> Self {
        self.of_fields(!rules.rules.is_empty())
    }

    fn of_fields(mut self, fields: bool) -> Self {
        self.log_fields |= fields;
        self.end |= fields;
        self
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

/// Returns whether limits of the rules have to see responses: all responses tell about them, or decide what counts.
fn sees_responses<S>(rules: &PhaseRules<S>) -> bool {
    rules.rules.iter().any(|rule| {
        let local = rule.limit.as_ref().map(|limit| limit.tells);
        local.or(rule.remote.as_ref().map(|limit| limit.tells)) == Some(TellsClient::Always)
            || rule.limit.as_ref().is_some_and(|limit| limit.counts_later)
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
