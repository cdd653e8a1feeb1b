//! How regular expressions and wildcards are written as entries, and what they take when they are compiled.
//!
//! Invariant: the compiled patterns of a list take at most `MAX_COMPILED_BYTES`, whatever the number of its levels.
//! Test: `runtime/lists/tests/patterns.rs::the_memory_of_compiled_patterns_is_bounded`.
//!
//! Invariant: each time the patterns of a list are parsed, their letter cases take at most `MAX_CASE_STEPS` steps.
//! Test: `runtime/lists/tests/patterns.rs::the_time_for_letter_cases_is_bounded`.

use celero_matching::pattern::{
    Dialect, MAX_PROGRAM_BYTES, PatternError, analyze, check_cases, compile, folding_steps,
};

const _: () = assert!(MAX_PROGRAM_BYTES < MAX_COMPILED_BYTES, "every pattern fits into a list");

/// How the patterns of a list are read, whatever the language of the rules that ask for them.
pub(crate) const DIALECT: Dialect = Dialect::Re2;

/// Most entries of a list of patterns or wildcards.
pub const MAX_PATTERNS: usize = 10_000;
/// Most bytes that the compiled entries of a list of patterns or wildcards may take.
pub const MAX_COMPILED_BYTES: usize = 256 << 20;
/// Most patterns of a text of which only compiling them says whether they are too large. That takes
/// up to some milliseconds for each.
pub(crate) const MAX_LARGE_PATTERNS: usize = 2_048;

/// Most steps that one parsing of all patterns of a text or a list may take for letter cases: some
/// four tenths of a second.
pub(crate) const MAX_CASE_STEPS: usize = 4_000_000;

/// Most stars of a wildcard.
const MAX_STARS: usize = 64;

/// What a wildcard takes in a set, besides its text and its engine.
const WILDCARD_BYTES: usize = 256;
/// What a wildcard takes in a set for each byte of its text: tables of searches.
const WILDCARD_BYTES_PER_BYTE: usize = 8;
/// What a wildcard takes for each star while a set is built, as a regular expression.
const WILDCARD_BYTES_PER_STAR: usize = 512;

/// Checks a regular expression.
///
/// # Errors
/// Why it is none, or that it takes too much memory.
pub(crate) fn check_pattern(text: &str) -> Result<(), String> {
    if analyze(DIALECT.pattern(text)).is_some_and(|analysis| analysis.program_bytes <= MAX_PROGRAM_BYTES) {
        return Ok(());
    }
    let Err(error) = compile(DIALECT.pattern(text)) else { return Ok(()) };
    Err(match error {
        PatternError::Syntax(error) => format!("not a regular expression: {error}"),
        other => other.to_string(),
    })
}

/// Returns whether only compiling a pattern says whether it is too large.
pub(crate) fn may_be_large(text: &str) -> bool {
    analyze(DIALECT.pattern(text)).is_some_and(|analysis| analysis.program_bytes > MAX_PROGRAM_BYTES)
}

/// Returns the steps that one parsing of a pattern takes for letter cases. One that takes too many
/// by itself is wrong, and is not parsed.
pub(crate) fn case_steps(text: &str) -> usize {
    let pattern = DIALECT.pattern(text);
    if check_cases(pattern).is_ok() { folding_steps(pattern) } else { 0 }
}

/// Why no more patterns are read: their letter cases take more than [`MAX_CASE_STEPS`].
pub(crate) fn too_many_cases() -> String {
    format!(
        "the entries ignore case in too many large classes, such as `\\pL` after `(?i)`: their letter cases take more than \
         {MAX_CASE_STEPS} steps; write `(?s:.)` for any character"
    )
}

/// Returns an upper bound of the bytes of a wildcard in a set, and while the set is built, besides its engine.
pub(crate) fn wildcard_bytes(text: &str) -> usize {
    let stars = text.bytes().filter(|byte| *byte == b'*').count().saturating_mul(WILDCARD_BYTES_PER_STAR);
    text.len().saturating_mul(WILDCARD_BYTES_PER_BYTE).saturating_add(WILDCARD_BYTES).saturating_add(stars)
}

