//! Patterns that are parsed once for several uses.
//!
//! Invariant: a parsed pattern keeps its dialect for all its uses. It is never written as text and parsed again. Test:
//! `tests/tests/it/patterns/rewrites.rs::patterns_stay_in_translations`.

use crate::pattern::syntax::dialect::{Dialect, Pattern};
use crate::pattern::syntax::limits::{PatternError, Syntax};
use regex_syntax::hir::Hir;

/// A valid pattern, parsed but not compiled.
///
/// It may take some thousand times the memory of the pattern's text, as `\pL` does: keep few at a
/// time of patterns whose authors are not trusted.
///
/// ```
/// use celero_matching::pattern::ParsedPattern;
/// use celero_matching::{Matcher, MemoryBudget, PatternSet};
///
/// let patterns = [ParsedPattern::new("[0-9]{3}-[0-9]{4}")?, ParsedPattern::new("^[a-z]+$")?];
/// let set = PatternSet::from_parsed(&patterns, 1 << 20, &MemoryBudget::default());
/// let matchers: Vec<Matcher> = patterns.iter().map(Matcher::from_parsed).collect::<Result<_, _>>()?;
/// assert_eq!(matchers[1].is_match("abc"), Ok(true));
///
/// let mut found = Vec::new();
/// set.for_each("abc", |id, _| found.push(id));
/// assert_eq!(found, [1]);
/// # Ok::<(), celero_matching::pattern::PatternError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ParsedPattern<'p> {
    pattern: Pattern<'p>,
    hir: Hir,
}

impl<'p> ParsedPattern<'p> {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If the pattern is not valid, ignores case in too many classes of most characters, or exceeds
    /// [`MAX_PATTERN_BYTES`](crate::pattern::MAX_PATTERN_BYTES) or [`MAX_NESTING`](crate::pattern::MAX_NESTING).
    pub fn new(pattern: impl Into<Pattern<'p>>) -> Result<Self, PatternError> {
        let pattern = pattern.into();
        Syntax::Text.parse(pattern).map(|hir| Self { pattern, hir })
    }

    /// The text of the pattern.
    #[must_use]
    pub fn text(&self) -> &'p str {
        self.pattern.text
    }

    pub(crate) fn pattern(&self) -> Pattern<'p> {
        self.pattern
    }

    pub(crate) fn hir(&self) -> &Hir {
        &self.hir
    }
}

/// Whether a pattern on text is valid in all dialects, and read alike in them and as a pattern on
/// bytes. Cautious: a class that differs in Unicode is another one on bytes.
///
/// ```
/// use celero_matching::pattern::is_same_in_dialects;
///
/// assert!(is_same_in_dialects("^/(a|b{2})+$"));
/// assert!(!is_same_in_dialects(r"^\<"));
/// assert!(!is_same_in_dialects("a**"));
/// ```
#[must_use]
pub fn is_same_in_dialects(text: &str) -> bool {
    let parsed = |syntax: Syntax, dialect: Dialect| syntax.parse(dialect.pattern(text)).ok();
    let of_re2 = parsed(Syntax::Text, Dialect::Re2);
    of_re2.is_some()
        && of_re2 == parsed(Syntax::Text, Dialect::Regex)
        && of_re2 == parsed(Syntax::Bytes, Dialect::Regex)
}
