//! Files of entries, as the subcommands of `celero lists` take them; databases among them, as `--list` takes them too.

use crate::input::source::read_bytes;
use crate::output::{Output, hints};
use celero_lists::{
    Entries, Field, Format, Limits, ListType, MAX_MMDB_BYTES, RecordPaths, Scalar, ScalarRef, ValueType, WrongEntries,
    read_at_most,
};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// What the files hold.
#[derive(clap::Args)]
pub(crate) struct EntryArgs {
    /// What the entries are: addresses, texts, textsIgnoringCase, hosts, integers, patterns or
    /// wildcards; with values, as `texts:int`.
    #[arg(long = "kind", value_name = "KIND[:VALUES]", value_parser = list_type)]
    pub(crate) ty: ListType,
    /// Where the records of a MaxMind database (`.mmdb`) have a field: names, and numbers of
    /// elements from 0, with dots between them, as `country=country.iso_code`. Without it, a field
    /// is found under its own name; the only value of an entry is the field `value`. May be
    /// repeated.
    #[arg(long = "path", value_name = "FIELD=PATH")]
    paths: Vec<String>,
}

/// What is wrong with a file.
pub(crate) enum FileError {
    Entries(WrongEntries),
    /// A MaxMind database that can't be used, and why.
    Database(String),
}

/// Reads the type in `--kind`, `KIND[:VALUES]`.
fn list_type(text: &str) -> Result<ListType, String> {
    text.parse()
}

impl EntryArgs {
    /// Returns where records have the fields.
    ///
    /// # Errors
    /// A `--path` is wrong, or the list can't have records.
    fn record_paths(&self) -> Result<RecordPaths, String> {
        let path = |text: &'_ String| -> Result<(String, String), String> {
            let (field, path) = text.split_once('=').ok_or_else(|| {
                format!("--path: `{text}`: expected `FIELD=PATH`, such as `country=country.iso_code`")
            })?;
            Ok((field.trim().to_owned(), path.trim().to_owned()))
        };
        let paths = self.paths.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        RecordPaths::new(&self.ty, paths.iter().map(|(field, path)| (&**field, &**path)))
    }
}

/// Reads a file; `-` is standard input, as lines.
///
/// # Errors
/// The outer one: the file can't be read or is not UTF-8, or `--path` is wrong. The inner one: its entries are wrong.
pub(crate) fn read(of: &EntryArgs, path: &Path) -> Result<Result<Entries, FileError>, String> {
    let is_database = is_database(path);
    let paths = if is_database || !of.paths.is_empty() { Some(of.record_paths()?) } else { None };
    if let (Some(paths), true) = (paths, is_database) {
        return Ok(read_database(&of.ty, &paths, path)?.map_err(FileError::Database));
    }
    let text = String::from_utf8(read_bytes(path)?).map_err(|_| format!("{} is not UTF-8", path.display()))?;
    Ok(Entries::parse(&of.ty, Format::of_path(path), &text).map_err(FileError::Entries))
}

/// Returns whether a file is a MaxMind database, by its name.
pub(crate) fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mmdb"))
}

/// Reads a MaxMind database.
///
/// # Errors
/// The outer one: the file can't be read. The inner one: why it can't be used.
pub(crate) fn read_database(
    ty: &ListType,
    paths: &RecordPaths,
    path: &Path,
) -> Result<Result<Entries, String>, String> {
    let bytes = read_at_most(path, MAX_MMDB_BYTES).map_err(|error| hints::unreadable(path, &error))?;
    Ok(Entries::parse_mmdb(ty, paths, &bytes, Limits::default().entries))
}

/// Reads a file, and prints what is wrong with it.
///
/// # Errors
/// As those of [`read`]. `Ok(None)`: its entries are wrong.
pub(crate) fn valid(of: &EntryArgs, path: &Path, output: &mut Output) -> Result<Option<Entries>, String> {
    match read(of, path)? {
        Ok(entries) => Ok(Some(entries)),
        Err(wrong) => {
            wrong.complain(path, output);
            Ok(None)
        }
    }
}

impl FileError {
    /// Returns how many entries are wrong. A database is as one.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Entries(wrong) => wrong.count(),
            Self::Database(_) => 1,
        }
    }

    /// Prints what is wrong.
    pub(crate) fn complain(&self, path: &Path, output: &mut Output) {
        let wrong = match self {
            Self::Entries(wrong) => wrong,
            Self::Database(why) => return output.complain(&format!("error: {}: {why}", path.display())),
        };
        for entry in wrong.listed() {
            let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
            let column = entry.column.as_ref().map(|column| format!("`{column}`: ")).unwrap_or_default();
            output.complain(&format!("error: {}{line}: {:?}: {column}{}", path.display(), entry.entry, entry.reason));
        }
        let others = wrong.count().saturating_sub(wrong.listed().len());
        if others > 0 {
            output.complain(&format!("error: {}: and {others} more wrong entries", path.display()));
        }
        let format = Format::of_path(path).description();
        output.complain(&format!("  = help: {} is read as {format}", path.display()));
    }

    /// Returns what is wrong as JSON.
    pub(crate) fn json(&self) -> Json {
        let wrong = match self {
            Self::Entries(wrong) => wrong,
            Self::Database(why) => return json!([{ "line": null, "entry": null, "reason": why }]),
        };
        let entry = |entry: &celero_lists::WrongEntry| {
            let mut json = json!({ "line": entry.line, "entry": entry.entry, "reason": entry.reason });
            if let (Json::Object(members), Some(column)) = (&mut json, &entry.column) {
                members.insert("column".to_owned(), column.as_str().into());
            }
            json
        };
        wrong.listed().iter().map(entry).collect()
    }
}

/// Returns the fields that an entry carries, by name.
pub(crate) fn members(ty: &ListType, value: &[Option<Scalar>]) -> Map<String, Json> {
    let fields = ty.values().map(ValueType::fields).unwrap_or_default();
    let member = |(field, scalar): (&Field, &Option<Scalar>)| {
        let json = match scalar.as_ref()?.as_ref() {
            ScalarRef::Text(text) => json!(text),
            ScalarRef::Int(number) => json!(number),
            ScalarRef::Bool(truth) => json!(truth),
            other => json!(other.to_string()),
        };
        Some((field.name().to_string(), json))
    };
    fields.iter().zip(value).filter_map(member).collect()
}
