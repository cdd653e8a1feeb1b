//! Files of entries, as the subcommands of `celero lists` take them.

use crate::output::Output;
use crate::source::read_bytes;
use celero_lists::{Entries, Field, Format, ListType, Scalar, ScalarRef, ValueType, WrongEntries};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// Reads the argument of `--kind`, `KIND[:VALUES]`.
pub(super) fn list_type(text: &str) -> Result<ListType, String> {
    text.parse()
}

/// Reads a file; `-` is standard input, as lines.
///
/// # Errors
/// The outer one: the file can't be read or is not UTF-8. The inner one: wrong entries.
pub(super) fn read(ty: &ListType, path: &Path) -> Result<Result<Entries, WrongEntries>, String> {
    let text = String::from_utf8(read_bytes(path)?).map_err(|_| format!("{} is not UTF-8", path.display()))?;
    Ok(Entries::parse(ty, Format::of_path(path), &text))
}

/// Reads a file, and prints its wrong entries.
///
/// # Errors
/// The file can't be read. `Ok(None)`: entries are wrong.
pub(super) fn valid(ty: &ListType, path: &Path, output: &mut Output) -> Result<Option<Entries>, String> {
    match read(ty, path)? {
        Ok(entries) => Ok(Some(entries)),
        Err(wrong) => {
            complain(path, &wrong, output);
            Ok(None)
        }
    }
}

/// Prints wrong entries.
pub(super) fn complain(path: &Path, wrong: &WrongEntries, output: &mut Output) {
    for entry in wrong.listed() {
        let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
        let column = entry.column.as_ref().map(|column| format!("`{column}`: ")).unwrap_or_default();
        output.complain(&format!("error: {}{line}: {:?}: {column}{}", path.display(), entry.entry, entry.reason));
    }
    let others = wrong.count().saturating_sub(wrong.listed().len());
    if others > 0 {
        output.complain(&format!("error: {}: and {others} more wrong entries", path.display()));
    }
}

/// Returns wrong entries as JSON.
pub(super) fn wrong_json(wrong: &WrongEntries) -> Json {
    let entry = |entry: &celero_lists::WrongEntry| {
        let mut json = json!({ "line": entry.line, "entry": entry.entry, "reason": entry.reason });
        if let (Json::Object(members), Some(column)) = (&mut json, &entry.column) {
            members.insert("column".to_owned(), column.as_str().into());
        }
        json
    };
    wrong.listed().iter().map(entry).collect()
}

/// Returns the fields that an entry carries, by name.
pub(super) fn members(ty: &ListType, value: &[Option<Scalar>]) -> Map<String, Json> {
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
