//! The steps from rules to the parts of a set: merged graph, index, native code, warnings.
//!
//! Invariant: a set does not depend on the number of threads that compiled it: warnings, errors, index and code are the
//! same, in the same order. Test: `tests/tests/it/threads.rs::a_set_does_not_depend_on_the_number_of_threads`.

use super::function_names::FunctionNames;
use super::index::{self, Indexed, PlanTrace, RuleKeys, Templates};
use super::rule::Condition;
use super::warnings::{self, Facts};
use super::{ErrorPolicy, Indexing, RuleSetError};
use crate::compilation::cancellation::{Cancellation, Cancelled};
use crate::compilation::parallel::{both, map_in_order};
use crate::context::Context;
use crate::engine::{Engine, Tier, not_native};
use crate::env::Env;
use crate::error::CompileError;
use crate::expression::Expression;
use crate::limits::Limits;
use crate::lint::exceeded_case_steps;
use crate::lower::Calls;
use crate::lower::merge::{MergedGraph, MergedRule};
use crate::native::template::{ParameterRows, Template};
use crate::native::{CompiledRules, LinearBlock, SetCode, SetCompiler};

use celero_frontend::{Diagnostic, Severity, Span, Stage, TOO_MANY_NODES, Type};
use celero_ir::passes::{StageObserver, observed};
use celero_ir::{Graph, Origin};
use celero_matching::pattern::PatternCache;
use std::ops::ControlFlow;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How a set is compiled.
#[derive(Clone, Copy)]
pub(super) struct Settings<'s> {
    /// The tier that evaluates the set.
    pub(super) tier: Tier,
    pub(super) on_error: ErrorPolicy,
    pub(super) indexing: Indexing,
    /// Whether each rule also gets standalone native code.
    pub(super) standalone: bool,
    /// Number of threads that may work on it.
    pub(super) threads: usize,
    pub(super) cancellation: &'s Cancellation,
}

/// Smallest set for which threads are started: starting one takes as long as compiling a few rules.
const MIN_PARALLEL: usize = 256;

/// Number of rules after which their keys are found, on the thread that merges rules, while other
/// threads lower the next rules.
const KEYS_AT_ONCE: usize = 64;

/// Largest interpreted set that keeps the trees of all rules. In larger sets a rule is checked
/// again when it is first evaluated.
const KEPT: usize = 10_000;

/// A rule to be compiled.
pub(super) struct RuleInput<'r> {
    pub(super) name: &'r str,
    pub(super) condition: &'r Condition,
    /// Numbers of its tags, sorted.
    pub(super) tags: &'r [u32],
    pub(super) on_error: Option<ErrorPolicy>,
    /// See [`Rule::shadows_until`](super::Rule::shadows_until).
    pub(super) shadows_until: usize,
}

/// The parts of a set.
pub(super) struct Prepared {
    /// Number of threads that may work on a set of this size.
    pub(super) threads: usize,
    /// Indexed by rule: the checked form, where it is worth keeping; empty if none is.
    pub(super) expressions: Vec<Option<Arc<Expression>>>,
    pub(super) merged: MergedGraph,
    pub(super) found: Option<Indexed>,
    pub(super) templates: Templates,
    /// Indexed by rule: the parameter row of its whole condition, if it has standalone code.
    pub(super) whole: Vec<Option<u32>>,
    pub(super) compiled: Compiled,
    /// Whether a rule asks a list of the host.
    pub(super) asks_lists: bool,
    /// Sorted by rule.
    pub(super) warnings: Vec<(usize, Diagnostic)>,
    /// Rules that an earlier one makes pointless, with that one, in order.
    pub(super) shadowed: Vec<(u32, u32)>,
    pub(super) trace: PlanTrace,
}

