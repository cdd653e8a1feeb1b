//! [`Snapshot`]: all lists of one generation.
//!
//! Loading a snapshot takes no lock.
//!
//! Invariant: a published snapshot never changes, except for the counts of lookups. Test:
//! `runtime/lists/tests/lists.rs::a_reader_sees_one_generation_of_all_lists`.

use crate::clock::{Clock, PinnedClock, SystemClock};
use crate::entry::Entry;
use crate::error::ListsError;
use crate::kind::Kind;
use crate::limits::Limits;
use crate::list::{AnyList, KeyType, Position};
use crate::lookup_counter::LookupCounter;
use crate::sets::{Meter, Unmetered};
use crate::value::{ListType, Row, ScalarRef, ValueType};
use std::fmt;
use std::net::IpAddr;
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

/// The bits of an IPv6 address; those of an IPv4 address in its IPv4-mapped form.
#[inline(always)]
pub(super) fn mapped(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => 0xffff << 32 | u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
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

    /// Returns whether an address is in a list: whether a network of the list contains it. False if
    /// the list is none of addresses.
    #[must_use]
    #[inline]
    pub fn contains_address(&self, list: ListId, address: IpAddr) -> bool {
        self.has_address(list, address) == Some(true)
    }

    /// Returns whether an address is in a list; `None` if the list was not declared or is none of addresses.
    #[must_use]
    // Always inlined: as an argument in memory, an `IpAddr` is written in parts and read as a
    // whole, which waits for all of them.
    #[inline(always)]
    pub fn has_address(&self, list: ListId, address: IpAddr) -> Option<bool> {
        self.has_mapped_address(list, mapped(address))
    }

    /// As [`has_address`](Self::has_address) of an address as the bits of an IPv6 address, an IPv4
    /// address in its IPv4-mapped form (`::ffff:192.0.2.7`).
    #[must_use]
    #[inline]
    pub fn has_mapped_address(&self, list: ListId, address: u128) -> Option<bool> {
        self.asked(list, KeyType::Address)?.has_address(address, &SystemClock)
    }

    /// Returns whether a text is in a list of texts, hosts, patterns or wildcards; false if the
    /// list is of another kind. Takes time linear in the text, by a factor that patterns decide:
    /// see [`has_text_metered`](Self::has_text_metered).
    #[must_use]
    #[inline]
    pub fn contains_text(&self, list: ListId, text: &[u8]) -> bool {
        self.has_text(list, text) == Some(true)
    }

    /// Returns whether a text is in a list; `None` if the list was not declared or is not asked for
    /// texts. Takes time linear in the text.
    #[must_use]
    #[inline]
    pub fn has_text(&self, list: ListId, text: &[u8]) -> Option<bool> {
        let Ok(has) = self.has_text_metered(list, text, &Unmetered);
        has
    }

    /// As [`has_text`](Self::has_text), and takes from `meter` what searching for patterns costs, a
    /// part of it afterwards: up to a million steps for each set that the lookup
    /// [searches](ListInfo::levels). Lists of other kinds cost nothing. Use it for texts that
    /// somebody may have made to be slow.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    #[inline]
    pub fn has_text_metered<M: Meter>(&self, list: ListId, text: &[u8], meter: &M) -> Result<Option<bool>, M::Error> {
        self.asked(list, KeyType::Text).map_or(Ok(None), |list| list.has_text(text, meter, &SystemClock))
    }

    /// Returns whether an integer is in a list of integers; false if the list is of another kind.
    #[must_use]
    #[inline]
    pub fn contains_integer(&self, list: ListId, number: i64) -> bool {
        self.has_integer(list, number) == Some(true)
    }

    /// Returns whether an integer is in a list; `None` if the list was not declared or is none of integers.
    #[must_use]
    #[inline]
    pub fn has_integer(&self, list: ListId, number: i64) -> Option<bool> {
        self.asked(list, KeyType::Integer)?.has_integer(number, &SystemClock)
    }

    /// Returns the type of a list; `None` if it was not declared.
    #[must_use]
    pub fn list_type(&self, list: ListId) -> Option<ListType> {
        self.lists.get(list.0 as usize).map(|list| list.list_type())
    }

    /// Returns the entry of an address: the smallest network that contains it. `None` if none does,
    /// or the list is none of addresses.
    #[must_use]
    // Always inlined, as `has_address` is.
    #[inline(always)]
    pub fn find_address(&self, list: ListId, address: IpAddr) -> Option<EntryId> {
        self.find_mapped_address(list, mapped(address))
    }

    /// As [`find_address`](Self::find_address) of an address as the bits of an IPv6 address, an
    /// IPv4 address in its IPv4-mapped form.
    #[must_use]
    #[inline]
    pub fn find_mapped_address(&self, list: ListId, address: u128) -> Option<EntryId> {
        self.asked(list, KeyType::Address)?.find_address(address, &SystemClock).map(EntryId)
    }

    /// Returns the entry of a text in a list of texts, hosts, patterns or wildcards: that text;
    /// that host, or else the longest name with a star that it is below; of the patterns or
    /// wildcards that match, the longest, and of equally long ones the one that sorts first. `None`
    /// if there is none, or the list is of another kind. Takes time linear in the text.
    #[must_use]
    #[inline]
    pub fn find_text(&self, list: ListId, text: &[u8]) -> Option<EntryId> {
        let Ok(found) = self.find_text_metered(list, text, &Unmetered);
        found
    }

    /// As [`find_text`](Self::find_text), and takes from `meter` what searching for patterns costs, as
    /// [`has_text_metered`](Self::has_text_metered) does.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    #[inline]
    pub fn find_text_metered<M: Meter>(
        &self,
        list: ListId,
        text: &[u8],
        meter: &M,
    ) -> Result<Option<EntryId>, M::Error> {
        let Some(list) = self.asked(list, KeyType::Text) else { return Ok(None) };
        Ok(list.find_text(text, meter, &SystemClock)?.map(EntryId))
    }

    /// Returns the entry of an integer: the narrowest range that contains it, and of equally wide
    /// ones the one that begins last. `None` if none does, or the list is of another kind. Takes
    /// time linear in the number of ranges that contain the integer.
    #[must_use]
    #[inline]
    pub fn find_integer(&self, list: ListId, number: i64) -> Option<EntryId> {
        self.asked(list, KeyType::Integer)?.find_integer(number, &SystemClock).map(EntryId)
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

    /// The list, if it can be asked for a value of this type: then a lookup follows, which is counted.
    #[inline(always)]
    pub(super) fn asked(&self, list: ListId, keys: KeyType) -> Option<&AnyList> {
        let named = self.lists.get(list.0 as usize).filter(|named| named.list.key_type() == keys)?;
        named.lookups.count();
        Some(&named.list)
    }

    #[inline]
    fn get(&self, list: ListId) -> Option<&AnyList> {
        self.lists.get(list.0 as usize).map(|list| &list.list)
    }

    /// Checks that all lists together hold no more than the limits allow.
    pub(crate) fn check_size(&self, limits: Limits) -> Result<(), ListsError> {
        let total =
            |of: fn(&AnyList) -> usize| self.lists.iter().map(|list| of(&list.list)).fold(0, usize::saturating_add);
        for (what, wanted, limit) in
            [("entries", total(AnyList::len), limits.entries), ("bytes", total(AnyList::heap_bytes), limits.bytes)]
        {
            if wanted > limit {
                return Err(ListsError::Limit { what, wanted, limit });
            }
        }
        Ok(())
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
