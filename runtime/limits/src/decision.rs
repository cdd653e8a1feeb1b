//! What a limit says about a request.

use std::time::Duration;

/// Whether a request is within a limit, and what is left of it. Remaining units and times are for
/// the time of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Decision {
    pub(crate) admitted: bool,
    pub(crate) limit: u64,
    /// What is left after the decision, in parts.
    pub(crate) free: u64,
    /// The number of parts of a unit.
    pub(crate) unit: u64,
    /// Nanoseconds until nothing is used.
    pub(crate) reset: u64,
    /// Nanoseconds until the same cost is admitted; [`NEVER`] if it exceeds the limit. 0 if it was admitted.
    pub(crate) wait: u64,
}

/// No time is long enough.
pub(crate) const NEVER: u64 = u64::MAX;

impl Decision {
    /// Returns whether the request is admitted.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        self.admitted
    }

    /// Returns the most units that a key can have left: the burst of a token bucket, the count of a sliding window.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the whole units that are left.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.free.checked_div(self.unit).unwrap_or(0)
    }

    /// Returns the time until all units are there again, if nothing more is used. Costs that are
    /// not settled yet are taken as used now.
    #[must_use]
    pub fn reset(&self) -> Duration {
        Duration::from_nanos(self.reset)
    }

    /// Returns the time after which the same request is admitted, if nothing more is used; `None`
    /// if it was admitted, or if it [can never be](Self::is_impossible).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        (!self.admitted && self.wait != NEVER).then(|| Duration::from_nanos(self.wait))
    }

    /// Returns whether the request costs more than the limit, so that it is never admitted.
    #[must_use]
    pub fn is_impossible(&self) -> bool {
        self.wait == NEVER
    }
}
