//! Token buckets, as the generic cell rate algorithm (GCRA, ITU-T I.371) counts them: a bucket is
//! the time at which it will be full.

use crate::decision::{Decision, NEVER};
use crate::quota::Quota;
use crate::table::Algorithm;

/// A day in nanoseconds.
const DAY: u64 = 86_400_000_000_000;

/// The numbers of a token bucket, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    /// The time in which a unit comes back.
    unit: u64,
    /// The time in which an empty bucket becomes full.
    capacity: u64,
    burst: u64,
    /// The most that a key can owe. Without a bound, one request of a huge cost would keep a key out for ever.
    most_owed: u64,
}

/// What a key has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BucketState {
    /// When the bucket is full, in nanoseconds.
    full_at: u64,
    /// What is reserved and not settled: nanoseconds that do not pass.
    held: u64,
    /// Until when nothing is admitted.
    blocked_until: u64,
}

impl TokenBucket {
    pub(crate) fn new(quota: Quota) -> Self {
        let unit = quota.unit();
        let capacity = unit.saturating_mul(quota.burst());
        Self { unit, capacity, burst: quota.burst(), most_owed: capacity.saturating_mul(16).max(DAY) }
    }

    /// Decides about a cost for a bucket that is full at `full_at`. Returns the decision and when
    /// the bucket is full if the cost counts.
    pub(crate) fn decide_at(&self, full_at: u64, held: u64, cost: u64, now: u64) -> (Decision, u64) {
        let used = full_at.saturating_sub(now).saturating_add(held);
        // A price that saturates is above every capacity.
        let price = self.unit.saturating_mul(cost);
        let free = self.capacity.saturating_sub(used);
        let admitted = price <= free && (cost > 0 || used <= self.capacity);
        let after = if admitted { used.saturating_add(price) } else { used };
        let wait = if admitted {
            0
        } else if price > self.capacity {
            NEVER
        } else {
            used.saturating_sub(self.capacity.saturating_sub(price))
        };
        let free = self.capacity.saturating_sub(after);
        let decision = Decision { admitted, limit: self.burst, free, unit: self.unit, reset: after, wait };
        (decision, self.counted(full_at, cost, now))
    }

    /// Returns when a bucket is full after a cost has counted.
    pub(crate) fn counted(&self, full_at: u64, cost: u64, now: u64) -> u64 {
        full_at.max(now).saturating_add(self.unit.saturating_mul(cost))
    }
}

impl Algorithm for TokenBucket {
    type State = BucketState;

    fn decide(&self, state: &mut BucketState, cost: u64, now: u64) -> Decision {
        let (decision, _) = self.decide_at(state.full_at, state.held, cost, now);
        if state.blocked_until > now { blocked(decision, state.blocked_until.saturating_sub(now)) } else { decision }
    }

    fn count(&self, state: &mut BucketState, cost: u64, now: u64) {
        let most = now.saturating_add(self.most_owed);
        state.full_at = self.counted(state.full_at, cost, now).min(most).max(state.full_at);
    }

    fn hold(&self, state: &mut BucketState, cost: u64) {
        state.held = state.held.saturating_add(self.unit.saturating_mul(cost));
    }

    fn release(&self, state: &mut BucketState, cost: u64) {
        state.held = state.held.saturating_sub(self.unit.saturating_mul(cost));
    }

    fn block(&self, state: &mut BucketState, until: u64) {
        state.blocked_until = state.blocked_until.max(until);
    }

    fn unblock(&self, state: &mut BucketState) {
        state.blocked_until = 0;
    }

    fn is_blocked(&self, state: &BucketState, now: u64) -> bool {
        state.blocked_until > now
    }

    fn weight(&self, state: &BucketState, now: u64) -> u64 {
        let used = state.full_at.saturating_sub(now).saturating_add(state.held);
        match state.blocked_until.saturating_sub(now) {
            0 => used,
            // A key that is out is replaced after all others.
            left => self.capacity.saturating_add(left).max(used),
        }
    }

    fn merge(&self, floor: &mut BucketState, replaced: BucketState, now: u64) {
        let full_at =
            if replaced.held == 0 { replaced.full_at } else { replaced.full_at.max(now).saturating_add(replaced.held) };
        floor.full_at = floor.full_at.max(full_at);
        floor.blocked_until = floor.blocked_until.max(replaced.blocked_until);
    }
}

/// Returns the decision about a key that is out for `left` nanoseconds.
pub(crate) fn blocked(decision: Decision, left: u64) -> Decision {
    Decision { admitted: false, free: 0, reset: decision.reset.max(left), wait: decision.wait.max(left), ..decision }
}
