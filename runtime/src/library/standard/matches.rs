//! `matches`, and what regular expressions cost: charges for searches and for compiling, and a
//! cache of patterns that are only known at evaluation.
//!
//! The context says in which [dialect](Dialect) patterns are. [`MeteredRegex`] says what a search is charged.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::recent_cache::RecentCache;
use celero_ir::ErrorKind;
use celero_matching::Matcher;
use celero_matching::pattern::{self, ByteMatcher, ByteRegex, Dialect, Meter, MeteredRegex, Pattern, Undecided};

/// Steps charged for finding a pattern in the cache.
const CACHE_STEPS: usize = 2;

thread_local! {
    static COMPILED: RecentCache<MeteredRegex> = const { RecentCache::new() };
    /// Those that are not in RE2's dialect.
    static COMPILED_OTHERS: RecentCache<MeteredRegex> = const { RecentCache::new() };
    static COMPILED_ON_BYTES: RecentCache<ByteRegex> = const { RecentCache::new() };
}

impl Meter for Cx<'_> {
    type Error = ErrorKind;

    #[inline]
    fn charge(&self, steps: usize) -> EvalResult<()> {
        Cx::charge(self, steps)
    }

    #[inline]
    fn left(&self) -> usize {
        usize::try_from(Cx::left(self)).unwrap_or(0)
    }
}

/// Whether a pattern that was compiled before the evaluation matches somewhere in `text`.
#[inline]
pub(crate) fn regex_found(cx: &Cx<'_>, matcher: &Matcher, text: &str) -> EvalResult<bool> {
    match matcher.search(text, cx) {
        Ok(found) => Ok(found),
        Err(Undecided::Spent(kind)) => Err(kind),
        Err(Undecided::NoEngine(over)) => with_pattern(cx, over.pattern, |regex| regex.is_match(text, cx))?,
    }
}

/// Whether a pattern on bytes that was compiled before the evaluation matches somewhere.
#[inline]
pub(crate) fn byte_regex_found(cx: &Cx<'_>, matcher: &ByteMatcher, bytes: &[u8]) -> EvalResult<bool> {
    match matcher.search(bytes, cx) {
        Ok(found) => Ok(found),
        Err(Undecided::Spent(kind)) => Err(kind),
        Err(Undecided::NoEngine(over)) => without_engine(cx, over.pattern.text, bytes),
    }
}

/// [`byte_regex_found`] where no memory was left for the pattern: compiles it for the thread.
#[cold]
fn without_engine(cx: &Cx<'_>, pattern: &str, bytes: &[u8]) -> EvalResult<bool> {
    cx.charge(CACHE_STEPS)?;
    let compile = || {
        let left = usize::try_from(cx.left()).unwrap_or(0);
        pattern::compile_bytes_metered(pattern, left, cx)?.map_err(|_| ErrorKind::InvalidArgument)
    };
    let regex = COMPILED_ON_BYTES.try_with(|compiled| compiled.with(pattern, compile, ByteRegex::clone));
    regex.unwrap_or(Err(ErrorKind::OutOfBudget)).and_then(|regex| regex.is_match(bytes, cx))
}

/// `text.matches(pattern)`: whether a pattern that was not known before the evaluation matches somewhere in `text`.
pub(crate) fn string_matches<'a>(cx: &Cx<'a>, text: &'a str, pattern: &'a str) -> EvalResult<bool> {
    with_regex(cx, pattern, |regex| regex.is_match(text, cx))?
}

/// [`with_pattern`] of the dialect of the context.
pub(crate) fn with_regex<R>(cx: &Cx<'_>, pattern: &str, search: impl FnOnce(&MeteredRegex) -> R) -> EvalResult<R> {
    with_pattern(cx, cx.dialect().pattern(pattern), search)
}

