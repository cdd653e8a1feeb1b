//! [`Clock`]: what time it is when an entry that expires is found.

use std::cell::Cell;
use std::time::SystemTime;

/// Says what time it is. Lookups ask it only about entries that expire.
pub(crate) trait Clock {
    /// The time.
    fn now(&self) -> SystemTime;

    /// Whether an entry that expires at this time has expired; `None` for never.
    #[inline]
    fn has_passed(&self, expires: Option<SystemTime>) -> bool {
        expires.is_some_and(|time| time <= self.now())
    }
}

/// The clock of the system, read each time.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A time, or that of the first question: then all answers are of one time.
#[derive(Debug, Default)]
pub(crate) struct PinnedClock(Cell<Option<SystemTime>>);

impl PinnedClock {
    /// A clock that stands still.
    pub(crate) fn at(time: SystemTime) -> Self {
        Self(Cell::new(Some(time)))
    }
}

impl Clock for PinnedClock {
    fn now(&self) -> SystemTime {
        let now = self.0.get().unwrap_or_else(SystemTime::now);
        self.0.set(Some(now));
        now
    }
}
