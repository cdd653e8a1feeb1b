//! A token bucket for one thing, in a single atomic.

use crate::decision::Decision;
use crate::quota::Quota;
use crate::time::Time;
use crate::token_bucket::TokenBucket;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rate limit of one thing: a token bucket without keys. Lock-free.
#[derive(Debug)]
pub struct Bucket {
    numbers: TokenBucket,
    /// When the bucket is full, in nanoseconds.
    full_at: AtomicU64,
}

impl Bucket {
    /// Returns a full bucket.
    #[must_use]
    pub fn new(quota: Quota) -> Self {
        Self { numbers: TokenBucket::new(quota), full_at: AtomicU64::new(0) }
    }

    /// Decides about a request, and counts its cost if it is admitted. See [`Limiter::check`](crate::Limiter::check).
    pub fn check(&self, cost: u64, now: Time) -> Decision {
        // The value guards no other memory, so no ordering is needed.
        let mut full_at = self.full_at.load(Ordering::Relaxed);
        loop {
            let (decision, next) = self.numbers.decide_at(full_at, 0, cost, now.as_nanos());
            if !decision.admitted || cost == 0 {
                return decision;
            }
            match self.full_at.compare_exchange_weak(full_at, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return decision,
                Err(seen) => full_at = seen,
            }
        }
    }
}
