//! The names that an expression may mention, whatever document it is in.

use crate::checks::environment::Checks;
use crate::documents::region::{Region, ScopeKey};
use celero::filter::Scheme;
use celero::language::{Declarations, Variable};
use celero_policy::{Outline, Phase};
use celero_tooling::language::Language;
use std::sync::Arc;

/// The names that an expression may mention.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// The variables and functions.
    pub(crate) declarations: Declarations,
    /// The fields and functions, if the language of the expression has a scheme of these.
    pub(crate) scheme: Option<Arc<Scheme>>,
}

impl Scope {
    /// Returns the scope of a region. `outline` is that of the document, if it is a policy.
    pub(crate) fn of(region: &Region, outline: Option<&Outline>, checks: &dyn Checks) -> Self {
        Self::of_key(&region.scope, region.language, outline, checks)
    }

    /// Returns the scope of an expression in a language.
    pub(crate) fn of_key(key: &ScopeKey, language: Language, outline: Option<&Outline>, checks: &dyn Checks) -> Self {
        match (key, outline) {
            (ScopeKey::Policy(phase, parameters), Some(outline)) => {
                let mut declarations = outline.declarations(*phase);
                for (name, ty) in parameters {
                    declarations.add_variable(Variable::new(name.as_str(), ty.clone()));
                }
                let phase = phase.unwrap_or(Phase::Request);
                Self { declarations, scheme: outline.scheme(phase, language) }
            }
            _ => Self { declarations: checks.declarations().clone(), scheme: checks.scheme(language).cloned() },
        }
    }
}
