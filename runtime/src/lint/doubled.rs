//! Patterns with two backslashes where one was probably meant: `\\.php` is a backslash, any character and `php`. In a quoted pattern of the filter
//! language, and in a raw string of CEL, a backslash is not doubled.

use super::literals::takes_pattern;
use super::{DOUBLED_BACKSLASH, Lint};
use celero_frontend::{Diagnostic, NodeId, Span};

/// Two backslashes that were probably meant as one, and the pattern that was meant.
struct Doubled {
    /// The backslashes, and what follows them.
    part: String,
    /// The pattern with single backslashes, as a raw string.
    meant: String,
}

/// Finds two backslashes before what is an escape with one of them: `.`, `/` or `-` outside of classes, and the letters of classes and borders that
/// no letter follows. A path such as `c:\\windows`, or a class with a backslash, is none.
fn doubled(pattern: &str) -> Option<Doubled> {
    let mut in_class = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '[' => in_class = true,
            ']' => in_class = false,
            '\\' => {
                let is_doubled = characters.next() == Some('\\');
                let mut behind = characters.clone();
                let (Some(escaped), after) = (behind.next().filter(|_| is_doubled), behind.next()) else { continue };
                let is_meant = match escaped {
                    '.' | '/' | '-' => !in_class,
                    'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'b' | 'B' => !after.is_some_and(char::is_alphanumeric),
                    _ => false,
                };
                if is_meant {
                    let meant = pattern.replace("\\\\", "\\");
                    let sign = if meant.contains('"') { "#" } else { "" };
                    let part = format!("\\\\{escaped}");
                    return Some(Doubled { part, meant: format!("r{sign}\"{meant}\"{sign}") });
                }
            }
            _ => {}
        }
    }
    None
}

fn warning(span: Span, Doubled { part, meant }: Doubled) -> Diagnostic {
    let message = format!("`{part}` in a pattern is a backslash before `{}`", part.trim_start_matches('\\'));
    let help = vec![format!("write each backslash once: `{meant}`")];
    Diagnostic { help, ..Diagnostic::warning(DOUBLED_BACKSLASH, span, message) }
}

impl Lint<'_> {
    /// Warns of the pattern of a call, given as a literal.
    pub(super) fn doubled_backslash(&mut self, id: NodeId) {
        let Some((builtin, operands)) = self.call(id) else { return };
        if takes_pattern(builtin)
            && let Some(&pattern) = operands.get(1)
            && let Some(text) = self.text(pattern)
        {
            self.found.extend(doubled_backslash(&text, self.ast.span(pattern)));
        }
    }
}

/// The warning about a pattern with two backslashes where one was probably meant.
pub(crate) fn doubled_backslash(pattern: &str, span: Span) -> Option<Diagnostic> {
    doubled(pattern).map(|doubled| warning(span, doubled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_told_from_backslashes() {
        for (pattern, meant) in [
            (r"(?i)\\.php$", Some(r#"r"(?i)\.php$""#)),
            (r"^\\d+$", Some(r#"r"^\d+$""#)),
            (r"[\\w-]+\\.x", Some(r#"r"[\w-]+\.x""#)),
            (r#"\\s""#, Some(r##"r#"\s""#"##)),
            (r"\\bbot\\b", Some(r#"r"\bbot\b""#)),
            (r"(a\\b)", Some(r#"r"(a\b)""#)),
            (r"\.php$", None),
            (r"c:\\windows", None),
            (r"[\\/]etc", None),
            (r"\.\.(?:/|\\)", None),
            (r"\\\.", None),
            (r"\\", None),
            ("", None),
        ] {
            assert_eq!(doubled(pattern).map(|found| found.meant).as_deref(), meant, "{pattern}");
        }
    }
}
