//! What the command was given.

use crate::files::Files;
use crate::limits;
use serde_json::{Value as Json, json};
use std::path::Path;

pub(super) fn answer(files: &Files) -> Json {
    let name = |path: &Path| path.display().to_string();
    let rule = files
        .rule
        .as_ref()
        .map(|rule| json!({ "name": rule.name, "text": rule.text, "language": rule.language.name() }));
    let rules =
        files.rules.as_ref().map(|rules| rules.paths.iter().map(|path| name(path)).collect::<Vec<_>>().join(", "));
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "architecture": std::env::consts::ARCH,
        "optimized": !cfg!(debug_assertions),
        "rule": rule,
        "policy": files.policy.as_deref().map(name),
        "rules": rules,
        "requests": files.requests.as_deref().map(name),
        "body_bytes": limits::BODY_BYTES,
        "lab": files.lab.as_deref().map(name),
    })
}