impl Prepared {
    /// Compiles rules, which are in their order.
    /// `observer` learns of the stages of [`Engine::compile_observed`], of `index` and of `codegen`.
    ///
    /// # Errors
    /// [`RuleSetError`] with every rule that does not compile, or that the compilation was cancelled.
    pub(super) fn new<C: Context>(
        engine: &Engine,
        env: &Env<C>,
        rules: &[RuleInput<'_>],
        settings: Settings<'_>,
        mut trace: PlanTrace,
        observer: &mut dyn StageObserver,
    ) -> Result<Self, RuleSetError> {
        let patterns = engine.pattern_cache(env);
        let mut checked = CheckedRules::default();
        let threads = if rules.len() >= MIN_PARALLEL { settings.threads } else { 1 };
        let (fields, lists) = (env.fields(), env.functions().lists());
        let indexed = if settings.indexing == Indexing::Off { 0 } else { rules.len() };
        let mut keys = RuleKeys::with_capacity(indexed, env.dialect());
        let finds_keys = threads > 1 && settings.indexing == Indexing::Auto;
        let mut numbered = (0_u32..).zip(rules);
        let mut budget = SetBudget::new(engine.limits());
        let mut add = |lowered: &mut Option<Result<LoweredRule, CompileError>>| {
            let (Some(lowered), Some((number, rule))) = (lowered, numbered.next()) else {
                return ControlFlow::Break(());
            };
            match lowered {
                Ok(lowered) => {
                    if let Some(error) = budget.exceeded_by(lowered) {
                        // Refused at once: the rules after it may take as long as those before.
                        let error = CompileError::new(rule.condition.source(), vec![error]);
                        checked.failed.push((number as usize, rule.name.into(), error));
                        return ControlFlow::Break(());
                    }
                    checked.add(number, rule, settings.on_error, lowered);
                    if finds_keys && checked.facts.len().is_multiple_of(KEYS_AT_ONCE) {
                        let start = Instant::now();
                        keys.find(&checked.merged, fields, lists);
                        engine.add_index_time(start.elapsed());
                    }
                }
                Err(error) => checked.failed.push((number as usize, rule.name.into(), error.clone())),
            }
            ControlFlow::Continue(())
        };
        let keep = settings.tier == Tier::Interpret && rules.len() <= KEPT && !trace.wanted();
        let lowered = |rule: &RuleInput<'_>, observer: &mut dyn StageObserver| {
            (!settings.cancellation.is_requested())
                .then(|| LoweredRule::new(engine, env, rule, keep, &patterns, observer))
        };
        let added = if threads > 1 {
            map_in_order(threads, rules, &|rule| lowered(rule, &mut ()), add)
        } else {
            rules.iter().try_for_each(|rule| add(&mut lowered(rule, observer)))
        };
        if budget.is_exceeded {
            return Err(RuleSetError::refused(checked.failed));
        }
        if added.is_break() {
            return Err(Cancelled.into());
        }
        settings.cancellation.check()?;
        let CheckedRules { expressions, merged, interpreted, facts, mut warnings, asks_lists, mut failed } = checked;
        let errors = |rule: u32| facts.get(rule as usize).is_none_or(|facts| facts.on_error != ErrorPolicy::NoMatch);
        let wanted = (settings.indexing != Indexing::Off).then_some(index::Wanted {
            errors: &errors,
            always: settings.indexing == Indexing::Always,
            native: settings.tier != Tier::Interpret,
            patterns: &patterns,
        });
        let (mut templates, received) = if settings.tier == Tier::Interpret {
            (Templates::default(), None)
        } else {
            let (templates, received) = Templates::for_compiler();
            (templates, Some(received))
        };
        let received = Mutex::new(received);
        let compiler = || {
            let received = received.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            Some(template_compiler(engine, env, settings, &patterns, &merged, received))
        };
        let start = Instant::now();
        // Templates are compiled while the index is planned.
        let meanwhile = || {
            let all = facts.len() == rules.len();
            let of_set = if all { warnings::warnings(&merged, &facts, fields) } else { warnings::Found::default() };
            (of_set, if threads > 1 { compiler() } else { None })
        };
        // What sends templates is dropped in the function that may panic, so that the other thread
        // does not wait for more.
        let ((of_set, compiled), (found, templates, whole)) = both(threads, meanwhile, || {
            let mut templates = std::mem::take(&mut templates);
            let found = observed(observer, "index", || {
                wanted.and_then(|wanted| index::index(&merged, fields, lists, wanted, keys, &mut templates, &mut trace))
            });
            engine.add_index_time(start.elapsed());
            let whole = whole_conditions(settings, rules.len(), &merged, &mut templates);
            templates.finish();
            (found, templates, whole)
        });
        settings.cancellation.check()?;
        let warnings::Found { warnings: of_set, shadowed } = of_set;
        warnings.extend(of_set);
        warnings.sort_by_key(|(rule, _)| *rule);
        let input =
            Input { engine, settings, merged: &merged, found: found.as_ref(), rows: &templates.rows, whole: &whole };
        let names =
            |number: u32| rules.get(number as usize).map_or(("", ""), |rule| (rule.name, rule.condition.source()));
        let compiled =
            observed(observer, "codegen", || Compiled::new(&input, compiled.or_else(compiler), interpreted, &names));
        // Rules that were not compiled for that reason are not refused.
        settings.cancellation.check()?;
        if settings.tier == Tier::Native {
            for (number, why) in &compiled.refused {
                if let Some(rule) = rules.get(*number as usize) {
                    let error = not_native(rule.condition.source(), why.clone());
                    failed.push((*number as usize, rule.name.into(), error));
                }
            }
        }
        if !failed.is_empty() {
            return Err(RuleSetError::refused(failed));
        }
        Ok(Self {
            threads,
            expressions,
            merged,
            found,
            templates,
            whole,
            compiled,
            asks_lists,
            warnings,
            shadowed,
            trace,
        })
    }
}

