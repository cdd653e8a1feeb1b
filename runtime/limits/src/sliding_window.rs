//! Sliding windows: never more than the limit in any period of the window's length.
//!
//! The window is seven steps of a seventh each. A key has eight counters, one for the current step
//! and seven for those before, so their sum covers at least the window, whenever it begins. What
//! was used comes back when its step leaves the sum: between one window and eight sevenths of one
//! after it was used.

use crate::decision::{Decision, NEVER};
use crate::quota::Quota;
use crate::table::Algorithm;
use crate::token_bucket::blocked;

/// The counters of a key.
const STEPS: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SlidingWindow {
    limit: u64,
    /// The length of a step in nanoseconds.
    step: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowState {
    /// The number of the step of the first counter; the second is for the step before, and so on.
    step: u64,
    used: [u64; STEPS],
    held: u64,
    blocked_until: u64,
}

impl SlidingWindow {
    pub(crate) fn new(quota: Quota) -> Self {
        let steps = u64::try_from(STEPS).unwrap_or(u64::MAX).saturating_sub(1).max(1);
        Self { limit: quota.count(), step: quota.period_nanos().div_ceil(steps).max(1) }
    }

    fn step_of(&self, time: u64) -> u64 {
        time.checked_div(self.step).unwrap_or(0)
    }

    /// Moves the counters to the step of a time. A time before the counters' own is taken as theirs.
    fn advance(&self, state: &mut WindowState, now: u64) {
        let step = self.step_of(now);
        let passed = step.saturating_sub(state.step);
        if passed == 0 {
            return;
        }
        let passed = usize::try_from(passed).unwrap_or(STEPS).min(STEPS);
        state.used.copy_within(..STEPS.saturating_sub(passed), passed);
        state.used.iter_mut().take(passed).for_each(|used| *used = 0);
        state.step = step;
    }

    /// Returns when the counter at `index` leaves the sum.
    fn leaves_at(&self, state: &WindowState, index: usize) -> u64 {
        let steps = u64::try_from(STEPS.saturating_sub(index)).unwrap_or(0);
        state.step.saturating_add(steps).saturating_mul(self.step)
    }

    /// Returns the time until at most `most` are used: steps leave, the oldest first.
    fn until_at_most(&self, state: &WindowState, mut used: u64, most: u64, now: u64) -> u64 {
        let mut at = now;
        for (index, counter) in state.used.iter().enumerate().rev() {
            if used <= most {
                break;
            }
            if *counter > 0 {
                used = used.saturating_sub(*counter);
                at = self.leaves_at(state, index);
            }
        }
        if used > most {
            // What is left is reserved: as if it counted now.
            at = at.max(self.leaves_at(state, 0));
        }
        at.saturating_sub(now)
    }
}

fn sum(state: &WindowState) -> u64 {
    state.used.iter().fold(state.held, |sum, used| sum.saturating_add(*used))
}

impl Algorithm for SlidingWindow {
    type State = WindowState;

    fn decide(&self, state: &mut WindowState, cost: u64, now: u64) -> Decision {
        self.advance(state, now);
        let used = sum(state);
        let free = self.limit.saturating_sub(used);
        let admitted = cost <= free && (cost > 0 || used <= self.limit);
        let wait = if admitted {
            0
        } else if cost > self.limit {
            NEVER
        } else {
            self.until_at_most(state, used, self.limit.saturating_sub(cost), now)
        };
        let counts = admitted && cost > 0;
        let reset =
            if counts { self.leaves_at(state, 0).saturating_sub(now) } else { self.until_at_most(state, used, 0, now) };
        let free = if admitted { free.saturating_sub(cost) } else { free };
        let decision = Decision { admitted, limit: self.limit, free, unit: 1, reset, wait };
        if state.blocked_until > now { blocked(decision, state.blocked_until.saturating_sub(now)) } else { decision }
    }

    fn count(&self, state: &mut WindowState, cost: u64, now: u64) {
        self.advance(state, now);
        // A time that has passed counts in its own step, if that still has a counter.
        let ago = usize::try_from(state.step.saturating_sub(self.step_of(now))).unwrap_or(STEPS);
        if let Some(used) = state.used.get_mut(ago) {
            *used = used.saturating_add(cost);
        }
    }

    fn hold(&self, state: &mut WindowState, cost: u64) {
        state.held = state.held.saturating_add(cost);
    }

    fn release(&self, state: &mut WindowState, cost: u64) {
        state.held = state.held.saturating_sub(cost);
    }

    fn block(&self, state: &mut WindowState, until: u64) {
        state.blocked_until = state.blocked_until.max(until);
    }

    fn unblock(&self, state: &mut WindowState) {
        state.blocked_until = 0;
    }

    fn is_blocked(&self, state: &WindowState, now: u64) -> bool {
        state.blocked_until > now
    }

    fn weight(&self, state: &WindowState, now: u64) -> u64 {
        let mut state = *state;
        self.advance(&mut state, now);
        match state.blocked_until.saturating_sub(now) {
            0 => sum(&state),
            left => self.limit.saturating_add(left).max(sum(&state)),
        }
    }

    fn merge(&self, floor: &mut WindowState, mut replaced: WindowState, now: u64) {
        self.advance(floor, now);
        let held = std::mem::take(&mut replaced.held);
        self.count(&mut replaced, held, now);
        // Both are at the step of `now`, or the time went back: then the later step is kept for both.
        let later = floor.step.max(replaced.step).saturating_mul(self.step);
        self.advance(floor, later);
        self.advance(&mut replaced, later);
        floor.used.iter_mut().zip(replaced.used).for_each(|(floor, used)| *floor = used.max(*floor));
        floor.blocked_until = floor.blocked_until.max(replaced.blocked_until);
    }
}
