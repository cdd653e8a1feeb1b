//! What the limits of a policy have decided about one request, and what it holds until it is over.

use crate::limit_state::{CLOCK, Hold, LimitState};
use celero_limits::{Decision, Time};
use http::{HeaderName, HeaderValue};
use smallvec::SmallVec;
use std::sync::Arc;

/// The limits that were asked for one request.
#[derive(Debug, Default)]
pub(crate) struct RequestLimits {
    /// The time that limits read, if the host gives it.
    pub(crate) time: Option<Time>,
    asked: SmallVec<[AskedLimit; 1]>,
}

/// A limit that was asked.
#[derive(Debug)]
pub(crate) struct AskedLimit {
    pub(crate) state: Arc<LimitState>,
    pub(crate) within: bool,
    pub(crate) decision: Option<Decision>,
    pub(crate) hold: Hold,
    /// `countWhen` decides about the cost when there is a response.
    pub(crate) counts_later: bool,
    /// A rule `settle` may replace the cost.
    pub(crate) settled_by_rule: bool,
    /// All responses tell the client what is left.
    pub(crate) tells_always: bool,
}

impl RequestLimits {
    /// Returns the time of decisions.
    pub(crate) fn now(&self) -> Time {
        self.time.unwrap_or_else(|| CLOCK.now())
    }

    /// Returns what a limit has decided. A phase that waits for a password runs twice, and asks only once.
    pub(crate) fn decided(&self, state: &Arc<LimitState>) -> Option<&AskedLimit> {
        self.asked.iter().find(|asked| Arc::ptr_eq(&asked.state, state))
    }

    pub(crate) fn push(&mut self, asked: AskedLimit) {
        self.asked.push(asked);
    }

    /// Returns the limits whose cost `countWhen` decides about.
    pub(crate) fn counting_later(&mut self) -> impl Iterator<Item = &mut AskedLimit> {
        self.asked.iter_mut().filter(|asked| asked.counts_later)
    }

    /// Replaces the reserved cost of a limit with the real one. Does nothing if the request did not ask the limit.
    pub(crate) fn settle(&mut self, name: &str, cost: u64) {
        let now = self.now();
        for asked in self.asked.iter_mut().filter(|asked| *asked.state.name == *name) {
            asked.settle(cost, now);
        }
    }

    /// Calls `add` with the headers of the limits that all responses tell.
    pub(crate) fn tell(&self, mut add: impl FnMut(HeaderName, HeaderValue)) {
        for asked in self.asked.iter().filter(|asked| asked.tells_always) {
            if let Some(decision) = &asked.decision {
                asked.state.headers(decision, &mut add);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.time = None;
        if !self.asked.is_empty() {
            self.asked.clear();
        }
    }
}

impl AskedLimit {
    /// Counts the reserved cost, unless a rule may still replace it.
    pub(crate) fn count(&mut self) {
        if !self.settled_by_rule {
            // A reservation that is dropped counts.
            drop(std::mem::take(&mut self.hold));
        }
    }

    /// Counts the real cost instead of the reserved one.
    pub(crate) fn settle(&mut self, cost: u64, now: Time) {
        if let Hold::Cost(reservation) = std::mem::take(&mut self.hold) {
            reservation.settle(cost, now);
        }
    }
}
