//! Formatting of rules: canonical text and layout.

use crate::engine::Engine;
use crate::error::CompileError;
use crate::program::Program;
use celero_frontend::{Cel, Language};

/// Line width of [`Engine::format`], in columns.
const WIDTH: usize = 100;

impl Engine {
    /// Returns a CEL rule in its canonical layout: one way of writing each expression, in lines of at most 100 columns where names and
    /// literals allow, with a line end. Comments before the expression are kept. The result means the same, and formatting it again
    /// changes nothing. For another language, see [`Language::format`](crate::language::Language::format).
    ///
    /// # Errors
    /// [`CompileError`] with the errors of the syntax, or with comments that are not before the expression and would be lost.
    ///
    /// ```
    /// let engine = celero::Engine::new();
    /// assert_eq!(engine.format("(a)&&b=='c'").unwrap(), "a && b == \"c\"\n");
    /// ```
    pub fn format(&self, source: &str) -> Result<String, CompileError> {
        Cel.format(source, &self.limits().source, WIDTH).map_err(|diagnostics| CompileError::new(source, diagnostics))
    }
}

impl<S> Program<S> {
    /// Returns the expression as canonical text on one line. Expressions with the same tree have the same text, whatever their spaces,
    /// parentheses, quotes and comments are.
    #[must_use]
    pub fn to_source(&self) -> String {
        self.expression().unparse()
    }
}
