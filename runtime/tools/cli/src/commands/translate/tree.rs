//! `celero translate --to parsed-expr` and `--to checked-expr`: the trees that implementations of CEL exchange.

use crate::REJECTED;
use crate::input::contexts::{Command, Contexts};
use crate::input::source::Source;
use crate::output::Output;
use crate::output::failure::Failure;
use celero::Engine;
use celero::trees::TreeKind;
use std::path::PathBuf;

/// A rule that is written as a tree.
pub(super) struct AsTree {
    pub(super) source: Source,
    pub(super) kind: TreeKind,
    /// The file for the binary form; without one JSON is printed.
    pub(super) binary: Option<PathBuf>,
}

impl Command for AsTree {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { source, kind, binary } = self;
        let (engine, env) = (Engine::new(), contexts.env());
        let rule = match engine.check(env, &source.text) {
            Ok(rule) => rule,
            Err(error) => {
                output.complain(&Failure::from(&error).render(&source.name, &source.text, output.color()));
                return Ok(REJECTED);
            }
        };
        let tree = match kind {
            TreeKind::Parsed => engine.parsed_tree(env, &rule),
            TreeKind::Checked => engine.checked_tree(env, &rule),
        };
        let tree = tree.map_err(|error| format!("{}: {error}", source.name))?;
        match binary {
            None => output.print(&format!("{}\n", tree.to_json())),
            Some(path) => {
                std::fs::write(&path, tree.to_bytes()).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Ok(0)
    }
}
