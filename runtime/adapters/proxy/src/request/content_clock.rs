//! The time that a server has for the next piece of a response that has content.

use pingora::{Error, ErrorType, Result};
use std::time::{Duration, Instant};

/// The time for what is between two pieces of content of a body in chunks, and for the trailers:
/// Pingora bounds each read of them only.
#[derive(Debug)]
pub(crate) struct ContentClock {
    limit: Duration,
    /// When the first read without content since the last one with content ended: before, the proxy
    /// may have waited for the client.
    since: Option<Instant>,
}

impl ContentClock {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, since: None }
    }

    /// Takes a read of a body.
    ///
    /// # Errors
    /// Returns an error of the server if no read has had content for too long.
    pub(crate) fn take(&mut self, has_content: bool) -> Result<()> {
        if has_content {
            self.since = None;
        } else if self.since.get_or_insert_with(Instant::now).elapsed() > self.limit {
            let late = Error::explain(ErrorType::ReadTimedout, "a piece of the response takes too long");
            return Err(late.into_up());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_starts_the_time_anew() {
        let mut clock = ContentClock::new(Duration::ZERO);
        for _ in 0..3 {
            clock.take(true).unwrap();
            clock.since = Instant::now().checked_sub(Duration::from_millis(1));
            assert!(clock.take(false).is_err());
        }
        let mut patient = ContentClock::new(Duration::from_secs(3600));
        assert!((0..100).all(|_| patient.take(false).is_ok()) && patient.since.is_some());
        patient.take(true).unwrap();
        assert!(patient.since.is_none());
    }
}
