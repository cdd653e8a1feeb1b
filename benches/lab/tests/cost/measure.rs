//! Measures how cost grows with size: processor time of the process and the peak of its heap, at sizes that double.

use celero_tests::heap;
use celero_tests::shared::say;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// What a piece of work costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) seconds: f64,
    bytes: f64,
}

/// Costs below these say nothing: timers, caches and the allocator decide them.
const FLOOR: Cost = Cost { seconds: 0.012, bytes: 2_000_000.0 };

/// Four times the size costs at most so many times as much: 2.5 for each doubling.
const MAX_GROWTH: f64 = 2.5 * 2.5;

/// Work that takes this long is large enough to judge how its cost grows.
const ENOUGH_SECONDS: f64 = 0.02;

fn cpu_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap()
}

pub(crate) fn measure(work: &mut dyn FnMut()) -> Cost {
    let start = cpu_time();
    let ((), bytes) = heap::peak(work);
    Cost { seconds: (cpu_time() - start).as_secs_f64(), bytes: bytes as f64 }
}

/// Returns whether the larger of two sizes, four times the other one, costs too much more.
fn too_steep(small: Cost, large: Cost) -> bool {
    let exceeds = |small: f64, large: f64, floor: f64| large > floor && large > MAX_GROWTH * small;
    exceeds(small.seconds, large.seconds, FLOOR.seconds) || exceeds(small.bytes, large.bytes, FLOOR.bytes)
}

/// More windows of sizes than a step of the cost, such as a larger table or another algorithm, can make steep. One
/// step is in two windows, and the engines of patterns have two steps next to each other.
const STEEP_WINDOWS: usize = 4;

/// Returns what is wrong with the growth of the cost of `prepare(n)()`, for sizes up to `most` or
/// up to what takes long enough. The preparation is not measured. A window of sizes is steep if
/// four times the size costs too much more; what is steep is followed beyond these bounds until
/// [`STEEP_WINDOWS`] windows in sequence are, or a run takes a second.
pub(crate) fn growth<W: FnMut()>(name: &str, most: usize, mut prepare: impl FnMut(usize) -> W) -> Option<String> {
    if std::env::var("CELERO_COST").is_ok_and(|part| !name.contains(&part)) {
        return None;
    }
    let mut at = |n: usize, rounds: usize| {
        let mut work = prepare(n);
        let costs = (0..rounds).map(|_| measure(&mut work));
        let least = |a: Cost, b: Cost| Cost { seconds: a.seconds.min(b.seconds), bytes: a.bytes.min(b.bytes) };
        costs.reduce(least).unwrap_or(FLOOR)
    };
    // What is built once in a process is not the shape's.
    at(1, 1);
    // What stays below the floor is not judged: then few sizes are measured.
    let is_low = |cost: Cost, times: f64| cost.seconds * times < FLOOR.seconds && cost.bytes * times < FLOOR.bytes;
    if [most / 64, most / 8].iter().all(|n| is_low(at(*n, 1), 8.0)) && is_low(at(most, 1), 1.0) {
        return None;
    }
    let mut costs: Vec<(usize, Cost)> = Vec::new();
    let (mut steep, mut n) = (0, 4);
    while n <= most || steep > 0 {
        let mut cost = at(n, 1);
        let before = costs.len().checked_sub(2).and_then(|before| costs.get_mut(before));
        let mut is_steep = false;
        if let Some((small, before)) = before.filter(|(_, before)| too_steep(*before, cost)) {
            // Noise makes single runs slower, never faster.
            (*before, cost) = (at(*small, 5), at(n, 3));
            is_steep = too_steep(*before, cost);
        }
        costs.push((n, cost));
        steep = if is_steep { steep + 1 } else { 0 };
        if steep == STEEP_WINDOWS || is_steep && cost.seconds > 1.0 {
            let last = costs.iter().rev().take(STEEP_WINDOWS + 2).rev();
            let problem = format!("{name}: {}", last.map(|(n, cost)| shown(*n, *cost)).collect::<Vec<_>>().join(", "));
            say(&format!("  STEEP {problem}"));
            return Some(problem);
        }
        if !is_steep && cost.seconds > ENOUGH_SECONDS && costs.len() > 2 {
            break;
        }
        n *= 2;
    }
    if let Some((n, cost)) = costs.last() {
        say(&format!("  {name}: {}", shown(*n, *cost)));
    }
    None
}

fn shown(n: usize, cost: Cost) -> String {
    format!("{n}: {:.1} ms, {:.2} MB", cost.seconds * 1e3, cost.bytes / 1e6)
}

#[test]
fn steep_costs_are_found() {
    let _guard = crate::exclusive();
    let spin = |rounds: usize| {
        move || drop(std::hint::black_box((0..rounds).fold(0u64, |sum, k| std::hint::black_box(sum ^ k as u64))))
    };
    assert_eq!(growth("linear", 1 << 24, spin), None);
    assert!(growth("quadratic", 1 << 14, |n| spin(n * n)).is_some());
    assert_eq!(growth("linear bytes", 1 << 20, |n| move || drop(std::hint::black_box(vec![1u8; 8 * n]))), None);
    assert!(
        growth("quadratic bytes", 1 << 13, |n| move || drop(std::hint::black_box(Vec::<u8>::with_capacity(n * n))))
            .is_some()
    );
}
