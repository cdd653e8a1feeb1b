//! Numbers that go up, counted by each thread where no other writes, as far as there are places.

use crate::outcome::{Phase, PhaseInfo};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Most places; threads beyond share them.
const MOST_SHARDS: usize = 16;

/// One evaluation in so many is timed: reading the clock costs what some rules do.
const TIMED: u64 = 64;

/// How often the rules were evaluated, how often that was timed, and the nanoseconds of those times.
const OF_ALL: [usize; 3] = [0, 1, 2];

/// Matches and failures of a rule.
const OF_RULE: usize = 2;

/// What is counted of the rules of a phase.
#[derive(Debug)]
pub(crate) struct Tally {
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

impl Tally {
    pub(crate) fn new(rules: usize) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let shard = |_| Shard((0..of_rule(rules)).map(|_| AtomicU64::new(0)).collect());
        Self { shards: (0..threads.min(MOST_SHARDS)).map(shard).collect() }
    }

    /// Where this thread counts.
    pub(crate) fn own(&self) -> Own<'_> {
        let place = thread_number().checked_rem(self.shards.len()).unwrap_or(0);
        Own(self.shards.get(place).map_or(&[], |shard| &shard.0))
    }

    /// What was counted of all rules.
    pub(crate) fn of_all(&self, phase: Phase) -> PhaseInfo {
        let [evaluated, timed, nanos] = OF_ALL.map(|counter| self.sum(counter));
        PhaseInfo { phase, evaluated, timed, time: Duration::from_nanos(nanos) }
    }

    /// How often a rule matched and failed.
    pub(crate) fn of_rule(&self, rule: usize) -> (u64, u64) {
        let first = of_rule(rule);
        (self.sum(first), self.sum(first.saturating_add(1)))
    }

    fn sum(&self, counter: usize) -> u64 {
        let all = self.shards.iter().filter_map(|shard| shard.0.get(counter));
        all.fold(0, |sum, counter| sum.wrapping_add(counter.load(Ordering::Relaxed)))
    }
}

/// The first counter of a rule.
fn of_rule(rule: usize) -> usize {
    rule.saturating_mul(OF_RULE).saturating_add(OF_ALL.len())
}

/// The counters that a thread writes.
#[derive(Clone, Copy)]
pub(crate) struct Own<'t>(&'t [AtomicU64]);

impl Own<'_> {
    /// Counts an evaluation, and times some of them: whether it was this one stands beside what it gives.
    pub(crate) fn evaluation<T>(self, evaluate: impl FnOnce() -> T) -> (T, bool) {
        let [evaluated, timed, nanoseconds] = OF_ALL;
        let number = self.add(evaluated, 1).wrapping_add(1);
        if !number.is_multiple_of(TIMED) {
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

    /// What was counted here before is given.
    fn add(self, counter: usize, many: u64) -> u64 {
        self.0.get(counter).map_or(0, |counter| counter.fetch_add(many, Ordering::Relaxed))
    }
}

/// Nanoseconds since then.
fn nanos(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
