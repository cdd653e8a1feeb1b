//! Regular expressions: what searches cost, and patterns that are only known at evaluation.
//!
//! CEL's patterns are RE2's. The regex crate reads the same syntax but for these: `\C`, `\Q..\E` and `(?P=name)` are
//! errors; the classes `\d \s \w` and `\b` know all of Unicode where RE2's know ASCII; `x{n}` may be larger than 1000 while
//! the size limit holds; flags may also be `x` and `R`, classes may nest and intersect (`[a-z&&[^b]]`). Both search in time
//! linear in the text.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::recent_cache::RecentCache;
use ::regex::Regex;
use celero_ir::ErrorKind;
use celero_matching::{Matcher, pattern};

/// What compiling a pattern at evaluation takes from the budget, besides a step for each of its bytes.
const COMPILE_STEPS: usize = 20_000;

/// How far a search gets in one step, in bytes: a slow one takes tens of nanoseconds for each.
const BYTES_PER_STEP: usize = 8;

thread_local! {
    static COMPILED: RecentCache<Regex> = const { RecentCache::new() };
}

/// Whether an expression that was compiled before the evaluation matches somewhere.
#[inline]
pub(crate) fn regex_found(cx: &Cx<'_>, matcher: &Matcher, text: &str) -> EvalResult<bool> {
    cx.charge(text.len() / BYTES_PER_STEP)?;
    matcher.is_match(text).or_else(|over| with_recent(cx, over.pattern, |regex| regex.is_match(text)))
}

/// Whether a pattern that was not known before the evaluation matches somewhere.
pub(crate) fn string_matches<'a>(cx: &Cx<'a>, text: &'a str, pattern: &'a str) -> EvalResult<bool> {
    with_regex(cx, text, pattern, |regex| regex.is_match(text))
}

/// Uses a pattern that was not known before the evaluation for a search of `text`.
pub(super) fn with_regex<R>(cx: &Cx<'_>, text: &str, pattern: &str, search: impl FnOnce(&Regex) -> R) -> EvalResult<R> {
    cx.charge(text.len() / BYTES_PER_STEP)?;
    with_recent(cx, pattern, search)
}

/// Uses one of the few patterns that the thread keeps, or compiles it.
#[cold]
fn with_recent<R>(cx: &Cx<'_>, pattern: &str, search: impl FnOnce(&Regex) -> R) -> EvalResult<R> {
    let compile = || {
        cx.charge(COMPILE_STEPS.saturating_add(pattern.len()))?;
        pattern::compile(pattern).map_err(|_| ErrorKind::InvalidArgument)
    };
    // While the thread ends, its memory may be gone already.
    COMPILED.try_with(|compiled| compiled.with(pattern, compile, search)).unwrap_or(Err(ErrorKind::OutOfBudget))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    #[test]
    fn searches() {
        let arena = Arena::new(0);
        let cx = Cx::new(1_000_000, &arena);
        let cases = [
            ("hubba", "ubb", Ok(true)),
            ("cows", "", Ok(true)),
            ("", "foobar", Ok(false)),
            ("grey", "gr(a|e)y", Ok(true)),
            ("foobar", "^bar", Ok(false)),
            ("Ω≈ç", "^.{3}$", Ok(true)),
            ("AB", "(?i)ab", Ok(true)),
            ("a", "(", Err(ErrorKind::InvalidArgument)),
            ("a", r"\Qa\E", Err(ErrorKind::InvalidArgument)),
            ("a", "((a{100}){100}){100}", Err(ErrorKind::InvalidArgument)),
        ];
        for (text, pattern, want) in cases {
            for _ in 0..2 {
                assert_eq!(string_matches(&cx, text, pattern), want, "{text} {pattern}");
            }
        }
    }

    #[test]
    fn compiling_is_charged_once() {
        let arena = Arena::new(0);
        let cx = Cx::new(50_000, &arena);
        assert_eq!(string_matches(&cx, "a", "charged[0-9]"), Ok(false));
        assert_eq!(string_matches(&cx, "a", "charged[0-9]"), Ok(false));
        assert_eq!(string_matches(&cx, "a", "charged[0-8]"), Ok(false));
        assert_eq!(string_matches(&cx, "a", "charged[0-7]"), Err(ErrorKind::OutOfBudget));
    }
}
