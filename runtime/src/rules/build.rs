//! From sources to a set: all of them or none.

use super::alone::{Alone, Text};
use super::{OnError, Rule, RuleSet};
use crate::context::Context;
use crate::engine::{CompileError, Engine, Tier, not_native};
use crate::env::Env;
use crate::function::contained;
use crate::library::Patterns;
use crate::native::{Draft, Groups, Part};
use crate::program::Trees;
use celero_frontend::{Diagnostic, Severity, Span, Stage, Type};
use celero_ir::Origin;
use std::fmt;
use std::marker::PhantomData;

/// Gathers the rules of a [`RuleSet`].
#[derive(Debug)]
#[must_use]
pub struct RuleSetBuilder<'e, C, A> {
    engine: Engine,
    env: &'e Env<C>,
    rules: Vec<Rule<A>>,
    on_error: OnError,
}

impl<'e, C: Context, A> RuleSetBuilder<'e, C, A> {
    pub(crate) fn new(engine: Engine, env: &'e Env<C>) -> Self {
        Self { engine, env, rules: Vec::new(), on_error: OnError::default() }
    }

    /// Adds a rule after those before. The name is for people: two rules may have the same.
    pub fn rule(mut self, name: &str, source: &str, action: A) -> Self {
        self.rules.push(Rule { name: name.into(), text: Text::new(source.into()), action });
        self
    }

    /// What a rule that fails counts as. Default [`OnError::NoMatch`].
    pub fn on_error(mut self, policy: OnError) -> Self {
        self.on_error = policy;
        self
    }

    /// Compiles the rules.
    ///
    /// # Errors
    /// [`RuleSetError`] with every rule that does not compile.
    pub fn build(self) -> Result<RuleSet<C::Static, A>, RuleSetError> {
        let Self { engine, env, rules, on_error } = self;
        let patterns = Patterns::default();
        let mut failed = Vec::new();
        let mut fail = |rule: &Rule<A>, error| failed.push((rule.name.clone(), error));
        let mut warnings = Vec::new();
        let mut compiled = Compiled::new(&engine, env, &patterns, rules.len());
        for (number, rule) in rules.iter().enumerate() {
            let checked = engine.checked(env, rule.text.source(), &patterns);
            match checked.and_then(|(trees, found)| Ok((is_truth(trees, rule.text.source())?, found))) {
                Ok((trees, found)) => {
                    warnings.extend(found.into_iter().map(|warning| (number, warning)));
                    if let Some(trees) = compiled.add(number, trees) {
                        rule.text.keep(trees);
                    }
                }
                Err(error) => fail(rule, error),
            }
        }
        let Finished { native, parts, refused } = compiled.finish();
        if engine.tier() == Tier::Native {
            for (rule, why) in refused.into_iter().filter_map(|(number, why)| Some((rules.get(number)?, why))) {
                fail(rule, not_native(rule.text.source(), why));
            }
        }
        if !failed.is_empty() {
            return Err(RuleSetError { failed });
        }
        Ok(RuleSet {
            rules: rules.into(),
            parts: parts.into(),
            native,
            alone: Alone::new(env, *engine.limits()),
            on_error,
            warnings: warnings.into(),
            context: PhantomData,
        })
    }
}

/// Refuses a rule that has a value of another type.
fn is_truth(trees: Trees, source: &str) -> Result<Trees, CompileError> {
    let ty = trees.written.result_type();
    if matches!(ty, Type::Bool | Type::Dyn | Type::Error) {
        return Ok(trees);
    }
    let ast = trees.written.ast();
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        stage: Stage::Check,
        code: "not-bool",
        message: format!("a rule of a set must be a `bool`, this is a `{ty}`"),
        span: ast.span(ast.root()),
        labels: Vec::new(),
        help: Vec::new(),
    };
    Err(CompileError::new(source, vec![diagnostic]))
}

/// The rules on their way to native code.
struct Compiled<'a, C> {
    engine: &'a Engine,
    env: &'a Env<C>,
    patterns: &'a Patterns,
    total: usize,
    /// `None` where there is no native code.
    draft: Option<Draft<'a>>,
    /// Rules that have none, and why.
    refused: Vec<(usize, String)>,
}

/// What became of them.
struct Finished {
    native: Option<Groups>,
    parts: Vec<Part>,
    refused: Vec<(usize, String)>,
}

impl<'a, C: Context> Compiled<'a, C> {
    fn new(engine: &'a Engine, env: &'a Env<C>, patterns: &'a Patterns, total: usize) -> Self {
        let limits = engine.limits();
        let bytes = limits.constants.saturating_mul(total.max(1));
        let draft = (engine.tier() != Tier::Interpret).then(|| {
            Draft::new(env.fields(), patterns, i64::from(limits.steps), bytes).map_err(|error| error.to_string())
        });
        let (draft, refused) = match draft {
            None => (None, Vec::new()),
            Some(Ok(draft)) => (Some(draft), Vec::new()),
            Some(Err(why)) => (None, (0..total).map(|number| (number, why.clone())).collect()),
        };
        Self { engine, env, patterns, total, draft, refused }
    }

    /// Takes a rule to the common graph; gives it back if it stays with the interpreter.
    fn add(&mut self, number: usize, trees: Trees) -> Option<Trees> {
        let Some(draft) = &mut self.draft else { return Some(trees) };
        let (engine, env, patterns) = (self.engine, self.env, self.patterns);
        let added = engine.lowered(env, trees.evaluated(), patterns).and_then(|(lowered, graph)| {
            let ast = trees.written.ast();
            let Span { start, end } = ast.span(ast.root());
            draft.add(number, &graph, lowered.calls, Origin { start, end })
        });
        match added {
            Ok(()) => None,
            Err(why) => {
                self.refused.push((number, why));
                Some(trees)
            }
        }
    }

    fn finish(self) -> Finished {
        let Self { total, draft, mut refused, .. } = self;
        let interpreted = vec![Part { first: 0, count: total, function: None }];
        let Some(draft) = draft else { return Finished { native: None, parts: interpreted, refused } };
        let finished = contained(|| draft.finish(total))
            .unwrap_or_else(|()| Err("internal error: the code generator panicked".to_owned()));
        match finished {
            Ok(done) => {
                refused.extend(done.refused);
                Finished { native: Some(done.groups), parts: done.parts, refused }
            }
            Err(why) => {
                refused.extend((0..total).map(|number| (number, why.clone())));
                Finished { native: None, parts: interpreted, refused }
            }
        }
    }
}

/// Why a set was rejected: every finding of every rule. Displays as the rendered diagnostics, each under its rule's name.
#[derive(Clone)]
pub struct RuleSetError {
    failed: Vec<(Box<str>, CompileError)>,
}

impl RuleSetError {
    /// The rules that do not compile, by name, in the order of the set.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&str, &CompileError)> {
        self.failed.iter().map(|(name, error)| (&**name, error))
    }

    /// The findings with the lines they are about; `color` asks for ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        self.failed.iter().map(|(name, error)| error.render(name, color)).collect()
    }
}

impl fmt::Display for RuleSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl fmt::Debug for RuleSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As `Display`, because people `unwrap` it.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for RuleSetError {}
