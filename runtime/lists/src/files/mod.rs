//! Entries in files: plain lines, CSV, JSON Lines.

mod lines;
mod pattern;

pub use pattern::{FilePattern, MAX_PATTERN_FILES};

use crate::error::WrongEntries;
use crate::limits::Limits;
use crate::list::Entries;
use crate::value::{Cells, Field, ListType, Scalar, ScalarType, ValueType, WrongValue, article, complete};
use serde_json::{Map, Value};
use std::fmt;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Largest file of entries, in bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// How entries are written in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One entry a line, without the spaces around it. `#` at the beginning of a line or after a
    /// space starts a comment; in lists of addresses, hosts and integers so do `;` and `//`. Empty
    /// lines are ignored. In a list of hosts, a line with an address and names is one of a hosts
    /// file (`0.0.0.0 ads.example`): its names are entries, but for those of the machine itself,
    /// such as `localhost`.
    Lines,
    /// Comma-separated values (RFC 4180). The first record names the columns: `entry`, the fields
    /// of the values, and if wanted `expires`. Others are ignored. An entry leaves out a field
    /// whose column is empty. Each record has as many columns as the first.
    Csv,
    /// One JSON value a line: a text, an integer, or an object with the members `entry`, the fields
    /// of the value, and, if wanted, `expires`. Others are ignored. An entry leaves out a field
    /// whose member is missing or `null`. Empty lines are ignored.
    JsonLines,
}

impl Format {
    /// Returns the format of a file by its extension: `.csv`, `.jsonl` or `.ndjson`; lines if it has another one.
    #[must_use]
    pub fn of_path(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Self::Csv,
            Some("jsonl" | "ndjson") => Self::JsonLines,
            _ => Self::Lines,
        }
    }

    /// Returns how entries are written in this format, for messages: what follows "it is read as".
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Lines => {
                "plain lines: one entry each, and comments after `#`, in lists of addresses, hosts and integers after `;` and `//` \
                 too; in lists of hosts also the lines of hosts files (`0.0.0.0 ads.example`)"
            }
            Self::Csv => "CSV, whose first record names the columns: `entry`, and those of values",
            Self::JsonLines => "JSON Lines: a text, a number or an object with the member `entry` in each",
        }
    }
}

/// Why a file of entries was not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// It could not be read, is not UTF-8, or is larger than [`MAX_FILE_BYTES`].
    File(Error),
    /// Entries are wrong.
    Entries(WrongEntries),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Entries(wrong) => wrong.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl Entries {
    /// Reads entries from a text. `expires` is a time in seconds since 1970-01-01T00:00:00Z. An
    /// entry that has expired is read too: [`Lists::expire`](crate::Lists::expire) removes it.
    ///
    /// ```
    /// use celero_lists::{Entries, Format, ListType};
    ///
    /// let ty: ListType = "addresses:{country: string, asn: int}".parse()?;
    /// let csv = "entry,country,asn\n192.0.2.0/24,DE,3320\n2001:db8::/32,FR,\n";
    /// assert_eq!(Entries::parse(&ty, Format::Csv, csv)?.len(), 2);
    ///
    /// let error = Entries::parse(&ty, Format::Csv, "entry,country,asn\n192.0.2.0/24,DE,AS3320\n").unwrap_err();
    /// assert_eq!(error.to_string(), "line 2: \"AS3320\": `asn`: not an integer of 64 bits");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Everything that is wrong, each with its line, and its column if it is a value. More entries than lists hold by
    /// [default](Limits::default), with equal ones: [`parse_at_most`](Self::parse_at_most) sets another bound.
    pub fn parse(ty: impl Into<ListType>, format: Format, text: &str) -> Result<Self, WrongEntries> {
        Self::parse_at_most(ty, format, text, Limits::default().entries)
    }

    /// Reads entries as [`parse`](Self::parse) does, at most this many, with equal ones. A text of
    /// few bytes can be many: a range of addresses is up to 254 networks.
    ///
    /// # Errors
    /// Everything that is wrong, and the first entry beyond the bound.
    pub fn parse_at_most(
        ty: impl Into<ListType>,
        format: Format,
        text: &str,
        most: usize,
    ) -> Result<Self, WrongEntries> {
        let ty = ty.into();
        let (mut entries, mut wrong) = (Self::new(&ty).at_most(most), WrongEntries::default());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match (format, ty.values()) {
            (Format::Lines, Some(values)) => {
                let reason = format!("plain lines have no values, which are {values} here: CSV or JSON Lines have");
                wrong.add(None, Some(1), text.lines().next().unwrap_or_default(), reason);
            }
            (Format::Lines, None) => {
                for (number, line) in (1..).zip(text.lines()) {
                    for entry in lines::entries(ty.kind(), line) {
                        entries.add(Some(number), entry, Ok(Cells::default()), None, &mut wrong);
                    }
                }
            }
            (Format::Csv, values) => read_csv(text, values, &mut entries, &mut wrong),
            (Format::JsonLines, values) => {
                for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
                    match json_entry(line, values) {
                        Ok(JsonEntry { entry, cells, expires }) => {
                            entries.add(Some(number), &entry, cells, expires, &mut wrong);
                        }
                        Err(reason) => wrong.add(None, Some(number), line, reason),
                    }
                }
            }
        }
        entries.checked(wrong)
    }

    /// Reads the entries of a file, in the format of its extension.
    ///
    /// # Errors
    /// The file cannot be read, or entries are wrong.
    pub fn read(ty: impl Into<ListType>, path: &Path) -> Result<Self, ReadError> {
        let bytes = read_at_most(path, MAX_FILE_BYTES).map_err(ReadError::File)?;
        let text =
            String::from_utf8(bytes).map_err(|error| ReadError::File(Error::new(ErrorKind::InvalidData, error)))?;
        Self::parse(ty, Format::of_path(path), &text).map_err(ReadError::Entries)
    }
}

