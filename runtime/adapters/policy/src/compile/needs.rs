//! What the rules of a phase that reads a body need of the head.

use crate::compile::{Compilation, OrderedRule};
use crate::expressions::phase_env::PhaseEnv;
use crate::grpc::methods::METHOD_VARIABLE;
use crate::host::outcome::Phase;
use celero::settings::{CheckedRule, Unknowns};
use celero::{Context, ErrorPolicy, Rule, RuleSet};

impl Compilation<'_> {
    /// Returns a set of conditions on the head, one for each rule of a phase that reads a body: a
    /// rule whose condition is false does not match, and does not fail. `None` for any other phase,
    /// and if no head excludes a rule.
    pub(super) fn needs<C: Context>(
        &self,
        scope: &PhaseEnv<C>,
        placed: &[OrderedRule<C::Static>],
    ) -> Option<RuleSet<C::Static, ()>> {
        let before = match scope.phase {
            Phase::RequestBody => Phase::Request,
            Phase::ResponseBody => Phase::Response,
            Phase::Connection | Phase::Request | Phase::Response | Phase::Log => return None,
        };
        let variables = scope.env.declarations().variables();
        let later = variables
            .iter()
            .map(|variable| &*variable.name)
            .filter(|name| !self.names.has(before, name) && *name != METHOD_VARIABLE);
        let unknowns = Unknowns::new(&scope.env, &later.collect::<Vec<_>>()).ok()?;
        let need = |rule: &OrderedRule<C::Static>| {
            self.engine.necessary(&scope.env, rule.when.as_ref()?.evaluated()?, &unknowns)
        };
        let needs: Vec<CheckedRule> = placed.iter().map(need).collect::<Option<_>>()?;
        let set = needs.into_iter().zip(placed).fold(self.engine.rules(&scope.env), |set, (need, placed)| {
            set.with_rule(Rule::checked(&placed.rule.name, need, ()))
        });
        set.on_error(ErrorPolicy::Match).build().ok()
    }
}
