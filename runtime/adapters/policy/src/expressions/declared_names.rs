//! The names of all phases, to tell a name of another phase, or of a definition with errors, from an unknown one.

use crate::expressions::name_tree::NameTree;
use crate::host::outcome::Phase;
use celero::{Context, Env};
use std::collections::BTreeMap;

/// Which names are declared in which phases.
#[derive(Debug, Default)]
pub(crate) struct DeclaredNames {
    phases: BTreeMap<String, Vec<Phase>>,
    /// Names whose definitions have errors, which were reported.
    pub(crate) broken: NameTree<'static, String>,
}

impl DeclaredNames {
    /// Adds the names of a phase.
    pub(crate) fn add<C: Context>(&mut self, phase: Phase, env: &Env<C>) {
        let declared = env.declarations();
        let variables = declared.variables().iter().map(|variable| variable.name.to_string());
        for name in variables.chain(declared.definitions().iter().map(|definition| definition.name().to_owned())) {
            let phases = self.phases.entry(name).or_default();
            if !phases.contains(&phase) {
                phases.push(phase);
            }
        }
    }

    /// Returns whether a phase declares a name.
    pub(crate) fn has(&self, phase: Phase, name: &str) -> bool {
        self.phases.get(name).is_some_and(|phases| phases.contains(&phase))
    }

    /// Returns the longest prefix of a qualified name that some phase declares, with these phases.
    pub(crate) fn find(&self, path: &str) -> Option<(String, &[Phase])> {
        let mut name = path;
        loop {
            if let Some(phases) = self.phases.get(name) {
                return Some((name.to_owned(), phases));
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    /// Returns the phases that declare names below a name.
    pub(crate) fn below(&self, name: &str) -> Vec<Phase> {
        let start = format!("{name}.");
        let below = self.phases.iter().filter(|(known, _)| known.starts_with(&start));
        let phases: Vec<Phase> = below.flat_map(|(_, phases)| phases).copied().collect();
        Phase::ALL.into_iter().filter(|phase| phases.contains(phase)).collect()
    }
}

/// Returns the part of a qualified name that is the name of a broken definition.
pub(crate) fn broken_prefix<'p>(path: &'p str, broken: &'p NameTree<'_, String>) -> Option<&'p str> {
    broken.prefixes(path).next().map(String::as_str)
}
