//! Where in the source a part of a literal's value is.

use celero_frontend::Span;

/// The place of the bytes `part` of a string literal's value; of the whole literal where it is written with escapes.
pub(super) fn inside(source: &str, literal: Span, value: &str, part: std::ops::Range<usize>) -> Span {
    part_of(source, literal, value, part).unwrap_or(literal)
}

fn part_of(source: &str, literal: Span, value: &str, part: std::ops::Range<usize>) -> Option<Span> {
    let text = source.get(literal.start as usize..literal.end as usize)?;
    let quoted = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let prefix = text.len().checked_sub(quoted.len())?;
    let triple = quoted.len() >= 6 && (quoted.starts_with("\"\"\"") || quoted.starts_with("'''"));
    let quote = if triple { 3 } else { 1 };
    let body = quoted.get(quote..quoted.len().checked_sub(quote)?)?;
    if body != value || !value.is_char_boundary(part.start) || !value.is_char_boundary(part.end) {
        return None;
    }
    let start = literal.start.checked_add(u32::try_from(prefix.checked_add(quote)?).ok()?)?;
    let place = |offset: usize| start.checked_add(u32::try_from(offset).ok()?);
    Some(Span::new(place(part.start)?, place(part.end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_inside_literals_without_escapes() {
        for (source, value, expected) in [
            ("'abc'", "abc", (2, 3)),
            ("r'abc'", "abc", (3, 4)),
            ("R\"\"\"abc\"\"\"", "abc", (5, 6)),
            ("'''r'''", "r", (0, 7)),
            ("'a\\x62c'", "abc", (0, 8)),
            ("''", "", (0, 2)),
        ] {
            let literal = Span::new(0, u32::try_from(source.len()).unwrap());
            let span = inside(source, literal, value, 1..2);
            assert_eq!((span.start, span.end), expected, "{source}");
        }
    }
}