/// What the rules of a set may take together.
struct SetBudget {
    limits: Limits,
    case_steps: usize,
    inlined_nodes: usize,
    is_exceeded: bool,
}

impl SetBudget {
    fn new(limits: &Limits) -> Self {
        Self { limits: *limits, case_steps: 0, inlined_nodes: 0, is_exceeded: false }
    }

    /// Counts a rule. Returns the error about the limit that it exceeds.
    fn exceeded_by(&mut self, rule: &LoweredRule) -> Option<Diagnostic> {
        self.case_steps = self.case_steps.saturating_add(rule.case_steps);
        self.inlined_nodes = self.inlined_nodes.saturating_add(rule.inlined_nodes);
        let Limits { case_steps, inlined_nodes, .. } = self.limits;
        let error = if self.case_steps > case_steps {
            exceeded_case_steps(rule.span, case_steps)
        } else if self.inlined_nodes > inlined_nodes {
            let message = format!(
                "up to this rule, the rules that use definitions have more than {inlined_nodes} nodes (`inlined_nodes`), the bodies of the definitions included"
            );
            Diagnostic::error(Stage::Limit, TOO_MANY_NODES, rule.span, message)
        } else {
            return None;
        };
        self.is_exceeded = true;
        Some(error)
    }
}

/// What is known of the rules once each was checked, lowered and merged. They are added in their order.
#[derive(Default)]
struct CheckedRules<'r> {
    /// Indexed by rule: the checked form, where it is kept; empty if none is.
    expressions: Vec<Option<Arc<Expression>>>,
    merged: MergedGraph,
    /// Rules that are not in the merged graph, and why.
    interpreted: Vec<(u32, String)>,
    /// Of the rules that are valid.
    facts: Vec<Facts<'r>>,
    warnings: Vec<(usize, Diagnostic)>,
    asks_lists: bool,
    /// Rules that do not compile, with their names.
    failed: Vec<(usize, Box<str>, CompileError)>,
}

