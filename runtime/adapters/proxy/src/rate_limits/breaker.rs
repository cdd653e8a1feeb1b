//! A circuit breaker: after several failures in a row nobody is asked for a while, and then one call at a time tries again.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The state of calls to a service.
#[derive(Debug)]
pub(super) struct Breaker {
    failures: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    in_a_row: u32,
    /// Before this time nobody is asked.
    closed_again: Option<Instant>,
}

impl Breaker {
    /// After `failures` in a row, nobody is asked for `pause`.
    pub(super) fn new(failures: u32, pause: Duration) -> Self {
        Self { failures, pause, state: Mutex::default() }
    }

    /// Returns whether to ask. After a pause, one call is let through each `pause` until one succeeds.
    pub(super) fn admits(&self, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.closed_again {
            None => true,
            Some(time) if now < time => false,
            Some(_) => {
                state.closed_again = now.checked_add(self.pause);
                true
            }
        }
    }

    /// Counts the result of a call. Returns `true` if nobody is asked from now on, and was before.
    pub(super) fn ended(&self, succeeded: bool, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if succeeded {
            *state = State::default();
            return false;
        }
        state.in_a_row = state.in_a_row.saturating_add(1);
        if state.in_a_row < self.failures {
            return false;
        }
        let opens = state.closed_again.is_none();
        state.closed_again = now.checked_add(self.pause);
        opens
    }

    /// Returns whether nobody is asked now.
    pub(super) fn is_open(&self, now: Instant) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed_again.is_some_and(|time| now < time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_open_it_and_one_success_closes_it() {
        let (breaker, start) = (Breaker::new(3, Duration::from_secs(5)), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!breaker.ended(false, at(0)) && !breaker.ended(false, at(0)) && !breaker.ended(true, at(0)));
        assert!(!breaker.ended(false, at(0)) && !breaker.ended(false, at(0)) && breaker.admits(at(0)));
        assert!(breaker.ended(false, at(0)), "the third in a row");
        assert!(!breaker.admits(at(4)) && breaker.is_open(at(4)));
        assert!(breaker.admits(at(5)) && !breaker.admits(at(5)), "one tries");
        assert!(!breaker.ended(false, at(6)) && !breaker.admits(at(10)));
        assert!(breaker.admits(at(11)) && !breaker.ended(true, at(11)));
        assert!(breaker.admits(at(11)) && breaker.admits(at(11)));
    }
}
