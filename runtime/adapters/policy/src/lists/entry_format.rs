//! [`EntryFormat`]: how the entries of a list are written in a file or a document at a URL.

use crate::file::document::LARGEST_FILE;
use celero_lists::{Entries, Format, ListType, MAX_MMDB_BYTES, RecordPaths, WrongEntries};
use std::path::Path;

/// Most wrong entries of a file that are reported one by one.
const MAX_REPORTED: usize = 20;
/// Most entries of a file, as many as lists hold.
const MAX_ENTRIES: usize = 16_000_000;

/// How entries are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryFormat {
    Text(Format),
    /// A MaxMind database, with where its records have the fields.
    Mmdb(RecordPaths),
}

impl EntryFormat {
    /// Returns the format of this name, or else that of the extension of a path. `paths` says where
    /// a MaxMind database has the fields; `None`: the list can have none.
    pub(crate) fn new(name: Option<&str>, path: &Path, paths: impl FnOnce() -> Option<RecordPaths>) -> Option<Self> {
        let is_mmdb = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mmdb"));
        Some(match name {
            Some("lines") => Self::Text(Format::Lines),
            Some("csv") => Self::Text(Format::Csv),
            Some("jsonl") => Self::Text(Format::JsonLines),
            Some("mmdb") => Self::Mmdb(paths()?),
            _ if is_mmdb => Self::Mmdb(paths()?),
            _ => Self::Text(Format::of_path(path)),
        })
    }

    /// Returns the largest number of bytes of a file.
    pub(crate) fn largest_file(&self) -> u64 {
        match self {
            Self::Text(_) => LARGEST_FILE,
            Self::Mmdb(_) => MAX_MMDB_BYTES,
        }
    }

    /// Returns what follows "it is read as" in a message.
    pub(crate) fn description(&self) -> &'static str {
        match self {
            Self::Text(format) => format.description(),
            Self::Mmdb(_) => "a MaxMind database",
        }
    }

    /// Reads the entries of a list of this type.
    ///
    /// # Errors
    /// What is wrong, with lines in texts.
    pub(crate) fn parse(&self, ty: &ListType, bytes: &[u8]) -> Result<Entries, Vec<String>> {
        match self {
            Self::Text(format) => {
                let text = std::str::from_utf8(bytes).map_err(|_| vec!["not UTF-8".to_owned()])?;
                Entries::parse_at_most(ty, *format, text, MAX_ENTRIES).map_err(|wrong| sentences(&wrong))
            }
            Self::Mmdb(paths) => Entries::parse_mmdb(ty, paths, bytes, MAX_ENTRIES).map_err(|why| vec![why]),
        }
    }
}

fn sentences(wrong: &WrongEntries) -> Vec<String> {
    let mut sentences: Vec<String> = wrong.listed().iter().take(MAX_REPORTED).map(ToString::to_string).collect();
    let others = wrong.count().saturating_sub(MAX_REPORTED);
    if others > 0 {
        sentences.push(format!("and {others} more wrong entries"));
    }
    sentences
}
