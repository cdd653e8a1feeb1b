//! Costs that are reserved before a request and settled after it.

use crate::decision::Decision;
use crate::limiter::{Key, Limiter, Use};
use crate::time::Time;
use std::sync::Arc;

/// A cost that is reserved until the real one is known. Dropped without being settled, it counts as
/// reserved, at the time at which it was reserved: a client gains nothing by breaking off a
/// request.
#[derive(Debug)]
#[must_use = "a reservation that is dropped counts"]
pub struct Reservation {
    limiter: Arc<Limiter>,
    key: Key,
    cost: u64,
    at: Time,
    is_settled: bool,
}

impl Limiter {
    /// Reserves a cost for a request whose real cost will be known later. Other requests see it as
    /// used until it is settled, so requests that run at once cannot exceed the limit together.
    /// [`Reservation::settle`] counts the real cost; a reservation that is dropped counts as it is.
    ///
    /// # Errors
    /// The decision, if the request is not admitted.
    pub fn reserve(self: &Arc<Self>, key: Key, cost: u64, now: Time) -> Result<(Reservation, Decision), Decision> {
        let decision = self.admit(key, cost, now, Use::Hold);
        if decision.admitted {
            let limiter = Arc::clone(self);
            Ok((Reservation { limiter, key, cost, at: now, is_settled: false }, decision))
        } else {
            Err(decision)
        }
    }
}

impl Reservation {
    /// Returns the reserved cost.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Counts the real cost instead of the reserved one. It may be 0, and it may exceed the limit:
    /// then the key is refused until that has come back.
    pub fn settle(mut self, used: u64, now: Time) {
        self.is_settled = true;
        self.limiter.settle(self.key, self.cost, used, now);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.is_settled {
            self.limiter.settle(self.key, self.cost, self.cost, self.at);
        }
    }
}
