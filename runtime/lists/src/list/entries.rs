//! [`Entries`]: the entries of one list, read from text.

use super::any_list::AnyList;
use super::levels::Keyed;
use crate::entry::pattern_text::{
    MAX_CASE_STEPS, MAX_LARGE_PATTERNS, MAX_PATTERNS, case_steps, may_be_large, too_many_cases,
};
use crate::entry::{Entry, MAX_ENTRY_BYTES, parse_all};
use crate::error::{TooLarge, WrongEntries};
use crate::kind::Kind;
use crate::value::{Cells, EntryValue, ListType, Row, RowsBuilder, Scalar, WrongValue};
use std::collections::HashMap;
use std::sync::Arc;
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
    ty: ListType,
    entries: Vec<Entry>,
    /// The numbers of their values, indexed as the entries; empty if they carry none.
    numbers: Vec<u32>,
    rows: Option<RowsBuilder>,
    /// The line of each entry, from 1; 0 if it has none.
    lines: Vec<u32>,
    /// When the entries expire, indexed as they are. Ends with the last one that does.
    expiries: Vec<Option<SystemTime>>,
    /// Most entries that are read, with equal ones.
    most: usize,
    /// Whether there were more.
    exceeds: bool,
    /// Texts of patterns that were read, wrong ones too.
    compiled: usize,
    /// Those among them of which only compiling them says whether they are too large.
    large: usize,
    /// Steps that one parsing of them takes for letter cases.
    case_steps: usize,
}

impl Entries {
    /// Returns an empty collection for lists of this type. A [`Kind`] is the type of lists whose
    /// entries carry no values.
    #[must_use]
    pub fn new(ty: impl Into<ListType>) -> Self {
        let ty = ty.into();
        let rows = ty.values().map(RowsBuilder::new);
        let (numbers, lines, expiries) = (Vec::new(), Vec::new(), Vec::new());
        let (most, exceeds, compiled, large, case_steps) = (usize::MAX, false, 0, 0, 0);
        Self { ty, entries: Vec::new(), numbers, rows, lines, expiries, most, exceeds, compiled, large, case_steps }
    }

