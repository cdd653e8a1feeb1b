//! Entries in files: plain lines, CSV, JSON Lines.

use crate::entries::Entries;
use crate::error::WrongEntries;
use crate::kind::Kind;
use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Largest file of entries, in bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// How entries are written in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One entry a line, without the spaces around it. `#` at the beginning of a line or after a space starts a comment. Empty lines are
    /// ignored.
    Lines,
    /// Comma-separated values (RFC 4180). The first record names the columns: `entry`, and if wanted `expires`. Others are ignored.
    Csv,
    /// One JSON value a line: a text, an integer, or an object with the members `entry` and, if wanted, `expires`. Others are ignored.
    /// Empty lines are ignored.
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
}

/// Why a file of entries was not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// It could not be read, is not UTF-8, or is larger than [`MAX_FILE_BYTES`].
    File(std::io::Error),
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
    /// Reads entries from a text. `expires` is a time in seconds since 1970-01-01T00:00:00Z. An entry that has expired is read too:
    /// [`Lists::expire`](crate::Lists::expire) removes it.
    ///
    /// # Errors
    /// Everything that is wrong, each with its line.
    pub fn parse(kind: Kind, format: Format, text: &str) -> Result<Self, WrongEntries> {
        let (mut entries, mut wrong) = (Self::new(kind), WrongEntries::default());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match format {
            Format::Lines => {
                for (number, line) in (1..).zip(text.lines()) {
                    let line = without_comment(line).trim();
                    if !line.is_empty() {
                        entries.add(Some(number), line, None, &mut wrong);
                    }
                }
            }
            Format::Csv => read_csv(text, &mut entries, &mut wrong),
            Format::JsonLines => {
                for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
                    match json_entry(line) {
                        Ok((entry, expires)) => entries.add(Some(number), &entry, expires, &mut wrong),
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
    pub fn read(kind: Kind, path: &Path) -> Result<Self, ReadError> {
        let bytes = std::fs::metadata(path).map_err(ReadError::File)?.len();
        if bytes > MAX_FILE_BYTES {
            let message = format!("{bytes} bytes, more than the limit of {MAX_FILE_BYTES}");
            return Err(ReadError::File(std::io::Error::new(std::io::ErrorKind::FileTooLarge, message)));
        }
        let text = std::fs::read_to_string(path).map_err(ReadError::File)?;
        Self::parse(kind, Format::of_path(path), &text).map_err(ReadError::Entries)
    }
}

/// The line up to a `#` that begins it or follows a space.
fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if c == '#' && before.is_whitespace() {
            return line.get(..at).unwrap_or(line);
        }
        before = c;
    }
    line
}

/// The time of a number of seconds since 1970.
fn time(seconds: u64) -> Result<SystemTime, String> {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    time.ok_or_else(|| format!("`expires` is too late: {seconds}"))
}

fn read_csv(text: &str, entries: &mut Entries, wrong: &mut WrongEntries) {
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::Headers).from_reader(text.as_bytes());
    let column = |headers: &csv::StringRecord, name: &str| headers.iter().position(|header| header == name);
    let (entry, expires) = match reader.headers() {
        Ok(headers) => (column(headers, "entry"), column(headers, "expires")),
        Err(error) => return wrong.add(None, Some(1), "", error.to_string()),
    };
    let Some(entry) = entry else {
        let first = text.lines().next().unwrap_or_default();
        return wrong.add(None, Some(1), first, "the first record has no column `entry`".to_owned());
    };
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().and_then(|at| usize::try_from(at.line()).ok());
                wrong.add(None, line, "", error.to_string());
                continue;
            }
        };
        let line = record.position().and_then(|at| usize::try_from(at.line()).ok());
        let Some(text) = record.get(entry) else {
            wrong.add(None, line, record.get(0).unwrap_or_default(), "the record has no column `entry`".to_owned());
            continue;
        };
        let expires = expires.and_then(|column| record.get(column)).map(str::trim).filter(|text| !text.is_empty());
        let seconds = expires.map(|seconds| {
            let number = seconds.parse().map_err(|_| format!("`expires` is not a number of seconds: {seconds:?}"));
            number.and_then(time)
        });
        match seconds.transpose() {
            Ok(expires) => entries.add(line, text, expires, wrong),
            Err(reason) => wrong.add(None, line, text, reason),
        }
    }
}

/// The text of an entry, and when it expires.
fn json_entry(line: &str) -> Result<(String, Option<SystemTime>), String> {
    use serde_json::Value;
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    };
    match serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))? {
        Value::Object(members) => {
            let entry = members.get("entry").ok_or("the object has no member `entry`")?;
            let entry = text(entry).ok_or("`entry` is neither a text nor an integer")?;
            let seconds = match members.get("expires") {
                None | Some(Value::Null) => return Ok((entry, None)),
                Some(value) => {
                    value.as_u64().ok_or_else(|| format!("`expires` is not a number of seconds: {value}"))?
                }
            };
            Ok((entry, Some(time(seconds)?)))
        }
        value => {
            text(&value).map(|entry| (entry, None)).ok_or_else(|| "neither a text, an integer nor an object".into())
        }
    }
}
