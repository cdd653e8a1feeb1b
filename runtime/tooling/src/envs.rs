//! The environments of an input, one for each language of rules. They declare the same.

use crate::language::Language;
use celero::filter::FilterLanguage;
use celero::{CompileError, Engine, Env};
use std::fmt;
use std::sync::OnceLock;

/// An environment for each language.
pub struct Envs<C> {
    cel: Env<C>,
    language: FilterLanguage,
    /// Made when it is first needed: its fields are CEL expressions, which have to be compiled.
    filter: OnceLock<Env<C>>,
}

impl<C> Envs<C> {
    /// Makes environments from the one for CEL.
    pub fn new(cel: Env<C>, language: FilterLanguage) -> Self {
        Self { cel, language, filter: OnceLock::new() }
    }

    /// Returns the environment for rules in a language.
    pub fn of(&self, language: Language) -> &Env<C> {
        match language {
            Language::Cel => &self.cel,
            Language::Filter => self.filter.get_or_init(|| self.cel.clone().filter_language(self.language.clone())),
        }
    }

    /// Returns a rule in its canonical layout.
    ///
    /// # Errors
    /// Those of the syntax; in the filter language those of types too.
    pub fn format(&self, engine: &Engine, language: Language, text: &str) -> Result<String, CompileError> {
        engine.format_in(self.of(language), text)
    }
}

impl<C> Clone for Envs<C> {
    fn clone(&self) -> Self {
        Self { cel: self.cel.clone(), language: self.language.clone(), filter: self.filter.clone() }
    }
}

impl<C> fmt::Debug for Envs<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envs").field("cel", &self.cel).finish_non_exhaustive()
    }
}
