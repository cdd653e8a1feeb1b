//! The limits within which patterns are compiled.

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

/// Longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 16 * 1024;
/// Largest compiled program, in bytes.
pub const MAX_PROGRAM_BYTES: usize = 1 << 21;
/// Deepest nesting of a pattern.
pub const MAX_NESTING: u32 = 100;

/// Largest cache of a lazily built automaton, in bytes, for each thread that searches. A search that needs more continues
/// more slowly.
const MAX_CACHE_BYTES: usize = 1 << 20;

/// Why a pattern can't be compiled.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PatternError {
    /// The pattern is longer than [`MAX_PATTERN_BYTES`].
    TooLong {
        /// Length of the pattern.
        bytes: usize,
    },
    /// The pattern is not valid, or its program would exceed the limit.
    Regex(regex::Error),
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong { bytes } => write!(f, "pattern of {bytes} bytes is longer than {MAX_PATTERN_BYTES}"),
            Self::Regex(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PatternError {}

/// Compiles a pattern that may come from an untrusted author: its length, nesting and program are bounded.
///
/// # Errors
/// If the pattern is not valid or exceeds [`MAX_PATTERN_BYTES`], [`MAX_NESTING`] or [`MAX_PROGRAM_BYTES`].
pub fn compile(pattern: &str) -> Result<Regex, PatternError> {
    compile_within(pattern, MAX_PROGRAM_BYTES)
}

/// Compiles a pattern to a program of at most `program_bytes`.
pub(super) fn compile_within(pattern: &str, program_bytes: usize) -> Result<Regex, PatternError> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(PatternError::TooLong { bytes: pattern.len() });
    }
    RegexBuilder::new(pattern)
        .size_limit(program_bytes)
        .dfa_size_limit(MAX_CACHE_BYTES)
        .nest_limit(MAX_NESTING)
        .build()
        .map_err(PatternError::Regex)
}

/// Parses a pattern. Returns `None` if it is not valid.
pub(crate) fn parse(pattern: &str) -> Option<Hir> {
    ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(pattern).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold() {
        assert!(compile(&"a".repeat(MAX_PATTERN_BYTES)).is_ok());
        assert!(compile(&"a".repeat(MAX_PATTERN_BYTES + 1)).unwrap_err().to_string().contains("16384"));
        assert!(compile(&format!("{}a{}", "(".repeat(101), ")".repeat(101))).is_err());
        assert!(compile(r"\w{1000}").is_err());
    }
}
