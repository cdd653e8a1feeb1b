//! Runs cases on celero, in a tier of choice.

use super::block;
use super::case::Case;
use super::verdict::Outcome;
use crate::generate::Owned;
use crate::messages;
use celero::diagnostics::Stage;
use celero::values::Arena;
use celero::{Bindings, CompileError, Diagnostic, Engine, Env, Scratch, Tier, Type};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Memory for the values of one case.
const ARENA: usize = 16 << 20;

/// Runs cases in one tier.
#[derive(Debug)]
pub struct Runner {
    engine: Engine,
}

impl Runner {
    /// For one tier.
    #[must_use]
    pub fn new(tier: Tier) -> Self {
        Self { engine: Engine::builder().tier(tier).build() }
    }

    /// Compiles and evaluates a case. A panic is the error `panic`, which no case expects.
    #[must_use]
    pub fn run(&self, case: &Case) -> Outcome {
        catch_unwind(AssertUnwindSafe(|| if case.check_only { check(case) } else { self.evaluate(case) }))
            .unwrap_or_else(|_| Outcome::Error("panic".into(), "it panics".into()))
    }

    fn evaluate(&self, case: &Case) -> Outcome {
        if !case.functions.is_empty() {
            return Outcome::Unsupported("needs functions that have no implementation".into());
        }
        let mut env =
            Env::dynamic().container(&case.container).unchecked(case.unchecked).messages(&messages::types().types);
        for (name, ty) in variables(case) {
            env = env.variable(name, ty);
        }
        if let Some(problem) = env.problems().first() {
            return Outcome::Error("environment".into(), problem.to_string());
        }
        let source = if case.file == "block_ext" { block::expand(&case.expr) } else { case.expr.clone() };
        let program = match self.engine.compile(&env, &source) {
            Ok(program) => program,
            Err(error) => return rejected(&error),
        };
        let arena = Arena::new(ARENA);
        let mut bindings = Bindings::new(&env);
        for (name, value) in case.bindings.iter().filter(|(name, _)| !is_keyword(name)) {
            let value = match value.in_arena(&arena) {
                Ok(value) => value,
                Err(kind) => return Outcome::Error("binding".into(), format!("{name}: {kind}")),
            };
            if let Err(error) = bindings.set(name, value) {
                return Outcome::Error("binding".into(), error.to_string());
            }
        }
        let mut scratch = Scratch::new();
        match program.eval(&bindings, &mut scratch) {
            Ok(value) => match Owned::of(&value, &arena) {
                Ok(value) => Outcome::Value(program.result_type().clone(), value),
                Err(kind) => Outcome::Error("result".into(), kind.to_string()),
            },
            Err(error) => Outcome::Error(error.kind.name().into(), error.to_string()),
        }
    }
}

/// Only the checker: the type of the expression. Functions need no implementation here.
fn check(case: &Case) -> Outcome {
    let mut env =
        Env::dynamic().container(&case.container).unchecked(case.unchecked).messages(&messages::types().types);
    for (name, ty) in variables(case) {
        env = env.variable(name, ty);
    }
    let mut declarations = env.declarations().clone();
    for function in &case.functions {
        declarations.add_function(&function.name, function.receiver, function.params.clone(), function.result.clone());
    }
    let limits = celero_frontend::Limits::default();
    let checked =
        celero_frontend::parse(&case.expr, &limits).and_then(|ast| celero_frontend::check(ast, &declarations, &limits));
    match checked {
        Ok((checked, _)) => Outcome::Compiled(checked.result_type().clone()),
        Err(diagnostics) => diagnosed(&diagnostics),
    }
}

/// The variables of a case: those declared, and as `dyn` those that only have a value. Those with
/// the name of a literal are left out: no expression can mention them.
fn variables(case: &Case) -> impl Iterator<Item = (&str, Type)> {
    let declared = case.variables.iter().map(|(name, ty)| (name.as_str(), ty.clone()));
    let bound = case.bindings.iter().map(|(name, _)| name.as_str());
    let only_bound = bound.filter(|name| case.variables.iter().all(|(n, _)| n != name)).map(|name| (name, Type::Dyn));
    declared.chain(only_bound).filter(|(name, _)| !is_keyword(name))
}

fn is_keyword(name: &str) -> bool {
    matches!(name, "true" | "false" | "null" | "in")
}

fn rejected(error: &CompileError) -> Outcome {
    diagnosed(error.diagnostics())
}

fn diagnosed(diagnostics: &[Diagnostic]) -> Outcome {
    let Some(first) = diagnostics.first() else {
        return Outcome::Error("check".into(), "rejected without a diagnostic".into());
    };
    let kind = match first.stage {
        Stage::Parse => "parse",
        Stage::Check => "check",
        Stage::Limit => "limit",
    };
    Outcome::Error(kind.into(), first.message.clone())
}
