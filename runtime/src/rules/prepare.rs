//! What a set is made of, from the sources of its rules: one graph of all, the index, native code, and warnings. All rules or
//! none.

use super::index::{self, Indexed, Notes, Shapes};
use super::warnings::{self, Facts};
use super::{Common, ErrorPolicy, Indexing, Placed, Rule, RuleSetError};
use crate::context::Context;
use crate::engine::{CompileError, Engine, Tier, not_native};
use crate::env::Env;
use crate::function::contained;
use crate::native::{Draft, Finished, Groups, Part};
use crate::profile::Functions;
use crate::program::Trees;
use celero_frontend::{Diagnostic, Severity, Span, Stage, Type};
use celero_ir::Origin;
use celero_matching::pattern::PatternCache;
use std::time::Instant;

/// How a set is made.
#[derive(Clone, Copy)]
pub(super) struct Settings<'s> {
    /// The tier that evaluates it.
    pub(super) tier: Tier,
    pub(super) on_error: ErrorPolicy,
    pub(super) indexing: Indexing,
    /// Whether each rule has native code by itself too.
    pub(super) alone: bool,
    /// Whether nobody waits for it any more.
    pub(super) stale: &'s dyn Fn() -> bool,
}

/// Of a larger set that is interpreted the trees are made again for rules that are evaluated.
const KEPT: usize = 10_000;

/// What a set is made of.
pub(super) struct Prepared {
    pub(super) common: Common,
    pub(super) found: Option<Indexed>,
    pub(super) shapes: Shapes,
    /// By rule, the row of all of it, if it has one.
    pub(super) whole: Vec<Option<u32>>,
    pub(super) compiled: Compiled,
    /// By rule, in order.
    pub(super) warnings: Vec<(usize, Diagnostic)>,
    pub(super) notes: Notes,
}

