//! Patterns with two backslashes where one was probably meant: `\\.php` is a backslash, any
//! character and `php`. In a quoted pattern of the filter language, and in a raw string of CEL, a
//! backslash is not doubled.

use super::literals::{QUOTED, takes_pattern};
use super::{DOUBLED_BACKSLASH, Lint};
use celero_frontend::{Diagnostic, NodeId, Span, quote_string};

/// What two backslashes stand before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pair {
    /// An escape with one of them: `.`, `/` or `-` outside of classes, or the letter of a class or
    /// border that no letter follows.
    Meant,
    /// The letter of a border at the beginning of a word, which may be a name in a path.
    Perhaps,
    /// A name, as in `c:\\windows`: backslashes are meant.
    Name,
    /// Anything else, or something in a class.
    Other,
}

/// Returns the offsets of pairs of backslashes that were probably meant as one backslash. None if a
/// pair stands before a name, as in a path.
fn doubled(pattern: &str) -> Vec<usize> {
    let mut pairs = Vec::new();
    let mut in_class = false;
    let mut characters = pattern.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            // The first character of a class does not end it, and a class by name has brackets in it.
            '[' if !in_class => {
                in_class = true;
                characters.next_if(|(_, next)| *next == '^');
                characters.next_if(|(_, next)| *next == ']');
            }
            '[' if characters.next_if(|(_, next)| *next == ':').is_some() => {
                let _ = characters.by_ref().find(|(_, next)| *next == ']');
            }
            ']' => in_class = false,
            '\\' => {
                let is_doubled = characters.next().is_some_and(|(_, next)| next == '\\');
                let mut behind = characters.clone().map(|(_, next)| next);
                if is_doubled && let Some(escaped) = behind.next() {
                    pairs.push((at, pair(escaped, behind.next(), in_class)));
                }
            }
            _ => {}
        }
    }
    let has = |wanted| pairs.iter().any(|(_, pair)| *pair == wanted);
    if has(Pair::Name) || !has(Pair::Meant) {
        return Vec::new();
    }
    pairs.into_iter().filter(|(_, pair)| matches!(pair, Pair::Meant | Pair::Perhaps)).map(|(at, _)| at).collect()
}

fn pair(escaped: char, after: Option<char>, in_class: bool) -> Pair {
    let in_word = after.is_some_and(char::is_alphanumeric);
    match escaped {
        '.' | '/' | '-' if !in_class => Pair::Meant,
        'd' | 'D' | 'w' | 'W' | 's' | 'S' if !in_word => Pair::Meant,
        'b' | 'B' if !in_class => {
            if in_word {
                Pair::Perhaps
            } else {
                Pair::Meant
            }
        }
        _ if in_word && !in_class && escaped.is_alphanumeric() => Pair::Name,
        _ => Pair::Other,
    }
}

/// The pattern with one backslash at each of these places.
fn without(pattern: &str, doubled: &[usize]) -> String {
    let kept = pattern.char_indices().filter(|(at, _)| doubled.binary_search(at).is_err());
    kept.map(|(_, character)| character).collect()
}

/// Warns of a pattern that has pairs of backslashes; `literal` writes one in the language of the rule.
pub(crate) fn doubled_backslash(span: Span, pattern: &str, literal: fn(&str) -> String) -> Option<Diagnostic> {
    let doubled = doubled(pattern);
    let escaped = pattern.get(*doubled.first()?..)?.trim_start_matches('\\').chars().next()?;
    let message = format!("`\\\\{escaped}` in a pattern is a backslash before `{escaped}`");
    let help = if pattern.chars().count() <= QUOTED {
        format!("write one backslash for an escape: `{}`", literal(&without(pattern, &doubled)))
    } else {
        format!("write one backslash for an escape: `\\{escaped}` in a raw string")
    };
    Some(Diagnostic { help: vec![help], ..Diagnostic::warning(DOUBLED_BACKSLASH, span, message) })
}

impl Lint<'_> {
    /// Warns of the pattern of a call, given as a literal.
    pub(super) fn doubled_backslash(&mut self, id: NodeId) {
        let Some((builtin, operands)) = self.call(id) else { return };
        if takes_pattern(builtin)
            && let Some(&pattern) = operands.get(1)
            && let Some(text) = self.text(pattern)
        {
            self.found.extend(doubled_backslash(self.ast.span(pattern), &text, quote_string));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero_frontend::filter::raw_string;
    use celero_frontend::{Limits, parse};

    #[test]
    fn what_was_meant_is_told_from_backslashes() {
        for (pattern, meant) in [
            (r"(?i)\\.php$", Some(r"(?i)\.php$")),
            (r"^\\d+$", Some(r"^\d+$")),
            (r"[\\w-]+\\.x", Some(r"[\w-]+\.x")),
            (r"\\s", Some(r"\s")),
            (r"\\bbot\\b", Some(r"\bbot\b")),
            (r"(a\\b)", Some(r"(a\b)")),
            (r"^[\\/]etc[\\/].*\\.conf$", Some(r"^[\\/]etc[\\/].*\.conf$")),
            (r"[]\\.]\\.", Some(r"[]\\.]\.")),
            (r"[^]\\.]\\.", Some(r"[^]\\.]\.")),
            (r"[[:alpha:]\\.]\\.", Some(r"[[:alpha:]\\.]\.")),
            (r"é\\.x\\\\\\.", Some(r"é\.x\\\\\.")),
            (r"\.php$", None),
            (r"c:\\windows", None),
            (r"C:\\Dir\\w", None),
            (r"C:\\Windows\\.*", None),
            (r"[\\/]etc", None),
            (r"[]\\.]", None),
            (r"[[:alpha:]\\.]", None),
            (r"\.\.(?:/|\\)", None),
            (r"\\\.", None),
            (r"\\", None),
            ("", None),
        ] {
            let found = doubled(pattern);
            let found = (!found.is_empty()).then(|| without(pattern, &found));
            assert_eq!(found.as_deref(), meant, "{pattern}");
        }
    }

    #[test]
    fn the_help_is_a_literal_of_the_language_and_short() {
        for pattern in [r"\\s", r#""\\s"#, r##"'"#\\s"##] {
            let help = |literal| {
                let warning = doubled_backslash(Span::new(0, 0), pattern, literal).unwrap();
                let [help] = warning.help.as_slice() else { panic!("{warning:?}") };
                help.split('`').nth(1).unwrap().to_owned()
            };
            let meant = pattern.replace(r"\\", r"\");
            assert!(parse(&help(quote_string), &Limits::default()).is_ok(), "{pattern}");
            assert_eq!(help(raw_string), raw_string(&meant));
        }
        let long = doubled_backslash(Span::new(0, 0), &r"\\.".repeat(5_000), quote_string).unwrap();
        assert!(long.help.concat().len() < 100, "{long:?}");
    }
}
