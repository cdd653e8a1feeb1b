//! Names that rules of policies may read and rules about plain requests may not.

use crate::language::{Language, REQUEST_ENVS};
use celero::Diagnostic;
use celero::language::Declarations;
use celero_policy::Outline;
use std::path::Path;
use std::sync::LazyLock;

/// How the help for such a name ends.
pub const POLICIES_ONLY: &str = "exists in policies only";

/// What expressions of any phase of a policy may mention that declares nothing itself.
static OF_POLICIES: LazyLock<Option<Declarations>> =
    LazyLock::new(|| Some(Outline::of("policy.yaml", "request: []", Path::new("."))?.declarations(None)));

fn declares(declarations: &Declarations, name: &str) -> bool {
    let is_below = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    declarations.variables().iter().any(|variable| *variable.name == *name || is_below(&variable.name))
}

/// Explains an undeclared name that policies have, unless something similar is declared.
pub fn explain(found: &mut Diagnostic) {
    let name = found.message.strip_prefix("undeclared reference to `").and_then(|rest| rest.strip_suffix('`'));
    let Some(name) = name.filter(|_| found.code == "undeclared-name") else { return };
    let is_similar = found.help.iter().any(|help| help.starts_with("did you mean"));
    let of_requests = REQUEST_ENVS.of(Language::default()).declarations();
    if !is_similar && OF_POLICIES.as_ref().is_some_and(|known| declares(known, name)) && !declares(of_requests, name) {
        found.help = vec![format!("`{name}` {POLICIES_ONLY}")];
    }
}
