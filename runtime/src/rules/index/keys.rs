//! The keys of all rules, each once, and the sets of keys by which conjuncts are found.

use super::node::MapKind;
use super::slot::SlotId;
use foldhash::fast::FixedState;
use std::collections::HashMap;
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

/// Keys of which one must hold where a conjunct is true.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) keys: Vec<KeyId>,
    /// The groups of the keys, each once.
    pub(super) groups: Vec<GroupId>,
    /// Whether the conjunct is true where a key holds.
    pub(super) exact: bool,
    /// Further keys, of which one may hold instead; where one does the conjunct is true.
    pub(super) proving: Vec<KeyId>,
    /// The absence of what leaves the conjunct undecided: it may fail.
    pub(super) undecided: Vec<KeyId>,
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
    numbers: HashMap<(SlotId, Key), KeyId, FixedState>,
    groups: Vec<(SlotId, MapKind)>,
    group_numbers: HashMap<(SlotId, MapKind), GroupId, FixedState>,
    accesses: Vec<Access>,
}

fn next(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Keys {
    /// The number of a key.
    pub(super) fn number(&mut self, slot: SlotId, key: Key) -> KeyId {
        let number = next(self.entries.len());
        let (entries, groups, group_numbers) = (&mut self.entries, &mut self.groups, &mut self.group_numbers);
        *self.numbers.entry((slot, key)).or_insert_with_key(|(_, key)| {
            let group = *group_numbers.entry((slot, key.map())).or_insert_with(|| {
                groups.push((slot, key.map()));
                next(groups.len()).saturating_sub(1)
            });
            entries.push(Entry { slot, group, key: key.clone() });
            number
        })
    }

    /// The number of an access by keys of which one holds, if there are any.
    pub(super) fn access(
        &mut self,
        keys: Vec<KeyId>,
        exact: bool,
        proving: Vec<KeyId>,
        undecided: Vec<KeyId>,
    ) -> Option<AccessId> {
        let mut groups: Vec<GroupId> = keys.iter().filter_map(|&key| self.group_of(key)).collect();
        groups.sort_unstable();
        groups.dedup();
        let number = next(self.accesses.len());
        let any = !groups.is_empty();
        any.then(|| {
            self.accesses.push(Access { keys, groups, exact, proving, undecided });
            number
        })
    }

    pub(super) fn get(&self, access: AccessId) -> Option<&Access> {
        self.accesses.get(access as usize)
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
}
