//! Numbers that go up, counted by each thread where no other writes, as far as there are places.

use crate::outcome::{Phase, PhaseInfo};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Most places; threads beyond share them.
const MOST_SHARDS: usize = 16;

/// What is counted of a policy.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Matches and failures of each rule.
    pub(crate) rules: Counters,
    /// Those that rules name.
    pub(crate) named: Counters,
    /// Of each phase how often its rules were evaluated, how often that was timed, and the nanoseconds of those times.
    pub(crate) phases: Counters,
}

/// One evaluation in so many is timed: reading the clock costs what some rules do.
const TIMED: u32 = 64;

impl Tally {
    pub(crate) fn new(rule_counters: usize, named: usize) -> Self {
        let phases = Counters::new(Phase::ALL.len().saturating_mul(3));
        Self { rules: Counters::new(rule_counters), named: Counters::new(named), phases }
    }

    /// Counts an evaluation of a phase's rules, and times some of them. `tick` is the thread's own count.
    pub(crate) fn phase<T>(&self, phase: Phase, tick: u32, evaluate: impl FnOnce() -> T) -> T {
        let first = Self::of_phase(phase);
        self.phases.add(first);
        if !tick.is_multiple_of(TIMED) {
            return evaluate();
        }
        let start = Instant::now();
        let answer = evaluate();
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.phases.add(first.saturating_add(1));
        self.phases.add_many(first.saturating_add(2), nanos);
        answer
    }

    /// What was counted of a phase.
    pub(crate) fn phase_info(&self, phase: Phase) -> PhaseInfo {
        let sum = |which| self.phases.sum(Self::of_phase(phase).saturating_add(which));
        PhaseInfo { phase, evaluated: sum(0), timed: sum(1), time: Duration::from_nanos(sum(2)) }
    }

    fn of_phase(phase: Phase) -> usize {
        (phase as usize).saturating_mul(3)
    }
}

/// A number of counters.
#[derive(Debug)]
pub(crate) struct Counters {
    shards: Box<[Shard]>,
}

/// The counters of some threads, apart in memory from those of others.
#[derive(Debug)]
#[repr(align(128))]
struct Shard(Box<[AtomicU64]>);

thread_local! {
    static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The number of this thread, in the order in which threads first counted.
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

impl Counters {
    pub(crate) fn new(count: usize) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let shard = |_| Shard((0..count).map(|_| AtomicU64::new(0)).collect());
        Self { shards: (0..threads.min(MOST_SHARDS)).map(shard).collect() }
    }

    pub(crate) fn add(&self, counter: usize) {
        self.add_many(counter, 1);
    }

    pub(crate) fn add_many(&self, counter: usize, many: u64) {
        let place = thread_number().checked_rem(self.shards.len()).unwrap_or(0);
        if let Some(counter) = self.shards.get(place).and_then(|shard| shard.0.get(counter)) {
            counter.fetch_add(many, Ordering::Relaxed);
        }
    }

    pub(crate) fn sum(&self, counter: usize) -> u64 {
        let all = self.shards.iter().filter_map(|shard| shard.0.get(counter));
        all.fold(0, |sum, counter| sum.wrapping_add(counter.load(Ordering::Relaxed)))
    }
}
