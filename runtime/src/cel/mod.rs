//! CEL, and every other language whose checked trees are those of CEL: implementations of [`Language`].

mod necessary;
mod residual;
mod text;
mod tree;
pub(crate) mod trees;

pub(crate) use tree::CheckedTree;

use crate::language::{AnyLanguage, CheckedSource, Declared, FrontEnd, Piece, RuleLanguage, RuleTree};
use celero_frontend::{Cel, Declarations, Diagnostic, Language, Lexicon, Limits, Type};
use std::sync::{Arc, LazyLock};

/// A [`Language`] in an environment. It is the same in all.
#[derive(Debug)]
struct CheckedLanguage(Arc<dyn Language>);

/// A [`Language`] in no environment.
#[derive(Debug)]
struct CheckedFrontEnd(Arc<CheckedLanguage>);

static CEL: LazyLock<Arc<dyn RuleLanguage>> = LazyLock::new(|| Arc::new(CheckedLanguage(Arc::new(Cel))));

/// CEL.
pub(crate) fn cel() -> Arc<dyn RuleLanguage> {
    Arc::clone(&CEL)
}

impl AnyLanguage {
    /// Returns a language whose trees are those of CEL.
    #[must_use]
    pub fn new(language: impl Language + 'static) -> Self {
        Self::of(CheckedFrontEnd(Arc::new(CheckedLanguage(Arc::new(language)))))
    }
}

impl FrontEnd for CheckedFrontEnd {
    fn name(&self) -> &str {
        self.0.0.name()
    }

    fn title(&self) -> &str {
        self.0.0.title()
    }

    fn lexicon(&self) -> Lexicon {
        self.0.0.lexicon()
    }

    fn checked_language(&self) -> Option<&dyn Language> {
        Some(&*self.0.0)
    }

    fn bind(&self, _: Declared<'_>, _: &mut Vec<String>) -> Arc<dyn RuleLanguage> {
        Arc::<CheckedLanguage>::clone(&self.0)
    }
}

impl RuleLanguage for CheckedLanguage {
    fn is_same(&self, other: &dyn RuleLanguage) -> bool {
        other.downcast::<Self>().is_some_and(|other| self.0.name() == other.0.name())
    }

    fn check(&self, source: &str, declarations: &Declarations, limits: &Limits) -> CheckedSource {
        let (written, warnings) = self.0.check(source, declarations, limits)?;
        let tree = CheckedTree::new(written, Arc::clone(&self.0)).inlined(declarations, limits)?;
        Ok((Box::new(tree), warnings))
    }

    fn check_body(&self, source: &str, declarations: &Declarations, limits: &Limits) -> CheckedSource {
        let (written, warnings) = self.0.check(source, declarations, limits)?;
        Ok((Box::new(CheckedTree::new(written, Arc::clone(&self.0))), warnings))
    }

    fn format(&self, source: &str, limits: &Limits, width: usize) -> Result<String, Vec<Diagnostic>> {
        self.0.format(source, limits, width)
    }

    fn type_name(&self, ty: &Type) -> String {
        ty.to_string()
    }

    fn text_type(&self) -> Type {
        Type::String
    }

    fn text(
        &self,
        pieces: &[Piece<'_>],
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Box<dyn RuleTree>, (String, Vec<Diagnostic>)> {
        let written = text::text(pieces, declarations, limits)?;
        let source = Arc::clone(written.ast().source());
        let tree = CheckedTree::new(written, Arc::new(Cel)).inlined(declarations, limits);
        tree.map(|tree| Box::new(tree) as Box<dyn RuleTree>).map_err(|found| (source.as_ref().into(), found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_of_one_name_are_the_same() {
        assert!(cel().is_same(&CheckedLanguage(Arc::new(Cel))));
    }
}
