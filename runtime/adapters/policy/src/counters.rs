//! Numbers that go up, counted by each thread where no other writes, as far as there are places.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Most places; threads beyond share them.
const MOST_SHARDS: usize = 16;

/// What is counted of a policy.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Matches and failures of each rule.
    pub(crate) rules: Counters,
    /// Those that rules name.
    pub(crate) named: Counters,
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
        let place = thread_number().checked_rem(self.shards.len()).unwrap_or(0);
        if let Some(counter) = self.shards.get(place).and_then(|shard| shard.0.get(counter)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn sum(&self, counter: usize) -> u64 {
        let all = self.shards.iter().filter_map(|shard| shard.0.get(counter));
        all.fold(0, |sum, counter| sum.wrapping_add(counter.load(Ordering::Relaxed)))
    }
}
