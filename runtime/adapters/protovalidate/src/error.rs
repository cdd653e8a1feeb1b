//! What validators fail with.

use std::fmt;

/// Rules that do not compile: a mistake in an expression, or rules of another type than the field's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError(String);

impl CompileError {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CompileError {}

/// A message that could not be validated: it is malformed, or evaluating a rule failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidateError(String);

impl ValidateError {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for ValidateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ValidateError {}
