//! Patterns that match every text, and those that match none.

use crate::pattern::syntax::limits::Syntax;
use regex_syntax::hir::{Hir, HirKind, Look};

/// Returns whether a [pattern on bytes](crate::pattern::ByteRegex) is found in every text (`true`)
/// or in none (`false`); `None` if the text decides, if that is not easily seen, or if the pattern
/// is not valid.
#[must_use]
pub fn byte_constant(pattern: &str) -> Option<bool> {
    constant(&Syntax::Bytes.parse(pattern.into()).ok()?)
}

/// Returns whether a pattern is found in every text (`true`: `a|`, `b*`) or in none (`false`: `$a`,
/// a class without members); `None` if the text decides, or if that is not easily seen. Takes time
/// linear in the pattern.
pub(in crate::pattern) fn constant(hir: &Hir) -> Option<bool> {
    if is_empty_anywhere(hir) {
        return Some(true);
    }
    is_nowhere(hir).then_some(false)
}

/// Whether a pattern matches the empty text, whatever is around it.
fn is_empty_anywhere(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty => true,
        HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
        HirKind::Repetition(repetition) => repetition.min == 0 || is_empty_anywhere(&repetition.sub),
        HirKind::Capture(group) => is_empty_anywhere(&group.sub),
        HirKind::Concat(parts) => parts.iter().all(is_empty_anywhere),
        HirKind::Alternation(parts) => parts.iter().any(is_empty_anywhere),
    }
}

/// Whether a pattern matches nothing: characters after the end or before the start of the text, or
/// a class without members.
fn is_nowhere(hir: &Hir) -> bool {
    let least = |part: &Hir| part.properties().minimum_len();
    if least(hir).is_none() {
        return true;
    }
    match hir.kind() {
        HirKind::Repetition(repetition) => repetition.min > 0 && is_nowhere(&repetition.sub),
        HirKind::Capture(group) => is_nowhere(&group.sub),
        HirKind::Alternation(parts) => parts.iter().all(is_nowhere),
        HirKind::Concat(parts) => {
            let (mut is_after_end, mut is_after_character) = (false, false);
            parts.iter().any(|part| {
                let takes = least(part).is_none_or(|least| least > 0);
                let is_wrong = match part.kind() {
                    HirKind::Look(Look::Start) => is_after_character,
                    _ => is_after_end && takes,
                };
                is_after_end |= matches!(part.kind(), HirKind::Look(Look::End));
                is_after_character |= takes;
                is_wrong || is_nowhere(part)
            })
        }
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::byte_constant;
    use crate::pattern::analyze;
    use regex::Regex;

    #[test]
    fn constant_patterns_are_constant_on_every_text() {
        let texts = ["", "a", "b", "ab", "\n", "a\nb", "\u{e9}", "xay\nz"];
        for (pattern, expected) in [
            ("", Some(true)),
            ("a|b|", Some(true)),
            ("a*", Some(true)),
            ("(?:a|)(b?)", Some(true)),
            ("(a{0,3})+", Some(true)),
            ("$a", Some(false)),
            ("a^", Some(false)),
            ("(?:b$)a|x^", Some(false)),
            ("b$a|x", None),
            ("(x[^\\x00-\\x{10FFFF}])", Some(false)),
            ("a?$", None),
            ("^a?", None),
            ("(?m)$\na", None),
            ("(?m)a\n^b", None),
            ("a", None),
            ("$", None),
            ("a|$b", None),
            ("\\b", None),
        ] {
            assert_eq!(analyze(pattern).unwrap().constant, expected, "{pattern}");
            let regex = Regex::new(pattern).unwrap();
            if let Some(expected) = expected {
                assert!(texts.iter().all(|text| regex.is_match(text) == expected), "{pattern}");
            }
        }
    }

    #[test]
    fn patterns_on_bytes_are_constant_on_every_text_of_bytes() {
        let texts: [&[u8]; 5] = [b"", b"a", b"\xe9", b"\xff\x00", b"a\xe9b"];
        for (pattern, expected) in [
            (r"[\xE9&&\W]", None),
            (r"[^\x00-\xFF]", Some(false)),
            (r"(?i)[\W]|", Some(true)),
            ("$a", Some(false)),
            ("a", None),
            ("(", None),
        ] {
            assert_eq!(byte_constant(pattern), expected, "{pattern}");
            if let Some(expected) = expected {
                let regex = regex::bytes::RegexBuilder::new(pattern).unicode(false).build().unwrap();
                assert!(texts.iter().all(|text| regex.is_match(text) == expected), "{pattern}");
            }
        }
    }
}
