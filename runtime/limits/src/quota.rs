//! What a key may use: a number in a period, and a burst.

use crate::time::nanos;
use std::fmt;
use std::time::Duration;

/// The longest period, and the longest time in which a burst comes back: some 36 years.
const LONGEST: u64 = 1 << 60;

/// What a key may use: `count` units in each `period`, and up to `burst` at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    count: u64,
    period: u64,
    burst: u64,
}

impl Quota {
    /// Returns the quota of `count` units in each `period`, with a burst of `count`.
    ///
    /// A token bucket gives back one unit each `period / count`, rounded up to a whole nanosecond,
    /// so the rate is exact if `count` divides the period in nanoseconds, and otherwise lower by
    /// less than one nanosecond for each unit.
    ///
    /// # Errors
    /// A count or a period of 0, more than one unit in a nanosecond, or a period above 36 years.
    pub fn new(count: u64, period: Duration) -> Result<Self, QuotaError> {
        let period = nanos(period);
        if count == 0 || period == 0 {
            return Err(QuotaError::Zero);
        }
        if count > period {
            return Err(QuotaError::TooFast);
        }
        let quota = Self { count, period, burst: count };
        if period > LONGEST || quota.capacity().is_none() { Err(QuotaError::TooLong) } else { Ok(quota) }
    }

    /// Sets the number of units that may be used at once after a pause. A sliding window has no burst and ignores it.
    ///
    /// # Errors
    /// A burst of 0, or one that takes more than 36 years to come back.
    pub fn with_burst(self, burst: u64) -> Result<Self, QuotaError> {
        if burst == 0 {
            return Err(QuotaError::Zero);
        }
        let quota = Self { burst, ..self };
        if quota.capacity().is_none() { Err(QuotaError::TooLong) } else { Ok(quota) }
    }

    /// Returns the number of units in a period.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the period.
    #[must_use]
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period)
    }

    /// Returns the number of units that may be used at once.
    #[must_use]
    pub fn burst(&self) -> u64 {
        self.burst
    }

    /// Returns the period in nanoseconds.
    pub(crate) fn period_nanos(&self) -> u64 {
        self.period
    }

    /// Returns the time in which one unit comes back, in nanoseconds, at least 1.
    pub(crate) fn unit(&self) -> u64 {
        self.period.div_ceil(self.count.max(1)).max(1)
    }

    /// Returns the time in which the burst comes back, in nanoseconds.
    fn capacity(&self) -> Option<u64> {
        self.unit().checked_mul(self.burst).filter(|capacity| *capacity <= LONGEST)
    }
}

/// Why numbers are no quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuotaError {
    /// A number is 0.
    Zero,
    /// More than one unit in a nanosecond.
    TooFast,
    /// The period, or the time in which the burst comes back, is above 36 years.
    TooLong,
}

impl fmt::Display for QuotaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "count, period and burst are at least 1",
            Self::TooFast => "at most one unit in a nanosecond can be counted",
            Self::TooLong => "the period and the time in which a burst comes back are at most 36 years",
        })
    }
}

impl std::error::Error for QuotaError {}
