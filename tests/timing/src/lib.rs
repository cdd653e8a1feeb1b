//! Processor time in tests, and how it grows with the size of the work.

use rustix::time::{ClockId, clock_gettime};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Processor time that this thread has used. Unlike the time of day it leaves out the tests that run beside it.
///
/// # Panics
///
/// If the system has no such clock.
#[expect(clippy::unwrap_used, reason = "without a clock the tests would measure nothing")]
pub fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// Processor time that this thread uses for `work`.
pub fn cpu_time_of<R>(work: impl FnOnce() -> R) -> Duration {
    let start = cpu_time();
    let result = work();
    let time = cpu_time().saturating_sub(start);
    drop(result);
    time
}

/// Returns the least time that each size takes in rounds of all sizes. There are as many rounds as
/// the range begins with, and, while the times don't fit, more up to its end: what runs beside a
/// test slows single rounds down, by the caches and the core that both use, but code that takes too
/// long does so in each.
pub fn least_times<const N: usize>(
    sizes: [usize; N],
    rounds: RangeInclusive<usize>,
    mut time: impl FnMut(usize) -> Duration,
    fit: impl Fn([f64; N]) -> bool,
) -> [Duration; N] {
    let mut least = [Duration::MAX; N];
    for round in 1..=*rounds.end() {
        for (size, least) in sizes.iter().zip(&mut least) {
            *least = time(*size).min(*least);
        }
        if round >= *rounds.start() && fit(least.map(|time| time.as_secs_f64())) {
            break;
        }
    }
    least
}

/// Times below this one say nothing: the clock and the caches decide them.
const FLOOR: f64 = 0.0002;

/// Between linear, 1, and quadratic time, 2; above the middle, because larger data fits into fewer caches.
const MAX_EXPONENT: f64 = 1.65;

/// Fails if the time for the larger size is not about linear in the size: four times the size may
/// take ten times as long, where quadratic time takes sixteen times.
///
/// # Panics
///
/// If the time grows faster.
#[track_caller]
pub fn assert_linear(name: &str, sizes: [usize; 2], time: impl FnMut(usize) -> Duration) {
    let [small, large] = sizes;
    let allowed = (large as f64 / small as f64).powf(MAX_EXPONENT);
    let fit = |[less, more]: [f64; 2]| more <= less.max(FLOOR) * allowed;
    let times = least_times(sizes, 1..=20, time, fit);
    assert!(
        fit(times.map(|time| time.as_secs_f64())),
        "{name}: {:?} for {small}, {:?} for {large}, which may be {allowed:.1} times as much",
        times[0],
        times[1]
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(number: usize) -> Duration {
        Duration::from_millis(number.try_into().unwrap_or(u64::MAX))
    }

    #[test]
    fn times_that_are_not_linear_fit_in_no_round() {
        let fit = |[half, whole]: [f64; 2]| whole / half <= 3.0;
        let mut calls = 0;
        let quadratic = |size: usize| {
            calls += 1;
            millis(size * size)
        };
        assert!(!fit(least_times([10, 20], 2..=5, quadratic, fit).map(|time| time.as_secs_f64())));
        assert_eq!(calls, 10);
        // Disturbed but for the fourth round.
        let mut calls = 0;
        let linear = |size: usize| {
            calls += 1;
            millis(if size == 20 && calls < 7 { 100 } else { size })
        };
        assert_eq!(least_times([10, 20], 2..=5, linear, fit), [10, 20].map(millis));
        assert_eq!(calls, 8);
    }

    #[test]
    fn time_near_linear_passes() {
        assert_linear("linear and a half", [10, 40], |size| millis(if size == 40 { 90 } else { size }));
    }

    #[test]
    #[should_panic(expected = "quadratic: 100ms for 10, 1.6s for 40")]
    fn quadratic_time_does_not() {
        assert_linear("quadratic", [10, 40], |size| millis(size * size));
    }
}
