//! Patterns that are parsed once for several uses.

use super::compile::{PatternError, Syntax};
use regex_syntax::hir::Hir;

/// A valid pattern, parsed but not compiled.
///
/// It may take some thousand times the memory of the pattern's text, as `\pL` does: keep few at a time of patterns whose authors are not trusted.
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
    text: &'p str,
    hir: Hir,
}

impl<'p> ParsedPattern<'p> {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If the pattern is not valid, ignores case in too many classes of most characters, or exceeds
    /// [`MAX_PATTERN_BYTES`](super::MAX_PATTERN_BYTES) or [`MAX_NESTING`](super::MAX_NESTING).
    pub fn new(pattern: &'p str) -> Result<Self, PatternError> {
        Syntax::Text.parse(pattern).map(|hir| Self { text: pattern, hir })
    }

    /// The pattern.
    #[must_use]
    pub fn text(&self) -> &'p str {
        self.text
    }

    pub(crate) fn hir(&self) -> &Hir {
        &self.hir
    }
}
