//! Why an evaluation has no value.

pub use celero_ir::ErrorKind;
use std::fmt;

/// An evaluation error: what went wrong, and where in the rule's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvalError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// First byte of the expression that failed.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {}..{})", self.kind, self.start, self.end)
    }
}

impl std::error::Error for EvalError {}
