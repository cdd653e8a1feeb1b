//! How many retries an upstream may get: a share of its requests. Without a bound, retries multiply the load of servers that fail because of
//! their load.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

/// A retry, in the unit of the account.
const RETRY: i64 = 1000;
/// The most that is saved up: so many retries may follow at once.
const MOST: i64 = 100 * RETRY;
/// What is there at the beginning.
const FIRST: i64 = 10 * RETRY;

/// The account of the retries of an upstream.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    balance: AtomicI64,
    origin: Instant,
    /// The seconds since the origin for which a retry was added.
    seconds: AtomicU64,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { balance: AtomicI64::new(FIRST), origin: Instant::now(), seconds: AtomicU64::new(0) }
    }
}

impl RetryBudget {
    /// Adds the retries for a request: `share` of one.
    pub(crate) fn add(&self, share: f64) {
        self.pay_in((share * RETRY as f64) as i64);
    }

    /// Takes a retry, if one is left. One a second is added.
    pub(crate) fn take(&self) -> bool {
        let now = self.origin.elapsed().as_secs();
        let passed = now.saturating_sub(self.seconds.fetch_max(now, Ordering::Relaxed));
        self.pay_in(i64::try_from(passed).unwrap_or(MOST).saturating_mul(RETRY));
        let one_less = |balance: i64| balance.checked_sub(RETRY).filter(|rest| *rest >= 0);
        self.balance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    fn pay_in(&self, amount: i64) {
        let more = |balance: i64| (balance < MOST && amount > 0).then(|| balance.saturating_add(amount).min(MOST));
        // An error: there is nothing to add.
        let _ = self.balance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_a_share_of_the_requests() {
        let budget = RetryBudget::default();
        let taken = |budget: &RetryBudget| std::iter::repeat_with(|| budget.take()).take_while(|taken| *taken).count();
        let first = taken(&budget);
        assert!((10..=11).contains(&first), "{first}");
        (0..100).for_each(|_| budget.add(0.2));
        let then = taken(&budget);
        assert!((20..=21).contains(&then), "{then}");
        (0..10_000).for_each(|_| budget.add(1.0));
        let most = taken(&budget);
        assert!((100..=101).contains(&most), "{most}");
    }
}
