//! Patterns without the groups that nobody reads.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Hir, HirKind, Repetition};
use std::borrow::Cow;

/// Most groups that a replacement can name.
pub(super) const GROUPS: u32 = 9;

/// Returns a pattern of the same matches that keeps the first `groups` groups only. A search reserves memory for each group in each state: for
/// a pattern of thousands of groups gigabytes. A text that is no pattern stays as it is.
pub(super) fn reduced(pattern: &str, groups: u32) -> Cow<'_, str> {
    match ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern) {
        Ok(hir) if hir.properties().explicit_captures_len() > groups as usize => keep(hir, groups).to_string().into(),
        _ => pattern.into(),
    }
}

/// The same expression without the groups after the first ones. The parser bounds the nesting.
fn keep(hir: Hir, groups: u32) -> Hir {
    let all = |parts: Vec<Hir>| parts.into_iter().map(|part| keep(part, groups)).collect();
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            Hir::repetition(Repetition { min, max, greedy, sub: Box::new(keep(*sub, groups)) })
        }
        HirKind::Capture(Capture { index, name, sub }) => {
            let sub = keep(*sub, groups);
            if index > groups { sub } else { Hir::capture(Capture { index, name, sub: Box::new(sub) }) }
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero_matching::pattern::{ByteRegex, Unmetered};
    use regex::bytes::{Regex, RegexBuilder};

    fn compiled(pattern: &str) -> Regex {
        RegexBuilder::new(pattern).unicode(false).build().unwrap()
    }

    #[test]
    fn patterns_without_groups_match_the_same() {
        let texts: [&[u8]; 8] = [b"", b"ab", b"aXb", b"\xff\x00", b"a\nb", "é".as_bytes(), b"aab.", b"cab"];
        for pattern in [
            "(a)(b)",
            "(a|b)*",
            "^(a+)(?:b|c)$",
            r"(\w)(\W)",
            "(é)",
            r"(\xff)",
            "(?i)(x)",
            "(?s)(a.b)",
            "(?m)^(b)$",
            r"(a{2,3}?)(b)\.",
            "((((a))))",
            "(?P<name>a)b",
            "[^(]()",
            r"\b(a)",
        ] {
            let (plain, without) = (compiled(pattern), compiled(&reduced(pattern, 0)));
            assert_eq!(without.captures_len(), 1, "{pattern}");
            for text in texts {
                let found = plain.find(text).map(|found| found.range());
                assert_eq!(without.find(text).map(|found| found.range()), found, "{pattern} in {text:?}");
            }
        }
        assert_eq!(compiled(&reduced("(a)(b)(c)", 2)).captures_len(), 3);
    }

    #[test]
    fn thousands_of_groups_take_little_memory() {
        let pattern = "(a|b)*".repeat(20_000) + "c";
        for groups in [0, GROUPS] {
            let regex = ByteRegex::new(&reduced(&pattern, groups)).unwrap();
            assert_eq!(regex.is_match(b"abababc", &Unmetered), Ok(true));
        }
    }
}
