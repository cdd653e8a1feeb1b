//! The files that the command was given. They are read for each request, so that the page shows what an editor saved.

use crate::limits;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A rule of the rule set.
#[derive(Clone, Debug)]
pub struct RuleText {
    /// The name of the rule.
    pub name: String,
    /// The text of the condition.
    pub source: String,
    /// Whether it is in the filter language.
    pub is_filter: bool,
    /// Rules with smaller priorities come first.
    pub priority: i32,
    /// The tags of the rule.
    pub tags: Vec<String>,
}

/// Reads the rules of files.
pub type ReadRules = fn(&[PathBuf]) -> Result<Vec<RuleText>, String>;

/// The files that are shown.
#[derive(Debug, Default)]
pub struct Files {
    /// A rule with which the playground begins.
    pub rule: Option<RuleText>,
    /// A policy.
    pub policy: Option<PathBuf>,
    /// Its cases.
    pub cases: Vec<PathBuf>,
    /// The files of a rule set, and what reads them.
    pub rules: Option<(Vec<PathBuf>, ReadRules)>,
}

/// Reads a file.
///
/// # Errors
/// It can't be read, is not UTF-8, or is longer than [`limits::FILE_BYTES`].
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let name = path.display();
    let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let mut text = String::new();
    let within = limits::FILE_BYTES.saturating_add(1);
    let length = file.take(within).read_to_string(&mut text).map_err(|error| format!("{name}: {error}"))?;
    if u64::try_from(length).is_ok_and(|length| length > limits::FILE_BYTES) {
        return Err(format!("{name}: longer than {} bytes", limits::FILE_BYTES));
    }
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}
