//! A circuit breaker: after `failures` failed calls in a row no call is made for `pause`; then one call per `pause` until one succeeds.

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
    consecutive_failures: u32,
    /// No call is made before this time; `None`: closed.
    open_until: Option<Instant>,
}

impl Breaker {
    /// After `failures` in a row no call is made for `pause`.
    pub(super) fn new(failures: u32, pause: Duration) -> Self {
        Self { failures, pause, state: Mutex::default() }
    }

    /// Returns whether a call may be made. After a pause, one call may be made each `pause` until one succeeds.
    pub(super) fn admits(&self, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.open_until {
            None => true,
            Some(time) if now < time => false,
            Some(_) => {
                state.open_until = now.checked_add(self.pause);
                true
            }
        }
    }

    /// Counts the result of a call. Returns `true` if no call is made from now on, and was before.
    pub(super) fn ended(&self, succeeded: bool, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if succeeded {
            *state = State::default();
            return false;
        }
        state.consecutive_failures = state.consecutive_failures.saturating_add(1);
        if state.consecutive_failures < self.failures {
            return false;
        }
        let opens = state.open_until.is_none();
        state.open_until = now.checked_add(self.pause);
        opens
    }

    /// Returns whether no call is made now.
    pub(super) fn is_open(&self, now: Instant) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.open_until.is_some_and(|time| now < time)
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