impl<'r> CheckedRules<'r> {
    /// Adds a valid rule. `on_error` is the policy of the set. Takes from `lowered` what the set keeps.
    fn add(&mut self, number: u32, rule: &RuleInput<'r>, on_error: ErrorPolicy, lowered: &mut LoweredRule) {
        let LoweredRule { span, warnings, asks_lists, case_steps: _, inlined_nodes: _, graph, kept } = lowered;
        let span = *span;
        self.asks_lists |= *asks_lists;
        self.facts.push(Facts {
            name: rule.name,
            tags: rule.tags,
            on_error: rule.on_error.unwrap_or(on_error),
            shadows_until: rule.shadows_until,
            span,
            explained: warnings::explain(warnings),
        });
        self.warnings.extend(warnings.drain(..).map(|warning| (number as usize, warning)));
        let Span { start, end } = span;
        let added = match graph {
            Ok((calls, graph)) => self.merged.add(number, graph, calls, Origin { start, end }),
            Err(why) => Err(std::mem::take(why)),
        };
        if let Err(why) = added {
            self.interpreted.push((number, why));
        }
        if let Some(expression) = kept.take() {
            self.expressions.resize(number as usize, None);
            self.expressions.push(Some(expression));
        }
    }
}

/// The parameter row of the whole condition of each rule, if rules get standalone code.
fn whole_conditions(
    settings: Settings<'_>,
    rules: usize,
    merged: &MergedGraph,
    templates: &mut Templates,
) -> Vec<Option<u32>> {
    if !settings.standalone || settings.tier == Tier::Interpret {
        return Vec::new();
    }
    let mut whole = vec![None; rules];
    for rule in &merged.rules {
        if let Some(row) = whole.get_mut(rule.number as usize) {
            *row = templates.add(merged, rule, &[rule.placed]);
        }
    }
    whole
}

/// What the stages that look at no other rule make of a rule.
struct LoweredRule {
    /// Its whole expression.
    span: Span,
    warnings: Vec<Diagnostic>,
    asks_lists: bool,
    /// What its patterns take for letter cases.
    case_steps: usize,
    /// Its nodes, if it uses definitions.
    inlined_nodes: usize,
    /// Its graph and what it calls, or why it has none.
    graph: Result<(Calls, Graph), String>,
    /// Its checked form, if the set keeps it.
    kept: Option<Arc<Expression>>,
}

impl LoweredRule {
    /// Parses, checks, lowers and optimises a rule. The checked form is kept if `keep` is true or
    /// it can't be made again.
    ///
    /// # Errors
    /// The rule is no valid condition.
    fn new<C: Context>(
        engine: &Engine,
        env: &Env<C>,
        rule: &RuleInput<'_>,
        keep: bool,
        patterns: &PatternCache,
        observer: &mut dyn StageObserver,
    ) -> Result<Self, CompileError> {
        let checked = match rule.condition {
            Condition::Source(source) => engine.expression(env, source, patterns).map(Arc::new),
            Condition::Checked(rule) => rule.expression_for(env).cloned(),
            Condition::Refused { error, .. } => Err(error.clone()),
        };
        let expression = checked.and_then(is_truth)?;
        let graph = engine.lowered(env, &expression, patterns, None, observer);
        // Checking the source again needs the language of the environment.
        let foreign = !expression.is_in(env.rule_language());
        Ok(Self {
            span: expression.span(),
            warnings: expression.warnings().to_vec(),
            asks_lists: expression.lists(env.functions()).is_some(),
            case_steps: expression.case_steps(),
            inlined_nodes: expression.tree().inlined_nodes(),
            graph: graph.map(|(lowered, graph)| (lowered.calls, graph)),
            kept: (keep || foreign).then_some(expression),
        })
    }
}

/// Refuses a rule whose result is no `bool`.
fn is_truth(expression: Arc<Expression>) -> Result<Arc<Expression>, CompileError> {
    let ty = expression.result_type();
    if matches!(ty, Type::Bool | Type::Dyn | Type::Error) {
        return Ok(expression);
    }
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        stage: Stage::Check,
        code: "not-bool",
        message: format!("a rule of a set must be a `bool`, this is a `{ty}`"),
        span: expression.span(),
        labels: Vec::new(),
        help: Vec::new(),
    };
    Err(CompileError::new(expression.source(), vec![diagnostic]))
}

/// The input of native compilation.
struct Input<'i> {
    engine: &'i Engine,
    settings: Settings<'i>,
    merged: &'i MergedGraph,
    found: Option<&'i Indexed>,
    rows: &'i ParameterRows,
    whole: &'i [Option<u32>],
}