/// Reads a file of at most this many bytes. Of what has no size, such as a pipe or a device, no more is read.
///
/// # Errors
/// The file can't be read, or is larger ([`ErrorKind::FileTooLarge`]).
pub fn read_at_most(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let too_large = |bytes: u64| {
        let message = format!("{bytes} bytes or more, more than the limit of {most}");
        Error::new(ErrorKind::FileTooLarge, message)
    };
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large(size));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    if read > most { Err(too_large(read)) } else { Ok(bytes) }
}

/// The time of a number of seconds since 1970.
fn time(seconds: u64) -> Result<SystemTime, String> {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    time.ok_or_else(|| format!("`expires` is too late: {seconds}"))
}

/// Returns the line of the first wrong quote of a text in CSV, and what is wrong (RFC 4180, section
/// 2): quotes stand around a field, or doubled within such a field. The CSV reader would take what
/// follows, often many lines, as part of the field.
fn wrong_quote(text: &str) -> Option<(usize, &'static str)> {
    enum At {
        Start,
        Plain,
        Quoted,
        /// After a quote in a field in quotes: it closes the field, or is the first of two.
        Quote,
    }
    let (mut at, mut line, mut opened) = (At::Start, 1_usize, 1);
    for byte in text.bytes() {
        at = match (at, byte) {
            (At::Start, b'"') => {
                opened = line;
                At::Quoted
            }
            (At::Plain, b'"') => return Some((line, "a quote within a field that does not begin with one")),
            (At::Quoted, b'"') => At::Quote,
            (At::Quoted, _) | (At::Quote, b'"') => At::Quoted,
            (_, b',' | b'\n' | b'\r') => At::Start,
            (At::Quote, _) => return Some((opened, "text after the closing quote of a field that begins here")),
            (At::Start | At::Plain, _) => At::Plain,
        };
        if byte == b'\n' {
            line = line.saturating_add(1);
        }
    }
    matches!(at, At::Quoted).then_some((opened, "a quote that opens here is never closed"))
}

/// Finds the lines of records, which come in order.
struct LineCounter<'t> {
    text: &'t [u8],
    /// A place in the text, and its line from 1.
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The line in which a record begins. The reader's place of a record is before the empty lines
    /// that precede it, and before the `\n` of the record before it if that ends with `\r\n`.
    fn line_of(&mut self, position: &csv::Position) -> usize {
        let from = usize::try_from(position.byte()).unwrap_or(usize::MAX);
        let rest = self.text.get(from..).unwrap_or_default();
        let skipped = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let begins = from.saturating_add(skipped);
        let passed = self.text.get(self.at..begins).unwrap_or_default();
        self.line = self.line.saturating_add(passed.iter().filter(|byte| **byte == b'\n').count());
        self.at = self.at.max(begins);
        self.line
    }
}

