//! What was wrong with entries, and why a change was refused.

use crate::value::{ListType, WrongValue};
use std::fmt;

/// Why a set can't be built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TooLarge {
    /// It does not fit into 32-bit numbers.
    Numbers,
    /// It exceeds a limit of its kind.
    Kind {
        /// What is limited.
        what: &'static str,
        /// How much there would be.
        wanted: usize,
        /// How much there may be.
        limit: usize,
    },
}

impl TooLarge {
    /// The error of a change. `wanted` is how many entries there would be, of which there may be `limit`.
    pub(crate) fn error(self, wanted: usize, limit: usize) -> ListsError {
        match self {
            Self::Numbers => ListsError::Limit { what: "entries", wanted, limit },
            Self::Kind { what, wanted, limit } => ListsError::Limit { what, wanted, limit },
        }
    }
}

/// Most wrong entries that an error lists; it counts the others.
const LISTED: usize = 100;
/// Most characters of a wrong entry that an error shows.
const SHOWN: usize = 60;

/// A wrong entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongEntry {
    /// The list, if the entry was given for one.
    pub list: Option<String>,
    /// Its line in the text, from 1.
    pub line: Option<usize>,
    /// The column or member of its value that is wrong, if it is not the entry itself.
    pub column: Option<String>,
    /// The beginning of the entry.
    pub entry: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for WrongEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(list) = &self.list {
            write!(f, "list `{list}`: ")?;
        }
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{:?}: ", self.entry)?;
        if let Some(column) = &self.column {
            write!(f, "`{column}`: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// All wrong entries of a text or a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrongEntries {
    listed: Vec<WrongEntry>,
    others: usize,
}

impl WrongEntries {
    /// Returns the first 100 in their order.
    #[must_use]
    pub fn listed(&self) -> &[WrongEntry] {
        &self.listed
    }

    /// Returns how many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.listed.len().saturating_add(self.others)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub(crate) fn add(&mut self, list: Option<&str>, line: Option<usize>, entry: &str, reason: impl Into<WrongValue>) {
        let WrongValue { field: column, reason } = reason.into();
        if self.listed.len() >= LISTED {
            self.others = self.others.saturating_add(1);
            return;
        }
        let entry = match entry.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}..", entry.get(..end).unwrap_or_default()),
            None => entry.to_owned(),
        };
        self.listed.push(WrongEntry { list: list.map(str::to_owned), line, column, entry, reason });
    }
}

impl fmt::Display for WrongEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, wrong) in self.listed.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            wrong.fmt(f)?;
        }
        if self.others > 0 {
            write!(f, "\nand {} more", self.others)?;
        }
        Ok(())
    }
}

impl std::error::Error for WrongEntries {}

/// Why a change was refused. Nothing of it was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListsError {
    /// There is no list of this name.
    UnknownList {
        /// The name.
        name: String,
        /// The names of the lists that exist, in order.
        known: Vec<String>,
    },
    /// A name that is no name of a list: letters, digits, `_` and inner dots; at most 64 bytes.
    Name(String),
    /// A list of this name exists with another type.
    Type {
        /// The name.
        name: String,
        /// The type of the list.
        own: ListType,
        /// The type that was wanted.
        wanted: ListType,
    },
    /// The list [follows](crate::Lists::following) that of another `Lists`: only there can it be changed.
    Followed(String),
    /// Wrong entries.
    Entries(WrongEntries),
    /// There would be more than a limit allows.
    Limit {
        /// What is limited: `lists`, `entries`, `bytes`; of patterns `entries in a list`,
        /// `bytes of compiled patterns in a list` and
        /// `steps for letter cases of the patterns in a list`.
        what: &'static str,
        /// How many there would be.
        wanted: usize,
        /// How many there may be.
        limit: usize,
    },
}

impl fmt::Display for ListsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownList { name, known } if known.is_empty() => write!(f, "no list `{name}`; there are no lists"),
            Self::UnknownList { name, known } => write!(f, "no list `{name}`; there are {}", known.join(", ")),
            Self::Name(name) => write!(
                f,
                "{name:?} is no name of a list: letters, digits, `_` and inner dots; at most {MAX_NAME_BYTES} bytes"
            ),
            Self::Type { name, own, wanted } => write!(f, "list `{name}` is of {own}, not of {wanted}"),
            Self::Followed(name) => write!(f, "list `{name}` follows a list of another `Lists`: change it there"),
            Self::Entries(wrong) => wrong.fmt(f),
            Self::Limit { what, wanted, limit } => write!(f, "{wanted} {what}, more than the limit of {limit}"),
        }
    }
}

impl std::error::Error for ListsError {}

/// Longest name of a list, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 64;
