//! A circuit breaker: after `failures` failed calls in a row no call is made for `pause`; then one
//! call per `pause` until one succeeds.

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

/// A call that is let through. One that is dropped before it has [`ended`](Self::ended), because
/// its client is gone or for want of a place, gives its turn back: else clients that go away could
/// keep the service from being tried again.
#[derive(Debug)]
pub(super) struct AdmittedCall<'b> {
    breaker: &'b Breaker,
    /// If it is the one that tries again after a pause.
    turn: Option<Turn>,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    /// The end of the pause.
    before: Instant,
    /// Until when other calls wait for this one.
    others_wait: Option<Instant>,
}

impl AdmittedCall<'_> {
    /// Counts the result of the call. Returns `true` if nobody is asked from now on, and was before.
    pub(super) fn ended(mut self, succeeded: bool, now: Instant) -> bool {
        self.turn = None;
        self.breaker.ended(succeeded, now)
    }
}

impl Drop for AdmittedCall<'_> {
    fn drop(&mut self) {
        let Some(Turn { before, others_wait }) = self.turn else { return };
        let mut state = self.breaker.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.open_until == others_wait {
            state.open_until = Some(before);
        }
    }
}

impl Breaker {
    /// After `failures` in a row no call is made for `pause`.
    pub(super) fn new(failures: u32, pause: Duration) -> Self {
        Self { failures, pause, state: Mutex::default() }
    }

    /// Returns the call if one may be made. After a pause, one call may be made each `pause` until one succeeds.
    pub(super) fn admits(&self, now: Instant) -> Option<AdmittedCall<'_>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = match state.open_until {
            None => None,
            Some(time) if now < time => return None,
            Some(time) => {
                state.open_until = now.checked_add(self.pause);
                Some(Turn { before: time, others_wait: state.open_until })
            }
        };
        Some(AdmittedCall { breaker: self, turn })
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
        assert!(!breaker.ended(false, at(0)) && !breaker.ended(false, at(0)) && breaker.admits(at(0)).is_some());
        assert!(breaker.ended(false, at(0)), "the third in a row");
        assert!(breaker.admits(at(4)).is_none() && breaker.is_open(at(4)));
        let one = breaker.admits(at(5)).unwrap();
        assert!(breaker.admits(at(5)).is_none(), "one tries");
        assert!(!one.ended(false, at(6)) && breaker.admits(at(10)).is_none());
        let one = breaker.admits(at(11)).unwrap();
        assert!(!one.ended(true, at(11)));
        assert!(breaker.admits(at(11)).is_some() && breaker.admits(at(11)).is_some());
    }

    #[test]
    fn a_call_that_is_given_up_gives_its_turn_back() {
        let (breaker, start) = (Breaker::new(1, Duration::from_secs(5)), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let usual = breaker.admits(at(0)).unwrap();
        assert!(breaker.ended(false, at(0)));
        drop(usual);
        assert!(breaker.admits(at(4)).is_none(), "it had no turn");
        let given_up = breaker.admits(at(5)).unwrap();
        assert!(breaker.admits(at(5)).is_none());
        drop(given_up);
        let slow = breaker.admits(at(5)).unwrap();
        // After another pause it is the turn of the next.
        let next = breaker.admits(at(10)).unwrap();
        drop(slow);
        assert!(breaker.admits(at(10)).is_none());
        assert!(!next.ended(true, at(10)) && breaker.admits(at(10)).is_some());
    }
}
