//! Who pays for a search.

use std::convert::Infallible;

/// A budget that searches take their cost from.
///
/// A step is about as much work as reading eight bytes of text through an automaton: some ten
/// nanoseconds, and at most a hundred.
pub trait Meter {
    /// What a search returns if the budget does not suffice.
    type Error;

    /// Takes `steps` from the budget.
    ///
    /// # Errors
    /// If fewer steps are left. The search then ends with this error.
    fn charge(&self, steps: usize) -> Result<(), Self::Error>;

    /// Returns how many steps are left, at least: a lookup of many patterns that is charged
    /// afterwards ends when it has taken as many.
    #[inline]
    fn left(&self) -> usize {
        usize::MAX
    }
}

impl<M: Meter> Meter for &M {
    type Error = M::Error;

    #[inline]
    fn charge(&self, steps: usize) -> Result<(), M::Error> {
        (**self).charge(steps)
    }

    #[inline]
    fn left(&self) -> usize {
        (**self).left()
    }
}

/// A budget without a limit, for texts and patterns that are trusted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unmetered;

impl Meter for Unmetered {
    type Error = Infallible;

    #[inline]
    fn charge(&self, _: usize) -> Result<(), Infallible> {
        Ok(())
    }
}
