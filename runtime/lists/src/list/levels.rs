//! [`Levels`]: a list as a large set of entries and a few small changes after it.
//!
//! A change adds a level: what it inserts as a set of its own, and the entries of earlier levels
//! that it removes. An entry that gets another value is removed and inserted. Small levels are
//! merged at once, so that each is larger than those after it; large ones, and the large set
//! itself, in the background. All levels are immutable, and lists share them.
//!
//! Invariant: no change copies the large set of a list. Large sets are merged outside of the lock, and the result is
//! used only if the merged levels are still there. Test:
//! `runtime/lists/tests/model.rs::large_lists_merge_in_the_background`.

use crate::entry::Key;
use crate::error::TooLarge;
use crate::sets::{Compiled, EntrySet, Keys, check_compiled};
use crate::value::{Cells, Row, RowNumbers, Rows, RowsBuilder};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::sync::Arc;

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
    /// The values of these entries, in lists with values.
    values: Option<Values>,
    /// The entries of earlier levels that it removes.
    removed: Keys<S::Key>,
    /// Bytes on the heap, texts of removed entries included.
    bytes: usize,
}

struct Values {
    rows: Rows,
    /// Indexed by entry.
    numbers: RowNumbers,
}

/// How many entries a change inserts, removes, and gives other values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) inserted: usize,
    pub(crate) removed: usize,
    pub(crate) updated: usize,
}

/// Where an entry of a list is: its level and its number there. As long as the list exists, in this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) level: u32,
    pub(crate) id: u32,
}

/// Keys, and in lists with values the numbers of their rows.
pub(crate) struct Keyed<K> {
    pub(crate) keys: Vec<K>,
    /// Indexed as the keys; empty in lists without values.
    pub(crate) numbers: Vec<u32>,
    pub(crate) rows: Option<RowsBuilder>,
}

impl<K: Ord> Keyed<K> {
    /// Sorts the keys. Of equal ones only the last is kept.
    fn sort(&mut self) {
        if self.keys.is_sorted_by(|one, other| one < other) {
            return;
        }
        if self.rows.is_none() {
            // Mostly a few sorted runs.
            self.keys.sort();
            self.keys.dedup();
            return;
        }
        let mut pairs: Vec<(K, u32)> = std::mem::take(&mut self.keys).into_iter().zip(self.numbers.drain(..)).collect();
        pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
        pairs.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = later.1;
            }
            same
        });
        (self.keys, self.numbers) = pairs.into_iter().unzip();
    }
}

impl<S: EntrySet> Clone for Levels<S> {
    fn clone(&self) -> Self {
        Self { levels: self.levels.clone(), len: self.len }
    }
}

impl<S: EntrySet> Level<S> {
    /// A level of these entries, which are sorted and distinct.
    fn new(entries: Keyed<S::Key>, removed: Keys<S::Key>) -> Result<Self, TooLarge> {
        let Keyed { keys, numbers, rows } = entries;
        check_count::<S>(keys.len())?;
        let entries = S::build(keys)?;
        let removed_bytes = removed.allocation_size().saturating_add(
            removed.iter().map(|key| if let Key::Text(text) = key.clone().into() { text.len() } else { 0 }).sum(),
        );
        let values = rows.map(|rows| Values { rows: rows.finish(), numbers: RowNumbers::new(&numbers) });
        let values_bytes =
            values.as_ref().map_or(0, |values| values.rows.heap_bytes().saturating_add(values.numbers.heap_bytes()));
        let bytes = entries.heap_bytes().saturating_add(removed_bytes).saturating_add(values_bytes);
        Ok(Self { entries, values, removed, bytes })
    }

    fn size(&self) -> usize {
        self.entries.len().saturating_add(self.removed.len())
    }

    fn ids(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    /// The value of an entry.
    #[inline]
    fn row(&self, id: u32) -> Row<'_> {
        match &self.values {
            Some(Values { rows, numbers }) => Row { rows: Some(rows), row: numbers.get(id).unwrap_or(u32::MAX) },
            None => Row { rows: None, row: 0 },
        }
    }
}

impl<S: EntrySet> Levels<S> {
    /// A list of these entries. Of equal ones only the last is kept.
    ///
    /// # Errors
    /// They exceed what a set can hold.
    pub(crate) fn new(mut entries: Keyed<S::Key>) -> Result<Self, TooLarge> {
        entries.sort();
        let len = entries.keys.len();
        Ok(Self { levels: vec![Arc::new(Level::new(entries, Keys::default())?)], len })
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
        match &*self.levels {
            [only] => only.entries.contains(value),
            _ => self.contains_in_any(value),
        }
    }

