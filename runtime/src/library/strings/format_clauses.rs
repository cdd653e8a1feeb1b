//! The syntax of format strings: text with clauses such as `%s` and `%.2f`, each of which formats
//! one value, and `%%` for a percent sign. The evaluation and the lint of literals share this
//! parser.

use std::ops::Range;

/// Digits after the point of a clause without a precision.
const PRECISION: usize = 6;

/// Most digits after the point.
const MAX_PRECISION: usize = 1000;

/// The letter of a clause: how its value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// `%s`
    Text,
    /// `%d`
    Decimal,
    /// `%f`
    Fixed,
    /// `%e`
    Scientific,
    /// `%b`
    Binary,
    /// `%o`
    Octal,
    /// `%x`, or `%X` in capital letters.
    Hex { upper: bool },
}

/// A piece of a format string.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    Text(&'t str),
    Clause(Clause),
}

/// A clause, which is replaced by a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) verb: Verb,
    /// Digits after the point.
    pub(crate) precision: usize,
    /// Byte range in the format string.
    pub(crate) at: Range<usize>,
}

/// A `%` that does not start a valid clause.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// What is wrong, for error messages.
    pub(crate) reason: String,
    /// Byte range of what was read of the clause.
    pub(crate) at: Range<usize>,
}

/// Returns the pieces of a format string in order. The first malformed clause is the last item.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Result<Piece<'_>, Malformed>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = text.len().saturating_sub(rest.len());
        let Some(after) = rest.strip_prefix('%') else {
            let plain = rest.find('%').unwrap_or(rest.len());
            let (plain, others) = rest.split_at_checked(plain)?;
            rest = others;
            return Some(Ok(Piece::Text(plain))).filter(|_| !plain.is_empty());
        };
        if let Some(after) = after.strip_prefix('%') {
            rest = after;
            return Some(Ok(Piece::Text("%")));
        }
        let (read, after) = clause(after);
        rest = if read.is_ok() { after } else { "" };
        let at = start..text.len().saturating_sub(after.len());
        Some(match read {
            Ok((verb, precision)) => Ok(Piece::Clause(Clause { verb, precision, at })),
            Err(reason) => Err(Malformed { reason, at }),
        })
    })
}

/// Parses a clause after its `%`; returns it with the text after it.
fn clause(text: &str) -> (Result<(Verb, usize), String>, &str) {
    let (precision, text) = match text.strip_prefix('.') {
        None => (PRECISION, text),
        Some(text) => {
            let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = text.strip_suffix(after).unwrap_or(text);
            if digits.is_empty() {
                return (Err("a number must follow the point".to_owned()), after);
            }
            match digits.parse().ok().filter(|n| *n <= MAX_PRECISION) {
                Some(precision) => (precision, after),
                None => return (Err(format!("there can be {MAX_PRECISION} digits at most")), after),
            }
        }
    };
    let mut chars = text.chars();
    let verb = match chars.next() {
        Some('s') => Verb::Text,
        Some('d') => Verb::Decimal,
        Some('f') => Verb::Fixed,
        Some('e') => Verb::Scientific,
        Some('b') => Verb::Binary,
        Some('o') => Verb::Octal,
        Some('x') => Verb::Hex { upper: false },
        Some('X') => Verb::Hex { upper: true },
        Some(other) => return (Err(format!("there is no verb `{}`", other.escape_debug())), chars.as_str()),
        None => return (Err("the verb is missing".to_owned()), text),
    };
    (Ok((verb, precision)), chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_cut_into_pieces() {
        let clause = |verb, precision, at| Ok(Piece::Clause(Clause { verb, precision, at }));
        let found: Vec<_> = pieces("é%s%%-%.12e%X%").collect();
        assert_eq!(
            found,
            [
                Ok(Piece::Text("é")),
                clause(Verb::Text, 6, 2..4),
                Ok(Piece::Text("%")),
                Ok(Piece::Text("-")),
                clause(Verb::Scientific, 12, 7..12),
                clause(Verb::Hex { upper: true }, 6, 12..14),
                Err(Malformed { reason: "the verb is missing".to_owned(), at: 14..15 }),
            ]
        );
        assert_eq!(pieces("").count(), 0);
    }

    #[test]
    fn what_is_malformed_ends_it() {
        for (text, at, reason) in [
            ("a%q%d", 1..3, "verb `q`"),
            ("%é", 0..3, "verb `é`"),
            ("%.f", 0..2, "number"),
            ("%.", 0..2, "number"),
            ("%.1001f", 0..6, "1000"),
            ("%.99999999999999999999f", 0..22, "1000"),
            ("%.3", 0..3, "missing"),
        ] {
            let malformed = pieces(text).filter_map(Result::err).collect::<Vec<_>>();
            let [Malformed { reason: said, at: place }] = &*malformed else { panic!("{text}: {malformed:?}") };
            assert_eq!(*place, at, "{text}");
            assert!(said.contains(reason), "{text}: {said}");
            assert!(pieces(text).last().is_some_and(|last| last.is_err()), "{text}");
        }
    }
}
