//! Formats the expressions of a policy, and leaves the YAML around them as it is.

use crate::editor::places::{ExpressionPlace, expression_places};
use crate::file::error::PolicyError;
use crate::policy::Policy;
use crate::problems::Problems;
use crate::yaml::{Node, SourceText, read};
use celero::language::{Diagnostic, Language, Limits};
use saphyr_parser::ScalarStyle;
use std::ops::Range;

impl Policy {
    /// Returns the text of a policy with its expressions in the layout of
    /// [`Engine::format`](celero::Engine::format). Files that it includes are not read. The rest of
    /// the YAML stays, comments included. Expressions in folded blocks (`>`) stay too, and so do
    /// those in `${..}` and those in the filter language.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with the errors of the YAML and of the syntax of expressions, and
    /// with comments that would be lost.
    pub fn format(name: &str, text: &str) -> Result<String, PolicyError> {
        let mut problems = Problems::default();
        let file = problems.file(name.to_owned(), text);
        let text = problems.text(file).to_owned();
        let Some(root) = read(file, &mut problems) else {
            return if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(text) };
        };
        let mut formatted = String::with_capacity(text.len());
        let (mut at, mut expected) = (0, Vec::new());
        for (expression, language) in expressions(&root) {
            let layout = match format(language, expression.text.trim_end()) {
                Ok(layout) => layout,
                Err(found) => {
                    for found in &found {
                        problems.of_expression(&expression, 0, found);
                    }
                    continue;
                }
            };
            match edit(language, &text, &expression, &layout) {
                Some((range, replacement)) if range.start >= at => {
                    formatted.push_str(text.get(at..range.start).unwrap_or_default());
                    formatted.push_str(&replacement);
                    at = range.end;
                    expected.push(layout);
                }
                _ => expected.push(format(language, expression.text.trim_end()).unwrap_or_default()),
            }
        }
        formatted.push_str(text.get(at..).unwrap_or_default());
        if problems.has_errors() {
            return Err(PolicyError::new(problems));
        }
        // What was written must read as the same expressions.
        let mut check = Problems::default();
        let again = check.file(name.to_owned(), &formatted);
        let written = read(again, &mut check).map(|root| expressions(&root)).unwrap_or_default();
        let written =
            written.iter().map(|(text, language)| format(*language, text.text.trim_end()).unwrap_or_default());
        Ok(if written.eq(expected) { formatted } else { text })
    }
}

/// Returns the expressions of a policy that can be formatted without an environment, in the order
/// of the file, each with its language.
fn expressions(root: &Node) -> Vec<(SourceText, &'static dyn Language)> {
    let places = expression_places(root).into_iter().filter(|place| !place.is_template);
    places
        .filter_map(|ExpressionPlace { text, language, .. }| Some((text, language.any().checked_language()?)))
        .collect()
}

/// Width of lines, in columns.
const WIDTH: usize = 100;

fn format(language: &dyn Language, source: &str) -> Result<String, Vec<Diagnostic>> {
    language.format(source, &Limits::default(), WIDTH)
}

/// Returns the range of the file to replace, and by what; `None` to leave the expression as it is.
fn edit(language: &dyn Language, file: &str, expression: &SourceText, layout: &str) -> Option<(Range<usize>, String)> {
    let (start, end) = (expression.place.start as usize, expression.place.end as usize);
    let raw = file.get(start..end)?;
    if expression.style == ScalarStyle::Literal {
        return block(file, start..end, layout);
    }
    let end = start.saturating_add(raw.trim_end().len());
    let line = layout.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    if format(language, &line).ok()? != layout {
        return None;
    }
    let text = match expression.style {
        ScalarStyle::Plain if is_plain(&line, &expression.text) => line,
        ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
            if line.contains(char::is_control) {
                return None;
            }
            format!("'{}'", line.replace('\'', "''"))
        }
        ScalarStyle::Literal | ScalarStyle::Folded => return None,
    };
    Some((start..end, text))
}

/// Returns whether a line may stand without quotes where `before` stands without quotes.
pub(crate) fn is_plain(line: &str, before: &str) -> bool {
    let starts = line.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '('));
    let in_flow = |c: char| ",[]{}".contains(c);
    starts
        && !line.contains(": ")
        && !line.contains(" #")
        && !line.ends_with(':')
        && !line.contains(char::is_control)
        && (before.contains(in_flow) || !line.contains(in_flow))
}

/// Returns the lines of a block (`|`) and what replaces them.
pub(crate) fn block(file: &str, range: Range<usize>, layout: &str) -> Option<(Range<usize>, String)> {
    let raw = file.get(range.clone())?;
    // The range may begin with the sign of the block.
    let skipped = if raw.starts_with('|') { raw.find('\n')?.checked_add(1)? } else { 0 };
    let content = raw.get(skipped..)?;
    let lead = content.len().saturating_sub(content.trim_start().len());
    let first = range.start.checked_add(skipped)?.checked_add(lead)?;
    let line_start = file.get(..first)?.rfind('\n').map_or(0, |at| at.saturating_add(1));
    let indent = file.get(line_start..first).filter(|indent| indent.chars().all(|c| c == ' '))?;
    let end = range.start.checked_add(raw.trim_end().len())?;
    let lines: Vec<String> = layout.lines().map(|line| format!("{indent}{line}")).collect();
    (first < end).then(|| (line_start..end, lines.join("\n")))
}