/// Calls `search` with a pattern from the thread's cache. Compiles, charges and caches the pattern
/// first if it is not there.
#[cold]
fn with_pattern<R>(cx: &Cx<'_>, pattern: Pattern<'_>, search: impl FnOnce(&MeteredRegex) -> R) -> EvalResult<R> {
    cx.charge(CACHE_STEPS)?;
    let compile = || {
        let left = usize::try_from(cx.left()).unwrap_or(0);
        pattern::compile_metered(pattern, left, cx)?.map_err(|_| ErrorKind::InvalidArgument)
    };
    // The search may use the cache again, and while the thread exits, the cache may be dropped already.
    let cache = match pattern.dialect {
        Dialect::Re2 => &COMPILED,
        Dialect::Regex => &COMPILED_OTHERS,
    };
    let regex = cache.try_with(|compiled| compiled.with(pattern.text, compile, MeteredRegex::clone));
    regex.unwrap_or(Err(ErrorKind::OutOfBudget)).map(|regex| search(&regex))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    #[test]
    fn searches() {
        let arena = Arena::new(0);
        let cases = [
            ("hubba", "ubb", Ok(true)),
            ("cows", "", Ok(true)),
            ("", "foobar", Ok(false)),
            ("grey", "gr(a|e)y", Ok(true)),
            ("foobar", "^bar", Ok(false)),
            ("Ω≈ç", "^.{3}$", Ok(true)),
            ("AB", "(?i)ab", Ok(true)),
            ("a", "(", Err(ErrorKind::InvalidArgument)),
            ("a", r"\Qa\E", Ok(true)),
            ("٣", r"\d", Ok(false)),
            ("a", "a**", Err(ErrorKind::InvalidArgument)),
            ("a", "((a{100}){100}){100}", Err(ErrorKind::InvalidArgument)),
        ];
        for (text, pattern, want) in cases {
            for _ in 0..2 {
                let cx = Cx::new(1_000_000, &arena);
                assert_eq!(string_matches(&cx, text, pattern), want, "{text} {pattern}");
            }
        }
    }

    #[test]
    fn patterns_on_bytes_are_decided_with_and_without_memory() {
        let arena = Arena::new(0);
        for memory in [0, 1 << 20] {
            let matcher = pattern::PatternCache::with_budget(memory).byte_matcher(r"a.\xffb?$").unwrap();
            for _ in 0..2 {
                let cx = Cx::new(1_000_000, &arena);
                assert_eq!(byte_regex_found(&cx, &matcher, b"xa\xe9\xff"), Ok(true));
                assert_eq!(byte_regex_found(&cx, &matcher, "xaé\u{ff}".as_bytes()), Ok(false));
            }
            let cx = Cx::new(1, &arena);
            assert_eq!(byte_regex_found(&cx, &matcher, &[b'a'; 100]), Err(ErrorKind::OutOfBudget));
        }
    }

    #[test]
    fn compiling_is_charged_once() {
        let arena = Arena::new(0);
        let cx = Cx::new(10_000, &arena);
        assert_eq!(string_matches(&cx, "a", "charged[0-9]"), Ok(false));
        let compiled = cx.left();
        assert!(compiled < 9_000, "{compiled}");
        assert_eq!(string_matches(&cx, "a", "charged[0-9]"), Ok(false));
        assert!(cx.left() > compiled - 100, "{}", cx.left());
        for other in 0..8 {
            let _ = string_matches(&cx, "a", &format!("charged[0-{other}]"));
        }
        assert_eq!(string_matches(&cx, "a", "charged[0-8]"), Err(ErrorKind::OutOfBudget));
    }

    #[test]
    fn long_patterns_are_compiled_once_too() {
        let arena = Arena::new(0);
        let cx = Cx::new(10_000_000, &arena);
        let long = format!("long{}", "[0-9]?".repeat(500));
        assert_eq!(string_matches(&cx, "a", &long), Ok(false));
        let compiled = cx.left();
        assert_eq!(string_matches(&cx, "a", &long), Ok(false));
        assert!(compiled - cx.left() < 1_000, "{}", compiled - cx.left());
    }

    /// What a pattern costs to compile is charged by the size of its program; one that is too
    /// expensive is not finished.
    #[test]
    fn large_patterns_are_charged_more() {
        let arena = Arena::new(0);
        let spent = |pattern: &str| {
            let cx = Cx::new(1_000_000, &arena);
            string_matches(&cx, "a", pattern).map(|_| 1_000_000 - cx.left())
        };
        let small = spent("small[0-9]").unwrap();
        assert!((3_000..7_000).contains(&small), "{small}");
        let large = spent(r"large\pL{40}").unwrap();
        assert!(large > 100_000, "{large}");
        let folded = |classes: usize| format!("(?i){}", r"[B-\x{10FFFF}]?".repeat(classes));
        assert!(spent(&folded(75)).unwrap() > 75_000);
        assert_eq!(spent(&folded(1_050)), Err(ErrorKind::OutOfBudget));
        let cx = Cx::new(10_000, &arena);
        assert_eq!(string_matches(&cx, "a", r"unfinished\pL{40}"), Err(ErrorKind::OutOfBudget));
    }
}
