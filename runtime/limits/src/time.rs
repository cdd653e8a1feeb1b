//! The time of decisions: nanoseconds since an origin that the caller chooses.

use std::time::{Duration, Instant};

/// A time: nanoseconds since the origin of a monotonic clock. 64 bits reach for 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// Returns the time that is `nanos` nanoseconds after the origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time that is `duration` later, or the last one that can be represented.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }
}

/// A monotonic clock whose origin is its creation. Share one between everything that uses the same limits.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// Returns a clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Returns the time since the clock was started.
    #[must_use]
    pub fn now(&self) -> Time {
        Time(nanos(self.origin.elapsed()))
    }
}

/// Returns a duration in nanoseconds, or the most that can be represented.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
