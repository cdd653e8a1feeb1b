//! Completes the names of variables, functions and commands.

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

/// The names that may be completed.
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn new(mut names: Vec<String>) -> Self {
        names.sort();
        names.dedup();
        Self(names)
    }

    /// Returns where the name before `at` begins, and the names that begin with it.
    fn complete_at(&self, line: &str, at: usize) -> (usize, Vec<String>) {
        let before = line.get(..at).unwrap_or(line);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':');
        let start = before.rfind(|c| !is_part(c)).map_or(0, |found| {
            found.saturating_add(before.get(found..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8))
        });
        let word = before.get(start..).unwrap_or_default();
        let whole: Vec<String> = self.0.iter().filter(|name| name.starts_with(word)).cloned().collect();
        if !whole.is_empty() {
            return (start, whole);
        }
        // A method: what follows the last point.
        let method = word.rfind('.').map_or(0, |found| found.saturating_add(1));
        let part = word.get(method..).unwrap_or_default();
        let methods = self.0.iter().filter(|name| !part.is_empty() && name.starts_with(part)).cloned().collect();
        (start.saturating_add(method), methods)
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.complete_at(line, at))
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_methods_are_completed() {
        let names = ["request.path", "request.host", "size", "startsWith", ":type"].map(str::to_owned);
        let names = Names::new(names.to_vec());
        for (line, start, found) in [
            ("request.p", 0, vec!["request.path"]),
            ("!request.", 1, vec!["request.host", "request.path"]),
            ("request.path.starts", 13, vec!["startsWith"]),
            ("1 + si", 4, vec!["size"]),
            (":t", 0, vec![":type"]),
            ("é+zz", 3, vec![]),
        ] {
            assert_eq!(
                names.complete_at(line, line.len()),
                (start, found.iter().map(ToString::to_string).collect::<Vec<String>>())
            );
        }
    }
}
