//! Formatting of rules: canonical text and layout.

use super::Engine;
use super::program::Program;
use crate::env::Env;
use crate::error::CompileError;
use celero_frontend::{Cel, Language};

/// Line width of [`Engine::format`], in columns.
const WIDTH: usize = 100;

impl Engine {
    /// Returns a CEL rule in its canonical layout: one way of writing each expression, in lines of
    /// at most 100 columns where names and literals allow, with a line end. Comments before the
    /// expression are kept. The result means the same, and formatting it again changes nothing. For
    /// rules in the language of an environment, see [`format_in`](Self::format_in).
    ///
    /// # Errors
    /// [`CompileError`] with the errors of the syntax, or with comments that are not before the
    /// expression and would be lost.
    ///
    /// ```
    /// let engine = celero::Engine::new();
    /// assert_eq!(engine.format("(a)&&b=='c'").unwrap(), "a && b == \"c\"\n");
    /// ```
    pub fn format(&self, source: &str) -> Result<String, CompileError> {
        Cel.format(source, &self.limits().source, WIDTH).map_err(|diagnostics| CompileError::new(source, diagnostics))
    }

    /// Returns a rule in the language of an environment in its canonical layout, as
    /// [`format`](Self::format) does for CEL. In the filter language the types of fields decide how
    /// literals are read, so the rule is checked.
    ///
    /// # Errors
    /// [`CompileError`] with the errors of the syntax; in the filter language with every error.
    ///
    /// ```
    /// use celero::filter::FilterLanguage;
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let env = Env::<RequestContext>::new().filter_language(FilterLanguage::http());
    /// assert_eq!(Engine::new().format_in(&env, r#"(ssl)&&http.host=="a""#)?, "ssl and http.host eq \"a\"\n");
    /// # Ok::<(), celero::CompileError>(())
    /// ```
    pub fn format_in<C>(&self, env: &Env<C>, source: &str) -> Result<String, CompileError> {
        let limits = &self.limits().source;
        env.rule_language().format(source, limits, WIDTH).map_err(|diagnostics| CompileError::new(source, diagnostics))
    }
}

impl<S> Program<S> {
    /// Returns the expression as canonical text on one line. Expressions with the same tree have
    /// the same text, whatever their spaces, parentheses, quotes and comments are.
    #[must_use]
    pub fn to_source(&self) -> String {
        self.expression().tree().unparse()
    }
}
