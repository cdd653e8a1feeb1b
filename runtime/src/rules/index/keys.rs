//! The keys of all rules, each once, and the sets of keys by which conjuncts are found.

use super::node::MapKind;
use super::slot::SlotId;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::Arc;

/// The number of a key.
pub(super) type KeyId = u32;
/// The number of an access.
pub(super) type AccessId = u32;
/// The number of what keys of one kind on one slot have in common.
pub(super) type GroupId = u32;

/// A test of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The whole text.
    Is(Arc<[u8]>),
    Prefix(Arc<[u8]>),
    Suffix(Arc<[u8]>),
    Contains(Arc<[u8]>),
    /// In lower case, whatever the case of ASCII letters in the text.
    ContainsFolded(Arc<[u8]>),
    /// From the first to the last.
    Range(i128, i128),
    Network(IpAddr, u8),
    /// A pattern that may match, as far as is known without running its own engine.
    Pattern(Arc<str>),
    /// A pattern that certainly matches: then [`Pattern`](Key::Pattern) does not hold.
    Matched(Arc<str>),
    Truth(bool),
    Present,
    Absent,
}

/// Numbers of keys or groups, one after the other among those of all accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    first: u32,
    end: u32,
}

impl List {
    pub(super) fn len(self) -> usize {
        self.end.saturating_sub(self.first) as usize
    }
}

/// Keys of which one must hold where a conjunct is true. [`Keys::list`] has the numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) keys: List,
    /// The groups of the keys, each once.
    pub(super) groups: List,
    /// Whether the conjunct is true where a key holds.
    pub(super) exact: bool,
    /// Further keys, of which one may hold instead; where one does the conjunct is true.
    pub(super) proving: List,
    /// The absence of what leaves the conjunct undecided: it may fail.
    pub(super) undecided: List,
}

#[derive(Debug)]
struct Entry {
    slot: SlotId,
    group: GroupId,
    key: Key,
}

/// Keys and accesses, numbered.
#[derive(Debug, Default)]
pub(super) struct Keys {
    entries: Vec<Entry>,
    numbers: HashTable<KeyId>,
    hasher: FixedState,
    groups: Vec<(SlotId, MapKind)>,
    group_numbers: HashMap<(SlotId, MapKind), GroupId, FixedState>,
    accesses: Vec<Access>,
    lists: Vec<u32>,
}

fn next(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Keys {
    /// None yet, with room for about so many.
    pub(super) fn of_about(many: usize) -> Self {
        Self {
            entries: Vec::with_capacity(many),
            numbers: HashTable::with_capacity(many),
            accesses: Vec::with_capacity(many),
            ..Self::default()
        }
    }

    /// The number of a key.
    pub(super) fn number(&mut self, slot: SlotId, key: Key) -> KeyId {
        let Self { entries, numbers, hasher, groups, group_numbers, .. } = self;
        let hash = hasher.hash_one((slot, &key));
        let of = |number: &KeyId| entries.get(*number as usize);
        let same = |number: &KeyId| of(number).is_some_and(|entry| entry.slot == slot && entry.key == key);
        let again = |number: &KeyId| of(number).map_or(0, |entry| hasher.hash_one((entry.slot, &entry.key)));
        match numbers.entry(hash, same, again) {
            TableEntry::Occupied(known) => *known.get(),
            TableEntry::Vacant(place) => {
                let number = next(entries.len());
                place.insert(number);
                let map = key.map();
                let group = *group_numbers.entry((slot, map)).or_insert_with(|| {
                    groups.push((slot, map));
                    next(groups.len()).saturating_sub(1)
                });
                entries.push(Entry { slot, group, key });
                number
            }
        }
    }

    /// The number of an access by keys of which one holds, if there are any.
    pub(super) fn access(
        &mut self,
        keys: &[KeyId],
        exact: bool,
        proving: &[KeyId],
        undecided: &[KeyId],
    ) -> Option<AccessId> {
        let number = next(self.accesses.len());
        let groups = self.groups_of(keys)?;
        let [keys, proving, undecided] = [keys, proving, undecided].map(|numbers| self.add(numbers));
        self.accesses.push(Access { keys, groups, exact, proving, undecided });
        Some(number)
    }

    fn add(&mut self, numbers: &[u32]) -> List {
        let first = next(self.lists.len());
        self.lists.extend_from_slice(numbers);
        List { first, end: next(self.lists.len()) }
    }

    /// The groups of keys, each once, if there are any.
    fn groups_of(&mut self, keys: &[KeyId]) -> Option<List> {
        let first = self.lists.len();
        for &key in keys {
            let group = self.group_of(key)?;
            if self.lists.get(first..).is_some_and(|groups| !groups.contains(&group)) {
                self.lists.push(group);
            }
        }
        (self.lists.len() > first).then(|| List { first: next(first), end: next(self.lists.len()) })
    }

    pub(super) fn list(&self, List { first, end }: List) -> &[u32] {
        self.lists.get(first as usize..end as usize).unwrap_or_default()
    }

    pub(super) fn get(&self, access: AccessId) -> Option<Access> {
        self.accesses.get(access as usize).copied()
    }

    /// The slot and the test of a key.
    pub(super) fn key(&self, key: KeyId) -> Option<(SlotId, &Key)> {
        self.entries.get(key as usize).map(|entry| (entry.slot, &entry.key))
    }

    pub(super) fn group_of(&self, key: KeyId) -> Option<GroupId> {
        self.entries.get(key as usize).map(|entry| entry.group)
    }

    pub(super) fn group(&self, group: GroupId) -> Option<(SlotId, MapKind)> {
        self.groups.get(group as usize).copied()
    }

    /// How many keys, groups and accesses there are.
    pub(super) fn len(&self) -> [usize; 3] {
        [self.entries.len(), self.groups.len(), self.accesses.len()]
    }
}
