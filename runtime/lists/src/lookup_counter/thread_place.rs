//! [`ThreadPlace`]: a small number of the running thread that no other thread has at the same time.
//!
//! The crate `thread_local` would give the same, but panics in threads that are ending, in which
//! destructors may ask lists, and needs twice the memory for values with lines of their own.
//!
//! Invariant: no two running threads have the same place, so a lookup writes no memory that another thread writes.
//! Test: `runtime/lists/src/lookup_counter/thread_place.rs::a_thread_keeps_its_place_and_shares_it_with_nobody`.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

/// Number of places in the first block. Each block has twice as many as the one before.
const FIRST_BLOCK: u32 = 8;
/// Number of blocks.
pub(crate) const BLOCKS: usize = 16;

/// Where the running thread counts: a place in a block. The number of the thread, in a form that
/// takes no arithmetic to use. Threads get the smallest number that is free, so there are as few
/// places as threads that have counted are alive at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadPlace {
    pub(crate) block: u32,
    pub(crate) index: u32,
}

impl ThreadPlace {
    /// In no block.
    const NONE: Self = Self { block: u32::MAX, index: 0 };

    /// The place of a number; `None` if it is in no block.
    fn of_number(number: u32) -> Option<Self> {
        let behind = number.checked_add(FIRST_BLOCK)?;
        let block = behind.ilog2().checked_sub(FIRST_BLOCK.ilog2())?;
        let index = behind.checked_sub(1_u32.checked_shl(behind.ilog2())?)?;
        ((block as usize) < BLOCKS).then_some(Self { block, index })
    }

    /// Returns the place of the running thread, if it has one yet; otherwise one that is in no block.
    #[inline(always)]
    pub(crate) fn known() -> Self {
        PLACE.get()
    }

    /// Returns the place of the running thread, which gets one if it has none; `None` if the thread
    /// is about to end, or there are too many. Takes a lock.
    pub(crate) fn get() -> Option<Self> {
        let known = Self::known();
        if known != Self::NONE {
            return Some(known);
        }
        let take = |owner: &Owner| {
            let number = numbers(Numbers::take)?;
            owner.0.set(Some(number));
            Self::of_number(number)
        };
        let place = OWNER.try_with(take).ok().flatten()?;
        PLACE.set(place);
        Some(place)
    }

    /// Returns the number of places in the block.
    pub(crate) fn block_len(self) -> u32 {
        FIRST_BLOCK.checked_shl(self.block).unwrap_or(0)
    }
}

thread_local! {
    // Without a destructor: it can be read as long as the thread runs, without a test whether it was destroyed.
    static PLACE: Cell<ThreadPlace> = const { Cell::new(ThreadPlace::NONE) };
    static OWNER: Owner = const { Owner(Cell::new(None)) };
}

/// Gives the number of a thread back when the thread ends.
struct Owner(Cell<Option<u32>>);

impl Drop for Owner {
    fn drop(&mut self) {
        // First: destructors that run later must not count at a place that another thread may have.
        PLACE.set(ThreadPlace::NONE);
        if let Some(number) = self.0.take() {
            numbers(|numbers| numbers.free.push(Reverse(number)));
        }
    }
}

/// The numbers of threads.
struct Numbers {
    /// The smallest number that was never taken.
    next: u32,
    free: BinaryHeap<Reverse<u32>>,
}

impl Numbers {
    fn take(&mut self) -> Option<u32> {
        if let Some(Reverse(number)) = self.free.pop() {
            return Some(number);
        }
        let number = self.next;
        ThreadPlace::of_number(number)?;
        self.next = number.checked_add(1)?;
        Some(number)
    }
}

/// Calls `f` with the numbers of all threads. Their lock also orders what the last owner of a
/// number wrote before what the next one reads.
fn numbers<R>(f: impl FnOnce(&mut Numbers) -> R) -> R {
    static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { next: 0, free: BinaryHeap::new() });
    f(&mut NUMBERS.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_each_other() {
        let mut expected = ThreadPlace { block: 0, index: 0 };
        for number in 0..1_000 {
            assert_eq!(ThreadPlace::of_number(number), Some(expected));
            expected.index += 1;
            if expected.index == expected.block_len() {
                expected = ThreadPlace { block: expected.block + 1, index: 0 };
            }
        }
        let last = FIRST_BLOCK * ((1 << BLOCKS) - 1) - 1;
        let place = ThreadPlace::of_number(last).unwrap();
        assert_eq!((place.block as usize, place.index), (BLOCKS - 1, place.block_len() - 1));
        assert_eq!(ThreadPlace::of_number(last + 1), None);
        assert_eq!(ThreadPlace::of_number(u32::MAX), None);
        assert_eq!(ThreadPlace::NONE.block_len(), 0);
    }

    #[test]
    fn a_thread_keeps_its_place_and_shares_it_with_nobody() {
        let barrier = std::sync::Barrier::new(50);
        let run = || {
            let place = ThreadPlace::get().unwrap();
            barrier.wait();
            assert_eq!((ThreadPlace::known(), ThreadPlace::get()), (place, Some(place)));
            (place.block, place.index)
        };
        let mut places: Vec<(u32, u32)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..50).map(|_| scope.spawn(run)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 50);
    }
}
