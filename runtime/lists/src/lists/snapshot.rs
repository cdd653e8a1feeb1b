//! [`Snapshot`]: all lists of one generation.
//!
//! Loading a snapshot takes no lock.
//!
//! Invariant: a published snapshot never changes, except for the counts of lookups. Test:
//! `runtime/lists/tests/lists.rs::a_reader_sees_one_generation_of_all_lists`.

use crate::clock::{Clock, PinnedClock, SystemClock};
use crate::entry::Entry;
use crate::kind::Kind;
use crate::list::{AnyList, KeyType, Position};
use crate::lookup_counter::LookupCounter;
use crate::value::{ListType, Row, ScalarRef, ValueType};
use std::fmt;
use std::sync::Arc;

/// The number of a list of a [`Lists`](crate::Lists). Stays the same as long as that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListId(pub(crate) u32);

impl ListId {
    /// Returns the number: lists are numbered from 0 in the order in which they were declared.
    #[must_use]
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }

    /// Returns the list of a number. Lookups in one that was not declared find nothing.
    #[must_use]
    #[inline]
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// An entry of a list of one [`Snapshot`]: what a lookup found. Means nothing in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryId(pub(super) Position);

impl EntryId {
    /// Returns the entry as a number, which is at least 0.
    #[must_use]
    #[inline]
    pub fn number(self) -> i64 {
        // A list never has as many levels as 31 bits count: each is larger than the next.
        i64::from(self.0.level & (u32::MAX >> 1)) << 32 | i64::from(self.0.id)
    }

    /// Returns the entry of a [number](Self::number); `None` if that is negative.
    #[must_use]
    #[inline]
    pub fn from_number(number: i64) -> Option<Self> {
        let number = u64::try_from(number).ok()?;
        Some(Self(Position { level: (number >> 32) as u32, id: number as u32 }))
    }
}

/// All lists of one generation. Immutable, but for the counts of [lookups](crate::Lists::lookups),
/// which all generations share.
///
/// Entries that have expired are not found. A lookup reads the clock of the system when it finds an entry that expires;
/// a [`View`](crate::View) reads it at most once.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) generation: u64,
    /// The number of its publication among all of the process.
    pub(super) stamp: u64,
    /// The stamp of the first snapshot of these lists.
    pub(super) owner: u64,
    /// Indexed by number.
    pub(crate) lists: Vec<Arc<NamedList>>,
}

#[derive(Clone)]
pub(crate) struct NamedList {
    pub(crate) name: Arc<str>,
    pub(crate) values: Option<ValueType>,
    pub(crate) list: AnyList,
    /// The lookups in this list, in all its generations.
    pub(crate) lookups: Arc<LookupCounter>,
}

/// What a list is and holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListInfo {
    /// Its name.
    pub name: Arc<str>,
    /// What its entries are.
    pub kind: Kind,
    /// What they carry.
    pub values: Option<ValueType>,
    /// Number of entries, with those that have expired until [`Lists::expire`](crate::Lists::expire) removes them.
    pub entries: usize,
    /// Bytes on the heap.
    pub bytes: usize,
    /// Number of sets that a lookup may search: 1 for a list that was loaded and not changed.
    pub levels: usize,
}

impl NamedList {
    pub(crate) fn list_type(&self) -> ListType {
        ListType::new(self.list.kind(), self.values.clone())
    }

    /// The same list with other entries.
    pub(crate) fn with(&self, list: AnyList) -> Self {
        Self { name: self.name.clone(), values: self.values.clone(), list, lookups: self.lookups.clone() }
    }
}