/// The compiled parts of a set.
pub(super) struct Compiled {
    pub(super) native: Option<SetCode>,
    /// The unindexed rules, in the order of the blocks.
    pub(super) linear: Vec<u32>,
    pub(super) parts: Vec<LinearBlock>,
    /// Rules without native code, and why.
    pub(super) refused: Vec<(u32, String)>,
}

impl Compiled {
    /// `compiler` has compiled the templates, or failed; `None` compiles nothing. `refused` are the
    /// rules that are not in the merged graph; `names` returns the name and the source of a rule.
    fn new<'r>(
        input: &Input<'_>,
        compiler: Option<Result<SetCompiler<'_>, String>>,
        mut refused: Vec<(u32, String)>,
        names: &impl Fn(u32) -> (&'r str, &'r str),
    ) -> Self {
        let &Input { engine, merged, found, whole, .. } = input;
        let linear: Vec<&MergedRule> = match found {
            Some(found) => found.linear.iter().filter_map(|&place| merged.rules.get(place)).collect(),
            None => merged.rules.iter().collect(),
        };
        let mut native = None;
        let mut parts = vec![LinearBlock { count: linear.len(), function: None }];
        let others: Vec<u32> = refused.iter().map(|(rule, _)| *rule).collect();
        if let Some(compiler) = compiler {
            match compiler.and_then(|compiler| compile(input, compiler, &linear)) {
                Ok(finished) => {
                    engine.add_codegen_time(finished.codegen_time);
                    if let Some(profiler) = engine.profiler() {
                        let rows = found.iter().flat_map(|found| found.index.rows());
                        let whole = (0..).zip(whole).filter_map(|(rule, row)| Some((rule, (*row)?)));
                        let functions = FunctionNames::new(&finished, &linear, rows.chain(whole));
                        profiler.record(finished.code.code(), |function| functions.name(function, names));
                    }
                    let templates = finished.code.templates();
                    let rows = found.iter().flat_map(|found| found.index.rows());
                    refused.extend(rows.filter_map(|(rule, row)| Some((rule, templates.refusal(row)?.to_owned()))));
                    refused.extend(finished.refused);
                    native = Some(finished.code);
                    parts = finished.blocks;
                }
                Err(why) => {
                    engine.check_native_code();
                    refused.extend(merged.rules.iter().map(|rule| (rule.number, why.clone())));
                }
            }
        }
        let mut linear: Vec<u32> = linear.into_iter().map(|rule| rule.number).collect();
        parts.push(LinearBlock { count: others.len(), function: None });
        linear.extend(others);
        refused.sort_unstable();
        refused.dedup_by_key(|(rule, _)| *rule);
        Self { native, linear, parts, refused }
    }
}

/// Compiles templates until there are no more. Returns the compiler of the set.
fn template_compiler<'c, C: Context>(
    engine: &Engine,
    env: &'c Env<C>,
    settings: Settings<'_>,
    patterns: &'c PatternCache,
    merged: &'c MergedGraph,
    templates: Receiver<Template>,
) -> Result<SetCompiler<'c>, String> {
    let limits = engine.limits();
    let copies = if settings.standalone { 2 } else { 1 };
    let bytes = limits.constants.saturating_mul(merged.rules.len().max(1)).saturating_mul(copies);
    let mut compiler = SetCompiler::new(merged, env.fields(), patterns, i64::from(limits.steps), bytes)?;
    compiler.templates(templates.into_iter(), settings.cancellation)?;
    Ok(compiler)
}

/// Compiles the linear scan to native code, and fills the rows of the residual predicates.
fn compile(input: &Input<'_>, mut compiler: SetCompiler<'_>, linear: &[&MergedRule]) -> Result<CompiledRules, String> {
    let cancellation = input.settings.cancellation;
    compiler.linear(linear, cancellation)?;
    let templates = compiler.rows(input.rows, cancellation)?;
    cancellation.check()?;
    compiler.finish(templates)
}
