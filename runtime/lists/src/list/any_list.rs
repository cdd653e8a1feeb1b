//! [`AnyList`]: a list of any kind.

use super::levels::{Effects, Keyed, Levels, Position, Wanted};
use crate::clock::Clock;
use crate::entry::Entry;
use crate::error::TooLarge;
use crate::kind::Kind;
use crate::sets::{Addresses, EntrySet, Hosts, Integers, Meter, Patterns, Texts, with_meter};
use crate::value::{Cells, Row};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// An immutable list.
#[derive(Clone)]
pub(crate) enum AnyList {
    Addresses(Levels<Addresses>),
    Texts(Levels<Texts<false>>),
    TextsIgnoringCase(Levels<Texts<true>>),
    Hosts(Levels<Hosts>),
    Integers(Levels<Integers>),
    Patterns(Levels<Patterns<false>>),
    Wildcards(Levels<Patterns<true>>),
}

/// The type of the values that a list can be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyType {
    Address,
    Text,
    Integer,
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
            AnyList::Patterns($levels) => $result,
            AnyList::Wildcards($levels) => $result,
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
            AnyList::Patterns($levels) => $result.map(|(levels, rest)| (AnyList::Patterns(levels), rest)),
            AnyList::Wildcards($levels) => $result.map(|(levels, rest)| (AnyList::Wildcards(levels), rest)),
        }
    };
}

