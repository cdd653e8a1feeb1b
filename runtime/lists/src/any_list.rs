//! [`AnyList`]: a list of any kind.

use crate::entry::Entry;
use crate::error::TooLarge;
use crate::kind::Kind;
use crate::levels::{Delta, Levels};
use crate::sets::{Addresses, EntrySet, Hosts, Integers, Texts};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// An immutable list.
#[derive(Clone)]
pub(crate) enum AnyList {
    Addresses(Levels<Addresses>),
    Texts(Levels<Texts<false>>),
    TextsIgnoringCase(Levels<Texts<true>>),
    Hosts(Levels<Hosts>),
    Integers(Levels<Integers>),
}

/// Evaluates an expression with the levels of a list, whatever its kind.
macro_rules! with_levels {
    ($list:expr, $levels:ident => $result:expr) => {
        match $list {
            AnyList::Addresses($levels) => $result,
            AnyList::Texts($levels) => $result,
            AnyList::TextsIgnoringCase($levels) => $result,
            AnyList::Hosts($levels) => $result,
            AnyList::Integers($levels) => $result,
        }
    };
}

/// As [`with_levels`]: the result is a list of the same kind, and what comes with it.
macro_rules! map_levels {
    ($list:expr, $levels:ident => $result:expr) => {
        match $list {
            AnyList::Addresses($levels) => $result.map(|(levels, rest)| (AnyList::Addresses(levels), rest)),
            AnyList::Texts($levels) => $result.map(|(levels, rest)| (AnyList::Texts(levels), rest)),
            AnyList::TextsIgnoringCase($levels) => {
                $result.map(|(levels, rest)| (AnyList::TextsIgnoringCase(levels), rest))
            }
            AnyList::Hosts($levels) => $result.map(|(levels, rest)| (AnyList::Hosts(levels), rest)),
            AnyList::Integers($levels) => $result.map(|(levels, rest)| (AnyList::Integers(levels), rest)),
        }
    };
}

impl AnyList {
    /// A list of these entries. Entries of other kinds are left out.
    pub(crate) fn new(kind: Kind, entries: impl IntoIterator<Item = Entry>) -> Result<Self, TooLarge> {
        fn levels<S: EntrySet>(entries: impl IntoIterator<Item = Entry>) -> Result<Levels<S>, TooLarge> {
            Levels::new(entries.into_iter().filter_map(|entry| S::key_of(entry.0)).collect())
        }
        Ok(match kind {
            Kind::Addresses => Self::Addresses(levels(entries)?),
            Kind::Texts => Self::Texts(levels(entries)?),
            Kind::TextsIgnoringCase => Self::TextsIgnoringCase(levels(entries)?),
            Kind::Hosts => Self::Hosts(levels(entries)?),
            Kind::Integers => Self::Integers(levels(entries)?),
        })
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Addresses(_) => Kind::Addresses,
            Self::Texts(_) => Kind::Texts,
            Self::TextsIgnoringCase(_) => Kind::TextsIgnoringCase,
            Self::Hosts(_) => Kind::Hosts,
            Self::Integers(_) => Kind::Integers,
        }
    }

    pub(crate) fn len(&self) -> usize {
        with_levels!(self, levels => levels.len())
    }

    pub(crate) fn levels(&self) -> usize {
        with_levels!(self, levels => levels.levels())
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        with_levels!(self, levels => levels.heap_bytes())
    }

    pub(crate) fn wants_merge(&self) -> bool {
        with_levels!(self, levels => levels.wants_merge())
    }

    #[inline]
    pub(crate) fn contains_address(&self, address: IpAddr) -> bool {
        if let Self::Addresses(levels) = self { levels.contains(address) } else { false }
    }

    #[inline]
    pub(crate) fn contains_text(&self, text: &[u8]) -> bool {
        match self {
            Self::Texts(levels) => levels.contains(text),
            Self::TextsIgnoringCase(levels) => levels.contains(text),
            Self::Hosts(levels) => levels.contains(text),
            Self::Addresses(_) | Self::Integers(_) => false,
        }
    }

    #[inline]
    pub(crate) fn contains_integer(&self, number: i64) -> bool {
        if let Self::Integers(levels) = self { levels.contains(number) } else { false }
    }

    pub(crate) fn has(&self, entry: &Entry) -> bool {
        with_levels!(self, levels => has(levels, entry))
    }

    pub(crate) fn entries(&self) -> Box<dyn Iterator<Item = Entry> + '_> {
        with_levels!(self, levels => Box::new(levels.iter().map(|key| Entry(key.into()))))
    }

    /// The list after a change; how many entries it inserts and removes.
    pub(crate) fn changed(&self, changes: BTreeMap<Entry, bool>) -> Result<(Self, (usize, usize)), TooLarge> {
        map_levels!(self, levels => {
            levels.changed(delta(levels, changes)).map(|(levels, inserted, removed)| (levels, (inserted, removed)))
        })
    }

    /// The same list with fewer levels.
    pub(crate) fn merged(&self) -> Result<Self, TooLarge> {
        map_levels!(self, levels => levels.merged().map(|levels| (levels, ()))).map(|(list, ())| list)
    }

    /// As [`Levels::with_merged`].
    pub(crate) fn with_merged(&self, old: &Self, merged: &Self) -> Option<Self> {
        Some(match (self, old, merged) {
            (Self::Addresses(own), Self::Addresses(old), Self::Addresses(merged)) => {
                Self::Addresses(own.with_merged(old, merged)?)
            }
            (Self::Texts(own), Self::Texts(old), Self::Texts(merged)) => Self::Texts(own.with_merged(old, merged)?),
            (Self::TextsIgnoringCase(own), Self::TextsIgnoringCase(old), Self::TextsIgnoringCase(merged)) => {
                Self::TextsIgnoringCase(own.with_merged(old, merged)?)
            }
            (Self::Hosts(own), Self::Hosts(old), Self::Hosts(merged)) => Self::Hosts(own.with_merged(old, merged)?),
            (Self::Integers(own), Self::Integers(old), Self::Integers(merged)) => {
                Self::Integers(own.with_merged(old, merged)?)
            }
            _ => return None,
        })
    }
}

fn has<S: EntrySet>(levels: &Levels<S>, entry: &Entry) -> bool {
    S::key_of(entry.0.clone()).is_some_and(|key| levels.has(&key))
}

fn delta<S: EntrySet>(_: &Levels<S>, changes: BTreeMap<Entry, bool>) -> Delta<S::Key> {
    changes.into_iter().filter_map(|(entry, insert)| Some((S::key_of(entry.0)?, insert))).collect()
}
