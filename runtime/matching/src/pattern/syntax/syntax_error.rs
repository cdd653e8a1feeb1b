//! Why a pattern is not valid, and where.

use std::fmt;
use std::ops::Range;

/// Why a pattern is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The reason, in words.
    pub reason: String,
    /// The part of the pattern that is wrong, in bytes.
    pub span: Range<usize>,
}

impl SyntaxError {
    pub(in crate::pattern) fn new(reason: impl Into<String>, span: Range<usize>) -> Self {
        Self { reason: reason.into(), span }
    }

    /// An error of the regex crate's parser.
    pub(in crate::pattern) fn of_regex(error: &regex_syntax::Error, pattern: &str) -> Self {
        let (reason, span) = match error {
            regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span()),
            regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span()),
            other => return Self::new(other.to_string(), 0..pattern.len()),
        };
        Self::new(reason, span.start.offset..span.end.offset)
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at byte {}", self.reason, self.span.start)
    }
}

impl std::error::Error for SyntaxError {}
