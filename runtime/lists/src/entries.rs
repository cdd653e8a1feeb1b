//! [`Entries`]: the entries of one list, read from text.

use crate::address_range::parse_all;
use crate::entry::Entry;
use crate::error::WrongEntries;
use crate::kind::Kind;
use std::time::SystemTime;

/// The entries of one list, for [`Change::replace`](crate::Change::replace).
///
/// ```
/// use celero_lists::{Entries, Format, Kind};
///
/// let text = "# internal\n10.0.0.0/8\n192.168.0.0/16  # branch offices\n";
/// assert_eq!(Entries::parse(Kind::Addresses, Format::Lines, text)?.len(), 2);
///
/// let error = Entries::parse(Kind::Addresses, Format::Lines, "10.0.0.0/8\n10.0.0.0/99\n10..0\n").unwrap_err();
/// assert_eq!(error.count(), 2);
/// assert_eq!(error.listed()[0].line, Some(2));
/// # Ok::<(), celero_lists::WrongEntries>(())
/// ```
#[derive(Clone, Debug)]
pub struct Entries {
    kind: Kind,
    entries: Vec<Entry>,
    expiries: Vec<(Entry, SystemTime)>,
}

impl Entries {
    /// Returns an empty collection for lists of this kind.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { kind, entries: Vec::new(), expiries: Vec::new() }
    }

    /// Reads entries.
    ///
    /// # Errors
    /// All wrong ones, each with its number, from 1, as its line.
    pub fn from_texts<T: AsRef<str>>(kind: Kind, texts: impl IntoIterator<Item = T>) -> Result<Self, WrongEntries> {
        let (mut entries, mut wrong) = (Self::new(kind), WrongEntries::default());
        for (line, text) in (1..).zip(texts) {
            entries.add(Some(line), text.as_ref(), None, &mut wrong);
        }
        entries.checked(wrong)
    }

    /// Reads one entry, which expires if `expires` is given.
    pub(crate) fn add(
        &mut self,
        line: Option<usize>,
        text: &str,
        expires: Option<SystemTime>,
        wrong: &mut WrongEntries,
    ) {
        match parse_all(self.kind, text) {
            Ok(entries) => {
                if let Some(expires) = expires {
                    self.expiries.extend(entries.iter().map(|entry| (entry.clone(), expires)));
                }
                self.entries.extend(entries);
            }
            Err(reason) => wrong.add(None, line, text, reason),
        }
    }

    pub(crate) fn checked(self, wrong: WrongEntries) -> Result<Self, WrongEntries> {
        if wrong.is_empty() { Ok(self) } else { Err(wrong) }
    }

    /// Adds the entries of another collection of the same kind; of another kind, nothing.
    pub fn append(&mut self, other: Self) {
        if self.kind == other.kind {
            self.entries.extend(other.entries);
            self.expiries.extend(other.expiries);
        }
    }

    /// Returns what the entries are.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the number of entries, with equal ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub(crate) fn into_parts(self) -> (Vec<Entry>, Vec<(Entry, SystemTime)>) {
        (self.entries, self.expiries)
    }
}
