//! `matches`, and what regular expressions cost: charges for searches, and a cache of patterns that are only known at evaluation.
//!
//! CEL's patterns have RE2's syntax. That of the regex crate differs as follows: `\C`, `\Q..\E` and `(?P=name)` are errors;
//! the classes `\d \s \w` and `\b` are those of Unicode, in RE2 those of ASCII; in `x{n}`, `n` may exceed 1000 within the size
//! limit; the flags `x` and `R` exist; classes may nest and intersect (`[a-z&&[^b]]`). Both engines search in time linear in
//! the text.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::recent_cache::RecentCache;
use ::regex::Regex;
use celero_ir::ErrorKind;
use celero_matching::{Matcher, pattern};

/// Steps charged for compiling a pattern during evaluation, plus one step for each of its bytes.
const COMPILE_STEPS: usize = 20_000;

/// Bytes of text searched per step charged. A slow search takes tens of nanoseconds per byte.
const BYTES_PER_STEP: usize = 8;

thread_local! {
    static COMPILED: RecentCache<Regex> = const { RecentCache::new() };
}

/// Whether a pattern that was compiled before the evaluation matches somewhere in `text`.
#[inline]
pub(crate) fn regex_found(cx: &Cx<'_>, matcher: &Matcher, text: &str) -> EvalResult<bool> {
    cx.charge(text.len() / BYTES_PER_STEP)?;
    matcher.is_match(text).or_else(|over| with_recent(cx, over.pattern, |regex| regex.is_match(text)))
}

/// `text.matches(pattern)`: whether a pattern that was not known before the evaluation matches somewhere in `text`.
pub(crate) fn string_matches<'a>(cx: &Cx<'a>, text: &'a str, pattern: &'a str) -> EvalResult<bool> {
    with_regex(cx, text, pattern, |regex| regex.is_match(text))
}

/// Compiles `pattern`, or takes it from the thread's cache, charges a search of `text` and calls `search`.
pub(crate) fn with_regex<R>(cx: &Cx<'_>, text: &str, pattern: &str, search: impl FnOnce(&Regex) -> R) -> EvalResult<R> {
    cx.charge(text.len() / BYTES_PER_STEP)?;
    with_recent(cx, pattern, search)
}

/// Calls `search` with a pattern from the thread's cache; compiles and caches the pattern first if it is not there.
#[cold]
fn with_recent<R>(cx: &Cx<'_>, pattern: &str, search: impl FnOnce(&Regex) -> R) -> EvalResult<R> {
    let compile = || {
        cx.charge(COMPILE_STEPS.saturating_add(pattern.len()))?;
        pattern::compile(pattern).map_err(|_| ErrorKind::InvalidArgument)
    };
    // While the thread exits, its cache may be dropped already.
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
