//! `celero lists check`.

use crate::REJECTED;
use crate::input::list_file::{EntryArgs, FileError, read};
use crate::output::Output;
use crate::output::units::counted;
use celero_lists::{Covered, Entries, Entry};
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// Most warnings about a file that are printed.
const SHOWN: usize = 100;

/// Check files: all wrong entries, with their lines; warnings about entries that others make superfluous.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    of: EntryArgs,
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Exit with 1 if there are warnings.
    #[arg(long)]
    deny_warnings: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let (mut ok, mut answers) = (true, Vec::new());
    for path in &args.files {
        let name = path.display().to_string();
        let parsed = read(&args.of, path)?;
        let (count, wrong) = match &parsed {
            Ok(entries) => (entries.len(), 0),
            Err(wrong) => (0, wrong.count()),
        };
        let covered = parsed.as_ref().map(Entries::covered).unwrap_or_default();
        let file_ok = wrong == 0 && (covered.is_empty() || !args.deny_warnings);
        ok &= file_ok;
        let warnings = parsed.as_ref().map(|entries| warnings(entries, &covered)).unwrap_or_default();
        if args.json {
            answers.push(json!({
                "file": name,
                "ok": file_ok,
                "entries": count,
                "wrongCount": wrong,
                "wrong": parsed.as_ref().err().map_or(json!([]), FileError::json),
                "warningCount": covered.len(),
                "warnings": warnings.iter().map(Warning::json).collect::<Vec<_>>(),
            }));
            continue;
        }
        if let Err(wrong) = &parsed {
            wrong.complain(path, output);
        }
        for warning in &warnings {
            output.complain(&format!("warning: {name}{}", warning.text()));
        }
        let others = covered.len().saturating_sub(warnings.len());
        if others > 0 {
            output.complain(&format!("warning: {name}: and {others} more entries that others make superfluous"));
        }
        let paint = output.paint();
        let verdict = if file_ok { paint.good("ok") } else { paint.bad("failed") };
        let summary = match (wrong, covered.len()) {
            (0, 0) => counted_entries(count),
            (0, covered) => format!("{}, {covered} of them superfluous", counted_entries(count)),
            (wrong, _) => format!("{wrong} wrong {}", if wrong == 1 { "entry" } else { "entries" }),
        };
        output.line(&format!("{name}: {verdict}: {summary}"));
    }
    if args.json {
        output.line(&json!({ "ok": ok, "files": answers }).to_string());
    }
    Ok(if ok { 0 } else { REJECTED })
}

/// Returns a number of entries with its noun.
pub(super) fn counted_entries(count: usize) -> String {
    if count == 1 { counted(1, "entry") } else { format!("{count} entries") }
}

/// An entry that another one makes superfluous. Equal ones may carry other values.
struct Warning<'e> {
    entry: &'e Entry,
    line: Option<usize>,
    by: &'e Entry,
    by_line: Option<usize>,
    same_value: bool,
}

fn warnings<'e>(entries: &'e Entries, covered: &[Covered]) -> Vec<Warning<'e>> {
    let all: Vec<_> = entries.with_lines().collect();
    let values = entries.values();
    let warning = |covered: &Covered| {
        let ((entry, line), (by, by_line)) = (*all.get(covered.index)?, *all.get(covered.by)?);
        let same_value = values.get(covered.index) == values.get(covered.by);
        Some(Warning { entry, line, by, by_line, same_value })
    };
    covered.iter().take(SHOWN).filter_map(warning).collect()
}

impl Warning<'_> {
    fn text(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let at = self.by_line.map(|line| format!(" of line {line}")).unwrap_or_default();
        if self.entry == self.by && !self.same_value {
            format!("{line}: the entry{at} replaces the value of {}", self.entry)
        } else if self.entry == self.by {
            format!("{line}: {} is the entry{at} again", self.entry)
        } else {
            format!("{line}: {} is part of {}{at}", self.entry, self.by)
        }
    }

    fn json(&self) -> Json {
        json!({
            "line": self.line,
            "entry": self.entry.to_string(),
            "by": self.by.to_string(),
            "byLine": self.by_line,
        })
    }
}
