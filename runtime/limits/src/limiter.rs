//! Rate limits of many keys.
//!
//! Invariant: a time before the time of an earlier decision admits less, never more. Test:
//! `runtime/limits/tests/limits/model.rs::times_that_go_back_admit_nothing_more`.

use crate::decision::Decision;
use crate::quota::Quota;
use crate::sliding_window::{SlidingWindow, WindowState};
use crate::table::{Algorithm, Table};
use crate::time::{Time, nanos};
use crate::token_bucket::{BucketState, TokenBucket};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// The keys of a limiter that does not say how many it has.
const USUAL_KEYS: usize = 65_536;

/// A key, hashed with the secret of one limiter. It means nothing to another limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u64);

/// The rate limit of each of many keys. The [crate's documentation](crate) says what happens when the table is full.
#[derive(Debug)]
pub struct Limiter {
    counting: Counting,
    quota: Quota,
    /// How long a key that exceeds its limit stays out, in nanoseconds.
    penalty: u64,
    secret: RandomState,
}

#[derive(Debug)]
enum Counting {
    Bucket(TokenBucket, Table<BucketState>),
    Window(SlidingWindow, Table<WindowState>),
}

/// The settings of a limiter.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct LimiterBuilder {
    quota: Quota,
    is_window: bool,
    keys: usize,
    penalty: Duration,
}

/// What a limiter has done since it was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Requests that were within the limit.
    pub admitted: u64,
    /// Requests that were not.
    pub refused: u64,
    /// Keys that left the table before all that they had used came back. If this grows, the table is too small.
    pub merged: u64,
    /// Keys that have used something now.
    pub keys: usize,
    /// Keys that fit.
    pub capacity: usize,
    /// The memory of the table in bytes.
    pub bytes: usize,
}

impl LimiterBuilder {
    /// Sets how many keys are remembered, rounded up to a power of two. Default: 65,536. Choose at
    /// least twice the number of keys that are active within the time in which a burst comes back.
    /// A key takes some 40 bytes with a token bucket, 112 with a sliding window.
    pub fn with_keys(self, keys: usize) -> Self {
        Self { keys, ..self }
    }

    /// Keeps a key that exceeds its limit out for this long. Requests while it is out do not prolong it. Default: 0.
    pub fn with_penalty(self, penalty: Duration) -> Self {
        Self { penalty, ..self }
    }

    /// Builds the limiter. Allocates the whole table.
    #[must_use]
    pub fn build(self) -> Limiter {
        let counting = if self.is_window {
            Counting::Window(SlidingWindow::new(self.quota), Table::new(self.keys))
        } else {
            Counting::Bucket(TokenBucket::new(self.quota), Table::new(self.keys))
        };
        Limiter { counting, quota: self.quota, penalty: nanos(self.penalty), secret: RandomState::new() }
    }
}

/// Calls a method with the algorithm and the set of a key.
macro_rules! with_set {
    ($limiter:expr, $key:expr, $default:expr, |$algorithm:ident, $set:ident| $body:expr) => {
        match &$limiter.counting {
            Counting::Bucket($algorithm, table) => table.set($key.0).map_or($default, |mut $set| $body),
            Counting::Window($algorithm, table) => table.set($key.0).map_or($default, |mut $set| $body),
        }
    };
}

/// The decision if a table had no sets, which it always has: nothing is admitted.
const CLOSED: Decision = Decision { admitted: false, limit: 0, free: 0, unit: 1, reset: 0, wait: 0 };

impl Limiter {
    /// Begins a limiter with a token bucket for each key: units come back evenly, up to a burst.
    pub fn token_bucket(quota: Quota) -> LimiterBuilder {
        LimiterBuilder { quota, is_window: false, keys: USUAL_KEYS, penalty: Duration::ZERO }
    }

    /// Begins a limiter with a sliding window for each key: never more than the quota's count in
    /// any time of the quota's period. What was used comes back after one to eight sevenths of a
    /// period.
    pub fn sliding_window(quota: Quota) -> LimiterBuilder {
        LimiterBuilder { is_window: true, ..Self::token_bucket(quota) }
    }

    /// Returns the quota.
    #[must_use]
    pub fn quota(&self) -> Quota {
        self.quota
    }

    /// Returns a key. Cost: SipHash-1-3 of the bytes.
    #[must_use]
    #[inline]
    pub fn key(&self, bytes: &[u8]) -> Key {
        let mut hasher = self.secret.build_hasher();
        hasher.write(bytes);
        // 0 marks a free slot.
        Key(hasher.finish().max(1))
    }

