//! Named lists of addresses, host names, texts, integers and patterns that change while threads ask them.
//!
//! [`Lists`] is the beginning: writers commit a [`Change`] of any number of lists, readers load a
//! [`Snapshot`] of all of them. [`Kind`] says what a list contains, [`Entries`] reads files. The
//! README describes how it works and what it costs.
//!
//! # Rooms
//!
//! The folders of the source. Each uses only those above it.
//!
//! | folder | what is there |
//! |---|---|
//! | `lookup_counter/` | how often a list was searched |
//! | `entry/` | one entry, and how it is written |
//! | `value/` | the value of an entry: its type, and how it is stored |
//! | `sets/` | immutable sets of entries, one for each kind |
//! | `list/` | one list: its entries as they are read, and as they are searched |
//! | `files/` | entries from text: plain lines, CSV, JSON Lines |
//! | `mmdb/` | entries from databases in the MaxMind DB format |
//! | `lists/` | all lists: changes by writers, snapshots for readers |

mod clock;
mod entry;
mod error;
#[cfg(feature = "files")]
mod files;
mod kind;
mod limits;
mod list;
mod lists;
mod lookup_counter;
#[cfg(feature = "mmdb")]
mod mmdb;
mod sets;
mod value;

/// The page of the crate where it is published.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use entry::pattern_text::{MAX_COMPILED_BYTES, MAX_PATTERNS};
pub use entry::{Entry, MAX_ENTRY_BYTES, networks_of_range};
pub use error::{ListsError, WrongEntries, WrongEntry};
#[cfg(feature = "files")]
pub use files::{FilePattern, Format, MAX_FILE_BYTES, MAX_PATTERN_FILES, ReadError, read_at_most};
pub use kind::Kind;
pub use limits::Limits;
pub use list::{Covered, Entries};
pub use lists::{
    Applied, Change, Changed, EntryId, ListId, ListInfo, Lists, Mark, Overlay, Reader, Record, Records, Snapshot, View,
};
#[cfg(feature = "mmdb")]
pub use mmdb::{MAX_MMDB_BYTES, RecordPaths};
pub use sets::{Meter, Unmetered};
pub use value::{
    EntryValue, Field, ListType, MAX_FIELDS, MAX_VALUE_BYTES, Row, Scalar, ScalarRef, ScalarType, ValueType,
};
