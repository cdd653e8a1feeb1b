//! Translation of rules from the filter language to CEL.

use crate::context::Context;
use crate::engine::Engine;
use crate::env::Env;
use crate::error::CompileError;
use crate::expression::Tree;
use crate::filter::to_cel;

impl Engine {
    /// Returns a rule in the [filter language](crate::filter) of an environment as CEL over the same environment, in canonical layout. Both
    /// have the same value for every context whose addresses are not IPv4-mapped. A rule in another language is formatted.
    ///
    /// # Errors
    /// [`CompileError`] with the errors of the rule, or with each part of it that has no equal in CEL (the code `no-equal`).
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
        let Tree::Filter(filter) = rule.expression().tree() else { return self.format_in(env, source) };
        let text = to_cel(filter.filter.tree(), &filter.binding, env.declarations().variables())
            .map_err(|notes| CompileError::new(source, notes))?;
        self.format(&text)
    }
}
