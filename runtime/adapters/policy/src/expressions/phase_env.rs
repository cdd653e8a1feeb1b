//! What the expressions of a phase may mention.

use crate::expressions::declared_names::DeclaredNames;
use crate::expressions::definitions::{Definition, DefinitionScope, Definitions};
use crate::expressions::path_domain::with_paths;
use crate::expressions::purpose::Purpose;
use crate::host::outcome::Phase;
use crate::language::Language;
use celero::host::EnvError;
use celero::settings::SourceLimits;
use celero::{Context, Env};
use celero_canonical::Options;

/// The environment of a phase.
pub(crate) struct PhaseEnv<C> {
    pub(crate) phase: Phase,
    pub(crate) env: Env<C>,
    /// By definition: whether it is valid in the phase.
    pub(crate) valid: Vec<bool>,
}

impl<C: Context> PhaseEnv<C> {
    pub(crate) fn new(phase: Phase, definitions: &Definitions, normalize: &Options, names: &mut DeclaredNames) -> Self {
        let (env, valid) = definitions.env();
        let env = with_paths(env, phase, normalize);
        names.add(phase, &env);
        Self { phase, env, valid }
    }
}

impl<C: Context> DefinitionScope for PhaseEnv<C> {
    fn has(&self, number: usize) -> bool {
        self.valid.get(number).is_some_and(|valid| *valid)
    }

    fn types_of_fields_without_value(&self, names: &[&str]) -> Vec<Option<String>> {
        let (engine, filter) = (Purpose::Check.engine(), Language::of_fields().env(&self.env));
        let has_value = |name: &str| engine.check(&filter, name).is_ok_and(|checked| checked.warnings().is_empty());
        let ty =
            |name: &str| engine.check(&self.env, name).map_or_else(|_| "dyn".to_owned(), |checked| checked.type_name());
        names.iter().map(|name| (!has_value(name)).then(|| ty(name))).collect()
    }

    fn why_not(&mut self, definition: &Definition) -> Option<EnvError> {
        definition.add_to(&mut self.env, &SourceLimits::default()).err()
    }
}
