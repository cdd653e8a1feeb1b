//! The environments of an input, one for each language of rules. They declare the same.

use crate::language::Language;
use celero::filter::FilterLanguage;
use celero::{CompileError, Engine, Env};
use std::sync::OnceLock;

/// An environment for each language.
pub(crate) struct Envs<C> {
    cel: Env<C>,
    language: FilterLanguage,
    /// Made when it is first needed: its fields are CEL expressions, which have to be compiled.
    filter: OnceLock<Env<C>>,
}

impl<C> Envs<C> {
    /// Makes environments from the one for CEL.
    pub(crate) fn new(cel: Env<C>, language: FilterLanguage) -> Self {
        Self { cel, language, filter: OnceLock::new() }
    }

    /// Returns the environment for rules in a language.
    pub(crate) fn of(&self, language: Language) -> &Env<C> {
        match language {
            Language::Cel => &self.cel,
            Language::Filter => self.filter.get_or_init(|| self.cel.clone().filter_language(self.language.clone())),
        }
    }

    /// Returns a rule in its canonical layout.
    ///
    /// # Errors
    /// Those of the syntax; in the filter language those of types too.
    pub(crate) fn format(&self, engine: &Engine, language: Language, text: &str) -> Result<String, CompileError> {
        engine.format_in(self.of(language), text)
    }
}
