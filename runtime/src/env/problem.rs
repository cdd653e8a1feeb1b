//! Declarations that were not accepted, and the reasons.

use celero_frontend::{Diagnostic, Style};
use std::fmt;

/// Why a declaration was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvError {
    message: String,
    /// Of a function defined in CEL.
    definition: Option<Box<Definition>>,
}

/// The text that the findings are about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Definition {
    name: String,
    text: String,
    origin: String,
    in_body: bool,
    diagnostics: Vec<Diagnostic>,
}

impl EnvError {
    pub(crate) fn new(message: String) -> Self {
        Self { message, definition: None }
    }

    /// Of a function defined in CEL: what is wrong with its declaration.
    pub(super) fn of_declaration(name: &str, text: &str, diagnostics: Vec<Diagnostic>) -> Self {
        Self::of_definition(name, text, false, diagnostics)
    }

    /// Of a function defined in CEL: what is wrong with its body.
    pub(super) fn of_body(name: &str, text: &str, diagnostics: Vec<Diagnostic>) -> Self {
        Self::of_definition(name, text, true, diagnostics)
    }

    fn of_definition(name: &str, text: &str, in_body: bool, diagnostics: Vec<Diagnostic>) -> Self {
        let origin = if in_body { format!("body of `{name}`") } else { "declaration".to_owned() };
        let first = diagnostics.first().map_or("it can't be defined", |first| &first.message);
        let message = format!("function `{name}`: {first}");
        let (name, text) = (name.to_owned(), text.to_owned());
        Self { message, definition: Some(Box::new(Definition { name, text, origin, in_body, diagnostics })) }
    }

    /// The reason in one line.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// For a function defined in CEL: the findings, with their places in its declaration or body.
    /// Empty for other declarations.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.definition.as_ref().map_or(&[], |definition| &definition.diagnostics)
    }

    /// Whether the places of [`diagnostics`](Self::diagnostics) are in the body of a definition; else they are in its
    /// declaration.
    #[must_use]
    pub fn is_in_body(&self) -> bool {
        self.definition.as_ref().is_some_and(|definition| definition.in_body)
    }
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Definition { name, text, origin, diagnostics, .. }) = self.definition.as_deref() else {
            return f.write_str(&self.message);
        };
        let shown = celero_frontend::render(text, origin, diagnostics, Style::Plain);
        write!(f, "function `{name}` can't be defined\n{}", shown.trim_end())
    }
}

impl std::error::Error for EnvError {}
