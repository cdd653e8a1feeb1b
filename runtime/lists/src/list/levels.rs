//! [`Levels`]: a list as a large set of entries and a few small changes after it.
//!
//! A change adds a level: what it inserts as a set of its own, and the entries of earlier levels
//! that it removes. An entry that gets another value is removed and inserted. Small levels are
//! merged at once, so that each is larger than those after it; large ones, and the large set
//! itself, in the background. All levels are immutable, and lists share them.
//!
//! Invariant: a lookup never answers from an entry that has expired, and asks the time only about entries that expire.
//! Test: `runtime/lists/src/list/expiry_tests.rs::only_entries_that_expire_are_compared_with_the_time`.
//!
//! Invariant: no change copies the large set of a list. Large sets are merged outside of the lock, and the result is
//! used only if the merged levels are still there. Test:
//! `runtime/lists/tests/model.rs::large_lists_merge_in_the_background`.

use super::expiry_times::ExpiryTimes;
use crate::clock::Clock;
use crate::entry::{Entry, Key};
use crate::error::TooLarge;
use crate::sets::{Compiled, EntrySet, Keys, check_compiled};
use crate::value::{Cells, Row, RowNumbers, Rows, RowsBuilder};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

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
    /// When its entries expire, if any does.
    expiries: Option<ExpiryTimes>,
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

/// What a change wants of an entry that is in the list after it.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) cells: Cells,
    pub(crate) expires: Option<SystemTime>,
}

/// How many entries a change inserts, removes, and gives other values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) inserted: usize,
    pub(crate) removed: usize,
    pub(crate) updated: usize,
    /// With the same value as before, and another time at which they expire.
    pub(crate) renewed: usize,
}

/// What a change did.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) counts: Counts,
    /// The entries that expired before it, with these times, and do not any more.
    pub(crate) ended: Vec<(SystemTime, Entry)>,
}

/// Where an entry of a list is: its level and its number there. As long as the list exists, in this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) level: u32,
    pub(crate) id: u32,
}

/// Keys, in lists with values the numbers of their rows, and when they expire.
pub(crate) struct Keyed<K> {
    pub(crate) keys: Vec<K>,
    /// Indexed as the keys; empty in lists without values.
    pub(crate) numbers: Vec<u32>,
    pub(crate) rows: Option<RowsBuilder>,
    /// Indexed as the keys. Ends with the last one that expires.
    pub(crate) expiries: Vec<Option<SystemTime>>,
}

impl<K> Keyed<K> {
    /// No keys.
    pub(crate) fn new(rows: Option<RowsBuilder>) -> Self {
        Self { keys: Vec::new(), numbers: Vec::new(), rows, expiries: Vec::new() }
    }

    pub(super) fn push(&mut self, key: K, expires: Option<SystemTime>) {
        if expires.is_some() {
            self.expiries.resize(self.keys.len(), None);
            self.expiries.push(expires);
        }
        self.keys.push(key);
    }
}

impl<K: Ord> Keyed<K> {
    /// Sorts the keys. Of equal ones only the last is kept.
    fn sort(&mut self) {
        if self.keys.is_sorted_by(|one, other| one < other) {
            return;
        }
        let numbers = std::mem::take(&mut self.numbers);
        if !self.expiries.is_empty() {
            let times = std::mem::take(&mut self.expiries).into_iter().chain(std::iter::repeat(None));
            let numbers = numbers.into_iter().chain(std::iter::repeat(0));
            let pairs = numbers.zip(times);
            (self.numbers, self.expiries) = sort_with(&mut self.keys, pairs).unzip();
            if self.rows.is_none() {
                self.numbers = Vec::new();
            }
        } else if self.rows.is_some() {
            self.numbers = sort_with(&mut self.keys, numbers.into_iter()).collect();
        } else {
            // Mostly a few sorted runs.
            self.keys.sort();
            self.keys.dedup();
        }
    }
}

/// Sorts keys together with what belongs to them, which is returned. Of equal keys only the last is kept.
fn sort_with<K: Ord, T>(keys: &mut Vec<K>, with: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut pairs: Vec<(K, T)> = std::mem::take(keys).into_iter().zip(with).collect();
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    pairs.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            std::mem::swap(later, kept);
        }
        same
    });
    keys.reserve_exact(pairs.len());
    pairs.into_iter().map(|(key, with)| {
        keys.push(key);
        with
    })
}

impl<S: EntrySet> Clone for Levels<S> {
    fn clone(&self) -> Self {
        Self { levels: self.levels.clone(), len: self.len }
    }
}