impl Snapshot {
    /// Returns the number of the generation. Each change makes a new one with a higher number; so
    /// does a merge in the background, which changes no answer.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the number and the kind of the list of this name. Takes time linear in the number of
    /// lists: not for each lookup.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(ListId, Kind)> {
        let (id, list) = (0..).zip(&self.lists).find(|(_, list)| &*list.name == name)?;
        Some((ListId(id), list.list.kind()))
    }

    /// Returns the kind of a list; `None` if it was not declared.
    #[must_use]
    #[inline]
    pub fn kind(&self, list: ListId) -> Option<Kind> {
        self.get(list).map(AnyList::kind)
    }

    /// Returns the type of a list; `None` if it was not declared.
    #[must_use]
    pub fn list_type(&self, list: ListId) -> Option<ListType> {
        self.lists.get(list.0 as usize).map(|list| list.list_type())
    }

    /// Returns the value of a field of an entry; `None` if the entry leaves it out, or the list has
    /// no such field. In constant time. Fields are numbered as in [`ValueType::fields`].
    #[must_use]
    #[inline]
    pub fn value(&self, list: ListId, entry: EntryId, field: u32) -> Option<ScalarRef<'_>> {
        self.get(list)?.row(entry.0)?.get(field)
    }

    /// Returns an entry that a lookup in this snapshot found.
    #[must_use]
    pub fn entry(&self, list: ListId, entry: EntryId) -> Option<Entry> {
        self.get(list)?.entry(entry.0)
    }

    /// Returns the value of this very entry; `None` if it is not in the list.
    #[must_use]
    pub fn row(&self, list: ListId, entry: &Entry) -> Option<Row<'_>> {
        let (row, expires) = self.get(list)?.get(entry)?;
        (!SystemClock.has_passed(expires)).then_some(row)
    }

    /// Whether this very entry is in a list, also if it has expired.
    pub(super) fn holds(&self, list: ListId, entry: &Entry) -> bool {
        self.get(list).is_some_and(|list| list.get(entry).is_some())
    }

    /// Returns the entries of a list with their values, in no order.
    pub fn rows(&self, list: ListId) -> impl Iterator<Item = (Entry, Row<'_>)> + '_ {
        let clock = PinnedClock::default();
        let entries = self.get(list).into_iter().flat_map(AnyList::entries);
        entries.filter_map(move |(entry, row, expires)| (!clock.has_passed(expires)).then_some((entry, row)))
    }

    /// Returns whether this very entry is in a list; a network that is part of one in the list is not.
    #[must_use]
    pub fn has_entry(&self, list: ListId, entry: &Entry) -> bool {
        self.row(list, entry).is_some()
    }

    /// Returns the entries of a list, in no order.
    pub fn entries(&self, list: ListId) -> impl Iterator<Item = Entry> + '_ {
        self.rows(list).map(|(entry, _)| entry)
    }

    /// Returns what each list is and holds, in the order of their numbers.
    pub fn infos(&self) -> impl Iterator<Item = ListInfo> + '_ {
        self.lists.iter().map(|named| ListInfo {
            name: named.name.clone(),
            kind: named.list.kind(),
            values: named.values.clone(),
            entries: named.list.len(),
            bytes: named.list.heap_bytes(),
            levels: named.list.levels(),
        })
    }

    /// Returns the names, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.lists.iter().map(|list| list.name.to_string()).collect();
        names.sort_unstable();
        names
    }

    /// Returns how often a list was searched, in all generations: see [`Lists::lookups`](crate::Lists::lookups).
    #[must_use]
    pub fn lookups(&self, list: ListId) -> u64 {
        self.lists.get(list.0 as usize).map_or(0, |list| list.lookups.sum())
    }

    /// The list, if it can be asked for a value of this type, and what says which entries have expired. A lookup
    /// follows, which is counted.
    #[inline(always)]
    pub(super) fn asked(&self, list: ListId, keys: KeyType) -> Option<(&AnyList, &dyn Clock)> {
        self.asked_at(list, keys, &SystemClock)
    }

    /// As [`asked`](Self::asked), with a clock.
    #[inline(always)]
    pub(super) fn asked_at<'s>(
        &'s self,
        list: ListId,
        keys: KeyType,
        clock: &'s dyn Clock,
    ) -> Option<(&'s AnyList, &'s dyn Clock)> {
        let named = self.lists.get(list.0 as usize).filter(|named| named.list.key_type() == keys)?;
        named.lookups.count();
        Some((&named.list, clock))
    }

    #[inline]
    fn get(&self, list: ListId) -> Option<&AnyList> {
        self.lists.get(list.0 as usize).map(|list| &list.list)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("generation", &self.generation)
            .field("lists", &self.infos().collect::<Vec<_>>())
            .finish()
    }
}
