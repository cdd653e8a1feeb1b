//! Translation of rules between CEL and the filter language.

mod cel_text;
mod from_cel;
mod to_cel;
mod trees;

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

    /// Returns where the translation may have another result, in the order of the source of the rule
    /// that was translated: where that fails and the translation is false (`false-for-failure`), and
    /// where the translation is the nearest form (`other-meaning`).
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
        self.written_as_cel(env, filter, source, false).map(|translated| translated.text)
    }

    /// As [`to_cel`](Self::to_cel), but with the nearest form for what has an equal in CEL except
    /// for few values, such as patterns that see bytes there and characters here.
    /// [`Translated::warnings`] says for each which values make a difference (the code
    /// `other-meaning`): without warnings the translation is exact.
    ///
    /// # Errors
    /// [`CompileError`] with the errors of the rule, or with each part of it that has no near form
    /// either (the code `no-equal`).
    ///
    /// ```
    /// use celero::filter::FilterLanguage;
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let (engine, env) = (Engine::new(), Env::<RequestContext>::new().filter_language(FilterLanguage::http()));
    /// let rule = r#"http.request.uri.path matches "^/.{3}$""#;
    /// assert!(engine.to_cel(&env, rule).is_err());
    /// let near = engine.to_cel_near(&env, rule)?;
    /// assert_eq!(near.text(), "request.path.matches(\"^/.{3}$\")\n");
    /// assert_eq!(near.warnings()[0].code, "other-meaning");
    /// # Ok::<(), celero::CompileError>(())
    /// ```
    pub fn to_cel_near<C: Context>(&self, env: &Env<C>, source: &str) -> Result<Translated, CompileError> {
        let rule = self.check(env, source)?;
        match rule.expression().tree().downcast::<FilterRule>() {
            Some(filter) => self.written_as_cel(env, filter, source, true),
            None => Ok(Translated { text: self.format_in(env, source)?, warnings: Vec::new() }),
        }
    }

    fn written_as_cel<C: Context>(
        &self,
        env: &Env<C>,
        filter: &FilterRule,
        source: &str,
        near: bool,
    ) -> Result<Translated, CompileError> {
        let (variables, layouts) = (env.declarations().variables(), env.fields());
        let given = to_cel::Given { tree: filter.filter.tree(), binding: &filter.binding, variables, layouts, near };
        let (text, warnings) = to_cel(given).map_err(|notes| CompileError::new(source, notes))?;
        Ok(Translated { text: self.format(&text)?, warnings })
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
