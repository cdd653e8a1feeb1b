//! The contexts of an input, for one rule in a language.

use crate::envs::Envs;
use crate::input::contexts::Contexts;
use crate::language::Language;
use celero::Env;

/// Contexts for one rule in a language.
pub(crate) struct InLanguage<'c, K> {
    contexts: &'c K,
    language: Language,
}

impl<'c, K: Contexts> InLanguage<'c, K> {
    /// Makes the contexts for a rule in a language.
    pub(crate) fn new(contexts: &'c K, language: Language) -> Self {
        Self { contexts, language }
    }
}

impl<K: Contexts> Contexts for InLanguage<'_, K> {
    type Static = K::Static;
    type Of<'a> = K::Of<'a>;

    fn env(&self) -> &Env<Self::Static> {
        self.envs().of(self.language)
    }

    fn envs(&self) -> &Envs<Self::Static> {
        self.contexts.envs()
    }

    fn given(&self) -> bool {
        self.contexts.given()
    }

    fn with<R>(&self, run: impl FnOnce(&[Self::Of<'_>]) -> R) -> Result<R, String> {
        self.contexts.with(run)
    }

    fn label(&self, number: usize) -> String {
        self.contexts.label(number)
    }
}
