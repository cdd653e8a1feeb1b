//! Translation of rules between CEL and the filter language.

mod cel_text;
mod from_cel;
mod to_cel;

use crate::cel::CheckedTree;
use crate::context::Context;
use crate::engine::Engine;
use crate::env::Env;
use crate::error::CompileError;
use crate::filter::{FilterBinding, FilterRule};
use crate::lint::{NEVER_VALID, NO_EQUAL};
use celero_frontend::{Cel, Diagnostic, Severity, Stage};
use from_cel::{Given, from_cel};
use to_cel::to_cel;

/// A rule in another language.
#[derive(Clone, Debug)]
pub struct Translated {
    text: String,
    warnings: Vec<Diagnostic>,
}

impl Translated {
    /// Returns the rule in canonical layout, with a line end.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns where the rule that was translated fails and the translation is false, in the order
    /// of that rule's source: the code `false-for-failure`.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}

impl Engine {
    /// Returns a rule in the [filter language](crate::filter) of an environment as CEL over the
    /// same environment, in canonical layout. Both have the same value for every context whose
    /// addresses are not IPv4-mapped. A rule in another language is formatted.
    ///
    /// # Errors
    /// [`CompileError`] with the errors of the rule, or with each part of it that has no equal in
    /// CEL (the code `no-equal`).
    ///
    /// ```
    /// use celero::filter::FilterLanguage;
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let (engine, env) = (Engine::new(), Env::<RequestContext>::new().filter_language(FilterLanguage::http()));
    /// let cel = engine.to_cel(&env, r#"not http.user_agent eq "b""#)?;
    /// assert_eq!(cel, "!default(request.headers[\"user-agent\"] == \"b\", false)\n");
    /// # Ok::<(), celero::CompileError>(())
    /// ```
    pub fn to_cel<C: Context>(&self, env: &Env<C>, source: &str) -> Result<String, CompileError> {
        let rule = self.check(env, source)?;
        let Some(filter) = rule.expression().tree().downcast::<FilterRule>() else {
            return self.format_in(env, source);
        };
        let text = to_cel(filter.filter.tree(), &filter.binding, env.declarations().variables())
            .map_err(|notes| CompileError::new(source, notes))?;
        self.format(&text)
    }

    /// Returns a CEL rule over an environment in the [filter language](crate::filter) of that
    /// environment. The translation is true for just the contexts for which the CEL rule is true,
    /// if their addresses are not IPv4-mapped. The filter language has no errors: where the CEL
    /// rule may fail, the translation is false, and [`Translated::warnings`] says so.
    ///
    /// # Errors
    /// [`CompileError`] with the errors of the rule, or with each part of it that has no equal in
    /// the filter language (the code `no-equal`); also if that is not the language of the
    /// environment.
    ///
    /// ```
    /// use celero::filter::FilterLanguage;
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let (engine, env) = (Engine::new(), Env::<RequestContext>::new().filter_language(FilterLanguage::http()));
    /// let rule = engine.to_filter(&env, "request.path.startsWith('/a') && request.method in ['GET', 'HEAD']")?;
    /// let expected = "starts_with(http.request.uri.path, \"/a\") and http.request.method in {\"GET\" \"HEAD\"}\n";
    /// assert_eq!(rule.text(), expected);
    /// assert!(rule.warnings().is_empty());
    /// # Ok::<(), celero::CompileError>(())
    /// ```
    pub fn to_filter<C: Context>(&self, env: &Env<C>, source: &str) -> Result<Translated, CompileError> {
        let rule = self.expression(&env.clone().language(Cel), source, &self.pattern_cache(env))?;
        let failed = |notes| CompileError::new(source, notes);
        let no_equal = |message: String| failed(vec![Diagnostic::error(Stage::Check, NO_EQUAL, rule.span(), message)]);
        let Some(binding) = FilterBinding::of(env) else {
            return Err(no_equal("the language of the environment is not the filter language".to_owned()));
        };
        // A call that fails whatever the context is has no equal.
        let never: Vec<Diagnostic> =
            rule.warnings().iter().filter(|warning| warning.code == NEVER_VALID).cloned().collect();
        if !never.is_empty() {
            let as_error = |warning| Diagnostic { severity: Severity::Error, ..warning };
            return Err(failed(never.into_iter().map(as_error).collect()));
        }
        let Some(tree) = rule.tree().downcast::<CheckedTree>() else {
            return Err(no_equal("the rule is not CEL".to_owned()));
        };
        let (checked, limits) = (tree.evaluated(), &self.limits().source);
        let (variables, layouts) = (env.declarations().variables(), env.fields());
        let (text, warnings) = from_cel(&Given { checked, binding, variables, layouts, limits }).map_err(failed)?;
        // What the other language does not accept, such as a nesting that is too deep, is a part of the whole rule.
        let text = self.format_in(env, &text).map_err(|error| {
            let reason = error.diagnostics().first().map_or_else(String::new, |found| found.message.clone());
            no_equal(format!("the filter language does not accept the translation: {reason}"))
        })?;
        Ok(Translated { text, warnings })
    }

    /// Returns a rule in the [filter language](crate::filter) of an environment whose tree is given
    /// as JSON in the shape of Wirefilter's, in canonical layout.
    /// [`filter_json`](crate::filter::filter_json) is the inverse.
    ///
    /// # Errors
    /// What is wrong, with the part of the JSON:
    /// [`read_filter_json`](crate::filter::read_filter_json); also if the language of the
    /// environment is another one.
    #[cfg(feature = "serde_json")]
    pub fn filter_from_json<C: Context>(
        &self,
        env: &Env<C>,
        json: &serde_json::Value,
    ) -> Result<String, Vec<crate::filter::JsonError>> {
        let Some(binding) = FilterBinding::of(env) else {
            return Err(vec![crate::filter::JsonError::of_whole(
                "the language of the environment is not the filter language",
            )]);
        };
        let limits = &self.limits().source;
        let most = limits.max_diagnostics as usize;
        crate::filter::read(json, binding.scheme(), most, |text| {
            binding.check(text, limits)?;
            self.format_in(env, text).map_err(|error| error.diagnostics().to_vec())
        })
    }
}
