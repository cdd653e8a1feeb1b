//! The filter language as the language of an environment.

use super::FilterLanguage;
use super::binding::FilterBinding;
use super::rule::FilterRule;
use crate::env::Env;
use crate::language::{AnyLanguage, CheckedSource, Declared, FrontEnd, Piece, RuleLanguage, RuleTree};
use crate::lint::NO_TEXT;
use celero_frontend::filter::{FILTER_LEXICON, FilterPiece, FilterType, Scheme, filter_text};
use celero_frontend::{Declarations, Diagnostic, Lexicon, Limits, Span, Stage, Type};
use std::sync::Arc;

impl<C> Env<C> {
    /// Sets Cloudflare's filter language as the language in which rules are written. Its fields are
    /// what is declared so far.
    #[must_use]
    pub fn filter_language(self, language: FilterLanguage) -> Self {
        self.in_language(&language.into())
    }

    /// Returns what rules in the filter language may name, if that is the
    /// [language](Self::filter_language) of the environment.
    #[must_use]
    pub fn filter_scheme(&self) -> Option<&Arc<Scheme>> {
        FilterBinding::of(self).map(|binding| binding.scheme())
    }
}

impl From<FilterLanguage> for AnyLanguage {
    fn from(language: FilterLanguage) -> Self {
        Self::of(language)
    }
}

impl FrontEnd for FilterLanguage {
    fn name(&self) -> &str {
        "filter"
    }

    fn title(&self) -> &str {
        "Cloudflare's filter language"
    }

    fn lexicon(&self) -> Lexicon {
        FILTER_LEXICON
    }

    fn bind(&self, declared: Declared<'_>, problems: &mut Vec<String>) -> Arc<dyn RuleLanguage> {
        Arc::new(BoundFilter(Arc::new(FilterBinding::new(self, &declared, problems))))
    }
}

impl FilterBinding {
    /// The filter language of an environment, if that is its language.
    pub(crate) fn of<C>(env: &Env<C>) -> Option<&Arc<Self>> {
        env.rule_language().downcast::<BoundFilter>().map(|bound| &bound.0)
    }
}

/// The filter language as it is in an environment.
#[derive(Debug)]
struct BoundFilter(Arc<FilterBinding>);

impl RuleLanguage for BoundFilter {
    fn is_same(&self, other: &dyn RuleLanguage) -> bool {
        other.downcast::<Self>().is_some_and(|other| Arc::ptr_eq(&self.0, &other.0))
    }

    fn check(&self, source: &str, _: &Declarations, limits: &Limits) -> CheckedSource {
        let Self(binding) = self;
        let (tree, warnings) = binding.check(source, limits)?;
        Ok((Box::new(FilterRule::new(tree, binding, limits)?), warnings))
    }

    fn format(&self, source: &str, limits: &Limits, width: usize) -> Result<String, Vec<Diagnostic>> {
        self.0.format(source, limits, width)
    }

    fn type_name(&self, ty: &Type) -> String {
        FilterBinding::type_of(ty).map_or_else(|| ty.to_string(), |ty| ty.to_string())
    }

    fn text_type(&self) -> Type {
        Type::Bytes
    }

    fn text(
        &self,
        pieces: &[Piece<'_>],
        _: &Declarations,
        limits: &Limits,
    ) -> Result<Box<dyn RuleTree>, (String, Vec<Diagnostic>)> {
        let Self(binding) = self;
        let refused = |code, source: String, message| {
            let whole = Span::new(0, u32::try_from(source.len()).unwrap_or(u32::MAX));
            (source, vec![Diagnostic::error(Stage::Check, code, whole, message)])
        };
        let no_text = |source: &str, message| refused(NO_TEXT, source.to_owned(), message);
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(match piece {
                Piece::Literal(text) => FilterPiece::Literal(text),
                Piece::Result(rule) => {
                    // Fields and functions have numbers in the language of one environment.
                    let Some(own) = rule.downcast::<FilterRule>().filter(|own| Arc::ptr_eq(&own.binding, binding))
                    else {
                        return Err(no_text(rule.source(), "this result is one of another language".to_owned()));
                    };
                    if !has_text(own.tree().result_type()) {
                        let message = format!("a result of type `{}` has no text", own.type_name());
                        return Err(no_text(rule.source(), message));
                    }
                    FilterPiece::Result(own.tree())
                }
            });
        }
        let tree = filter_text(&parts, binding.scheme(), limits)
            .map_err(|(source, message)| refused(NO_TEXT, source, message))?;
        let source = tree.source().as_ref().into();
        let rule = FilterRule::new(tree, binding, limits).map_err(|found| (source, found))?;
        Ok(Box::new(rule))
    }
}

/// Whether a value of a type has a text.
fn has_text(ty: &FilterType) -> bool {
    matches!(ty, FilterType::Bytes | FilterType::Int | FilterType::Bool | FilterType::Ip)
}
