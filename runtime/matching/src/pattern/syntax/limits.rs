//! The limits of patterns, and the errors of those that exceed them.

use crate::pattern::syntax::syntax_error::SyntaxError;

/// Longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 16 * 1024;
/// Largest compiled program, in bytes.
pub const MAX_PROGRAM_BYTES: usize = 1 << 21;
/// Deepest nesting of a pattern.
pub const MAX_NESTING: u32 = 100;
/// Largest compiled program of a pattern on bytes, in bytes. Nothing else bounds its length.
pub const MAX_BYTE_PROGRAM_BYTES: usize = 10 << 20;
/// Deepest nesting of a pattern on bytes, that of the regex crate.
pub(in crate::pattern) const MAX_BYTE_NESTING: u32 = 250;

/// Bytes of a compiled program for each step of compiling or cloning it.
pub(crate) const PROGRAM_BYTES_PER_STEP: usize = 8;

/// Why a pattern can't be compiled.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PatternError {
    /// The pattern is longer than [`MAX_PATTERN_BYTES`].
    TooLong {
        /// Length of the pattern.
        bytes: usize,
    },
    /// The pattern is not valid.
    Syntax(SyntaxError),
    /// The pattern ignores case in too many large classes: looking up their other letter cases
    /// takes up to milliseconds each.
    TooManyCases,
    /// The compiled program would exceed a limit.
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong { bytes } => write!(f, "pattern of {bytes} bytes is longer than {MAX_PATTERN_BYTES}"),
            Self::Syntax(error) => error.fmt(f),
            Self::TooManyCases => f.write_str(
                "the pattern ignores case in too many large classes; write `(?s:.)` for any character, and `(?-i:..)` around \
                 classes that have all cases",
            ),
            Self::TooLarge { limit } => write!(f, "the program of the pattern exceeds the size limit of {limit} bytes"),
        }
    }
}

impl std::error::Error for PatternError {}

/// What a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pattern) enum Syntax {
    /// Text: the syntax of the pattern's dialect, within the limits above.
    Text,
    /// Bytes: that of `regex::bytes::RegexBuilder` with `unicode(false)`.
    Bytes,
}

impl Syntax {
    /// Largest compiled program, in bytes.
    pub(in crate::pattern) fn max_program_bytes(self) -> usize {
        match self {
            Self::Text => MAX_PROGRAM_BYTES,
            Self::Bytes => MAX_BYTE_PROGRAM_BYTES,
        }
    }
}
