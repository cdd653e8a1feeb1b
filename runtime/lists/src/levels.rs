//! [`Levels`]: a list as a large set of entries and a few small changes after it.
//!
//! A change adds a level: what it inserts as a set of its own, and the entries of earlier levels that it removes. No change copies the
//! large set. Small levels are merged at once, so that each is larger than those after it; large ones, and the large set itself, in the
//! background. All levels are immutable, and lists share them.

use crate::entry::Key;
use crate::error::TooLarge;
use crate::sets::{EntrySet, Keys};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most entries that a change merges before it is published.
const MERGED_AT_ONCE: usize = 16_384;
/// How many times larger than the next level a level must be to be left alone.
const FACTOR: usize = 4;
/// Number of levels above which the background merges.
const MANY_LEVELS: usize = 6;

pub(crate) struct Levels<S: EntrySet> {
    /// The oldest first; it removes nothing. Never empty.
    levels: Vec<Arc<Level<S>>>,
    /// The number of entries.
    len: usize,
}

struct Level<S: EntrySet> {
    /// What it inserts.
    entries: S,
    /// The entries of earlier levels that it removes.
    removed: Keys<S::Key>,
    /// Bytes on the heap, texts of removed entries included.
    bytes: usize,
}

/// The keys that a change inserts (`true`) and removes.
pub(crate) type Delta<K> = BTreeMap<K, bool>;

impl<S: EntrySet> Clone for Levels<S> {
    fn clone(&self) -> Self {
        Self { levels: self.levels.clone(), len: self.len }
    }
}

impl<S: EntrySet> Level<S> {
    fn new(keys: Vec<S::Key>, removed: Keys<S::Key>) -> Result<Self, TooLarge> {
        if u32::try_from(keys.len()).is_ok_and(|len| len == u32::MAX) || u32::try_from(keys.len()).is_err() {
            return Err(TooLarge);
        }
        let entries = S::build(keys).ok_or(TooLarge)?;
        let removed_bytes = removed.allocation_size().saturating_add(
            removed.iter().map(|key| if let Key::Text(text) = key.clone().into() { text.len() } else { 0 }).sum(),
        );
        let bytes = entries.heap_bytes().saturating_add(removed_bytes);
        Ok(Self { entries, removed, bytes })
    }

    fn size(&self) -> usize {
        self.entries.len().saturating_add(self.removed.len())
    }

    fn keys(&self) -> impl Iterator<Item = (u32, S::Key)> {
        (0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX)).filter_map(|id| Some((id, self.entries.key(id)?)))
    }
}

impl<S: EntrySet> Levels<S> {
    /// A list of these entries.
    ///
    /// # Errors
    /// They exceed what a set can hold.
    pub(crate) fn new(mut keys: Vec<S::Key>) -> Result<Self, TooLarge> {
        keys.sort_unstable();
        keys.dedup();
        let len = keys.len();
        Ok(Self { levels: vec![Arc::new(Level::new(keys, Keys::default())?)], len })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn levels(&self) -> usize {
        self.levels.len()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.levels.iter().map(|level| level.bytes).fold(0, usize::saturating_add)
    }

    /// Whether an entry contains the value.
    #[inline]
    pub(crate) fn contains(&self, value: S::Value<'_>) -> bool {
        let mut newer: &[Arc<Level<S>>] = &[];
        for (index, level) in self.levels.iter().enumerate().rev() {
            if level.entries.any(value, |id| !is_removed(level, id, newer)) {
                return true;
            }
            newer = self.levels.get(index..).unwrap_or_default();
        }
        false
    }

    /// Whether this is an entry.
    pub(crate) fn has(&self, key: &S::Key) -> bool {
        for level in self.levels.iter().rev() {
            if level.entries.has(key) {
                return true;
            }
            if level.removed.contains(key) {
                return false;
            }
        }
        false
    }

    /// All entries, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = S::Key> {
        self.levels.iter().enumerate().flat_map(|(index, level)| {
            let newer = self.levels.get(index.saturating_add(1)..).unwrap_or_default();
            level.keys().filter(move |(id, _)| !is_removed(level, *id, newer)).map(|(_, key)| key)
        })
    }

