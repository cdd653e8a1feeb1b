//! [`AnyList`]: a list of any kind.

use super::levels::{Counts, Keyed, Levels, Position};
use crate::entry::Entry;
use crate::error::TooLarge;
use crate::kind::Kind;
use crate::sets::{Addresses, EntrySet, Hosts, Integers, Meter, Patterns, Texts, with_meter};
use crate::value::{Cells, Row, RowsBuilder};

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
    /// A list of these entries. Entries of other kinds are left out. In a list with values, `rows`
    /// has those of the entries, by the `numbers` that are indexed as the entries.
    pub(crate) fn new(
        kind: Kind,
        entries: Vec<Entry>,
        numbers: Vec<u32>,
        rows: Option<RowsBuilder>,
    ) -> Result<Self, TooLarge> {
        fn levels<S: EntrySet>(
            entries: Vec<Entry>,
            mut numbers: Vec<u32>,
            rows: Option<RowsBuilder>,
        ) -> Result<Levels<S>, TooLarge> {
            let wanted = entries.len();
            let keys: Vec<S::Key> = entries.into_iter().filter_map(|entry| S::key_of(entry.0)).collect();
            // Never otherwise: callers read all entries as those of one kind.
            if keys.len() != wanted || (rows.is_some() && numbers.len() != wanted) {
                return Err(TooLarge::Numbers);
            }
            numbers.shrink_to_fit();
            Levels::new(Keyed { keys, numbers, rows })
        }
        Ok(match kind {
            Kind::Addresses => Self::Addresses(levels(entries, numbers, rows)?),
            Kind::Texts => Self::Texts(levels(entries, numbers, rows)?),
            Kind::TextsIgnoringCase => Self::TextsIgnoringCase(levels(entries, numbers, rows)?),
            Kind::Hosts => Self::Hosts(levels(entries, numbers, rows)?),
            Kind::Integers => Self::Integers(levels(entries, numbers, rows)?),
            Kind::Patterns => Self::Patterns(levels(entries, numbers, rows)?),
            Kind::Wildcards => Self::Wildcards(levels(entries, numbers, rows)?),
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
    pub(crate) fn has_address(&self, address: u128) -> Option<bool> {
        if let Self::Addresses(levels) = self { Some(levels.contains(address)) } else { None }
    }

    /// Whether an entry contains the text; `None` if this is no list that is asked for texts. Takes
    /// the cost of patterns from `meter`.
    #[inline]
    pub(crate) fn has_text<M: Meter>(&self, text: &[u8], meter: &M) -> Result<Option<bool>, M::Error> {
        Ok(match self {
            Self::Texts(levels) => Some(levels.contains(text)),
            Self::TextsIgnoringCase(levels) => Some(levels.contains(text)),
            Self::Hosts(levels) => Some(levels.contains(text)),
            Self::Patterns(levels) => Some(with_meter(text, meter, |text| levels.contains(text))?),
            Self::Wildcards(levels) => Some(with_meter(text, meter, |text| levels.contains(text))?),
            Self::Addresses(_) | Self::Integers(_) => None,
        })
    }

    /// Whether an entry contains the integer; `None` if this is no list of integers.
    #[inline]
    pub(crate) fn has_integer(&self, number: i64) -> Option<bool> {
        if let Self::Integers(levels) = self { Some(levels.contains(number)) } else { None }
    }

    #[inline]
    pub(crate) fn find_address(&self, address: u128) -> Option<Position> {
        if let Self::Addresses(levels) = self { levels.most_specific(address) } else { None }
    }

    #[inline]
    pub(crate) fn find_text<M: Meter>(&self, text: &[u8], meter: &M) -> Result<Option<Position>, M::Error> {
        Ok(match self {
            Self::Texts(levels) => levels.most_specific(text),
            Self::TextsIgnoringCase(levels) => levels.most_specific(text),
            Self::Hosts(levels) => levels.most_specific(text),
            Self::Patterns(levels) => with_meter(text, meter, |text| levels.most_specific(text))?,
            Self::Wildcards(levels) => with_meter(text, meter, |text| levels.most_specific(text))?,
            Self::Addresses(_) | Self::Integers(_) => None,
        })
    }

    #[inline]
    pub(crate) fn find_integer(&self, number: i64) -> Option<Position> {
        if let Self::Integers(levels) = self { levels.most_specific(number) } else { None }
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

    /// The value of this entry; `None` if it is none.
    pub(crate) fn row_of(&self, entry: &Entry) -> Option<Row<'_>> {
        with_levels!(self, levels => row_of(levels, entry))
    }

    pub(crate) fn entries(&self) -> Box<dyn Iterator<Item = (Entry, Row<'_>)> + '_> {
        with_levels!(self, levels => Box::new(levels.iter().map(|(key, row)| (Entry(key.into()), row))))
    }

    /// The list after a change, and what that did. The entries are sorted and distinct: each with
    /// the value that it has from now on, or none if it is removed.
    pub(crate) fn changed(&self, changes: Vec<(Entry, Option<Cells>)>) -> Result<(Self, Counts), TooLarge> {
        map_levels!(self, levels => levels.changed(delta(levels, changes)))
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

fn row_of<'l, S: EntrySet>(levels: &'l Levels<S>, entry: &Entry) -> Option<Row<'l>> {
    S::key_of(entry.0.clone()).and_then(|key| levels.row_of(&key))
}

fn delta<S: EntrySet>(
    _: &Levels<S>,
    changes: Vec<(Entry, Option<Cells>)>,
) -> impl Iterator<Item = (S::Key, Option<Cells>)> {
    changes.into_iter().filter_map(|(entry, wanted)| Some((S::key_of(entry.0)?, wanted)))
}
