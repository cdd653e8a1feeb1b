//! What a policy needs of its host.

use crate::host::outcome::PolicyAnswer;
use crate::phases::exchange::Exchange;
use crate::policy::Policy;
use bytes::Bytes;
use http::StatusCode;
use std::sync::Arc;

/// The body of the answer to a request without the values of the host's variables.
const NO_VARIABLES: &[u8] = b"the policy reads variables of its host that this server does not give\n";

impl Policy {
    /// Returns whether a request has the values of the host's variables that the policy was loaded
    /// for ([`Exchange::set_variables`]). If not, the phase `request` runs no rules and answers the
    /// request with 500.
    #[must_use]
    pub fn has_variables_of(&self, exchange: &Exchange) -> bool {
        self.host_variables.as_ref().is_none_or(|variables| exchange.attributes.variables.has(variables))
    }

    /// Returns the answer to a request without the values of the host's variables. All rules would
    /// fail, and with `onError: noMatch` every guard would let the request pass.
    pub(crate) fn without_variables(&self, exchange: &Exchange) -> Option<PolicyAnswer> {
        (!self.has_variables_of(exchange)).then(|| PolicyAnswer {
            body: Bytes::from_static(NO_VARIABLES),
            ..PolicyAnswer::empty(StatusCode::INTERNAL_SERVER_ERROR, &Arc::from("host.variables"))
        })
    }

    /// Returns whether a phase before `log` reads the client's address or port, or asks whether
    /// they are present. A host that does not know the address should refuse requests then: rules
    /// that admit by address would deny everybody, without a word.
    #[must_use]
    pub fn reads_client(&self) -> bool {
        self.reads_ends.client
    }

    /// As [`reads_client`](Self::reads_client), for the address and the port at which the request was received.
    #[must_use]
    pub fn reads_destination(&self) -> bool {
        self.reads_ends.destination
    }

    /// Returns whether the policy says `normalize: {connect: accept}`. A host that makes no tunnels
    /// should refuse to load it then.
    #[must_use]
    pub fn accepts_tunnels(&self) -> bool {
        self.normalization.options.connect
    }

    /// Returns whether the phases `response` or `responseBody` have rules, or limits see responses.
    /// If not, a host need not call them.
    #[must_use]
    pub fn has_response_rules(&self) -> bool {
        self.late_needs.response
    }

    /// Returns whether any phase adds fields to the log entry, or the phase `log` has rules.
    /// Whether a host has to call it is what [`lasts_until_end`](Self::lasts_until_end) says.
    #[must_use]
    pub fn has_log_fields(&self) -> bool {
        self.late_needs.log_fields
    }

    /// Returns whether the phase [`log`](Self::log) has something to do, or requests hold something
    /// of a limit until they end: a cost that may still change, or a place among open requests.
    /// Then a host keeps the [`Exchange`](crate::Exchange) until the response was sent or given up,
    /// calls `log`, and drops or [resets](crate::Exchange::reset) it.
    #[must_use]
    pub fn lasts_until_end(&self) -> bool {
        self.late_needs.end
    }
}
