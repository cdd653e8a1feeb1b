//! [`TreeError`]: why a tree is refused, and where.

use crate::error::CompileError;
use std::fmt;

/// Why a tree is not one that celero can read, or has no meaning in CEL.
#[derive(Clone, Debug)]
pub struct TreeError {
    message: String,
    place: Option<TreePlace>,
    compile_error: Option<Box<CompileError>>,
}

/// The place of a part of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreePlace {
    /// The `id` of the expression.
    pub id: i64,
    /// The line and the column in the source, both from 1, in code points, if the tree's source information has them.
    pub line_column: Option<(u32, u32)>,
    /// The name of the source, if the tree's source information has one.
    pub location: Option<String>,
}

impl TreePlace {
    /// A place of which only the expression is known.
    pub(super) fn new(id: i64) -> Self {
        Self { id, line_column: None, location: None }
    }
}

impl fmt::Display for TreePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expression {}", self.id)?;
        if let Some((line, column)) = self.line_column {
            write!(f, ", line {line}, column {column}")?;
        }
        if let Some(location) = &self.location {
            write!(f, " of {}", location.escape_debug())?;
        }
        Ok(())
    }
}

impl TreeError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, compile_error: None }
    }

    pub(super) fn at(self, place: TreePlace) -> Self {
        Self { place: Some(place), ..self }
    }

    /// At a place, unless it has one.
    pub(super) fn or_at(self, place: TreePlace) -> Self {
        Self { place: self.place.or(Some(place)), ..self }
    }

    /// The error of the expression that the tree stands for.
    pub(crate) fn of_expression(error: CompileError, place: Option<TreePlace>) -> Self {
        let message = error.diagnostics().first().map_or_else(String::new, |first| first.message.clone());
        Self { message, place, compile_error: Some(Box::new(error)) }
    }

    /// Returns all diagnostics of the check, if the tree stands for an expression of CEL that is not valid where it is
    /// compiled. Their source is the canonical text of the tree.
    #[must_use]
    pub fn compile_error(&self) -> Option<&CompileError> {
        self.compile_error.as_deref()
    }

    /// Returns the message: lower-case, one line, without a period.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the part of the tree that it is about, if it is about one.
    #[must_use]
    pub fn place(&self) -> Option<&TreePlace> {
        self.place.as_ref()
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{} ({place})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for TreeError {}
