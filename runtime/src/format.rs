//! Rules as people should read them: canonical text and layout.

use crate::engine::{CompileError, Engine};
use crate::program::Program;

/// Columns that [`Engine::format`] fills.
const WIDTH: usize = 100;

impl Engine {
    /// Lays a rule out: one way of writing each expression, in lines of at most 100 columns where its names and literals
    /// allow, with a line end. Comments before the expression are kept. Formatting twice changes nothing more, and
    /// never changes what the rule means.
    ///
    /// # Errors
    /// What is wrong with the syntax; comments that are not before the expression, which would be lost.
    ///
    /// ```
    /// let engine = celero::Engine::new();
    /// assert_eq!(engine.format("(a)&&b=='c'").unwrap(), "a && b == \"c\"\n");
    /// ```
    pub fn format(&self, source: &str) -> Result<String, CompileError> {
        celero_frontend::format(source, &self.limits().source, WIDTH)
            .map_err(|diagnostics| CompileError::new(source, diagnostics))
    }
}

impl<S> Program<S> {
    /// The expression in canonical text, on one line: expressions with the same tree have the same text, whatever their
    /// spaces, parentheses, quotes and comments were.
    #[must_use]
    pub fn to_source(&self) -> String {
        celero_frontend::unparse(self.checked().ast())
    }
}
