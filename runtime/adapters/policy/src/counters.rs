//! Counters of the rules of a phase. Each thread counts in its own shard, as long as there are enough shards.

use crate::outcome::{Phase, PhaseInfo};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The largest number of shards. Further threads share them.
const MAX_SHARDS: usize = 16;

/// Sampling interval: one evaluation in 64 per shard is timed, because reading the clock takes as long as a cheap rule.
const SAMPLING_INTERVAL: u64 = 64;

/// The slots of a phase: evaluations, timed evaluations, and the nanoseconds of these.
const PHASE_SLOTS: [usize; 3] = [0, 1, 2];

/// The slots of each rule: matches and failures.
const SLOTS_PER_RULE: usize = 2;

/// The counters of a phase.
#[derive(Debug)]
pub(crate) struct PhaseCounters {
    shards: Box<[Shard]>,
}

/// The counters of one or more threads, on their own cache lines.
#[derive(Debug)]
#[repr(align(128))]
struct Shard(Box<[AtomicU64]>);

thread_local! {
    static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Returns the number of this thread, in the order in which threads first counted.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NUMBER
        .try_with(|number| {
            let known = number.get().unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed));
            number.set(Some(known));
            known
        })
        .unwrap_or(0)
}

impl PhaseCounters {
    pub(crate) fn new(rules: usize) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let shard = |_| Shard((0..of_rule(rules)).map(|_| AtomicU64::new(0)).collect());
        Self { shards: (0..threads.min(MAX_SHARDS)).map(shard).collect() }
    }

    /// Returns the shard of this thread.
    pub(crate) fn shard(&self) -> ThreadShard<'_> {
        let place = thread_number().checked_rem(self.shards.len()).unwrap_or(0);
        ThreadShard(self.shards.get(place).map_or(&[], |shard| &shard.0))
    }

    /// Returns the counters of the phase.
    pub(crate) fn of_phase(&self, phase: Phase) -> PhaseInfo {
        let [evaluated, timed, nanos] = PHASE_SLOTS.map(|counter| self.sum(counter));
        PhaseInfo { phase, evaluated, timed, time: Duration::from_nanos(nanos) }
    }

    /// Returns how often a rule matched and failed.
    pub(crate) fn of_rule(&self, rule: usize) -> (u64, u64) {
        let first = of_rule(rule);
        (self.sum(first), self.sum(first.saturating_add(1)))
    }

    fn sum(&self, counter: usize) -> u64 {
        let all = self.shards.iter().filter_map(|shard| shard.0.get(counter));
        all.fold(0, |sum, counter| sum.wrapping_add(counter.load(Ordering::Relaxed)))
    }
}

/// Returns the first slot of a rule.
fn of_rule(rule: usize) -> usize {
    rule.saturating_mul(SLOTS_PER_RULE).saturating_add(PHASE_SLOTS.len())
}

/// The shard of a thread.
#[derive(Clone, Copy)]
pub(crate) struct ThreadShard<'t>(&'t [AtomicU64]);

impl ThreadShard<'_> {
    /// Counts an evaluation. Times it if the sampling interval says so, and returns whether it did.
    pub(crate) fn evaluation<T>(self, evaluate: impl FnOnce() -> T) -> (T, bool) {
        let [evaluated, timed, nanoseconds] = PHASE_SLOTS;
        let number = self.add(evaluated, 1).wrapping_add(1);
        if !number.is_multiple_of(SAMPLING_INTERVAL) {
            return (evaluate(), false);
        }
        let start = Instant::now();
        let answer = evaluate();
        let nanos = nanos(start);
        self.add(timed, 1);
        self.add(nanoseconds, nanos);
        (answer, true)
    }

    pub(crate) fn matched(self, rule: usize) {
        self.add(of_rule(rule), 1);
    }

    pub(crate) fn failed(self, rule: usize) {
        self.add(of_rule(rule).saturating_add(1), 1);
    }

    /// Adds to a slot, and returns its value before.
    fn add(self, counter: usize, many: u64) -> u64 {
        self.0.get(counter).map_or(0, |counter| counter.fetch_add(many, Ordering::Relaxed))
    }
}

/// Returns the nanoseconds since a time.
fn nanos(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
