//! Trees that implementations of CEL exchange: what celero writes it reads again with the same meaning, other
//! implementations read and evaluate it alike, and nothing that is not understood is taken.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

mod cel_go;
mod go_values;
mod hostile;
mod judge;
mod other_results;
mod random;
mod versions;
mod yaml;

use celero::trees::{Tree, TreeKind};
use celero::{Bindings, Engine, Env};

type Dynamic = Env<Bindings<'static>>;

/// The trees of a source that is valid in an environment, each read again from its binary form and from JSON.
fn read_again(engine: &Engine, env: &Dynamic, source: &str) -> Result<Vec<Tree>, String> {
    let rule = engine.check(env, source).map_err(|error| error.to_string())?;
    let trees = [engine.parsed_tree(env, &rule), engine.checked_tree(env, &rule)];
    let mut found = Vec::new();
    for tree in trees {
        let tree = tree.map_err(|error| error.to_string())?;
        let (bytes, json) = (tree.to_bytes(), tree.to_json());
        let limits = engine.limits().source;
        let from_bytes = Tree::from_bytes(tree.kind(), &bytes, &limits).map_err(|error| error.to_string())?;
        let from_json = Tree::from_json(tree.kind(), &json, &limits).map_err(|error| error.to_string())?;
        assert_eq!(from_bytes.to_json(), json, "{source}");
        assert_eq!(from_json.to_bytes(), bytes, "{source}");
        found.extend([from_bytes, from_json]);
    }
    Ok(found)
}

/// The canonical text of a source.
fn canonical(env: &Dynamic, source: &str) -> String {
    let limits = celero_frontend::Limits::default();
    let parsed = celero_frontend::parse_with(source, &limits, env.declarations().libraries());
    celero_frontend::unparse(&parsed.unwrap())
}

const KINDS: [TreeKind; 2] = [TreeKind::Parsed, TreeKind::Checked];
