//! Errors and warnings as JSON.

use celero::Diagnostic;
use celero::diagnostics::{Label, Severity, Stage};
use serde_json::{Value as Json, json};

/// Returns diagnostics as JSON, in their order.
#[must_use]
pub fn diagnostics_json(diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(diagnostic_json).collect()
}

/// Returns a diagnostic as JSON: `severity`, `kind` (the stage), `code`, `message`, `span` in bytes, `labels`, `help`.
#[must_use]
pub fn diagnostic_json(d: &Diagnostic) -> Json {
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

/// Returns the name of a stage: `parse`, `check` or `limit`.
#[must_use]
pub fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Parse => "parse",
        Stage::Check => "check",
        Stage::Limit => "limit",
    }
}