impl AnyList {
    /// A list of these entries, which are of its kind.
    pub(crate) fn new(kind: Kind, entries: Keyed<Entry>) -> Result<Self, TooLarge> {
        fn levels<S: EntrySet>(entries: Keyed<Entry>) -> Result<Levels<S>, TooLarge> {
            let Keyed { keys, mut numbers, rows, expiries } = entries;
            let wanted = keys.len();
            let keys: Vec<S::Key> = keys.into_iter().filter_map(|entry| S::key_of(entry.0)).collect();
            // Never otherwise: callers read all entries as those of one kind.
            if keys.len() != wanted || (rows.is_some() && numbers.len() != wanted) {
                return Err(TooLarge::Numbers);
            }
            numbers.shrink_to_fit();
            Levels::new(Keyed { keys, numbers, rows, expiries })
        }
        Ok(match kind {
            Kind::Addresses => Self::Addresses(levels(entries)?),
            Kind::Texts => Self::Texts(levels(entries)?),
            Kind::TextsIgnoringCase => Self::TextsIgnoringCase(levels(entries)?),
            Kind::Hosts => Self::Hosts(levels(entries)?),
            Kind::Integers => Self::Integers(levels(entries)?),
            Kind::Patterns => Self::Patterns(levels(entries)?),
            Kind::Wildcards => Self::Wildcards(levels(entries)?),
        })
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Addresses(_) => Kind::Addresses,
            Self::Texts(_) => Kind::Texts,
            Self::TextsIgnoringCase(_) => Kind::TextsIgnoringCase,
            Self::Hosts(_) => Kind::Hosts,
            Self::Integers(_) => Kind::Integers,
            Self::Patterns(_) => Kind::Patterns,
            Self::Wildcards(_) => Kind::Wildcards,
        }
    }

    /// What the list can be asked for.
    #[inline(always)]
    pub(crate) fn key_type(&self) -> KeyType {
        match self {
            Self::Addresses(_) => KeyType::Address,
            Self::Integers(_) => KeyType::Integer,
            Self::Texts(_) | Self::TextsIgnoringCase(_) | Self::Hosts(_) | Self::Patterns(_) | Self::Wildcards(_) => {
                KeyType::Text
            }
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

    /// Whether an entry contains the address, in the bits of IPv6; `None` if this is no list of addresses.
    #[inline]
    pub(crate) fn has_address(&self, address: u128, clock: &dyn Clock) -> Option<bool> {
        if let Self::Addresses(levels) = self { Some(levels.contains(address, clock)) } else { None }
    }

    /// Whether an entry contains the text; `None` if this is no list that is asked for texts. Takes
    /// the cost of patterns from `meter`.
    #[inline]
    pub(crate) fn has_text<M: Meter>(
        &self,
        text: &[u8],
        meter: &M,
        clock: &dyn Clock,
    ) -> Result<Option<bool>, M::Error> {
        Ok(match self {
            Self::Texts(levels) => Some(levels.contains(text, clock)),
            Self::TextsIgnoringCase(levels) => Some(levels.contains(text, clock)),
            Self::Hosts(levels) => Some(levels.contains(text, clock)),
            Self::Patterns(levels) => Some(with_meter(text, meter, |text| levels.contains(text, clock))?),
            Self::Wildcards(levels) => Some(with_meter(text, meter, |text| levels.contains(text, clock))?),
            Self::Addresses(_) | Self::Integers(_) => None,
        })
    }

    /// Whether an entry contains the integer; `None` if this is no list of integers.
    #[inline]
    pub(crate) fn has_integer(&self, number: i64, clock: &dyn Clock) -> Option<bool> {
        if let Self::Integers(levels) = self { Some(levels.contains(number, clock)) } else { None }
    }

    #[inline]
    pub(crate) fn find_address(&self, address: u128, clock: &dyn Clock) -> Option<Position> {
        if let Self::Addresses(levels) = self { levels.most_specific(address, clock) } else { None }
    }

    #[inline]
    pub(crate) fn find_text<M: Meter>(
        &self,
        text: &[u8],
        meter: &M,
        clock: &dyn Clock,
    ) -> Result<Option<Position>, M::Error> {
        Ok(match self {
            Self::Texts(levels) => levels.most_specific(text, clock),
            Self::TextsIgnoringCase(levels) => levels.most_specific(text, clock),
            Self::Hosts(levels) => levels.most_specific(text, clock),
            Self::Patterns(levels) => with_meter(text, meter, |text| levels.most_specific(text, clock))?,
            Self::Wildcards(levels) => with_meter(text, meter, |text| levels.most_specific(text, clock))?,
            Self::Addresses(_) | Self::Integers(_) => None,
        })
    }

    #[inline]
    pub(crate) fn find_integer(&self, number: i64, clock: &dyn Clock) -> Option<Position> {
        if let Self::Integers(levels) = self { levels.most_specific(number, clock) } else { None }
    }

    /// The value of the entry at a position.
    #[inline]
    pub(crate) fn row(&self, at: Position) -> Option<Row<'_>> {
        with_levels!(self, levels => levels.row(at))
    }

    /// The entry at a position.
    pub(crate) fn entry(&self, at: Position) -> Option<Entry> {
        with_levels!(self, levels => levels.key(at).map(|key| Entry(key.into())))
    }

    /// The value of this entry, and when it expires; `None` if it is none. It may have expired.
    pub(crate) fn get(&self, entry: &Entry) -> Option<(Row<'_>, Option<SystemTime>)> {
        with_levels!(self, levels => get(levels, entry))
    }

    /// All entries with their values and when they expire. Some may have expired.
    pub(crate) fn entries(&self) -> Box<dyn Iterator<Item = (Entry, Row<'_>, Option<SystemTime>)> + '_> {
        with_levels!(self, levels => {
            Box::new(levels.iter().map(|(key, row, expires)| (Entry(key.into()), row, expires)))
        })
    }

    /// The list after a change, and what that did. The entries are sorted and distinct: each with
    /// the value that it has from now on, or none if it is removed. `expiries` says when they expire.
    pub(crate) fn changed(
        &self,
        changes: Vec<(Entry, Option<Cells>)>,
        expiries: &BTreeMap<Entry, SystemTime>,
    ) -> Result<(Self, Effects), TooLarge> {
        map_levels!(self, levels => levels.changed(delta(levels, changes, expiries)))
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
            (Self::Patterns(own), Self::Patterns(old), Self::Patterns(merged)) => {
                Self::Patterns(own.with_merged(old, merged)?)
            }
            (Self::Wildcards(own), Self::Wildcards(old), Self::Wildcards(merged)) => {
                Self::Wildcards(own.with_merged(old, merged)?)
            }
            _ => return None,
        })
    }
}

fn get<'l, S: EntrySet>(levels: &'l Levels<S>, entry: &Entry) -> Option<(Row<'l>, Option<SystemTime>)> {
    S::key_of(entry.0.clone()).and_then(|key| levels.get(&key))
}

fn delta<S: EntrySet>(
    _: &Levels<S>,
    changes: Vec<(Entry, Option<Cells>)>,
    expiries: &BTreeMap<Entry, SystemTime>,
) -> impl Iterator<Item = (S::Key, Option<Wanted>)> {
    changes.into_iter().filter_map(|(entry, cells)| {
        let expires = expiries.get(&entry).copied();
        Some((S::key_of(entry.0)?, cells.map(|cells| Wanted { cells, expires })))
    })
}
