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

    /// Counts a request if there is a bound, or that it was refused.
    pub(crate) fn admit(&self) -> Result<Option<Admitted>, Full> {
        let admitted = self.admit_copy();
        if admitted.is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        admitted
    }

    /// Counts a copy of a request if there is a bound. One for which there is no place is no refused request.
    pub(crate) fn admit_copy(&self) -> Result<Option<Admitted>, Full> {
        let Some(most) = self.most else { return Ok(None) };
        // What is refused must not be counted even for a moment: it would take the place of another request.
        let one_more = |open: usize| if open < most { open.checked_add(1) } else { None };
        match self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Some(Admitted(Arc::clone(&self.open)))),
            Err(_) => Err(Full),
        }
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
        assert_eq!((admission.admit_copy().err(), admission.refused()), (Some(Full), 2));
        drop((second, third));
        let copy = admission.admit_copy().unwrap();
        assert_eq!(admission.open.load(Ordering::Relaxed), 1);
        drop(copy);
        assert_eq!(admission.open.load(Ordering::Relaxed), 0);
        assert!(Admission::new(None).admit().unwrap().is_none());
    }

    /// Not for a moment: another request might be refused because of it.
    #[test]
    fn a_refused_request_takes_no_place() {
        let admission = Admission::new(Some(1));
        let _held = admission.admit().unwrap();
        std::thread::scope(|scope| {
            let refused = scope.spawn(|| (0..200_000).all(|_| admission.admit().is_err()));
            while !refused.is_finished() {
                assert_eq!(admission.open.load(Ordering::Relaxed), 1);
            }
            assert!(refused.join().unwrap());
        });
    }
}