/// Returns the texts between the stars of a wildcard: one more than there are stars.
///
/// # Errors
/// Why it is none.
pub(crate) fn wildcard_pieces(text: &str) -> Result<Vec<String>, String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut after_star = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let is_star = c == '*';
        if is_star && after_star {
            return Err("two stars: one stands for any text already".to_owned());
        }
        after_star = is_star;
        if is_star && pieces.len() >= MAX_STARS {
            return Err(format!("more than {MAX_STARS} stars"));
        }
        match c {
            '*' => pieces.push(std::mem::take(&mut piece)),
            '\\' => match chars.next() {
                Some(escaped @ ('*' | '\\')) => piece.push(escaped),
                _ => return Err("a backslash stands only before a star or a backslash".to_owned()),
            },
            c => piece.push(c),
        }
    }
    pieces.push(piece);
    Ok(pieces)
}

/// Returns the regular expression that matches somewhere in a text if a wildcard of these pieces
/// matches the whole text.
pub(crate) fn pattern_of(pieces: &[String]) -> String {
    let [only] = pieces else {
        // A star at an end is left out: what is searched for may stand anywhere.
        let inner: Vec<String> = pieces.iter().map(|piece| quoted(piece)).collect();
        let (first, last) = (pieces.first(), pieces.last());
        let start = if first.is_some_and(String::is_empty) { "" } else { r"\A" };
        let end = if last.is_some_and(String::is_empty) { "" } else { r"\z" };
        let inner: Vec<&str> = inner.iter().map(String::as_str).filter(|piece| !piece.is_empty()).collect();
        return format!("{start}{}{end}", inner.join("(?s:.*)"));
    };
    format!(r"\A{}\z", quoted(only))
}

/// A text as a regular expression.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() && !c.is_ascii_alphanumeric() {
            quoted.push_str(&format!("\\x{{{:x}}}", u32::from(c)));
        } else {
            quoted.push(c);
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pattern_says_why_in_a_sentence() {
        for (text, reason) in [
            ("(", "not a regular expression: unclosed group, at byte 0"),
            (r"\<a{", ""),
            ("a**", "repeats a repetition"),
            ("[z-a]", "`z-a` is no range"),
            (r"\pL{1000}", "exceeds the size limit of 2097152 bytes"),
            ("(?=a)", "look-around"),
        ] {
            match check_pattern(text) {
                Ok(()) => assert!(reason.is_empty(), "{text}"),
                Err(error) => {
                    assert!(!reason.is_empty() && error.contains(reason) && !error.contains('\n'), "{text}: {error}");
                }
            }
        }
    }

    #[test]
    fn wildcards_are_read_as_pieces_and_as_patterns() {
        for (text, pieces, pattern) in [
            ("/a", &["/a"][..], r"\A\x{2f}a\z"),
            ("/a/*", &["/a/", ""], r"\A\x{2f}a\x{2f}"),
            ("*.php", &["", ".php"], r"\x{2e}php\z"),
            ("*a*", &["", "a", ""], "a"),
            ("a*ä*b", &["a", "ä", "b"], r"\Aa(?s:.*)ä(?s:.*)b\z"),
            ("*", &["", ""], ""),
            (r"\*\\?", &[r"*\?"], r"\A\x{2a}\x{5c}\x{3f}\z"),
        ] {
            let own = wildcard_pieces(text).unwrap();
            assert_eq!(own, pieces, "{text}");
            assert_eq!(pattern_of(&own), pattern, "{text}");
        }
        for (text, reason) in [("a**", "two stars"), (r"\d", "a backslash"), (r"a\", "a backslash")] {
            assert!(wildcard_pieces(text).unwrap_err().contains(reason), "{text}");
        }
        // A star of the text is none of the wildcard.
        assert!(wildcard_pieces(&("*a".repeat(MAX_STARS) + r"\*")).is_ok());
        assert_eq!(wildcard_pieces(&"*a".repeat(MAX_STARS + 1)).unwrap_err(), "more than 64 stars");
    }
}
