//! Timing and counting of allocations. All engines run in one process, in every round, so what
//! disturbs the machine disturbs all of them alike; figures are medians over the rounds, so a
//! disturbed round does not count.

use crate::{Input, Runner};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which also counts each thread's allocations and bytes. Programs that call [`allocations`] or
/// [`compile_cost`](crate::compile_cost) must install it as the global allocator.
#[derive(Debug)]
pub struct CountingAllocator;

fn count(bytes: usize) {
    // A thread that is ending has no counter left; nothing is measured there.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get().wrapping_add(1)));
    let _ = BYTES.try_with(|n| n.set(n.get().wrapping_add(bytes)));
}

fn discount(bytes: usize) {
    let _ = BYTES.try_with(|n| n.set(n.get().wrapping_sub(bytes)));
}

/// Bytes that this thread has allocated and not freed, if [`CountingAllocator`] is installed.
pub(crate) fn allocated() -> usize {
    BYTES.with(Cell::get)
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        discount(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        discount(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

/// Returns how often this thread has allocated, if [`CountingAllocator`] is installed.
#[must_use]
pub fn allocation_count() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// Mean number of allocations for one evaluation of a warm runner.
#[must_use]
pub fn allocations<I>(runner: &impl Fn(&I) -> u64, input: &I) -> f64 {
    const RUNS: u32 = 100;
    for _ in 0..RUNS {
        black_box(runner(black_box(input)));
    }
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..RUNS {
        black_box(runner(black_box(input)));
    }
    let made = ALLOCATIONS.with(Cell::get).saturating_sub(before);
    f64::from(u32::try_from(made).unwrap_or(u32::MAX)) / f64::from(RUNS)
}

/// What was measured of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Median nanoseconds for an evaluation.
    pub ns: f64,
    /// Nanoseconds for an evaluation in the fastest round.
    pub best: f64,
}

/// Nanoseconds for an evaluation, averaged over `runs`.
fn time_run<I>(runner: &mut impl FnMut(&I) -> u64, input: &I, runs: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..runs {
        black_box(runner(black_box(input)));
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(runs)
}

/// The number of evaluations that takes about `target`; at least 1.
fn runs_for<I>(runner: &mut impl FnMut(&I) -> u64, input: &I, target: Duration) -> u32 {
    let mut runs = 1;
    loop {
        let took = time_run(runner, input, runs) * f64::from(runs);
        let target = target.as_secs_f64() * 1e9;
        if took >= target || runs >= 1 << 24 {
            let fit = f64::from(runs) * target / took.max(1.0);
            return (fit as u32).max(1);
        }
        runs = runs.saturating_mul(4);
    }
}

/// Times the runners. In each of `rounds` rounds every runner runs for about 200 µs; each round
/// starts with another runner.
#[must_use]
pub fn interleaved<I>(runners: &mut [impl FnMut(&I) -> u64], input: &I, rounds: usize) -> Vec<Measurement> {
    let runs: Vec<u32> = runners.iter_mut().map(|r| runs_for(r, input, Duration::from_micros(200))).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(rounds); runners.len()];
    let mut order: Vec<usize> = (0..runners.len()).collect();
    for _ in 0..rounds {
        for &i in &order {
            if let (Some(runner), Some(runs), Some(times)) = (runners.get_mut(i), runs.get(i), times.get_mut(i)) {
                times.push(time_run(runner, input, *runs));
            }
        }
        order.rotate_left(1.min(runners.len()));
    }
    times
        .into_iter()
        .map(|mut t| {
            t.sort_by(f64::total_cmp);
            let at = |i: usize| t.get(i).copied().unwrap_or(f64::NAN);
            Measurement { ns: at(t.len() / 2), best: at(0) }
        })
        .collect()
}

/// Measures how evaluation scales with threads: evaluations a second of one thread, of `threads`
/// threads that share the runner, and their ratio. Of 15 pairs it returns the one with the median
/// ratio.
#[must_use]
pub fn scaling(runner: &Runner, input: &Input, threads: usize) -> (f64, f64, f64) {
    let rate = |threads: usize| -> f64 {
        let (barrier, stop) = (Barrier::new(threads.saturating_add(1)), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        let start = Instant::now();
                        let mut done = 0u32;
                        while !stop.load(Ordering::Relaxed) {
                            for _ in 0..64 {
                                black_box(runner(black_box(input)));
                            }
                            done = done.saturating_add(64);
                        }
                        f64::from(done) / start.elapsed().as_secs_f64()
                    })
                })
                .collect();
            barrier.wait();
            std::thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
            workers.into_iter().map(|w| w.join().unwrap_or(f64::NAN)).sum()
        })
    };
    let mut pairs: Vec<(f64, f64)> = (0..15).map(|_| (rate(1), rate(threads))).collect();
    pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (one, many) = pairs.get(pairs.len() / 2).copied().unwrap_or((f64::NAN, f64::NAN));
    (one, many, many / one)
}
