//! Bounds how many requests of an upstream are open, so that a slow one can't use up what the others need.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The open requests of an upstream.
#[derive(Debug)]
pub(crate) struct Admission {
    /// `None`: there is no bound, and nothing is counted.
    most: Option<usize>,
    open: Arc<AtomicUsize>,
    refused: AtomicU64,
}

/// A request that was admitted, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Admitted(Arc<AtomicUsize>);

/// As many requests are open as may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Admission {
    pub(crate) fn new(most: Option<usize>) -> Self {
        Self { most, open: Arc::default(), refused: AtomicU64::new(0) }
    }

    /// Counts a request if there is a bound.
    pub(crate) fn admit(&self) -> Result<Option<Admitted>, Full> {
        let Some(most) = self.most else { return Ok(None) };
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        // From here on, dropping it counts it out.
        let admitted = Admitted(Arc::clone(&self.open));
        if before < most {
            return Ok(Some(admitted));
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        Err(Full)
    }

    /// Returns how many requests were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_makes_room() {
        let admission = Admission::new(Some(2));
        let (first, second) = (admission.admit().unwrap(), admission.admit().unwrap());
        assert_eq!((admission.admit().err(), admission.refused()), (Some(Full), 1));
        drop(first);
        let third = admission.admit().unwrap();
        assert_eq!((admission.admit().err(), admission.refused()), (Some(Full), 2));
        drop((second, third));
        assert_eq!(admission.open.load(Ordering::Relaxed), 0);
        assert!(Admission::new(None).admit().unwrap().is_none());
    }
}
