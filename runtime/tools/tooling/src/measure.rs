//! The time of something short: an evaluation.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The smallest number of evaluations in a round. Fewer contexts are repeated.
const MIN_EVALUATIONS: usize = 1000;

/// The smallest number of rounds, if there is time for them.
const ROUNDS: usize = 3;

/// Returns the nanoseconds per context in the fastest of several rounds, over all contexts. Takes
/// about `time`; more if three rounds of 1,000 evaluations take longer. The result is not a number
/// without contexts.
pub fn fastest<C, R>(contexts: &[C], time: Duration, once: impl FnMut(&C) -> R) -> f64 {
    // A round is long enough for the resolution of the clock.
    let iterations = MIN_EVALUATIONS.checked_div(contexts.len()).unwrap_or(1).max(1);
    rounds(contexts, time, iterations, once)
}

/// As [`fastest`], for something that may take long: a round is as many evaluations as fit into a
/// tenth of `time`, at least one. If the first evaluation takes longer than `time`, it is the only
/// one; otherwise this takes at most about four times as long.
pub fn fastest_within<C, R>(contexts: &[C], time: Duration, mut once: impl FnMut(&C) -> R) -> f64 {
    let began = Instant::now();
    for context in contexts {
        black_box(once(context));
    }
    let first = began.elapsed();
    if first > time {
        return first.as_secs_f64() * 1e9 / count(contexts.len());
    }
    let each = first.as_nanos().max(1);
    let fit = (time.as_nanos() / 10).checked_div(each).unwrap_or(1);
    let most = MIN_EVALUATIONS.checked_div(contexts.len()).unwrap_or(1).max(1);
    rounds(contexts, time, usize::try_from(fit).unwrap_or(most).clamp(1, most), once)
}

fn rounds<C, R>(contexts: &[C], time: Duration, iterations: usize, mut once: impl FnMut(&C) -> R) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    for round in 1_usize.. {
        let began = Instant::now();
        for _ in 0..iterations {
            for context in contexts {
                black_box(once(context));
            }
        }
        best = best.min(began.elapsed().as_secs_f64());
        if round >= ROUNDS && start.elapsed() > time {
            break;
        }
    }
    best * 1e9 / count(contexts.len().saturating_mul(iterations))
}

fn count(evaluations: usize) -> f64 {
    u32::try_from(evaluations).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_slow_is_done_once() {
        let mut count = 0;
        let once = |_: &()| {
            count += 1;
            std::thread::sleep(Duration::from_millis(2));
        };
        assert!(fastest_within(&[()], Duration::from_millis(1), once) >= 2e6);
        assert_eq!(count, 1);
    }
}
