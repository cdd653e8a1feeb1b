//! Named lists of addresses, host names, texts, integers and patterns that change while threads ask them.
//!
//! [`Lists`] is the beginning: writers commit a [`Change`] of any number of lists, readers load a
//! [`Snapshot`] of all of them. [`Kind`] says what a list contains, [`Entries`] reads files. The
//! README describes how it works and what it costs.

mod address_range;
mod any_list;
mod change;
mod containment;
mod entries;
mod entry;
mod error;
mod expiry;
#[cfg(feature = "files")]
mod file_pattern;
#[cfg(feature = "files")]
mod files;
mod kind;
mod levels;
mod limits;
#[cfg(feature = "files")]
mod lines;
mod lists;
mod lookup_counter;
#[cfg(feature = "mmdb")]
mod mmdb;
#[cfg(feature = "mmdb")]
mod mmdb_work;
mod overlay;
mod pattern_text;
mod rows;
mod sets;
mod shared;
mod snapshot;
mod thread_place;
mod value;
mod value_type;

/// The page of the crate where it is published.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub use change::Change;
pub use containment::Covered;
pub use entries::Entries;
pub use entry::{Entry, MAX_ENTRY_BYTES};
pub use error::{ListsError, WrongEntries, WrongEntry};
#[cfg(feature = "files")]
pub use file_pattern::{FilePattern, MAX_PATTERN_FILES};
#[cfg(feature = "files")]
pub use files::{Format, MAX_FILE_BYTES, ReadError, read_at_most};
pub use kind::Kind;
pub use limits::Limits;
pub use lists::Lists;
#[cfg(feature = "mmdb")]
pub use mmdb::{MAX_MMDB_BYTES, RecordPaths};
pub use overlay::{Applied, Mark, Overlay, Record, Records};
pub use pattern_text::{MAX_COMPILED_BYTES, MAX_PATTERNS};
pub use rows::Row;
pub use sets::{Meter, Unmetered};
pub use shared::Changed;
pub use snapshot::{EntryId, ListId, ListInfo, Snapshot};
pub use value::{EntryValue, MAX_VALUE_BYTES, Scalar, ScalarRef};
pub use value_type::{Field, ListType, MAX_FIELDS, ScalarType, ValueType};
