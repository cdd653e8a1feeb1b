//! The environments of an input, one for each language of rules. They declare the same.

use crate::language::Language;
use celero::language::AnyLanguage;
use celero::{CompileError, Engine, Env};
use std::fmt;
use std::sync::OnceLock;

/// An environment for each language.
pub struct Envs<C> {
    cel: Env<C>,
    /// Takes the place of the known language of its name.
    own: AnyLanguage,
    others: Slot<C>,
}

/// The environment in another language, once one is needed: fields may be CEL expressions, which have to be compiled.
type Slot<C> = OnceLock<Box<InLanguage<C>>>;

/// An environment in a language, and those that are made after it.
struct InLanguage<C> {
    language: Language,
    env: Env<C>,
    next: Slot<C>,
}

impl<C> Envs<C> {
    /// Makes environments from the one for CEL. `own` takes the place of the known language of its name.
    pub fn new(cel: Env<C>, own: impl Into<AnyLanguage>) -> Self {
        Self { cel, own: own.into(), others: OnceLock::new() }
    }

    /// Returns the environment for rules in a language.
    pub fn of(&self, language: Language) -> &Env<C> {
        if language.is_default() {
            return &self.cel;
        }
        let mut slot = &self.others;
        loop {
            let made = slot.get_or_init(|| {
                let any = if language.name() == self.own.name() { &self.own } else { language.any() };
                Box::new(InLanguage { language, env: self.cel.clone().in_language(any), next: OnceLock::new() })
            });
            if made.language == language {
                return &made.env;
            }
            slot = &made.next;
        }
    }

    /// Returns a rule in its canonical layout.
    ///
    /// # Errors
    /// Those of the syntax; where types decide how a rule is read, those of types too.
    pub fn format(&self, engine: &Engine, language: Language, text: &str) -> Result<String, CompileError> {
        engine.format_in(self.of(language), text)
    }
}

impl<C> Clone for InLanguage<C> {
    fn clone(&self) -> Self {
        Self { language: self.language, env: self.env.clone(), next: self.next.clone() }
    }
}

impl<C> Clone for Envs<C> {
    fn clone(&self) -> Self {
        Self { cel: self.cel.clone(), own: self.own.clone(), others: self.others.clone() }
    }
}

impl<C> fmt::Debug for Envs<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envs").field("cel", &self.cel).finish_non_exhaustive()
    }
}
