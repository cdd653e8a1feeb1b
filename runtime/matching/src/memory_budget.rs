//! A budget in bytes that several compiled patterns share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of bytes that may still be allocated. Clones share one budget.
///
/// What is compiled on first use (see [`Matcher::lazy`](crate::Matcher::lazy)) takes its bytes from
/// the budget then. The bytes are not given back when the compiled pattern is dropped: use one
/// budget for each rule set, and drop it with the set.
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

    /// Returns what `make` makes if `most` bytes, an estimate of what that takes, fit into the
    /// remaining budget, and subtracts `bytes` of what was made, if they fit. Where the estimate
    /// does not fit, nothing is made.
    pub(crate) fn make<T>(
        &self,
        most: usize,
        make: impl FnOnce() -> Option<T>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Option<T> {
        if !self.take(most) {
            return None;
        }
        let made = make();
        let bytes = made.as_ref().map_or(0, bytes);
        let fits = bytes <= most || self.take(bytes.saturating_sub(most));
        // At most what was taken, so the sum does not overflow.
        self.0.fetch_add(if fits { most.saturating_sub(bytes) } else { most }, Ordering::Relaxed);
        made.filter(|_| fits)
    }

    /// Whether this many bytes are left.
    pub(crate) fn has(&self, bytes: usize) -> bool {
        self.0.load(Ordering::Relaxed) >= bytes
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
    use std::cell::Cell;

    #[test]
    fn clones_share_what_is_left() {
        let budget = MemoryBudget::new(10);
        let same = budget.clone();
        assert!(budget.take(4) && !same.take(7) && same.take(6) && !budget.take(1));
        assert_eq!((budget.keep("a", 1), budget.keep("b", 0)), (None, Some("b")));
    }

    #[test]
    fn nothing_is_made_without_budget() {
        let (budget, made) = (MemoryBudget::new(10), Cell::new(0));
        let make = |result| {
            made.update(|made: usize| made.saturating_add(1));
            result
        };
        assert_eq!(budget.make(11, || make(Some("a")), |_| 4), None);
        assert_eq!(made.get(), 0);
        assert_eq!(budget.make(10, || make(Some("a")), |_| 4), Some("a"));
        assert_eq!(budget.make(6, || make(None), |_: &&str| 4), None);
        assert!(made.get() == 2 && budget.take(6) && !budget.take(1));
    }
}
