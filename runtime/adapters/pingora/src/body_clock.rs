//! How fast a client must send a body.

use pingora::{Error, ErrorType, Result};
use std::time::{Duration, Instant};

/// How fast a client must send a body. A client that is slower is answered with 408.
///
/// A whole body may take `total`, and a second more for each `rate` bytes that have arrived: so a
/// large body may take long, but a client that sends a byte now and then may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyPace {
    /// The longest time between two pieces of a body.
    pub pause: Duration,
    /// The longest time of a whole body, before what `rate` adds.
    pub total: Duration,
    /// Bytes a second. 0 adds nothing to `total`.
    pub rate: usize,
}

impl Default for BodyPace {
    /// A minute between pieces, a minute in all, and a second more for each KiB.
    fn default() -> Self {
        Self { pause: Duration::from_secs(60), total: Duration::from_secs(60), rate: 1 << 10 }
    }
}

/// The time that a client has for the rest of a body.
#[derive(Debug)]
pub struct BodyClock {
    pub(crate) pace: BodyPace,
    started: Option<Instant>,
    received: usize,
}

impl BodyClock {
    /// Returns a clock that starts with the first call of another method.
    #[must_use]
    pub fn new(pace: BodyPace) -> Self {
        Self { pace, started: None, received: 0 }
    }

    /// Starts the clock with the first call.
    pub(crate) fn start(&mut self) -> Instant {
        *self.started.get_or_insert_with(Instant::now)
    }

    /// Returns how long to wait for the next piece.
    pub fn timeout(&mut self) -> Duration {
        let elapsed = self.start().elapsed();
        self.allowed().saturating_sub(elapsed).min(self.pace.pause)
    }

    /// Counts a piece.
    ///
    /// # Errors
    /// Returns an error with status 408 if the client is too slow.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        let elapsed = self.start().elapsed();
        self.received = self.received.saturating_add(bytes);
        if elapsed > self.allowed() { too_slow() } else { Ok(()) }
    }

    fn allowed(&self) -> Duration {
        let seconds = self.received.checked_div(self.pace.rate).unwrap_or_default();
        self.pace.total.saturating_add(Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX)))
    }
}

/// Returns the error of a body that arrives too slowly.
pub(crate) fn too_slow<T>() -> Result<T> {
    Error::e_explain(ErrorType::HTTPStatus(408), "the client is too slow in sending the body")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrived_gives_time() {
        let pace = BodyPace { pause: Duration::from_secs(60), total: Duration::ZERO, rate: 1 << 10 };
        let mut clock = BodyClock::new(pace);
        assert_eq!(clock.timeout(), Duration::ZERO);
        clock.take(10 << 10).unwrap();
        assert!(clock.timeout() > Duration::from_secs(5) && clock.timeout() <= Duration::from_secs(10));
        let mut clock = BodyClock::new(BodyPace { rate: 0, ..pace });
        clock.start();
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.take(1 << 20).is_err());
    }
}
