//! What the checks and tests of policies of both formats report.

use crate::REJECTED;
use crate::output::Output;
use crate::output::costs::Costs;
use celero::Diagnostic;
use celero_policy::PolicyError;
use celero_tooling::diagnostic_json::diagnostic_json;
use serde_json::{Value as Json, json};

/// The result of the check of a policy.
pub(crate) struct Report {
    /// Whether there is no error and, if they are denied, no warning.
    pub(crate) ok: bool,
    /// The number of rules, and which bodies are buffered.
    pub(crate) summary: String,
    /// Errors and warnings as text.
    pub(crate) complaint: String,
    /// What is valid but probably not meant.
    pub(crate) hints: Vec<String>,
    pub(crate) json: Json,
    /// Of a valid policy.
    pub(crate) costs: Costs,
}

/// Returns diagnostics with the names of their files.
pub(crate) fn placed<'d>(found: impl Iterator<Item = (&'d str, Diagnostic)>) -> Vec<Json> {
    found.map(|(file, diagnostic)| one(file, &diagnostic)).collect()
}

/// Returns a diagnostic with the name of its file.
pub(crate) fn one(file: &str, diagnostic: &Diagnostic) -> Json {
    let mut json = diagnostic_json(diagnostic);
    if let Some(members) = json.as_object_mut() {
        members.insert("file".to_owned(), json!(file));
    }
    json
}

/// Reports a file that is refused. Returns the exit code.
pub(crate) fn rejected(error: &PolicyError, json: bool, output: &mut Output) -> u8 {
    if json {
        output.line(&rejection(error).to_string());
    } else {
        output.complain(&error.render(output.color()));
    }
    REJECTED
}

/// A file that is refused, as JSON.
pub(crate) fn rejection(error: &PolicyError) -> Json {
    json!({ "ok": false, "diagnostics": placed(error.diagnostics()) })
}