impl<S: EntrySet> Level<S> {
    /// A level of these entries, which are sorted and distinct.
    fn new(entries: Keyed<S::Key>, removed: Keys<S::Key>) -> Result<Self, TooLarge> {
        let Keyed { keys, numbers, rows, expiries } = entries;
        check_count::<S>(keys.len())?;
        let entries = S::build(keys)?;
        let removed_bytes = removed.allocation_size().saturating_add(
            removed.iter().map(|key| if let Key::Text(text) = key.clone().into() { text.len() } else { 0 }).sum(),
        );
        let values = rows.map(|rows| Values { rows: rows.finish(), numbers: RowNumbers::new(&numbers) });
        let values_bytes =
            values.as_ref().map_or(0, |values| values.rows.heap_bytes().saturating_add(values.numbers.heap_bytes()));
        let expiries = ExpiryTimes::new(&expiries);
        let expiry_bytes = expiries.as_ref().map_or(0, ExpiryTimes::heap_bytes);
        let bytes = entries.heap_bytes().saturating_add(removed_bytes).saturating_add(values_bytes);
        Ok(Self { entries, values, expiries, removed, bytes: bytes.saturating_add(expiry_bytes) })
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

    /// When an entry expires.
    #[inline]
    fn expires(&self, id: u32) -> Option<SystemTime> {
        self.expiries.as_ref()?.get(id)
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
    pub(crate) fn contains(&self, value: S::Value<'_>, clock: &dyn Clock) -> bool {
        match &*self.levels {
            [only] if only.expiries.is_none() => only.entries.contains(value),
            _ => self.contains_in_any(value, clock),
        }
    }

    #[inline(never)]
    fn contains_in_any(&self, value: S::Value<'_>, clock: &dyn Clock) -> bool {
        let mut newer: &[Arc<Level<S>>] = &[];
        for (index, level) in self.levels.iter().enumerate().rev() {
            if level.entries.any(value, |id| counts(level, id, newer, clock)) {
                return true;
            }
            newer = self.levels.get(index..).unwrap_or_default();
        }
        false
    }

    /// The most specific entry that contains the value.
    #[inline]
    pub(crate) fn most_specific(&self, value: S::Value<'_>, clock: &dyn Clock) -> Option<Position> {
        let mut best: Option<(&Level<S>, Position)> = None;
        let mut newer: &[Arc<Level<S>>] = &[];
        for (index, level) in self.levels.iter().enumerate().rev() {
            if let Some(id) = level.entries.most_specific(value, |id| counts(level, id, newer, clock))
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

    /// The value of this entry, and when it expires; `None` if it is none. It may have expired.
    pub(crate) fn get(&self, key: &S::Key) -> Option<(Row<'_>, Option<SystemTime>)> {
        for level in self.levels.iter().rev() {
            if let Some(id) = level.entries.id_of(key) {
                return Some((level.row(id), level.expires(id)));
            }
            if level.removed.contains(key) {
                return None;
            }
        }
        None
    }

    /// All entries with their values and when they expire, in no order. Some may have expired.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (S::Key, Row<'_>, Option<SystemTime>)> {
        self.levels.iter().enumerate().flat_map(|(index, level)| {
            let newer = self.levels.get(index.saturating_add(1)..).unwrap_or_default();
            let kept = level.ids().filter(move |id| !is_removed(level, *id, newer));
            kept.filter_map(|id| Some((level.entries.key(id)?, level.row(id), level.expires(id))))
        })
    }

    /// The list after a change, and what that did. Takes time linear in the size of the change and
    /// of the small levels, and a lookup for each key.
    ///
    /// `delta` has the keys that the change inserts, and those that it removes (`None`): sorted and distinct.
    ///
    /// # Errors
    /// The change exceeds what a set can hold.
    pub(crate) fn changed(
        &self,
        delta: impl Iterator<Item = (S::Key, Option<Wanted>)>,
    ) -> Result<(Self, Effects), TooLarge> {
        let Effects { mut counts, mut ended } = Effects::default();
        let mut removed = Keys::default();
        let mut inserted = Keyed::new(self.rows_builder());
        for (key, wanted) in delta {
            let before = self.get(&key);
            let expires_before = before.and_then(|(_, expires)| expires);
            let expires = wanted.as_ref().and_then(|wanted| wanted.expires);
            let (own, count) = match (&wanted, before) {
                (None, None) => continue,
                (None, Some(_)) => (true, &mut counts.removed),
                (Some(_), None) => (false, &mut counts.inserted),
                (Some(wanted), Some((row, _))) if !row.is(&wanted.cells) => (true, &mut counts.updated),
                (Some(_), Some(_)) if expires == expires_before => continue,
                (Some(_), Some(_)) => (true, &mut counts.renewed),
            };
            *count = count.saturating_add(1);
            if let Some(time) = expires_before.filter(|_| expires != expires_before) {
                ended.push((time, Entry(key.clone().into())));
            }
            if own {
                removed.insert(key.clone());
            }
            if let Some(wanted) = wanted {
                if let Some(rows) = &mut inserted.rows {
                    inserted.numbers.push(rows.add_cells(&wanted.cells).ok_or(TooLarge::Numbers)?);
                }
                inserted.push(key, expires);
            }
        }
        let effects = Effects { counts, ended };
        if counts == Counts::default() {
            return Ok((self.clone(), effects));
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
        Ok((Self { levels, len }, effects))
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

/// Whether lookups may find an entry of a level.
#[inline]
fn counts<S: EntrySet>(level: &Level<S>, id: u32, newer: &[Arc<Level<S>>], clock: &dyn Clock) -> bool {
    !is_removed(level, id, newer) && !clock.has_passed(level.expires(id))
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
    let mut merged = Keyed { keys: Vec::with_capacity(len), ..Keyed::new(builder(levels)) };
    let mut removed = Keys::default();
    for (index, level) in levels.iter().enumerate() {
        let newer = levels.get(index.saturating_add(1)..).unwrap_or_default();
        // By the number of a row in this level: its number in the merged one.
        let mut known: HashMap<u32, u32, RandomState> = HashMap::default();
        for id in level.ids().filter(|id| !is_removed(level, *id, newer)) {
            let Some(key) = level.entries.key(id) else { continue };
            merged.push(key, level.expires(id));
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
