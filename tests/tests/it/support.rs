//! Helpers that several files of tests use.
#![expect(clippy::unwrap_used, reason = "tests")]

use rustix::time::{ClockId, clock_gettime};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Processor time that this thread has used. Unlike the time of day it leaves out the tests that run beside it.
pub(crate) fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// Returns the least time that each size takes in rounds of all sizes. There are as many rounds as
/// the range begins with, and, while the times don't fit, more up to its end: what runs beside a
/// test slows single rounds down, by the caches and the core that both use, but code that takes too
/// long does so in each.
pub(crate) fn least_times<const N: usize>(
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

#[test]
fn times_that_are_not_linear_fit_in_no_round() {
    let fit = |[half, whole]: [f64; 2]| whole / half <= 3.0;
    let millis = |number: usize| Duration::from_millis(number.try_into().unwrap());
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
