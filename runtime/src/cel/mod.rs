//! CEL, and every other language whose checked trees are those of CEL: implementations of [`Language`].

mod text;
mod tree;

pub(crate) use tree::CheckedTree;

use crate::rule_language::{CheckedSource, Piece, RuleLanguage, RuleTree};
use celero_frontend::{Cel, Declarations, Diagnostic, Language, Limits};
use std::sync::{Arc, LazyLock};

/// A [`Language`] in an environment.
#[derive(Debug)]
pub(crate) struct CheckedLanguage(Arc<dyn Language>);

static CEL: LazyLock<Arc<dyn RuleLanguage>> = LazyLock::new(|| Arc::new(CheckedLanguage::new(Cel)));

/// CEL.
pub(crate) fn cel() -> Arc<dyn RuleLanguage> {
    Arc::clone(&CEL)
}

impl CheckedLanguage {
    pub(crate) fn new(language: impl Language + 'static) -> Self {
        Self(Arc::new(language))
    }
}

impl RuleLanguage for CheckedLanguage {
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