    /// Asks the processor to load what the next decision about a key reads, and does not wait for
    /// it. Counts nothing, and takes no lock. Of use if there is other work before the decision: of
    /// a large table, each key is elsewhere in memory.
    #[inline]
    pub fn prefetch(&self, key: Key) {
        match &self.counting {
            Counting::Bucket(_, table) => table.prefetch(key.0),
            Counting::Window(_, table) => table.prefetch(key.0),
        }
    }

    /// Decides about a request, and counts its cost if it is admitted. A cost of 0 asks whether the
    /// key is within its limit and counts nothing; a cost above the limit is never admitted. Does
    /// not allocate.
    #[inline]
    pub fn check(&self, key: Key, cost: u64, now: Time) -> Decision {
        self.admit(key, cost, now, Use::Count)
    }

    /// Decides about a request without counting anything: neither its cost nor a penalty, nor in the [`Stats`].
    pub fn peek(&self, key: Key, cost: u64, now: Time) -> Decision {
        let now = now.as_nanos();
        with_set!(self, key, CLOSED, |algorithm, set| set.with(algorithm, key.0, now, |state, _| {
            // On a copy: deciding moves a window on.
            (algorithm.decide(&mut state.clone(), cost, now), false)
        }))
    }

    /// Counts a cost whether or not it is within the limit: for what has happened already. A key
    /// can owe more than its limit, and is then refused until that has come back: with a token
    /// bucket for at most a day or sixteen times its burst, whichever is longer.
    pub fn charge(&self, key: Key, cost: u64, now: Time) {
        self.settle(key, 0, cost, now);
    }

    /// Keeps a key out until a time, or as long as it is out already.
    pub fn block(&self, key: Key, until: Time, now: Time) {
        with_set!(self, key, (), |algorithm, set| set.with(algorithm, key.0, now.as_nanos(), |state, _| {
            algorithm.block(state, until.as_nanos());
            ((), true)
        }));
    }

    /// Ends the penalty of a key. What it has used stays counted.
    pub fn unblock(&self, key: Key, now: Time) {
        with_set!(self, key, (), |algorithm, set| set.with(algorithm, key.0, now.as_nanos(), |state, _| {
            algorithm.unblock(state);
            ((), true)
        }));
    }

    /// Forgets what all keys have used, and their penalties.
    pub fn clear(&self) {
        match &self.counting {
            Counting::Bucket(_, table) => table.clear(),
            Counting::Window(_, table) => table.clear(),
        }
    }

    /// Returns what the limiter has done. Locks one set after the other; takes about 50 ns for each.
    #[must_use]
    pub fn stats(&self, now: Time) -> Stats {
        let now = now.as_nanos();
        let ((counts, keys), capacity, bytes) = match &self.counting {
            Counting::Bucket(algorithm, table) => (table.counts(algorithm, now), table.capacity(), table.bytes()),
            Counting::Window(algorithm, table) => (table.counts(algorithm, now), table.capacity(), table.bytes()),
        };
        let crate::table::Counts { admitted, refused, merged } = counts;
        Stats { admitted, refused, merged, keys, capacity, bytes }
    }

    #[inline]
    pub(crate) fn admit(&self, key: Key, cost: u64, now: Time, usage: Use) -> Decision {
        let now = now.as_nanos();
        with_set!(self, key, CLOSED, |algorithm, set| set.with(algorithm, key.0, now, |state, counts| {
            let decision = algorithm.decide(state, cost, now);
            if !decision.admitted {
                counts.refused = counts.refused.saturating_add(1);
                if self.penalty == 0 || algorithm.is_blocked(state, now) {
                    return (decision, false);
                }
                algorithm.block(state, now.saturating_add(self.penalty));
                return (algorithm.decide(state, cost, now), true);
            }
            counts.admitted = counts.admitted.saturating_add(1);
            match usage {
                Use::Count => algorithm.count(state, cost, now),
                Use::Hold => algorithm.hold(state, cost),
            }
            (decision, cost > 0)
        }))
    }

    /// Ends a reservation and counts what was really used.
    pub(crate) fn settle(&self, key: Key, reserved: u64, used: u64, now: Time) {
        let now = now.as_nanos();
        with_set!(self, key, (), |algorithm, set| set.with(algorithm, key.0, now, |state, _| {
            algorithm.release(state, reserved);
            if used > 0 {
                algorithm.count(state, used, now);
            }
            ((), used > 0)
        }));
    }
}

/// What becomes of a cost that is admitted.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    Count,
    Hold,
}
