//! Wildcard patterns: `wildcard` and `strictWildcard`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use celero_frontend::filter::{BytesForm, BytesLiteral};
use celero_ir::ErrorKind;
use celero_matching::Wildcard;

/// Steps charged for preparing a pattern, besides those for its bytes.
const PREPARE_STEPS: usize = 4;

/// Parses a pattern that is text. The two languages have one syntax for them.
pub(crate) fn wildcard_of(pattern: &str, strict: bool) -> Option<celero_ir::Wildcard> {
    let literal = BytesLiteral { value: pattern.as_bytes().into(), form: BytesForm::Quoted };
    let parsed = celero_frontend::filter::Wildcard::new(literal, None).ok()?;
    Some(celero_ir::Wildcard::new(parsed.pieces().iter().map(|piece| &**piece), strict))
}

/// Prepares the pattern of a constant.
pub(crate) fn prepared_wildcard(wildcard: &celero_ir::Wildcard) -> Wildcard {
    Wildcard::new(wildcard.pieces.iter().map(|piece| &**piece), wildcard.strict)
}

/// Whether a pattern that was prepared before the evaluation matches all of the bytes.
#[inline]
pub(crate) fn wildcard_found(cx: &Cx<'_>, wildcard: &Wildcard, bytes: &[u8]) -> EvalResult<bool> {
    wildcard.matches(bytes, cx)
}

/// `text.wildcard(pattern)`, or if `strict` `text.strictWildcard(pattern)`: whether a pattern that
/// was not known before the evaluation matches the whole text.
pub(super) fn string_wildcard(cx: &Cx<'_>, text: &str, pattern: &str, strict: bool) -> EvalResult<bool> {
    cx.charge(pattern.len().saturating_add(PREPARE_STEPS))?;
    let wildcard = wildcard_of(pattern, strict).ok_or(ErrorKind::InvalidArgument)?;
    wildcard_found(cx, &prepared_wildcard(&wildcard), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    #[test]
    fn matches_whole_texts() {
        let arena = Arena::new(0);
        for (text, pattern, folded, strict) in [
            ("www.Example.com", "*.example.com", true, false),
            ("www.example.com", "*.example.com", true, true),
            ("example.com", "*.example.com", false, false),
            ("/a/b.PHP", "/*.php", true, false),
            ("a*b", r"a\*b", true, true),
            ("axb", r"a\*b", false, false),
            (r"a\b", r"a\\b", true, true),
            ("a?b", "a?b", true, true),
            ("axb", "a?b", false, false),
            ("", "", true, true),
            ("", "*", true, true),
            ("GRÜSSE", "grÜsse", true, false),
            ("grüsse", "grÜsse", false, false),
            ("abcbd", "a*b*d", true, true),
        ] {
            for (is_strict, wanted) in [(false, folded), (true, strict)] {
                let cx = Cx::new(1_000, &arena);
                assert_eq!(string_wildcard(&cx, text, pattern, is_strict), Ok(wanted), "{text} {pattern} {is_strict}");
                let constant = prepared_wildcard(&wildcard_of(pattern, is_strict).unwrap());
                assert_eq!(wildcard_found(&cx, &constant, text.as_bytes()), Ok(wanted));
            }
        }
        for pattern in ["a**", r"a\", r"\a*"] {
            let cx = Cx::new(1_000, &arena);
            assert_eq!(string_wildcard(&cx, "a", pattern, true), Err(ErrorKind::InvalidArgument), "{pattern}");
        }
        let cx = Cx::new(10, &arena);
        assert_eq!(string_wildcard(&cx, "a", "abcdefghij", true), Err(ErrorKind::OutOfBudget));
        assert_eq!(string_wildcard(&cx, &"a".repeat(100), "*a*", false), Err(ErrorKind::OutOfBudget));
    }
}