    #[inline(never)]
    fn contains_in_any(&self, value: S::Value<'_>) -> bool {
        let mut newer: &[Arc<Level<S>>] = &[];
        for (index, level) in self.levels.iter().enumerate().rev() {
            if level.entries.any(value, |id| !is_removed(level, id, newer)) {
                return true;
            }
            newer = self.levels.get(index..).unwrap_or_default();
        }
        false
    }

    /// The most specific entry that contains the value.
    #[inline]
    pub(crate) fn most_specific(&self, value: S::Value<'_>) -> Option<Position> {
        let mut best: Option<(&Level<S>, Position)> = None;
        let mut newer: &[Arc<Level<S>>] = &[];
        for (index, level) in self.levels.iter().enumerate().rev() {
            if let Some(id) = level.entries.most_specific(value, |id| !is_removed(level, id, newer))
                && best.is_none_or(|(best, at)| level.entries.rank(id) > best.entries.rank(at.id))
            {
                best = Some((level, Position { level: u32::try_from(index).unwrap_or(u32::MAX), id }));
            }
            newer = self.levels.get(index..).unwrap_or_default();
        }
        best.map(|(_, position)| position)
    }

    /// The value of the entry at a position.
    #[inline]
    pub(crate) fn row(&self, at: Position) -> Option<Row<'_>> {
        self.levels.get(at.level as usize).map(|level| level.row(at.id))
    }

    /// The entry at a position.
    pub(crate) fn key(&self, at: Position) -> Option<S::Key> {
        self.levels.get(at.level as usize)?.entries.key(at.id)
    }

    /// The value of this entry; `None` if it is none.
    pub(crate) fn row_of(&self, key: &S::Key) -> Option<Row<'_>> {
        for level in self.levels.iter().rev() {
            if let Some(id) = level.entries.id_of(key) {
                return Some(level.row(id));
            }
            if level.removed.contains(key) {
                return None;
            }
        }
        None
    }

    /// All entries with their values, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (S::Key, Row<'_>)> {
        self.levels.iter().enumerate().flat_map(|(index, level)| {
            let newer = self.levels.get(index.saturating_add(1)..).unwrap_or_default();
            let kept = level.ids().filter(move |id| !is_removed(level, *id, newer));
            kept.filter_map(|id| Some((level.entries.key(id)?, level.row(id))))
        })
    }

    /// The list after a change, and what that did. Takes time linear in the size of the change and
    /// of the small levels, and a lookup for each key.
    ///
    /// `delta` has the keys that the change inserts, with their values, and those that it removes
    /// (`None`): sorted and distinct.
    ///
    /// # Errors
    /// The change exceeds what a set can hold.
    pub(crate) fn changed(
        &self,
        delta: impl Iterator<Item = (S::Key, Option<Cells>)>,
    ) -> Result<(Self, Counts), TooLarge> {
        let mut counts = Counts::default();
        let mut removed = Keys::default();
        let mut inserted = Keyed { keys: Vec::new(), numbers: Vec::new(), rows: self.rows_builder() };
        for (key, wanted) in delta {
            let (own, count) = match (&wanted, self.row_of(&key)) {
                (None, None) => continue,
                (None, Some(_)) => (true, &mut counts.removed),
                (Some(_), None) => (false, &mut counts.inserted),
                (Some(cells), Some(row)) if row.is(cells) => continue,
                (Some(_), Some(_)) => (true, &mut counts.updated),
            };
            *count = count.saturating_add(1);
            if own {
                removed.insert(key.clone());
            }
            if let Some(cells) = wanted {
                if let Some(rows) = &mut inserted.rows {
                    inserted.numbers.push(rows.add_cells(&cells).ok_or(TooLarge::Numbers)?);
                }
                inserted.keys.push(key);
            }
        }
        if counts == Counts::default() {
            return Ok((self.clone(), counts));
        }
        let len = self.len.saturating_add(counts.inserted).saturating_sub(counts.removed);
        let adds = !inserted.keys.is_empty();
        let mut levels = self.levels.clone();
        levels.push(Arc::new(Level::new(inserted, removed)?));
        if adds {
            check_count::<S>(len)?;
            let compiled = levels.iter().map(|level| level.entries.compiled());
            if check_compiled(compiled.fold(Compiled::default(), Compiled::and)).is_err() {
                // What was removed is held until its level is merged.
                check_compiled(compiled_entries(&levels))?;
                levels = vec![Arc::new(merge(&levels, true)?)];
            }
        }
        while let [.., older, newer] = &*levels
            && older.size() < newer.size().saturating_mul(FACTOR)
            && older.size().saturating_add(newer.size()) <= S::MERGED_AT_ONCE
            && (adds || !S::COMPILES || older.entries.len() == 0)
        {
            let first = levels.len().saturating_sub(2);
            let merged = merge(levels.get(first..).unwrap_or_default(), first == 0)?;
            levels.truncate(first);
            levels.push(Arc::new(merged));
        }
        Ok((Self { levels, len }, counts))
    }

    /// A builder for the values of new entries; `None` in lists without values.
    fn rows_builder(&self) -> Option<RowsBuilder> {
        builder(&self.levels)
    }

    /// Whether the background should merge levels.
    pub(crate) fn wants_merge(&self) -> bool {
        self.levels.len() > MANY_LEVELS || self.rebuilds()
    }

    /// Returns whether the changes are large enough, compared with the first level, to rebuild the whole list.
    fn rebuilds(&self) -> bool {
        let Some((base, changes)) = self.levels.split_first() else { return false };
        let changed = changes.iter().map(|level| level.size()).fold(0, usize::saturating_add);
        changed > S::MERGED_AT_ONCE && changed > base.size() / FACTOR
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

    /// The list with the levels of `old` replaced by those of `merged`, which is the same list;
    /// `None` if the list does not begin with the levels of `old` any more.
    pub(crate) fn with_merged(&self, old: &Self, merged: &Self) -> Option<Self> {
        let (same, later) = self.levels.split_at_checked(old.levels.len())?;
        let unchanged = same.iter().zip(&old.levels).all(|(a, b)| Arc::ptr_eq(a, b));
        let levels = merged.levels.iter().chain(later).cloned().collect();
        unchanged.then_some(Self { levels, len: self.len })
    }
}

