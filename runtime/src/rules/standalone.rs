//! Rules of a set that are evaluated one by one, with their whole budgets.
//!
//! Invariant: a set keeps no trees of rules that are native code or indexed. The few rules that must be interpreted are
//! parsed again. Test: `runtime/src/rules/standalone.rs::only_a_rule_without_native_code_by_itself_needs_trees`.

use crate::arena::Arena;
use crate::context::{Host, Shape};
use crate::cx::{Cx, CxSettings};
use crate::env::Env;
use crate::error::EvalError;
use crate::expression::{Expression, Trace};
use crate::function::Functions;
use crate::language::RuleLanguage;
use crate::limits::Limits;
use crate::report::{Known, Report};
use crate::variables::Variables;
use celero_frontend::Declarations;
use celero_lists::{Lists, View as ListsView};
use celero_matching::pattern::Dialect;
use std::sync::{Arc, OnceLock};

/// The source of a rule, and its checked form where that is needed: a rule with native code is
/// checked again when it is first interpreted.
#[derive(Debug)]
pub(super) struct RuleSource {
    source: Box<str>,
    expression: OnceLock<Option<Arc<Expression>>>,
}

impl RuleSource {
    /// `expression` is kept if it is given.
    pub(super) fn new(source: Box<str>, expression: Option<Arc<Expression>>) -> Self {
        let expression = expression.map_or_else(OnceLock::new, |expression| OnceLock::from(Some(expression)));
        Self { source, expression }
    }

    pub(super) fn text(&self) -> &str {
        &self.source
    }
}

/// What the rules of a set are evaluated with.
pub(super) struct Standalone {
    language: Arc<dyn RuleLanguage>,
    declarations: Declarations,
    pub(super) functions: Functions,
    /// The lists of the host, if a rule asks any.
    pub(super) lists: Option<Lists>,
    pub(super) limits: Limits,
    dialect: Dialect,
    names: Arc<Variables>,
    /// The fingerprint of the variables.
    pub(super) variables: u64,
    /// What the extension of a context must consist of.
    pub(super) extension: Option<Shape>,
}

impl Standalone {
    /// `asks_lists` is whether a rule asks lists.
    pub(super) fn new<C>(env: &Env<C>, limits: Limits, asks_lists: bool) -> Self {
        let (declarations, functions) = (env.declarations().clone(), env.functions().clone());
        let language = Arc::clone(env.rule_language());
        let names = env.variables();
        let lists = functions.lists().filter(|_| asks_lists).map(|lists| lists.lists.clone());
        let (dialect, variables) = (env.dialect(), names.fingerprint());
        let extension = env.extension();
        Self { language, declarations, functions, lists, limits, dialect, variables, extension, names }
    }

    pub(super) fn cx<'a>(&self, arena: &'a Arena, lists: Option<&'a ListsView>) -> Cx<'a> {
        CxSettings { steps: i64::from(self.limits.steps), dialect: self.dialect }.cx(arena, lists)
    }

    /// Interprets a rule. Returns what [`Program::test`](crate::Program::test) of it would.
    pub(super) fn test(
        &self,
        rule: &RuleSource,
        host: &dyn Host,
        arena: &mut Arena,
        lists: Option<&ListsView>,
    ) -> Result<bool, EvalError> {
        let expression = rule.expression.get_or_init(|| self.checked(&rule.source)).as_ref().ok_or(EvalError::HOST)?;
        arena.recycle(self.limits.memory);
        expression.test(&self.functions, host, &self.cx(arena, lists))
    }

    /// Interprets a rule and keeps the results of its parts.
    pub(super) fn trace<'a>(
        &'a self,
        rule: &'a RuleSource,
        host: &'a dyn Host,
        cx: &Cx<'a>,
    ) -> Result<Trace<'a>, EvalError> {
        let expression = rule.expression.get_or_init(|| self.checked(&rule.source)).as_ref().ok_or(EvalError::HOST)?;
        Ok(expression.trace(&self.functions, host, cx))
    }

    /// Puts an error of a rule into words.
    pub(super) fn report(&self, rule: &RuleSource, error: EvalError, host: &dyn Host) -> Option<Report> {
        let expression = rule.expression.get_or_init(|| self.checked(&rule.source)).as_ref()?;
        let Self { names: variables, functions, limits, dialect, .. } = self;
        Some(expression.describe(error, host, &Known { variables, functions, limits, dialect: *dialect }))
    }

    /// The checked form of a source that compiled before.
    fn checked(&self, source: &str) -> Option<Arc<Expression>> {
        let (declarations, limits) = (&self.declarations, &self.limits.source);
        Expression::of(source, &self.language, declarations, limits).ok().map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use crate::sets::Indexing;
    use crate::{Bindings, Engine, Env, ErrorPolicy, RuleSet, Scratch, Type, Value};

    #[test]
    fn only_a_rule_without_native_code_by_itself_needs_trees() {
        let env = Env::<Bindings<'static>>::dynamic().variable("n", Type::Int);
        let mut call = Bindings::new(&env);
        call.set("n", Value::Int(7)).unwrap();
        let trees = |set: &RuleSet<_, ()>| {
            let made = |rule: usize| {
                assert_eq!(set.test(rule, &call, &mut Scratch::new()), Some(Ok(rule == 7)));
                set.rules.get(rule).unwrap().source.expression.get().is_some()
            };
            (0..set.len()).map(made).collect::<Vec<_>>()
        };
        for indexing in [Indexing::Always, Indexing::Off] {
            let build = |on| {
                let rules =
                    (0..20).fold(Engine::new().rules(&env), |rules, n| rules.rule("", &format!("n == {n}"), ()));
                rules.on_error(ErrorPolicy::NoMatch).index(indexing).standalone(on).build().unwrap()
            };
            let (without, with) = (build(false), build(true));
            assert_eq!(trees(&without), [true; 20]);
            assert_eq!(trees(&with), [false; 20]);
            // One function for all of them.
            let (without, with) = (without.code_size(), with.code_size());
            assert!(with > without && with < without + 400, "{indexing:?}: {without}, {with}");
        }
    }
}
