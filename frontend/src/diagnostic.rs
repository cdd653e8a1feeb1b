//! Diagnostics: errors and warnings for rule authors, with a message, places and help.

use crate::span::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Severity {
    /// The expression is rejected.
    Error,
    /// The expression is accepted, but probably does not mean what its author thinks.
    Warning,
}

/// The stage that reports a diagnostic: the error kinds `parse`, `check` and `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Stage {
    /// The text is not CEL.
    Parse,
    /// Names or types do not fit.
    Check,
    /// A bound of [`Limits`](crate::Limits) was exceeded.
    Limit,
}

/// A remark about a second place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there ("this is `string`").
    pub text: String,
}

/// One finding. Messages are lower-case, one line, without a period; source text is in backquotes.
/// Displays as ``error[undeclared-name]: undeclared reference to `pth` (at 0..3); help: did you mean `path`?``;
/// [`render`](crate::render()) shows it under the line of the source. With the feature `serde` it is serialised by the
/// names of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Who found it.
    pub stage: Stage,
    /// A stable name (`undeclared-name`), documented in the catalogue.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Further places.
    pub labels: Vec<Label>,
    /// What to do about it ("did you mean `request.path`?").
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error without labels and help.
    #[must_use]
    pub fn error(stage: Stage, code: &'static str, span: Span, message: impl Into<String>) -> Self {
        let (message, labels, help) = (message.into(), Vec::new(), Vec::new());
        Self { severity: Severity::Error, stage, code, message, span, labels, help }
    }

    /// A warning of the checker or a lint, without labels and help.
    #[must_use]
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(Stage::Check, code, span, message) }
    }

    /// The same about the places that `place` gives for its spans: of an expression that is part of a larger source.
    #[must_use]
    pub fn placed(mut self, place: impl Fn(Span) -> Span) -> Self {
        self.span = place(self.span);
        self.labels.iter_mut().for_each(|label| label.span = place(label.span));
        self
    }
}

/// One row of a table of diagnostic codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The stable name ([`Diagnostic::code`]).
    pub code: &'static str,
    /// The stage that reports it.
    pub stage: Stage,
    /// What it means, in a sentence.
    pub summary: &'static str,
}

/// The code of a tree that is nested deeper than [`Limits::max_depth`](crate::Limits::max_depth).
pub const TOO_DEEP: &str = "too-deep";

/// The code of a tree with more nodes than [`Limits::max_nodes`](crate::Limits::max_nodes).
pub const TOO_MANY_NODES: &str = "too-many-nodes";
