//! The states of keys, in sets of a fixed number of slots with a lock each.
//!
//! Invariant: the state of a key in the table is at least what the key has used, and so is the floor of its set for a
//! key that is not in the table. A key that leaves is merged into the floor, and a key that comes starts from it. Test:
//! `runtime/limits/tests/limits/flood.rs::a_flood_of_new_keys_does_not_free_a_limited_one`.

use crate::decision::Decision;
use crate::prefetch::prefetch;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The slots of a set.
pub(crate) const SLOTS: usize = 8;

/// How a limit counts. All arithmetic saturates towards less being admitted.
pub(crate) trait Algorithm {
    /// What a key has used. The default is that of a key that has used nothing.
    type State: Copy + Default + Debug;

    /// Decides about a cost. Counts nothing.
    fn decide(&self, state: &mut Self::State, cost: u64, now: u64) -> Decision;

    /// Counts a cost that was used at `now`, also if it exceeds the limit.
    fn count(&self, state: &mut Self::State, cost: u64, now: u64);

    /// Reserves a cost: it counts until it is released, however long that takes.
    fn hold(&self, state: &mut Self::State, cost: u64);

    /// Ends what [`hold`](Self::hold) began.
    fn release(&self, state: &mut Self::State, cost: u64);

    /// Admits nothing before `until`.
    fn block(&self, state: &mut Self::State, until: u64);

    /// Ends a block.
    fn unblock(&self, state: &mut Self::State);

    /// Returns whether nothing is admitted because of [`block`](Self::block).
    fn is_blocked(&self, state: &Self::State, now: u64) -> bool;

    /// Returns how much a state restricts its key; 0: as little as that of a new key.
    fn weight(&self, state: &Self::State, now: u64) -> u64;

    /// Makes `floor` at least as restrictive as `replaced`, what is held included.
    fn merge(&self, floor: &mut Self::State, replaced: Self::State, now: u64);
}

/// What a set has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) admitted: u64,
    pub(crate) refused: u64,
    pub(crate) merged: u64,
}

// Sets do not share cache lines, so that threads that use different sets do not slow each other down.
#[derive(Debug)]
#[repr(align(64))]
struct Locked<S>(Mutex<Set<S>>);

#[derive(Debug)]
pub(crate) struct Set<S> {
    /// The hashes of the keys; 0: the slot is free.
    tags: [u64; SLOTS],
    states: [S; SLOTS],
    /// What a key that is not in the set has at most used.
    floor: S,
    pub(crate) counts: Counts,
}

/// The sets.
#[derive(Debug)]
pub(crate) struct Table<S> {
    sets: Box<[Locked<S>]>,
}

impl<S: Copy + Default> Set<S> {
    fn new() -> Self {
        Self { tags: [0; SLOTS], states: [S::default(); SLOTS], floor: S::default(), counts: Counts::default() }
    }

    /// Calls `change` with the state of a key and stores it if the key is in the set, or if
    /// `change` says that it must be remembered.
    #[inline]
    pub(crate) fn with<A: Algorithm<State = S>, R>(
        &mut self,
        algorithm: &A,
        tag: u64,
        now: u64,
        change: impl FnOnce(&mut S, &mut Counts) -> (R, bool),
    ) -> R {
        if let Some(state) = self.tags.iter().position(|known| *known == tag).and_then(|slot| self.states.get_mut(slot))
        {
            return change(state, &mut self.counts).0;
        }
        let mut state = self.floor;
        let (result, remember) = change(&mut state, &mut self.counts);
        if remember {
            self.place(algorithm, tag, now, state);
        }
        result
    }

    /// Puts a key in the slot of the one that has used least. If that is the key itself, it is
    /// merged into the floor instead: a few keys that have used much must not become the floor of
    /// all others.
    fn place<A: Algorithm<State = S>>(&mut self, algorithm: &A, tag: u64, now: u64, state: S) {
        let weights = self.states.iter().map(|state| algorithm.weight(state, now));
        let least = weights.enumerate().min_by_key(|(_, weight)| *weight);
        let Some((slot, weight)) = least else { return };
        let (Some(known), Some(old)) = (self.tags.get_mut(slot), self.states.get_mut(slot)) else { return };
        if *known != 0 && algorithm.weight(&state, now) < weight {
            self.counts.merged = self.counts.merged.saturating_add(1);
            algorithm.merge(&mut self.floor, state, now);
            return;
        }
        if *known != 0 && weight > 0 {
            self.counts.merged = self.counts.merged.saturating_add(1);
            algorithm.merge(&mut self.floor, *old, now);
        }
        *known = tag;
        *old = state;
    }

    /// Returns the number of keys that have used something.
    fn in_use<A: Algorithm<State = S>>(&self, algorithm: &A, now: u64) -> usize {
        let keys = self.tags.iter().zip(&self.states);
        keys.filter(|(tag, state)| **tag != 0 && algorithm.weight(state, now) > 0).count()
    }
}

impl<S: Copy + Default> Table<S> {
    /// Returns a table for this many keys, rounded up to a power of two of sets.
    pub(crate) fn new(keys: usize) -> Self {
        let sets = keys.div_ceil(SLOTS).max(1).checked_next_power_of_two().unwrap_or(1);
        Self { sets: (0..sets).map(|_| Locked(Mutex::new(Set::new()))).collect() }
    }

    /// Returns the set of a hash, locked.
    #[inline]
    pub(crate) fn set(&self, tag: u64) -> Option<MutexGuard<'_, Set<S>>> {
        self.locked(tag).map(lock)
    }

    /// Asks the processor to load the set of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, tag: u64) {
        self.locked(tag).into_iter().for_each(prefetch);
    }

    /// Returns the set of a hash, with its lock.
    #[inline]
    fn locked(&self, tag: u64) -> Option<&Locked<S>> {
        let mask = self.sets.len().saturating_sub(1);
        // The number of sets is a power of two, and at least 1.
        let index = usize::try_from(tag >> 16).unwrap_or(usize::MAX) & mask;
        self.sets.get(index)
    }

    /// Returns the number of keys that fit.
    pub(crate) fn capacity(&self) -> usize {
        self.sets.len().saturating_mul(SLOTS)
    }

    /// Returns the bytes of all sets.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.len().saturating_mul(size_of::<Locked<S>>())
    }

    /// Forgets all keys and floors. Counts stay.
    pub(crate) fn clear(&self) {
        for set in self.sets.iter().map(lock) {
            let mut set = set;
            *set = Set { counts: set.counts, ..Set::new() };
        }
    }

    /// Returns the sums of the counts, and the number of keys that have used something.
    pub(crate) fn counts<A: Algorithm<State = S>>(&self, algorithm: &A, now: u64) -> (Counts, usize) {
        let mut sum = Counts::default();
        let mut keys = 0_usize;
        for set in self.sets.iter().map(lock) {
            sum.admitted = sum.admitted.saturating_add(set.counts.admitted);
            sum.refused = sum.refused.saturating_add(set.counts.refused);
            sum.merged = sum.merged.saturating_add(set.counts.merged);
            keys = keys.saturating_add(set.in_use(algorithm, now));
        }
        (sum, keys)
    }
}

/// No code that holds the lock can panic, so a poisoned lock guards a valid set.
#[inline]
fn lock<S>(set: &Locked<S>) -> MutexGuard<'_, Set<S>> {
    set.0.lock().unwrap_or_else(PoisonError::into_inner)
}
