//! A diagnostic in the text that Wirefilter gives for an error, for hosts whose users know it.

use crate::diagnostic::Diagnostic;
use std::fmt::Write;

/// Returns a diagnostic in Wirefilter's text: line and column, the source line, carets, the
/// message. Columns and carets count bytes; the carets end with the line, and there is at least
/// one.
///
/// ```
/// use celero_frontend::filter::{FilterOptions, Scheme, check_filter, wirefilter_error};
///
/// let errors = check_filter("tls", &Scheme::new().into(), &FilterOptions::default()).unwrap_err();
/// assert_eq!(wirefilter_error("tls", &errors[0]), "Filter parsing error (1:1):\ntls\n^^^ unknown identifier\n");
/// ```
#[must_use]
pub fn wirefilter_error(source: &str, diagnostic: &Diagnostic) -> String {
    let bytes = source.as_bytes();
    let start = (diagnostic.span.start as usize).min(bytes.len());
    let before = source.get(..start).unwrap_or("");
    let number = before.matches('\n').count().saturating_add(1);
    let line_start = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
    let rest = source.get(line_start..).unwrap_or("");
    let line = rest.split('\n').next().unwrap_or("");
    let column = start.saturating_sub(line_start);
    let length = (diagnostic.span.end as usize).saturating_sub(start);
    let carets = length.min(line.len().saturating_sub(column)).max(1);
    let mut text = String::new();
    let _ = writeln!(text, "Filter parsing error ({number}:{}):", column.saturating_add(1));
    let _ = writeln!(text, "{line}");
    let _ = writeln!(text, "{:column$}{} {}", "", "^".repeat(carets), diagnostic.message);
    text
}
