//! Why there is no value: rejected, failed, or never asked. One form for people and programs.

use celero::{CompileError, Diagnostic, EvalError, Label, Severity, Span, Stage};
use serde_json::{Value as Json, json};

/// Why there is no value.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// `parse`, `check`, `limit`, or the kind of the evaluation's error.
    pub(crate) kind: &'static str,
    /// One line.
    pub(crate) message: String,
    /// Bytes of the source.
    pub(crate) span: Option<(u32, u32)>,
    /// All that is known, for people.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// What was asked makes no sense.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { kind: "invalid_argument", message: message.into(), span: None, diagnostics: Vec::new() }
    }

    /// The form that programs read.
    pub(crate) fn json(&self) -> Json {
        let mut error = json!({ "kind": self.kind, "message": self.message });
        if let (Some((start, end)), Some(members)) = (self.span, error.as_object_mut()) {
            members.insert("span".to_owned(), json!([start, end]));
        }
        json!({ "error": error })
    }

    /// The form for people: the source with carets.
    pub(crate) fn render(&self, source: &str, color: bool) -> String {
        self.render_as("rule", source, color)
    }

    /// The same, with a name for where the source is from.
    pub(crate) fn render_as(&self, origin: &str, source: &str, color: bool) -> String {
        if self.diagnostics.is_empty() {
            return format!("error: {}", self.message);
        }
        celero::render(source, origin, &self.diagnostics, style(color))
    }
}

impl From<&CompileError> for Failure {
    fn from(error: &CompileError) -> Self {
        let first = error.diagnostics().iter().find(|d| d.severity == Severity::Error);
        let (kind, message, span) = match first {
            Some(d) => (stage(d.stage), d.message.clone(), Some((d.span.start, d.span.end))),
            None => ("check", error.to_string(), None),
        };
        Self { kind, message, span, diagnostics: error.diagnostics().to_vec() }
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            stage: Stage::Check,
            code: error.kind.name(),
            message: error.kind.message().to_owned(),
            span: Span::new(error.start, error.end),
            labels: Vec::new(),
            help: Vec::new(),
        };
        let span = Some((error.start, error.end));
        Self { kind: error.kind.name(), message: error.kind.message().to_owned(), span, diagnostics: vec![diagnostic] }
    }
}

/// Diagnostics for people.
pub(crate) fn render(source: &str, diagnostics: &[Diagnostic], color: bool) -> String {
    celero::render(source, "rule", diagnostics, style(color))
}

/// How text for people is highlighted.
pub(crate) fn style(color: bool) -> celero::Style {
    if color { celero::Style::Ansi } else { celero::Style::Plain }
}

/// Diagnostics for programs.
pub(crate) fn diagnostics_json(diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(diagnostic_json).collect()
}

/// A diagnostic for programs.
pub(crate) fn diagnostic_json(d: &Diagnostic) -> Json {
    let label = |label: &Label| json!({ "span": [label.span.start, label.span.end], "text": label.text });
    json!({
        "severity": if d.severity == Severity::Error { "error" } else { "warning" },
        "kind": stage(d.stage),
        "code": d.code,
        "message": d.message,
        "span": [d.span.start, d.span.end],
        "labels": d.labels.iter().map(label).collect::<Vec<_>>(),
        "help": d.help,
    })
}

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Parse => "parse",
        Stage::Check => "check",
        Stage::Limit => "limit",
    }
}
