//! The keys of an index, each stored once, and the access paths: sets of keys by which conjuncts are found.
//!
//! Invariant: an index knows the kinds of named lists, which never change, and none of their entries. Test:
//! `runtime/tests/it/index/named_lists.rs::lists_are_keys_and_their_changes_are_seen`.

use super::attribute::AttributeId;
use celero_lists::ListId;
use foldhash::fast::{FixedState, RandomState};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::Arc;

/// Number of a key.
pub(super) type KeyId = u32;
/// Number of an access path.
pub(super) type AccessPathId = u32;
/// Number of a group: all keys of one kind on one attribute.
pub(super) type KeyGroupId = u32;

/// A test of an attribute against a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum IndexKey {
    /// The text is this.
    Is(Arc<[u8]>),
    Prefix(Arc<[u8]>),
    Suffix(Arc<[u8]>),
    Contains(Arc<[u8]>),
    /// Contains this text, given in lower case; the case of ASCII letters does not matter.
    ContainsFolded(Arc<[u8]>),
    /// The number is in this range, both ends included.
    Range(i128, i128),
    Network(IpAddr, u8),
    /// The pattern may match: its own engine decides.
    Pattern(Arc<str>),
    /// The pattern certainly matches; [`Pattern`](IndexKey::Pattern) does not hold then.
    Matched(Arc<str>),
    Truth(bool),
    /// The value is in this named list, whose entries are not known here: they may change before each evaluation.
    Listed(ListName),
    Present,
    Absent,
}

/// A named list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ListName {
    pub(super) id: ListId,
    pub(super) name: Arc<str>,
}

/// The kinds of lookups. Each has a data structure of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum LookupKind {
    Truth,
    Presence,
    Is,
    Range,
    Network,
    Prefix,
    Suffix,
    Contains,
    ContainsFolded,
    Pattern,
    Listed,
}

impl LookupKind {
    /// Whether the keys are pieces of text.
    pub(super) const fn is_of_text(self) -> bool {
        matches!(self, Self::Is | Self::Prefix | Self::Suffix | Self::Contains | Self::ContainsFolded)
    }
}

impl IndexKey {
    pub(super) fn map(&self) -> LookupKind {
        match self {
            Self::Is(_) => LookupKind::Is,
            Self::Prefix(_) => LookupKind::Prefix,
            Self::Suffix(_) => LookupKind::Suffix,
            Self::Contains(_) => LookupKind::Contains,
            Self::ContainsFolded(_) => LookupKind::ContainsFolded,
            Self::Range(..) => LookupKind::Range,
            Self::Network(..) => LookupKind::Network,
            Self::Pattern(_) | Self::Matched(_) => LookupKind::Pattern,
            Self::Truth(_) => LookupKind::Truth,
            Self::Listed(_) => LookupKind::Listed,
            Self::Present | Self::Absent => LookupKind::Presence,
        }
    }

    /// The text of the key; empty if it has none.
    pub(super) fn text(&self) -> &[u8] {
        match self {
            Self::Is(text)
            | Self::Prefix(text)
            | Self::Suffix(text)
            | Self::Contains(text)
            | Self::ContainsFolded(text) => text,
            _ => &[],
        }
    }
}

/// A range of [`Keys::list`]: numbers of keys or groups.
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

/// Keys of which at least one holds whenever a conjunct is true. [`Keys::list`] returns their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessPath {
    pub(super) keys: List,
    /// The groups of the keys, each once.
    pub(super) groups: List,
    /// Whether a key that holds proves the conjunct.
    pub(super) exact: bool,
    /// Further keys, of which one may hold instead. One that holds proves the conjunct.
    pub(super) proving: List,
    /// Keys for the absence of values without which the conjunct may fail.
    pub(super) undecided: List,
}

#[derive(Debug)]
struct KeyEntry {
    attribute: AttributeId,
    group: KeyGroupId,
    key: IndexKey,
}

/// Keys and access paths, numbered.
#[derive(Debug, Default)]
pub(super) struct Keys {
    entries: Vec<KeyEntry>,
    /// The keys by their hashes, which are kept: a table that grows reads nothing else.
    numbers: HashTable<(u64, KeyId)>,
    /// Its seed is random, because authors of rules choose the texts.
    hasher: RandomState,
    groups: Vec<(AttributeId, LookupKind)>,
    group_numbers: HashMap<(AttributeId, LookupKind), KeyGroupId, FixedState>,
    accesses: Vec<AccessPath>,
    lists: Vec<u32>,
}

fn next(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Keys {
    /// Without keys, with capacity for about `many`.
    pub(super) fn with_capacity(many: usize) -> Self {
        Self {
            entries: Vec::with_capacity(many),
            numbers: HashTable::with_capacity(many),
            accesses: Vec::with_capacity(many),
            ..Self::default()
        }
    }

    /// Returns the number of a key. Adds the key if it is new.
    pub(super) fn number(&mut self, attribute: AttributeId, key: IndexKey) -> KeyId {
        let Self { entries, numbers, hasher, groups, group_numbers, .. } = self;
        let hash = hasher.hash_one((attribute, &key));
        let same = |&(other, number): &(u64, KeyId)| {
            let entry = entries.get(number as usize).filter(|_| other == hash);
            entry.is_some_and(|entry| entry.attribute == attribute && entry.key == key)
        };
        match numbers.entry(hash, same, |&(hash, _)| hash) {
            TableEntry::Occupied(known) => known.get().1,
            TableEntry::Vacant(place) => {
                let number = next(entries.len());
                place.insert((hash, number));
                let map = key.map();
                let group = *group_numbers.entry((attribute, map)).or_insert_with(|| {
                    groups.push((attribute, map));
                    next(groups.len()).saturating_sub(1)
                });
                entries.push(KeyEntry { attribute, group, key });
                number
            }
        }
    }

    /// Adds an access path. Returns its number, or `None` if `keys` is empty.
    pub(super) fn access(
        &mut self,
        keys: &[KeyId],
        exact: bool,
        proving: &[KeyId],
        undecided: &[KeyId],
    ) -> Option<AccessPathId> {
        let number = next(self.accesses.len());
        let groups = self.groups_of(keys)?;
        let [keys, proving, undecided] = [keys, proving, undecided].map(|numbers| self.add(numbers));
        self.accesses.push(AccessPath { keys, groups, exact, proving, undecided });
        Some(number)
    }

    fn add(&mut self, numbers: &[u32]) -> List {
        let first = next(self.lists.len());
        self.lists.extend_from_slice(numbers);
        List { first, end: next(self.lists.len()) }
    }

    /// The groups of these keys, each once; `None` without keys.
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

    pub(super) fn get(&self, access: AccessPathId) -> Option<AccessPath> {
        self.accesses.get(access as usize).copied()
    }

    /// The attribute and the test of a key.
    pub(super) fn key(&self, key: KeyId) -> Option<(AttributeId, &IndexKey)> {
        self.entries.get(key as usize).map(|entry| (entry.attribute, &entry.key))
    }

    pub(super) fn group_of(&self, key: KeyId) -> Option<KeyGroupId> {
        self.entries.get(key as usize).map(|entry| entry.group)
    }

    pub(super) fn group(&self, group: KeyGroupId) -> Option<(AttributeId, LookupKind)> {
        self.groups.get(group as usize).copied()
    }

    /// The numbers of keys, groups and access paths.
    pub(super) fn len(&self) -> [usize; 3] {
        [self.entries.len(), self.groups.len(), self.accesses.len()]
    }
}
