//! Parses patterns.

use crate::pattern::syntax::dialect::{Dialect, Pattern};
use crate::pattern::syntax::folding::{MAX_STEPS, check_parsed_cases, may_ignore_case};
use crate::pattern::syntax::limits::{MAX_BYTE_NESTING, MAX_NESTING, MAX_PATTERN_BYTES, PatternError, Syntax};
use crate::pattern::syntax::re2;
use crate::pattern::syntax::syntax_error::SyntaxError;
use regex_syntax::ast;
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;

impl Syntax {
    /// Parses a pattern.
    pub(in crate::pattern) fn parse(self, pattern: Pattern<'_>) -> Result<Hir, PatternError> {
        if self == Self::Text && pattern.text.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong { bytes: pattern.text.len() });
        }
        self.parse_of_any_length(pattern)
    }

    fn parse_of_any_length(self, pattern: Pattern<'_>) -> Result<Hir, PatternError> {
        if self == Self::Text && pattern.dialect == Dialect::Re2 {
            let parsed = re2::parse(pattern.text, MAX_NESTING, MAX_STEPS).map_err(PatternError::Syntax)?;
            return parsed.ok_or(PatternError::TooManyCases);
        }
        let pattern = pattern.text;
        let (nesting, text) = match self {
            Self::Text => (MAX_NESTING, true),
            Self::Bytes => (MAX_BYTE_NESTING, false),
        };
        let syntax = |error: regex_syntax::Error| PatternError::Syntax(SyntaxError::of_regex(&error, pattern));
        let parsed = ast::parse::ParserBuilder::new().nest_limit(nesting).build().parse(pattern);
        let ast = parsed.map_err(|error| syntax(error.into()))?;
        if may_ignore_case(pattern) {
            check_parsed_cases(&ast, self)?;
        }
        let mut translator = TranslatorBuilder::new().unicode(text).utf8(text).build();
        translator.translate(pattern, &ast).map_err(|error| syntax(error.into()))
    }
}

/// Parses a pattern of any length. Returns `None` if it is not valid, or if it ignores case in too many classes.
pub(crate) fn parse<'p>(pattern: impl Into<Pattern<'p>>) -> Option<Hir> {
    Syntax::Text.parse_of_any_length(pattern.into()).ok()
}
