//! Immutable sets of entries, one for each kind. The matchers of `celero-matching` find what
//! contains a value; beside them, each set keeps its entries in order, so that it can be listed and
//! merged with another one.

mod addresses;
mod column;
mod hosts;
mod integers;
mod patterns;
mod strings;
mod texts;

pub(crate) use addresses::Addresses;
pub(crate) use hosts::Hosts;
pub(crate) use integers::Integers;
pub(crate) use patterns::{Compiled, Patterns, check_compiled, entry_matches, with_meter};
pub(crate) use texts::Texts;

pub use celero_matching::pattern::{Meter, Unmetered};

use crate::entry::Key;
use crate::error::TooLarge;
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use std::hash::Hash;

/// A set of keys by hash.
pub(crate) type Keys<K> = HashSet<K, RandomState>;

/// An immutable set of entries.
pub(crate) trait EntrySet: Sized + Send + Sync {
    /// An entry.
    type Key: Clone + Eq + Hash + Ord + Into<Key> + Send + Sync;
    /// What the set is asked for.
    type Value<'a>: Copy;
    /// See [`rank`](Self::rank).
    type Rank: Ord;

    /// Most entries of a list.
    const MAX: usize = u32::MAX as usize - 1;
    /// Most entries that a change merges before it is published.
    const MERGED_AT_ONCE: usize = 16_384;

    /// Whether building a set takes long: a change that only removes merges nothing that has entries.
    const COMPILES: bool = false;

    /// Builds the set of these keys, which are sorted and distinct, at most [`MAX`](Self::MAX).
    ///
    /// # Errors
    /// Their texts exceed 4 GiB, or what is compiled of them a limit.
    fn build(keys: Vec<Self::Key>) -> Result<Self, TooLarge>;

    /// The number of entries.
    fn len(&self) -> usize;

    /// The entry of a number. Numbers are in the order of the keys.
    fn key(&self, id: u32) -> Option<Self::Key>;

    /// Whether an entry contains the value.
    #[inline]
    fn contains(&self, value: Self::Value<'_>) -> bool {
        self.any(value, |_| true)
    }

    /// Whether an entry that `counts` contains the value.
    fn any(&self, value: Self::Value<'_>, counts: impl FnMut(u32) -> bool) -> bool;

    /// The most specific entry that `counts` and contains the value: the one with the greatest [rank](Self::rank).
    fn most_specific(&self, value: Self::Value<'_>, counts: impl FnMut(u32) -> bool) -> Option<u32>;

    /// How specific an entry is. Of the entries that contain one value, no two have the same rank.
    fn rank(&self, id: u32) -> Self::Rank;

    /// The number of an entry, if it is one of the set.
    fn id_of(&self, key: &Self::Key) -> Option<u32>;

    /// Whether the entry of a number is in a set of keys.
    fn is_among(&self, id: u32, keys: &Keys<Self::Key>) -> bool;

    /// A key of this set; `None` if it is one of another kind.
    fn key_of(key: Key) -> Option<Self::Key>;

    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;

    /// What is compiled of all entries: what [`check_compiled`] limits.
    fn compiled(&self) -> Compiled {
        Compiled::default()
    }

    /// What is compiled of one entry.
    fn compiled_of(&self, _id: u32) -> Compiled {
        Compiled::default()
    }
}