/// Checks the number of entries of a list.
fn check_count<S: EntrySet>(count: usize) -> Result<(), TooLarge> {
    if count <= S::MAX {
        return Ok(());
    }
    Err(TooLarge::Kind { what: "entries in a list", wanted: count, limit: S::MAX })
}

#[inline]
fn is_removed<S: EntrySet>(level: &Level<S>, id: u32, newer: &[Arc<Level<S>>]) -> bool {
    newer.iter().any(|newer| !newer.removed.is_empty() && level.entries.is_among(id, &newer.removed))
}

/// What is compiled of the entries of these levels that are not removed.
fn compiled_entries<S: EntrySet>(levels: &[Arc<Level<S>>]) -> Compiled {
    let of_level = |(index, level): (usize, &Arc<Level<S>>)| {
        let newer = levels.get(index.saturating_add(1)..).unwrap_or_default();
        let kept = level.ids().filter(|id| !is_removed(level, *id, newer));
        kept.map(|id| level.entries.compiled_of(id)).fold(Compiled::default(), Compiled::and)
    };
    levels.iter().enumerate().map(of_level).fold(Compiled::default(), Compiled::and)
}

/// One level that is equal to these, the oldest first. The first level of a list removes nothing.
fn merge<S: EntrySet>(levels: &[Arc<Level<S>>], is_first: bool) -> Result<Level<S>, TooLarge> {
    let len = levels.iter().map(|level| level.entries.len()).fold(0, usize::saturating_add);
    let mut merged = Keyed { keys: Vec::with_capacity(len), numbers: Vec::new(), rows: builder(levels) };
    let mut removed = Keys::default();
    for (index, level) in levels.iter().enumerate() {
        let newer = levels.get(index.saturating_add(1)..).unwrap_or_default();
        // By the number of a row in this level: its number in the merged one.
        let mut known: HashMap<u32, u32, RandomState> = HashMap::default();
        for id in level.ids().filter(|id| !is_removed(level, *id, newer)) {
            let Some(key) = level.entries.key(id) else { continue };
            merged.keys.push(key);
            if let Some(rows) = &mut merged.rows {
                let row = level.row(id);
                let number = match known.get(&row.row) {
                    Some(number) => *number,
                    None => {
                        let number = rows.add(row.iter()).ok_or(TooLarge::Numbers)?;
                        known.insert(row.row, number);
                        number
                    }
                };
                merged.numbers.push(number);
            }
        }
        if !is_first {
            removed.extend(level.removed.iter().cloned());
        }
    }
    merged.sort();
    Level::new(merged, removed)
}

/// A builder for values as these levels have them.
fn builder<S: EntrySet>(levels: &[Arc<Level<S>>]) -> Option<RowsBuilder> {
    levels.first()?.values.as_ref().map(|values| values.rows.builder())
}