    /// The list after a change, and how many entries it inserts and removes. Takes time linear in the size of the change and of the small
    /// levels, and a lookup for each key.
    ///
    /// # Errors
    /// The change exceeds what a set can hold.
    pub(crate) fn changed(&self, delta: Delta<S::Key>) -> Result<(Self, usize, usize), TooLarge> {
        let (mut inserted, mut removed) = (Vec::new(), Keys::default());
        for (key, insert) in delta {
            if insert != self.has(&key) {
                if insert {
                    inserted.push(key);
                } else {
                    removed.insert(key);
                }
            }
        }
        let counts = (inserted.len(), removed.len());
        if counts == (0, 0) {
            return Ok((self.clone(), 0, 0));
        }
        let mut levels = self.levels.clone();
        levels.push(Arc::new(Level::new(inserted, removed)?));
        while let [.., older, newer] = &*levels
            && older.size() < newer.size().saturating_mul(FACTOR)
            && older.size().saturating_add(newer.size()) <= MERGED_AT_ONCE
        {
            let first = levels.len().saturating_sub(2);
            let merged = merge(levels.get(first..).unwrap_or_default(), first == 0)?;
            levels.truncate(first);
            levels.push(Arc::new(merged));
        }
        let len = self.len.saturating_add(counts.0).saturating_sub(counts.1);
        Ok((Self { levels, len }, counts.0, counts.1))
    }

    /// Whether the background should merge levels.
    pub(crate) fn wants_merge(&self) -> bool {
        self.levels.len() > MANY_LEVELS || self.rebuilds()
    }

    /// Returns whether the changes are large enough, compared with the first level, to rebuild the whole list.
    fn rebuilds(&self) -> bool {
        let Some((base, changes)) = self.levels.split_first() else { return false };
        let changed = changes.iter().map(|level| level.size()).fold(0, usize::saturating_add);
        changed > MERGED_AT_ONCE && changed > base.size() / FACTOR
    }

    /// The same list with fewer levels: all changes as one, or everything as one if the changes are many.
    ///
    /// # Errors
    /// The entries exceed what a set can hold.
    pub(crate) fn merged(&self) -> Result<Self, TooLarge> {
        let first = usize::from(!self.rebuilds() && self.levels.len() > 2);
        let (kept, merged) = self.levels.split_at_checked(first).unwrap_or_default();
        let merged = Arc::new(merge(merged, first == 0)?);
        Ok(Self { levels: kept.iter().cloned().chain([merged]).collect(), len: self.len })
    }

    /// The list with the levels of `old` replaced by those of `merged`, which is the same list; `None` if the list does not begin with the
    /// levels of `old` any more.
    pub(crate) fn with_merged(&self, old: &Self, merged: &Self) -> Option<Self> {
        let (same, later) = self.levels.split_at_checked(old.levels.len())?;
        let unchanged = same.iter().zip(&old.levels).all(|(a, b)| Arc::ptr_eq(a, b));
        let levels = merged.levels.iter().chain(later).cloned().collect();
        unchanged.then_some(Self { levels, len: self.len })
    }
}

#[inline]
fn is_removed<S: EntrySet>(level: &Level<S>, id: u32, newer: &[Arc<Level<S>>]) -> bool {
    newer.iter().any(|newer| !newer.removed.is_empty() && level.entries.is_among(id, &newer.removed))
}

/// One level that is equal to these, the oldest first. The first level of a list removes nothing.
fn merge<S: EntrySet>(levels: &[Arc<Level<S>>], is_first: bool) -> Result<Level<S>, TooLarge> {
    let mut keys = Vec::with_capacity(levels.iter().map(|level| level.entries.len()).fold(0, usize::saturating_add));
    let mut removed = Keys::default();
    for (index, level) in levels.iter().enumerate() {
        let newer = levels.get(index.saturating_add(1)..).unwrap_or_default();
        keys.extend(level.keys().filter(|(id, _)| !is_removed(level, *id, newer)).map(|(_, key)| key));
        if !is_first {
            removed.extend(level.removed.iter().cloned());
        }
    }
    // Mostly a few sorted runs.
    keys.sort();
    keys.dedup();
    Level::new(keys, removed)
}