fn read_csv(text: &str, values: Option<&ValueType>, entries: &mut Entries, wrong: &mut WrongEntries) {
    if let Some((line, reason)) = wrong_quote(text) {
        let shown = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        return wrong.add(None, Some(line), shown, reason.to_owned());
    }
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::Headers).from_reader(text.as_bytes());
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => return wrong.add(None, Some(1), "", error.to_string()),
    };
    let mut mistakes = Vec::new();
    let mut column = |name: &str, wanted: bool| {
        let mut found = (0..).zip(&headers).filter(|(_, header)| *header == name).map(|(index, _)| index);
        let first: Option<usize> = found.next();
        if first.is_none() && wanted {
            mistakes.push(format!("the first record has no column `{name}`"));
        }
        if found.next().is_some() {
            mistakes.push(format!("the first record has several columns `{name}`"));
        }
        first
    };
    let entry = column("entry", true);
    let expires = column("expires", false);
    let fields: Vec<(&Field, Option<usize>)> = match values {
        Some(values) => values.fields().iter().map(|field| (field, column(field.name(), true))).collect(),
        None => Vec::new(),
    };
    for reason in mistakes {
        wrong.add(None, Some(1), text.lines().next().unwrap_or_default(), reason);
    }
    let Some(entry) = entry.filter(|_| wrong.is_empty()) else { return };
    let mut lines = LineCounter { text: text.as_bytes(), at: 0, line: 1 };
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                wrong.add(None, error.position().map(|at| lines.line_of(at)), "", error.to_string());
                continue;
            }
        };
        let line = record.position().map(|at| lines.line_of(at));
        let text = match record.get(entry) {
            Some(text) if record.len() == headers.len() => text,
            _ => {
                let reason = format!("the record has {} columns, the first one {}", record.len(), headers.len());
                wrong.add(None, line, record.get(0).unwrap_or_default(), reason);
                continue;
            }
        };
        let expires = expires.and_then(|column| record.get(column)).map(str::trim).filter(|text| !text.is_empty());
        let seconds = expires.map(|seconds| {
            let number = seconds.parse().map_err(|_| format!("`expires` is not a number of seconds: {seconds:?}"));
            number.and_then(time)
        });
        let before = wrong.count();
        let cells = fields.iter().map(|(field, column)| {
            let text = column.and_then(|column| record.get(column)).filter(|text| !text.is_empty())?;
            let value = Scalar::parse(field.ty(), text);
            // All wrong ones are reported.
            value.map_err(|reason| wrong.add(None, line, text, WrongValue::of(field, reason))).ok()
        });
        let cells: Cells = cells.collect();
        if wrong.count() > before {
            continue;
        }
        let cells = values.map_or(Ok(Cells::default()), |values| complete(values, cells));
        match seconds.transpose() {
            Ok(expires) => entries.add(line, text, cells, expires, wrong),
            Err(reason) => wrong.add(None, line, text, reason),
        }
    }
}

/// What a line of JSON Lines says.
struct JsonEntry {
    entry: String,
    cells: Result<Cells, WrongValue>,
    expires: Option<SystemTime>,
}

fn json_entry(line: &str, values: Option<&ValueType>) -> Result<JsonEntry, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    };
    let mut value: Value = serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))?;
    let Some(members) = value.as_object_mut() else {
        let entry = text(&value).ok_or("neither a text, an integer nor an object")?;
        return Ok(JsonEntry { entry, cells: json_cells(&mut Map::new(), values), expires: None });
    };
    let entry = members.get("entry").ok_or("the object has no member `entry`")?;
    let entry = text(entry).ok_or("`entry` is neither a text nor an integer")?;
    let expires = match members.get("expires") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let seconds = value.as_u64().ok_or_else(|| format!("`expires` is not a number of seconds: {value}"))?;
            Some(time(seconds)?)
        }
    };
    Ok(JsonEntry { entry, cells: json_cells(members, values), expires })
}

/// The value of an entry.
fn json_cells(members: &mut Map<String, Value>, values: Option<&ValueType>) -> Result<Cells, WrongValue> {
    let Some(values) = values else { return Ok(Cells::default()) };
    let cells = values.fields().iter().map(|field| {
        let value = members.remove(&**field.name());
        let scalar = match (value, field.ty()) {
            (None | Some(Value::Null), _) => return Ok(None),
            (Some(Value::String(text)), ScalarType::Text) => Scalar::parse(ScalarType::Text, &text),
            (Some(Value::Number(number)), ScalarType::Int) => {
                number.as_i64().map(Scalar::Int).ok_or_else(|| format!("not an integer of 64 bits: {number}"))
            }
            (Some(Value::Bool(truth)), ScalarType::Bool) => Ok(Scalar::Bool(truth)),
            (Some(other), ty) => Err(format!("not {}: {other}", article(ty))),
        };
        scalar.map(Some).map_err(|reason| WrongValue::of(field, reason))
    });
    complete(values, cells.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_has_no_size_is_not_read_without_end() {
        let read = |path: &str, most| read_at_most(Path::new(path), most).map_err(|error| error.kind());
        assert_eq!(read("/dev/zero", 100), Err(ErrorKind::FileTooLarge));
        assert_eq!(read("/dev/null", 0), Ok(vec![]));
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let size = std::fs::metadata(own).unwrap().len();
        assert_eq!(read(own, size).unwrap().len() as u64, size);
        assert_eq!(read(own, size.saturating_sub(1)), Err(ErrorKind::FileTooLarge));
    }
}
