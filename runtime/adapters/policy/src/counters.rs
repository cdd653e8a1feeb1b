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
const TIMED: u64 = 64;

impl Tally {
    pub(crate) fn new(rule_counters: usize, named: usize) -> Self {
        let phases = Counters::new(Phase::ALL.len().saturating_mul(3));
        Self { rules: Counters::new(rule_counters), named: Counters::new(named), phases }
    }

    /// Counts an evaluation of a phase's rules, and times some of them: whether it was this one stands beside what it gives.
    pub(crate) fn phase<T>(&self, phase: Phase, evaluate: impl FnOnce() -> T) -> (T, bool) {
        let first = Self::of_phase(phase);
        let number = self.phases.add(first).wrapping_add(1);
        if !number.is_multiple_of(TIMED) {
            return (evaluate(), false);
        }
        let start = Instant::now();
        let answer = evaluate();
        let nanos = nanos(start);
        self.phases.add(first.saturating_add(1));
        self.phases.add_many(first.saturating_add(2), nanos);
        (answer, true)
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

/// Nanoseconds since then.
fn nanos(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What rules take by themselves: one of them is timed now and then, in turn. Threads share the numbers, because they are written
/// so rarely.
#[derive(Debug)]
pub(crate) struct Turns {
    next: AtomicUsize,
    rules: Box<[Took]>,
}

#[derive(Debug, Default)]
struct Took {
    times: AtomicU64,
    nanos: AtomicU64,
}

impl Turns {
    pub(crate) fn new(rules: usize) -> Self {
        Self { next: AtomicUsize::new(0), rules: (0..rules).map(|_| Took::default()).collect() }
    }

    /// Times the rule whose turn it is.
    pub(crate) fn take<T>(&self, evaluate: impl FnOnce(usize) -> T) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(rule) = turn.checked_rem(self.rules.len()) else { return };
        let Some(took) = self.rules.get(rule) else { return };
        let start = Instant::now();
        // Not for its answer.
        let _ = evaluate(rule);
        took.nanos.fetch_add(nanos(start), Ordering::Relaxed);
        took.times.fetch_add(1, Ordering::Relaxed);
    }

    /// How often a rule was timed, and what it took.
    pub(crate) fn of(&self, rule: usize) -> (u64, Duration) {
        let took = self.rules.get(rule);
        let read = |number: fn(&Took) -> &AtomicU64| took.map_or(0, |took| number(took).load(Ordering::Relaxed));
        (read(|took| &took.times), Duration::from_nanos(read(|took| &took.nanos)))
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

    /// Adds one. What was counted before where this thread counts is given.
    pub(crate) fn add(&self, counter: usize) -> u64 {
        self.add_many(counter, 1)
    }

    pub(crate) fn add_many(&self, counter: usize, many: u64) -> u64 {
        let place = thread_number().checked_rem(self.shards.len()).unwrap_or(0);
        let counter = self.shards.get(place).and_then(|shard| shard.0.get(counter));
        counter.map_or(0, |counter| counter.fetch_add(many, Ordering::Relaxed))
    }

    pub(crate) fn sum(&self, counter: usize) -> u64 {
        let all = self.shards.iter().filter_map(|shard| shard.0.get(counter));
        all.fold(0, |sum, counter| sum.wrapping_add(counter.load(Ordering::Relaxed)))
    }
}
