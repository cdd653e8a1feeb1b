//! What a run of the suite says: a table for people, JSON for programs, and whether it is accepted.

use super::case::Case;
use super::verdict::Status;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// One case in one tier. Serialised, it is an element of the report's `cases`.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Name of the file, without its ending.
    pub file: String,
    /// Section of the file.
    pub section: String,
    /// Name in the section.
    pub name: String,
    /// `native` or `interpret`.
    pub tier: &'static str,
    /// How it went.
    #[serde(serialize_with = "status_name")]
    pub status: Status,
    /// Why it failed or was skipped.
    pub detail: String,
}

impl Line {
    /// `file/section/name`, or `file` for a file that can't be read.
    fn path(&self) -> String {
        match (self.section.as_str(), self.name.as_str()) {
            ("", "") => self.file.clone(),
            (section, name) => format!("{}/{section}/{name}", self.file),
        }
    }
}

fn status_name<S: serde::Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Skipped => "skipped",
    })
}

/// A run of the suite.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// All cases in all tiers.
    pub cases: Vec<Line>,
}

impl Report {
    /// Adds a case.
    pub fn add(&mut self, case: &Case, tier: &'static str, (status, detail): (Status, String)) {
        let (file, section, name) = (case.file.clone(), case.section.clone(), case.name.clone());
        self.cases.push(Line { file, section, name, tier, status, detail });
    }

    /// Adds a file that can't be read, as one failure.
    pub fn add_unreadable(&mut self, file: &str, tier: &'static str, error: &str) {
        let (file, detail) = (file.to_owned(), format!("the file can't be read: {error}"));
        let (section, name) = (String::new(), String::new());
        self.cases.push(Line { file, section, name, tier, status: Status::Failed, detail });
    }

    /// One row for each file and tier, reasons of skipped cases in the last column.
    #[must_use]
    pub fn table(&self) -> String {
        /// How many passed, failed and were skipped, and why.
        type Row<'a> = ([u32; 3], BTreeMap<&'a str, u32>);
        let mut rows: BTreeMap<(&str, &str), Row<'_>> = BTreeMap::new();
        for line in &self.cases {
            for file in [line.file.as_str(), "~ total"] {
                let (counts, reasons) = rows.entry((file, line.tier)).or_default();
                if let Some(count) = counts.get_mut(line.status as usize) {
                    *count = count.saturating_add(1);
                }
                if line.status == Status::Skipped && file != "~ total" {
                    let count = reasons.entry(&line.detail).or_default();
                    *count = count.saturating_add(1);
                }
            }
        }
        let mut out =
            format!("{:<18} {:<9} {:>6} {:>6} {:>7}  skipped because\n", "file", "tier", "passed", "failed", "skipped");
        for ((file, tier), ([passed, failed, skipped], reasons)) in rows {
            let reasons: Vec<_> = reasons.iter().map(|(reason, n)| format!("{reason} ({n})")).collect();
            let reasons = reasons.join(", ");
            let row = format!("{file:<18} {tier:<9} {passed:>6} {failed:>6} {skipped:>7}  {reasons}");
            let _ = writeln!(out, "{}", row.trim_end());
        }
        out
    }

    /// Compares with the list of known failures (`file/section/name`): all that must be looked at,
    /// a line each. Empty when exactly those of the listed cases fail that were run.
    #[must_use]
    pub fn surprises(&self, known: &BTreeMap<String, String>) -> Vec<String> {
        let mut out = Vec::new();
        let mut failing = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for line in &self.cases {
            let path = line.path();
            if line.status == Status::Failed {
                if !known.contains_key(&path) {
                    out.push(format!("failed: {path} [{}]: {}", line.tier, line.detail));
                }
                failing.insert(path.clone());
            }
            seen.insert(path);
        }
        for path in known.keys().filter(|path| seen.contains(*path) && !failing.contains(*path)) {
            out.push(format!("listed as a known failure, but does not fail: {path}; take it off the list"));
        }
        out
    }
}

/// Reads a list of `key: reason` lines; `#` starts a comment line. A line without a reason is an error.
///
/// # Errors
/// The line that has no reason, or whose key was there before.
pub fn read_list(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut list = BTreeMap::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, reason) = line.split_once(": ").ok_or_else(|| format!("line {number}: `{line}` has no reason"))?;
        if list.insert(key.to_owned(), reason.trim().to_owned()).is_some() {
            return Err(format!("line {number}: `{key}` is listed twice"));
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, tier: &'static str, status: Status) -> Line {
        Line { file: "f".into(), section: "s".into(), name: name.into(), tier, status, detail: "why".into() }
    }

    #[test]
    fn the_list_of_known_failures_may_only_shrink() {
        let report = Report {
            cases: vec![
                line("a", "native", Status::Failed),
                line("a", "interpret", Status::Passed),
                line("b", "native", Status::Failed),
                line("c", "native", Status::Passed),
                line("d", "native", Status::Skipped),
            ],
        };
        let known = read_list("# comment\n\nf/s/a: later\nf/s/c: later\nf/s/d: later\nf/s/e: later\n").unwrap();
        let surprises = report.surprises(&known);
        assert_eq!(surprises.len(), 3, "{surprises:?}");
        assert!(surprises[0].starts_with("failed: f/s/b"));
        assert!(surprises[1].contains("f/s/c") && surprises[2].contains("f/s/d"), "{surprises:?}");
        assert!(read_list("f/s/a").is_err());
        assert!(read_list("f/s/a: x\nf/s/a: y").is_err());
    }

    #[test]
    fn the_table_and_the_json_count_every_case() {
        let report = Report { cases: vec![line("a", "native", Status::Passed), line("b", "native", Status::Skipped)] };
        assert!(
            report.table().contains("f                  native         1      0       1  why (1)"),
            "{}",
            report.table()
        );
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["cases"][1]["status"], "skipped");
        assert_eq!(json["cases"][0]["tier"], "native");
    }
}
