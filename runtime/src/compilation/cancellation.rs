//! Whether a compilation is still wanted.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What says that a compilation is not wanted any more; nothing by default. Clones are one: if one
/// is requested, all are.
#[derive(Clone, Default)]
pub(crate) struct Cancellation(Option<Arc<Condition>>);

struct Condition {
    ask: Box<dyn Fn() -> bool + Send + Sync>,
    /// Whether the answer was true once. It stays so: the stages of a compilation must agree.
    requested: AtomicBool,
}

impl Cancellation {
    /// A cancellation that is requested once `ask` has returned true.
    pub(crate) fn when(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Condition { ask: Box::new(ask), requested: AtomicBool::new(false) })))
    }

    /// Whether the result is not wanted any more.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|condition| condition.is_requested())
    }

    /// Ends a compilation whose result is not wanted any more.
    ///
    /// # Errors
    /// The cancellation is requested.
    pub(crate) fn check(&self) -> Result<(), Cancelled> {
        if self.is_requested() { Err(Cancelled) } else { Ok(()) }
    }
}

/// A compilation was cancelled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cancelled;

impl From<Cancelled> for String {
    fn from(_: Cancelled) -> Self {
        "the compilation was cancelled".to_owned()
    }
}

impl Condition {
    fn is_requested(&self) -> bool {
        if self.requested.load(Ordering::Relaxed) {
            return true;
        }
        let requested = (self.ask)();
        if requested {
            self.requested.store(true, Ordering::Relaxed);
        }
        requested
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_requested_once_stays_requested() {
        assert!(!Cancellation::default().is_requested());
        let asked = AtomicBool::new(false);
        // False, then true, then false again.
        let cancellation = Cancellation::when(move || !asked.fetch_xor(true, Ordering::Relaxed));
        assert!(cancellation.is_requested() && cancellation.is_requested());
        assert!(cancellation.clone().check().is_err());
    }
}
