//! Durations of single conditions, for the metric of each rule.
//!
//! The rules of a phase are evaluated together, so a rule has no duration of its own there. After
//! an evaluation of the phase that is timed, one rule is evaluated a second time, standalone, and
//! that is measured. Rules are measured in rotation. A rule that asks a list or calls an impure
//! function (`random()`, `uuid()`) is never measured: a second evaluation could give another
//! result.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The measured durations of the conditions of one phase. All threads write the same counters: one
/// evaluation in 64 of a phase does so.
#[derive(Debug)]
pub(crate) struct RuleTimes {
    next: AtomicUsize,
    /// The rules that are measured, by index. Impure rules are not among them.
    measured: Box<[usize]>,
    /// Indexed by rule.
    rules: Box<[RuleTime]>,
}

#[derive(Debug, Default)]
struct RuleTime {
    evaluations: AtomicU64,
    nanoseconds: AtomicU64,
}

impl RuleTimes {
    /// Durations of zero for rules of which `pure` says, by index, whether they call no impure function.
    pub(crate) fn new(pure: impl Iterator<Item = bool>) -> Self {
        let pure: Vec<bool> = pure.collect();
        let measured = pure.iter().enumerate().filter_map(|(rule, pure)| pure.then_some(rule)).collect();
        Self { next: AtomicUsize::new(0), measured, rules: pure.iter().map(|_| RuleTime::default()).collect() }
    }

    /// Measures the next rule of the rotation.
    pub(crate) fn measure_next<T>(&self, mut evaluate: impl FnMut(usize) -> T) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(next) = number.checked_rem(self.measured.len()) else { return };
        let Some(rule) = self.measured.get(next).copied() else { return };
        let Some(time) = self.rules.get(rule) else { return };
        // The first evaluation prepares memory; it is not measured.
        if time.evaluations.load(Ordering::Relaxed) == 0 {
            evaluate(rule);
        }
        let start = Instant::now();
        evaluate(rule);
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        time.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        time.evaluations.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how often a rule was measured, and the sum of its durations.
    pub(crate) fn of(&self, rule: usize) -> (u64, Duration) {
        let time = self.rules.get(rule);
        let read = |counter: fn(&RuleTime) -> &AtomicU64| time.map_or(0, |time| counter(time).load(Ordering::Relaxed));
        (read(|time| &time.evaluations), Duration::from_nanos(read(|time| &time.nanoseconds)))
    }
}
