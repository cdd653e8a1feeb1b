//! [`LookupCounter`]: how often a list was searched, counted without memory that threads share.
//!
//! Each thread counts in a cache line of its own, at its [place](ThreadPlace), with a load and a
//! store. Readers add up the lines of all places. The next thread that gets the place of one that
//! has ended goes on with its count.
//!
//! Invariant: a counter belongs to a list, not to a generation: a replacement list inherits the counter. Test:
//! `runtime/lists/tests/lookups.rs::lists_that_replace_others_count_with_them`.

mod thread_place;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use thread_place::{BLOCKS, ThreadPlace};

/// The lookups in one list.
#[derive(Default)]
pub(crate) struct LookupCounter {
    /// A line for each place. A block is made when a thread with a place in it counts for the first time, and stays.
    blocks: [OnceLock<Box<[Line]>>; BLOCKS],
    /// The lookups of threads without a place.
    others: AtomicU64,
}

/// The count at one place, which shares no pair of cache lines with anything else: processors prefetch lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

impl Line {
    /// Adds 1. The thread at this place is the only writer, so that the addition need not be atomic.
    #[inline(always)]
    fn count(&self) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

impl LookupCounter {
    /// Counts a lookup of the running thread. Takes no lock, but for the first lookup of a thread,
    /// and the first of its place in this list.
    #[inline(always)]
    pub(crate) fn count(&self) {
        let place = ThreadPlace::known();
        let block = self.blocks.get(place.block as usize).and_then(OnceLock::get);
        match block.and_then(|block| block.get(place.index as usize)) {
            Some(line) => line.count(),
            None => self.count_first(),
        }
    }

    #[cold]
    #[inline(never)]
    fn count_first(&self) {
        match ThreadPlace::get().and_then(|place| self.line(place)) {
            Some(line) => line.count(),
            None => {
                self.others.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// The line of a place, in a block that is made if there is none.
    fn line(&self, place: ThreadPlace) -> Option<&Line> {
        let block = self.blocks.get(place.block as usize)?;
        let lines = || (0..place.block_len()).map(|_| Line::default()).collect();
        block.get_or_init(lines).get(place.index as usize)
    }

    /// Returns the number of lookups so far. Those of other threads that run now may be missing.
    pub(crate) fn sum(&self) -> u64 {
        let lines = self.blocks.iter().filter_map(OnceLock::get).flatten().map(|line| &line.0);
        let counts = lines.chain([&self.others]).map(|count| count.load(Ordering::Relaxed));
        counts.fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn no_two_lines_share_a_pair_of_cache_lines() {
        let counter = LookupCounter::default();
        counter.count();
        let lines: Vec<&Line> = counter.blocks.iter().filter_map(OnceLock::get).flatten().collect();
        assert!(lines.iter().all(|line| std::ptr::from_ref(*line).addr() % 128 == 0));
        assert_eq!((size_of::<Line>(), lines.is_empty(), counter.sum()), (128, false, 1));
    }

    /// As many threads one after the other as would need many blocks at the same time.
    #[test]
    fn places_of_threads_that_ended_are_used_again() {
        let counter = Arc::new(LookupCounter::default());
        for _ in 0..2_000 {
            let counter = counter.clone();
            // Unlike a scope, a handle waits for the destructors of the thread.
            std::thread::spawn(move || counter.count()).join().unwrap();
        }
        // Other tests run at the same time, each with at most 50 threads.
        let lines: usize = counter.blocks.iter().filter_map(OnceLock::get).map(|block| block.len()).sum();
        assert!(lines <= 1_024, "{lines}");
        assert_eq!(counter.sum(), 2_000);
    }
}
