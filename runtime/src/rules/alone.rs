//! One rule of a set by itself: by the interpreter, with all of its budget.

use crate::context::Host;
use crate::error::{ErrorKind, EvalError};
use crate::function::{Functions, contained};
use crate::interpret::interpret;
use crate::library::Cx;
use crate::limits::Limits;
use crate::program::Trees;
use crate::value::Value;
use crate::{Arena, Env};
use celero_frontend::Declarations;
use std::sync::OnceLock;

/// The host's fault, at no place of the rule.
pub(super) const HOST: EvalError = EvalError { kind: ErrorKind::Host, start: 0, end: 0 };

/// A rule's text, and its trees where they are needed: those of native rules are made when such a rule is first evaluated alone.
#[derive(Debug)]
pub(super) struct Text {
    source: Box<str>,
    trees: OnceLock<Option<Box<Trees>>>,
}

impl Text {
    pub(super) fn new(source: Box<str>) -> Self {
        Self { source, trees: OnceLock::new() }
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn into_source(self) -> Box<str> {
        self.source
    }

    /// Keeps the trees at hand.
    pub(super) fn keep(&self, trees: Trees) {
        let _ = self.trees.set(Some(Box::new(trees)));
    }
}

/// What all rules of a set are evaluated with.
pub(super) struct Alone {
    declarations: Declarations,
    pub(super) functions: Functions,
    pub(super) limits: Limits,
    /// The variables' fingerprint.
    pub(super) variables: u64,
}

impl Alone {
    pub(super) fn new<C>(env: &Env<C>, limits: Limits) -> Self {
        let (declarations, functions) = (env.declarations().clone(), env.functions().clone());
        Self { declarations, functions, limits, variables: env.variables().fingerprint() }
    }

    pub(super) fn cx<'a>(&self, arena: &'a Arena) -> Cx<'a> {
        Cx::new(i64::from(self.limits.steps), arena)
    }

    /// Evaluates a rule, as [`Program::test`](crate::Program::test) would.
    pub(super) fn test(&self, rule: &Text, host: &dyn Host, arena: &mut Arena) -> Result<bool, EvalError> {
        let trees = rule.trees.get_or_init(|| self.trees(&rule.source).map(Box::new)).as_ref().ok_or(HOST)?;
        arena.recycle(self.limits.memory);
        let cx = self.cx(arena);
        let mut value = Value::Null;
        // A panic of the host's data ends the evaluation as it does in native code.
        contained(|| interpret(trees.evaluated(), &self.functions, host, &cx, &mut value)).unwrap_or(Err(HOST))?;
        if let Value::Bool(answer) = value {
            return Ok(answer);
        }
        let ast = trees.written.ast();
        let span = ast.span(ast.root());
        Err(EvalError { kind: ErrorKind::NoSuchOverload, start: span.start, end: span.end })
    }

    /// The trees of a source that compiled before.
    fn trees(&self, source: &str) -> Option<Trees> {
        let (declarations, limits) = (&self.declarations, &self.limits.source);
        let ast = celero_frontend::parse_with(source, limits, declarations.libraries()).ok()?;
        let (written, _) = celero_frontend::check(ast, declarations, limits).ok()?;
        let inlined = celero_frontend::inline(&written, declarations, limits).ok()?;
        Some(Trees { written, inlined })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bindings, Engine, Env, Indexing, RuleSet, Scratch, Type, Value};

    #[test]
    fn only_a_rule_without_native_code_by_itself_needs_trees() {
        let env = Env::<Bindings<'static>>::dynamic().variable("n", Type::Int);
        let mut call = Bindings::new(&env);
        call.set("n", Value::Int(7)).unwrap();
        let trees = |set: &RuleSet<_, ()>| {
            let made = |rule: usize| {
                assert_eq!(set.test(rule, &call, &mut Scratch::new()), Some(Ok(rule == 7)));
                set.rules.get(rule).unwrap().text.trees.get().is_some()
            };
            (0..set.len()).map(made).collect::<Vec<_>>()
        };
        for indexing in [Indexing::Always, Indexing::Off] {
            let build = |on| {
                let rules =
                    (0..20).fold(Engine::new().rules(&env), |rules, n| rules.rule("", &format!("n == {n}"), ()));
                rules.index(indexing).alone(on).build().unwrap()
            };
            let (without, with) = (build(false), build(true));
            assert_eq!(trees(&without), [true; 20]);
            assert_eq!(trees(&with), [false; 20]);
            // One function for all of them.
            assert!(with.code_size() > without.code_size() && with.code_size() < without.code_size() + 400);
        }
    }
}
