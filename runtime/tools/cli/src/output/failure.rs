//! Why an expression has no value: invalid input, a compile error or an evaluation error.

use celero::diagnostics::{Report, Severity, Span, Stage};
use celero::{CompileError, Diagnostic, EvalError};
use celero_tooling::diagnostic_json::stage;
use celero_tooling::policy_names::explain;
use serde_json::{Value as Json, json};

/// Why an expression has no value.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// `parse`, `check`, `limit`, or the kind of the evaluation's error.
    pub(crate) kind: &'static str,
    /// The message, one line.
    pub(crate) message: String,
    /// The span in bytes of the source.
    pub(crate) span: Option<(u32, u32)>,
    /// All errors and warnings.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// Returns a failure because of invalid input.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { kind: "invalid_argument", message: message.into(), span: None, diagnostics: Vec::new() }
    }

    /// Returns the failure as JSON.
    pub(crate) fn json(&self) -> Json {
        let mut error = json!({ "kind": self.kind, "message": self.message });
        if let (Some((start, end)), Some(members)) = (self.span, error.as_object_mut()) {
            members.insert("span".to_owned(), json!([start, end]));
        }
        json!({ "error": error })
    }

    /// Returns the failure as text, with the marked source, which is called `name`.
    pub(crate) fn render(&self, name: &str, source: &str, color: bool) -> String {
        if self.diagnostics.is_empty() {
            return format!("error: {}", self.message);
        }
        celero::diagnostics::render(source, name, &self.diagnostics, style(color))
    }
}

impl From<&CompileError> for Failure {
    fn from(error: &CompileError) -> Self {
        let mut diagnostics = error.diagnostics().to_vec();
        diagnostics.iter_mut().for_each(explain);
        let first = diagnostics.iter().find(|d| d.severity == Severity::Error);
        let (kind, message, span) = match first {
            Some(d) => (stage(d.stage), d.message.clone(), Some((d.span.start, d.span.end))),
            None => ("check", error.to_string(), None),
        };
        Self { kind, message, span, diagnostics }
    }
}

impl From<&Report> for Failure {
    fn from(report: &Report) -> Self {
        let span = report.span();
        Self {
            kind: report.kind().name(),
            message: report.message().to_owned(),
            span: Some((span.start, span.end)),
            diagnostics: vec![report.diagnostic().clone()],
        }
    }
}

/// For languages whose errors have no report.
impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        let message = error.kind.message();
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            stage: Stage::Check,
            code: error.kind.name(),
            message: message.to_owned(),
            span: Span::new(error.start, error.end),
            labels: Vec::new(),
            help: Vec::new(),
        };
        let span = Some((error.start, error.end));
        Self { kind: error.kind.name(), message: message.to_owned(), span, diagnostics: vec![diagnostic] }
    }
}

/// Returns the style of text output.
pub(crate) fn style(color: bool) -> celero::diagnostics::Style {
    if color { celero::diagnostics::Style::Ansi } else { celero::diagnostics::Style::Plain }
}
