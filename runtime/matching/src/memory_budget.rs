//! A budget in bytes that several compiled patterns share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of bytes that may still be allocated. Clones share one budget.
///
/// What is compiled on first use (see [`Matcher::lazy`](crate::Matcher::lazy)) takes its bytes from the budget then. The
/// bytes are not given back when the compiled pattern is dropped: use one budget for each rule set, and drop it with the set.
///
/// ```
/// use celero_matching::MemoryBudget;
///
/// let budget = MemoryBudget::new(1000);
/// let same = budget.clone();
/// assert!(budget.take(600));
/// assert!(!same.take(600));
/// assert!(same.take(400));
/// ```
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<AtomicUsize>);

impl MemoryBudget {
    /// A budget of `bytes` bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Subtracts `bytes` from the budget and returns true, or returns false and changes nothing if less is left.
    #[must_use]
    pub fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// Returns `made` if `bytes` fit into the remaining budget, and subtracts them.
    pub fn keep<T>(&self, made: T, bytes: usize) -> Option<T> {
        self.take(bytes).then_some(made)
    }
}

impl Default for MemoryBudget {
    /// A budget without a limit.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_what_is_left() {
        let budget = MemoryBudget::new(10);
        let same = budget.clone();
        assert!(budget.take(4) && !same.take(7) && same.take(6) && !budget.take(1));
        assert_eq!((budget.keep("a", 1), budget.keep("b", 0)), (None, Some("b")));
    }
}