impl Prepared {
    /// Of rules, in their order.
    ///
    /// # Errors
    /// [`RuleSetError`] with every rule that does not compile; without any if the work is stale.
    pub(super) fn new<C: Context, A>(
        engine: &Engine,
        env: &Env<C>,
        rules: &[&Rule<A>],
        settings: Settings<'_>,
        mut notes: Notes,
    ) -> Result<Self, RuleSetError> {
        let patterns = PatternCache::with_budget(engine.limits().patterns);
        let mut failed = Vec::new();
        let mut fail = |number: u32, rule: &Rule<A>, error| failed.push((number as usize, rule.name.clone(), error));
        let mut warnings = Vec::new();
        let mut common = Common::default();
        let mut interpreted = Vec::new();
        let mut facts = Vec::with_capacity(rules.len());
        for (number, rule) in (0_u32..).zip(rules) {
            if (settings.stale)() {
                return Err(RuleSetError { failed: Vec::new() });
            }
            let checked = engine.checked(env, rule.text.source(), &patterns);
            match checked.and_then(|(trees, found)| Ok((is_truth(trees, rule.text.source())?, found))) {
                Ok((trees, found)) => {
                    let ast = trees.written.ast();
                    let span = ast.span(ast.root());
                    facts.push(Facts {
                        name: &rule.name,
                        tags: &rule.tags,
                        on_error: rule.on_error.unwrap_or(settings.on_error),
                        span,
                        explained: warnings::explain(&found),
                    });
                    warnings.extend(found.into_iter().map(|warning| (number as usize, warning)));
                    let lowered = engine.lowered(env, trees.evaluated(), &patterns);
                    let Span { start, end } = span;
                    let added = lowered
                        .and_then(|(lowered, graph)| common.add(number, &graph, lowered.calls, Origin { start, end }));
                    if let Err(why) = added {
                        interpreted.push((number, why));
                    }
                    if settings.tier == Tier::Interpret && rules.len() <= KEPT && !notes.wanted() {
                        rule.text.keep(trees);
                    }
                }
                Err(error) => fail(number, rule, error),
            }
        }
        if facts.len() == rules.len() {
            warnings.extend(warnings::warnings(&common, &facts));
            warnings.sort_by_key(|(rule, _)| *rule);
        }
        let errors = |rule: u32| facts.get(rule as usize).is_none_or(|facts| facts.on_error != ErrorPolicy::NoMatch);
        let wanted = (settings.indexing != Indexing::Off).then_some(index::Wanted {
            errors: &errors,
            always: settings.indexing == Indexing::Always,
            native: settings.tier != Tier::Interpret,
            room: patterns.budget(),
        });
        let mut shapes = Shapes::default();
        let start = Instant::now();
        let found = wanted.and_then(|wanted| index::index(&common, env.fields(), wanted, &mut shapes, &mut notes));
        engine.add_index_time(start.elapsed());
        let mut whole = Vec::new();
        if settings.alone && settings.tier != Tier::Interpret {
            whole.resize(rules.len(), None);
            for rule in &common.rules {
                if let Some(row) = whole.get_mut(rule.number as usize) {
                    *row = shapes.add(&common.graph, rule, &[rule.root]);
                }
            }
        }
        let input = Input {
            engine,
            env,
            settings,
            patterns: &patterns,
            common: &common,
            found: found.as_ref(),
            shapes: &shapes,
            whole: &whole,
        };
        let compiled = Compiled::new(&input, interpreted, &|number: u32| {
            rules.get(number as usize).map_or(("", ""), |rule| (&*rule.name, rule.text.source()))
        });
        if (settings.stale)() {
            return Err(RuleSetError { failed: Vec::new() });
        }
        if settings.tier == Tier::Native {
            for (number, why) in &compiled.refused {
                if let Some(rule) = rules.get(*number as usize) {
                    fail(*number, rule, not_native(rule.text.source(), why.clone()));
                }
            }
        }
        if !failed.is_empty() {
            return Err(RuleSetError { failed });
        }
        Ok(Self { common, found, shapes, whole, compiled, warnings, notes })
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

/// What native code is made from.
struct Input<'i, C> {
    engine: &'i Engine,
    env: &'i Env<C>,
    settings: Settings<'i>,
    patterns: &'i PatternCache,
    common: &'i Common,
    found: Option<&'i Indexed>,
    shapes: &'i Shapes,
    whole: &'i [Option<u32>],
}

/// What evaluates the rules.
pub(super) struct Compiled {
    pub(super) native: Option<Groups>,
    /// The rules that are evaluated in any case, in order.
    pub(super) straight: Vec<u32>,
    pub(super) parts: Vec<Part>,
    /// Rules that have no native code, and why.
    pub(super) refused: Vec<(u32, String)>,
}

impl Compiled {
    /// `refused` are rules that are not in the common graph; `names` says the name and the text of a rule.
    fn new<'r, C: Context>(
        input: &Input<'_, C>,
        mut refused: Vec<(u32, String)>,
        names: &impl Fn(u32) -> (&'r str, &'r str),
    ) -> Self {
        let &Input { engine, settings, common, found, whole, .. } = input;
        let straight: Vec<&Placed> = match found {
            Some(found) => found.straight.iter().filter_map(|&place| common.rules.get(place)).collect(),
            None => common.rules.iter().collect(),
        };
        let mut native = None;
        let mut parts = vec![Part { count: straight.len(), function: None }];
        let others: Vec<u32> = refused.iter().map(|(rule, _)| *rule).collect();
        if settings.tier != Tier::Interpret {
            let compiled = contained(|| compile(input, &straight));
            let compiled = compiled.unwrap_or_else(|()| Err("internal error: the code generator panicked".to_owned()));
            match compiled {
                Ok(finished) => {
                    if let Some(profiler) = engine.profiler() {
                        let rows = found.iter().flat_map(|found| found.index.rows());
                        let whole = (0..).zip(whole).filter_map(|(rule, row)| Some((rule, (*row)?)));
                        let functions = Functions::new(&finished, &straight, rows.chain(whole));
                        profiler.record(finished.groups.code(), |function| functions.name(function, names));
                    }
                    let shapes = finished.groups.shapes();
                    let rows = found.iter().flat_map(|found| found.index.rows());
                    refused.extend(rows.filter_map(|(rule, row)| Some((rule, shapes.refusal(row)?.to_owned()))));
                    refused.extend(finished.refused);
                    native = Some(finished.groups);
                    parts = finished.parts;
                }
                Err(why) => refused.extend(common.rules.iter().map(|rule| (rule.number, why.clone()))),
            }
        }
        let mut straight: Vec<u32> = straight.into_iter().map(|rule| rule.number).collect();
        parts.push(Part { count: others.len(), function: None });
        straight.extend(others);
        refused.sort_unstable();
        refused.dedup_by_key(|(rule, _)| *rule);
        Self { native, straight, parts, refused }
    }
}

/// Native code for rules and for what is left of those that are found.
fn compile<C: Context>(input: &Input<'_, C>, straight: &[&Placed]) -> Result<Finished, String> {
    let &Input { engine, env, settings, patterns, common, shapes, .. } = input;
    let limits = engine.limits();
    let copies = if settings.alone { 2 } else { 1 };
    let bytes = limits.constants.saturating_mul(common.rules.len().max(1)).saturating_mul(copies);
    let mut draft = Draft::new(common, env.fields(), patterns, i64::from(limits.steps), bytes)?;
    draft.straight(straight, settings.stale)?;
    let shapes = draft.shapes(&shapes.shapes, &shapes.rows);
    draft.finish(shapes)
}
