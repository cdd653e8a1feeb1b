//! The layout of files of rules: `name [attributes]: expression`, with the expression as `celero fmt` writes it.

use super::file::{Rule, RulesFile};
use crate::language::Language;
use celero::diagnostics::{Label, Severity, Span, Stage};
use celero::{CompileError, Diagnostic};

/// Lays out a rule in a language.
pub type Layout<'a> = dyn Fn(Language, &str) -> Result<String, CompileError> + 'a;

/// Formats the rules of a file. Comments, blank lines and the order of the rules stay. Returns the
/// text, and why rules were left as they are: each diagnostic with the number of its rule.
pub fn format(of: &Layout<'_>, file: &RulesFile) -> (String, Vec<(usize, Diagnostic)>) {
    let mut problems = Vec::new();
    let formatted = rewritten(file, |number, rule| {
        layout(of, rule, &file.text).unwrap_or_else(|found| {
            problems.extend(found.into_iter().map(|found| (number, found)));
            file.text.get(rule.head..rule.end).unwrap_or_default().to_owned()
        })
    });
    (formatted, problems)
}

/// Returns the text of a file with other lines for its rules. What is between the rules stays.
pub fn rewritten(file: &RulesFile, mut lines: impl FnMut(usize, &Rule) -> String) -> String {
    let mut numbers: Vec<usize> = (0..file.rules.len()).collect();
    numbers.sort_by_key(|&number| file.rules.get(number).map_or(0, |rule| rule.head));
    let (mut text, mut at) = (String::new(), 0);
    for number in numbers {
        let Some(rule) = file.rules.get(number) else { continue };
        text.push_str(file.text.get(at..rule.head).unwrap_or_default());
        text.push_str(&lines(number, rule));
        at = rule.end;
    }
    text.push_str(file.text.get(at..).unwrap_or_default());
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Returns the lines of a rule.
fn layout(of: &Layout<'_>, rule: &Rule, text: &str) -> Result<String, Vec<Diagnostic>> {
    let source = &rule.source;
    if rule.has_comments {
        return Err(vec![kept(source, "a comment between the lines of a rule would be lost; move it before the rule")]);
    }
    let expression = of(rule.language, source.trim()).map_err(|error| untrimmed(source, error.diagnostics()))?;
    let head = text.get(rule.head..rule.start).unwrap_or_default().trim_end();
    let head = head.strip_suffix(':').unwrap_or(head).trim_end();
    laid_out(of, rule.language, head, &expression)
        .ok_or_else(|| vec![kept(source, "a text of several lines would change")])
}

/// Returns the lines of a rule with this head and an expression in canonical layout; `None` if its
/// meaning would change in several lines.
pub fn laid_out(of: &Layout<'_>, language: Language, head: &str, expression: &str) -> Option<String> {
    let mut lines = expression.lines();
    let (first, rest) = (lines.next().unwrap_or_default(), lines.collect::<Vec<_>>());
    if rest.is_empty() {
        return Some(format!("{head}: {first}\n"));
    }
    let mut laid = format!("{head}:\n  {first}\n");
    for line in rest {
        laid.push_str(&format!("  {line}\n"));
    }
    let body = laid.split_once(":\n").map_or("", |(_, body)| body);
    (of(language, body.trim()).ok().as_deref() == Some(expression)).then_some(laid)
}

/// Returns diagnostics of the trimmed text of a rule with the places in its source.
pub fn untrimmed(source: &str, found: &[Diagnostic]) -> Vec<Diagnostic> {
    let skipped = u32::try_from(source.len().saturating_sub(source.trim_start().len())).unwrap_or(0);
    let shifted = |span: Span| Span::new(span.start.saturating_add(skipped), span.end.saturating_add(skipped));
    let shift = |found: &Diagnostic| {
        let labels = found.labels.iter().map(|label| Label { span: shifted(label.span), text: label.text.clone() });
        Diagnostic { span: shifted(found.span), labels: labels.collect(), ..found.clone() }
    };
    found.iter().map(shift).collect()
}

/// Returns the diagnostic about a rule that stays as it is.
pub fn kept(source: &str, why: &str) -> Diagnostic {
    let start = source.len().saturating_sub(source.trim_start().len());
    let line = source.trim_start().lines().next().unwrap_or_default().len();
    let span = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Diagnostic {
        severity: Severity::Error,
        stage: Stage::Parse,
        code: "comment-lost",
        message: format!("the rule is not formatted: {why}"),
        span: Span::new(span(start), span(start.saturating_add(line))),
        labels: Vec::new(),
        help: Vec::new(),
    }
}