    /// The same collection, which refuses more entries than these, with equal ones. A range of addresses is up to 254.
    #[cfg(feature = "files")]
    pub(crate) fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Reads entries without values.
    ///
    /// # Errors
    /// All wrong ones, each with its number, from 1, as its line.
    pub fn from_texts<T: AsRef<str>>(
        ty: impl Into<ListType>,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Self, WrongEntries> {
        let (mut entries, mut wrong) = (Self::new(ty), WrongEntries::default());
        for (line, text) in (1..).zip(texts) {
            let cells = EntryValue::default().typed(entries.ty.values());
            entries.add(Some(line), text.as_ref(), cells, None, &mut wrong);
        }
        entries.checked(wrong)
    }

    /// Adds an entry with its value.
    ///
    /// # Errors
    /// The text is no entry, or the value none of its type.
    pub fn insert(&mut self, entry: &str, value: impl Into<EntryValue>) -> Result<(), WrongEntries> {
        let mut wrong = WrongEntries::default();
        // It is said of each entry here.
        self.exceeds = false;
        self.add(None, entry, value.into().typed(self.ty.values()), None, &mut wrong);
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Reads one entry with the value of its cells. It expires if `expires` is given.
    pub(crate) fn add(
        &mut self,
        line: Option<usize>,
        text: &str,
        cells: Result<Cells, WrongValue>,
        expires: Option<SystemTime>,
        wrong: &mut WrongEntries,
    ) {
        if self.ty.kind().is_compiled() {
            // Reading a pattern takes thousands of times longer than a text, so what exceeds is not read.
            if self.exceeds {
                return;
            }
            self.compiled = self.compiled.saturating_add(1);
            let is_read = self.ty.kind() == Kind::Patterns && text.len() <= MAX_ENTRY_BYTES;
            self.case_steps = self.case_steps.saturating_add(if is_read { case_steps(text) } else { 0 });
            let most = self.most.min(MAX_PATTERNS);
            let parses = is_read && self.compiled <= most && self.case_steps <= MAX_CASE_STEPS;
            self.large = self.large.saturating_add((parses && may_be_large(text)).into());
            let reason = if self.compiled > most {
                format!("more than {most} entries, with equal and wrong ones")
            } else if self.case_steps > MAX_CASE_STEPS {
                too_many_cases()
            } else if self.large > MAX_LARGE_PATTERNS {
                format!("more than {MAX_LARGE_PATTERNS} entries of which only compiling says how large they are")
            } else {
                String::new()
            };
            if !reason.is_empty() {
                self.exceeds = true;
                return wrong.add(None, line, text, reason);
            }
        }
        match (parse_all(self.ty.kind(), text), cells) {
            (Err(reason), _) => wrong.add(None, line, text, reason),
            (_, Err(reason)) => wrong.add(None, line, text, reason),
            (Ok(entries), Ok(_)) if entries.len() > self.most.saturating_sub(self.entries.len()) => {
                // Said once; other mistakes are still found.
                if !std::mem::replace(&mut self.exceeds, true) {
                    wrong.add(None, line, text, format!("more than {} entries, with equal ones", self.most));
                }
            }
            (Ok(entries), Ok(cells)) => {
                if let Some(rows) = &mut self.rows {
                    let Some(number) = rows.add_cells(&cells) else {
                        return wrong.add(None, line, text, "the values of all entries exceed 4 GiB".to_owned());
                    };
                    self.numbers.extend(entries.iter().map(|_| number));
                }
                if expires.is_some() {
                    self.expiries.resize(self.entries.len(), None);
                    self.expiries.extend(entries.iter().map(|_| expires));
                }
                let line = line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
                self.lines.extend(entries.iter().map(|_| line));
                self.entries.extend(entries);
            }
        }
    }

    /// Adds a value, and returns its number for [`push_row`](Self::push_row).
    #[cfg(feature = "mmdb")]
    pub(crate) fn add_row(&mut self, cells: &Cells) -> Result<u32, String> {
        let rows = self.rows.as_mut().ok_or("the entries carry no values")?;
        rows.add_cells(cells).ok_or_else(|| "the values of all entries exceed 4 GiB".to_owned())
    }

    /// Adds an entry with a value that was added.
    #[cfg(feature = "mmdb")]
    pub(crate) fn push_row(&mut self, entry: Entry, row: u32) {
        self.entries.push(entry);
        self.numbers.push(row);
        self.lines.push(0);
    }

    /// Replaces the last two entries, each with the number of its value, by the one that `join`
    /// makes of them. Returns whether it made one.
    #[cfg(feature = "mmdb")]
    pub(crate) fn join_last(&mut self, join: impl Fn((&Entry, u32), (&Entry, u32)) -> Option<Entry>) -> bool {
        let ([.., left, right], [.., left_row, right_row]) = (&*self.entries, &*self.numbers) else { return false };
        let (joined, row) = (join((left, *left_row), (right, *right_row)), *left_row);
        let Some(joined) = joined else { return false };
        let left = self.entries.len().saturating_sub(2);
        self.entries.truncate(left);
        self.numbers.truncate(left);
        self.lines.truncate(left);
        self.push_row(joined, row);
        true
    }

    pub(crate) fn checked(self, wrong: WrongEntries) -> Result<Self, WrongEntries> {
        if wrong.is_empty() { Ok(self) } else { Err(wrong) }
    }

    /// Adds the entries of another collection of the same type; of another type, nothing. Of equal
    /// entries, the last one counts.
    pub fn append(&mut self, other: Self) {
        if self.ty != other.ty {
            return;
        }
        if let (Some(rows), Some(other_rows)) = (&mut self.rows, other.rows.map(RowsBuilder::finish)) {
            for number in &other.numbers {
                let row = Row { rows: Some(&other_rows), row: *number };
                // A number that no row has leaves out all fields. Values of 4 GiB exceed the limits of lists.
                self.numbers.push(rows.add(row.iter()).unwrap_or(u32::MAX));
            }
        }
        if !other.expiries.is_empty() {
            self.expiries.resize(self.entries.len(), None);
            self.expiries.extend(other.expiries);
        }
        self.entries.extend(other.entries);
        self.lines.extend(other.lines);
        self.compiled = self.compiled.saturating_add(other.compiled);
        self.large = self.large.saturating_add(other.large);
        self.case_steps = self.case_steps.saturating_add(other.case_steps);
    }

    /// Returns what the entries are.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.ty.kind()
    }

    /// Returns what the entries are and carry.
    #[must_use]
    pub fn list_type(&self) -> &ListType {
        &self.ty
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

    /// Returns the values of the entries, in the order of the text: of each, those of the fields,
    /// in the order of the type. Nothing for entries that carry none. Equal values are stored once.
    #[must_use]
    pub fn values(&self) -> Vec<Arc<[Option<Scalar>]>> {
        let rows = self.distinct_values();
        let nothing: Arc<[Option<Scalar>]> = Vec::<Option<Scalar>>::new().into();
        let value = |index: usize| self.value_number(index).and_then(|number| rows.get(number as usize));
        (0..self.len()).map(|index| value(index).unwrap_or(&nothing).clone()).collect()
    }

    /// The values of [`value_number`](Self::value_number)s, each distinct one once.
    pub(crate) fn distinct_values(&self) -> Vec<Cells> {
        self.rows.as_ref().map(RowsBuilder::values).unwrap_or_default()
    }

    /// The numbers of the distinct entries, in the order of these: of equal ones that of the last, which counts.
    pub(crate) fn distinct(&self) -> Vec<usize> {
        let entry = |number: &usize| self.entries.get(*number);
        let mut numbers: Vec<usize> = (0..self.len()).collect();
        numbers.sort_unstable_by(|one, other| entry(one).cmp(&entry(other)).then(one.cmp(other)));
        numbers.dedup_by(|later, kept| {
            let same = entry(later) == entry(kept);
            if same {
                *kept = *later;
            }
            same
        });
        numbers
    }

    /// An entry by its number, and when it expires.
    pub(crate) fn numbered(&self, number: usize) -> Option<(&Entry, Option<SystemTime>)> {
        Some((self.entries.get(number)?, self.expiries.get(number).copied().flatten()))
    }

    /// A number that is the same for entries with equal values. `None` if entries carry none.
    pub(crate) fn value_number(&self, index: usize) -> Option<u32> {
        self.numbers.get(index).copied()
    }

    /// The list of these entries.
    pub(crate) fn into_list(self) -> Result<AnyList, TooLarge> {
        let Self { ty, entries, numbers, rows, expiries, .. } = self;
        AnyList::new(ty.kind(), Keyed { keys: entries, numbers, rows, expiries })
    }

    /// Returns the entries in the order of the text, each with the time at which it expires. An
    /// entry that is written twice expires as the last says.
    pub fn with_expiries(&self) -> impl Iterator<Item = (&Entry, Option<SystemTime>)> {
        let expiries = self.last_expiries();
        self.entries.iter().map(move |entry| (entry, expiries.get(entry).copied()))
    }

    /// When entries expire. The last of equal ones says it, also that they never do.
    fn last_expiries(&self) -> HashMap<&Entry, SystemTime> {
        let mut last = HashMap::new();
        if self.expiries.is_empty() {
            return last;
        }
        let times = self.expiries.iter().copied().chain(std::iter::repeat(None));
        for (entry, expires) in self.entries.iter().zip(times) {
            if let Some(time) = expires {
                last.insert(entry, time);
            } else {
                last.remove(entry);
            }
        }
        last
    }

    /// Returns the entries in the order of the text, each with its line, from 1. A range of
    /// addresses is several entries of one line.
    pub fn with_lines(&self) -> impl Iterator<Item = (&Entry, Option<usize>)> {
        let line = |line: &u32| usize::try_from(*line).ok().filter(|line| *line > 0);
        self.entries.iter().zip(&self.lines).map(move |(entry, at)| (entry, line(at)))
    }
}
