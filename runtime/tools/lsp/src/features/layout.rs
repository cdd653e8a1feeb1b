//! Formatting of documents.
//!
//! Invariant: the layout is that of `celero fmt`. Test:
//! `runtime/tools/cli/tests/it/language_server/features.rs::formatting_is_that_of_fmt`.

use crate::checks::environment::Checks;
use crate::documents::document::{Document, Kind};
use celero_policy::Policy;
use celero_tooling::rules::file::RulesFile;
use celero_tooling::rules::source::{Format, RuleText};
use lsp_types::{Position, Range, TextEdit};

/// Returns the edits that format a document: none if it is formatted.
///
/// # Errors
/// Why it can't be formatted, in one line.
pub(crate) fn edits(document: &Document, checks: &dyn Checks) -> Result<Vec<TextEdit>, String> {
    let (text, start) = match document.kind() {
        Kind::Rules { text, start } => (text, start),
        Kind::TooLarge => return Err("the file is too large: `celero fmt` formats it".to_owned()),
        Kind::Unreadable(_) | Kind::Other => return Ok(Vec::new()),
    };
    let formatted = formatted(document, text, checks)?;
    let before = document.text.get(start..).unwrap_or_default();
    if formatted == before {
        return Ok(Vec::new());
    }
    Ok(vec![changed_lines(document, start, before, &formatted)])
}

fn formatted(document: &Document, text: RuleText, checks: &dyn Checks) -> Result<String, String> {
    let RuleText { text, format, language, comments } = text;
    match format {
        Format::Cel => match checks.layout(language, &text) {
            Ok(layout) => Ok(comments + &layout),
            Err(error) => Err(first(error.diagnostics())),
        },
        Format::Rules => {
            let file = RulesFile::parse(document.name(), text, language).map_err(|invalid| invalid.message)?;
            // Rules that can't be formatted stay as they are; the others are formatted, as `celero fmt` does.
            Ok(checks.rules_layout(&file).0)
        }
        Format::Policy => Policy::format(&document.name(), &text).map_err(|error| {
            let first = error.diagnostics().next();
            first.map_or_else(|| "the policy has errors".to_owned(), |(_, found)| found.message.clone())
        }),
    }
}

fn first(found: &[celero::Diagnostic]) -> String {
    found.first().map_or_else(String::new, |found| found.message.clone())
}

/// Returns the edit from the first line that differs to the last one, so that cursors elsewhere stay.
fn changed_lines(document: &Document, start: usize, before: &str, after: &str) -> TextEdit {
    let same = |(a, b): &(&str, &str)| a == b;
    let length =
        |lines: Vec<(&str, &str)>| lines.iter().fold(0, |sum: usize, (line, _)| sum.saturating_add(line.len()));
    let (old, new) = (before.split_inclusive('\n'), after.split_inclusive('\n'));
    let head = length(old.clone().zip(new.clone()).take_while(same).collect());
    let rest = |text: &str| text.len().saturating_sub(head);
    let tail = length(old.rev().zip(new.rev()).take_while(same).collect()).min(rest(before)).min(rest(after));
    let old_end = before.len().saturating_sub(tail);
    let new_text = after.get(head..after.len().saturating_sub(tail)).unwrap_or_default().to_owned();
    let position = |at: usize| -> Position { document.lines.position(&document.text, start.saturating_add(at)) };
    TextEdit { range: Range::new(position(head), position(old_end)), new_text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::line_index::LineIndex;

    #[test]
    fn only_changed_lines_are_edited() {
        for (before, after, edit) in [
            ("a\nb\nc\n", "a\nB\nc\n", ((1, 0), (2, 0), "B\n")),
            ("a", "a\n", ((0, 0), (0, 1), "a\n")),
            ("a\na\n", "a\n", ((1, 0), (2, 0), "")),
            ("\n", "\n\n", ((1, 0), (1, 0), "\n")),
        ] {
            let uri = "file:///a.cel".parse().unwrap();
            let document = Document::new(&uri, "cel".to_owned(), 1, before.to_owned());
            let TextEdit { range, new_text } = changed_lines(&document, 0, before, after);
            let at = |position: Position| (position.line, position.character);
            assert_eq!((at(range.start), at(range.end), &*new_text), edit, "{before:?}");
            let lines = LineIndex::new(before);
            let mut text = before.to_owned();
            text.replace_range(lines.offset(before, range.start)..lines.offset(before, range.end), &new_text);
            assert_eq!(text, after);
        }
    }
}
