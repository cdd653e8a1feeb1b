//! Files of entries, as the subcommands of `celero lists` take them.

use crate::output::Output;
use crate::source::read_bytes;
use celero_lists::{Entries, Format, Kind, WrongEntries};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Reads the argument of `--kind`.
pub(super) fn kind(text: &str) -> Result<Kind, String> {
    Kind::from_name(text).ok_or_else(|| format!("expected {}", Kind::ALL.map(Kind::name).join(", ")))
}

/// Reads a file; `-` is standard input, as lines.
///
/// # Errors
/// The outer one: the file can't be read or is not UTF-8. The inner one: wrong entries.
pub(super) fn read(kind: Kind, path: &Path) -> Result<Result<Entries, WrongEntries>, String> {
    let text = String::from_utf8(read_bytes(path)?).map_err(|_| format!("{} is not UTF-8", path.display()))?;
    Ok(Entries::parse(kind, Format::of_path(path), &text))
}

/// Reads a file, and prints its wrong entries.
///
/// # Errors
/// The file can't be read. `Ok(None)`: entries are wrong.
pub(super) fn valid(kind: Kind, path: &Path, output: &mut Output) -> Result<Option<Entries>, String> {
    match read(kind, path)? {
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
        output.complain(&format!("error: {}{line}: {:?}: {}", path.display(), entry.entry, entry.reason));
    }
    let others = wrong.count().saturating_sub(wrong.listed().len());
    if others > 0 {
        output.complain(&format!("error: {}: and {others} more wrong entries", path.display()));
    }
}

/// Returns wrong entries as JSON.
pub(super) fn wrong_json(wrong: &WrongEntries) -> Json {
    let entry =
        |entry: &celero_lists::WrongEntry| json!({ "line": entry.line, "entry": entry.entry, "reason": entry.reason });
    wrong.listed().iter().map(entry).collect()
}
