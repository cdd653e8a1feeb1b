//! How many retries an upstream may get: a token bucket that its requests fill, each with a share
//! of a retry. Without a bound, retries multiply the load of servers that fail because of their
//! load.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

/// One retry, in units of the balance.
const UNITS_PER_RETRY: i64 = 1000;
/// Upper bound of the balance: at most 100 retries can follow at once.
const MAX_BALANCE: i64 = 100 * UNITS_PER_RETRY;
/// The balance of a new upstream: 10 retries.
const INITIAL_BALANCE: i64 = 10 * UNITS_PER_RETRY;

/// The token bucket for the retries of an upstream.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    balance: AtomicI64,
    origin: Instant,
    /// The seconds since the origin for which a retry was added.
    seconds: AtomicU64,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { balance: AtomicI64::new(INITIAL_BALANCE), origin: Instant::now(), seconds: AtomicU64::new(0) }
    }
}

impl RetryBudget {
    /// Adds the retries for a request: `share` of one.
    pub(crate) fn add(&self, share: f64) {
        self.deposit((share * UNITS_PER_RETRY as f64) as i64);
    }

    /// Withdraws one retry. Returns `false` if the balance is below that. One retry for each second
    /// since the last call is added before.
    pub(crate) fn try_withdraw(&self) -> bool {
        let now = self.origin.elapsed().as_secs();
        let passed = now.saturating_sub(self.seconds.fetch_max(now, Ordering::Relaxed));
        self.deposit(i64::try_from(passed).unwrap_or(MAX_BALANCE).saturating_mul(UNITS_PER_RETRY));
        let one_less = |balance: i64| balance.checked_sub(UNITS_PER_RETRY).filter(|rest| *rest >= 0);
        self.balance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    fn deposit(&self, amount: i64) {
        let more = |balance: i64| {
            (balance < MAX_BALANCE && amount > 0).then(|| balance.saturating_add(amount).min(MAX_BALANCE))
        };
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
        let taken =
            |budget: &RetryBudget| std::iter::repeat_with(|| budget.try_withdraw()).take_while(|taken| *taken).count();
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
