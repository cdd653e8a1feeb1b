//! What is measured: rules and sets of rules, made ready, and their stages.
//! [`docs/lab.md`](../../../docs/lab.md#what-is-measured) lists them.

use super::hosts::{OfRequests, OfValues, SHARED, request_env, values_env};
use super::plan::{Host, Plan, PlannedRule};
use super::policies::{self, PolicyUnit};
use super::searchers::{Kind, in_cel, with_searcher};
use super::sizes::{self, SizeUnit};
use crate::counters::Probe;
use crate::read::Request;
use celero::http::RequestContext;
use celero::settings::StageObserver;
use celero::values::Arena;
use celero::{Bindings, Context, Env, Live, Program, Rule, RuleSet, Scratch, Type};
use celero_frontend::filter::{FilterOptions, check_filter};
use celero_frontend::{check, parse_with};
use celero_tests::generate::Rng;
use celero_tests::shape::Shapes;
use celero_tooling::language::Language;
use std::hint::black_box;
use std::net::SocketAddr;

/// Rules of a set.
const SET: usize = 8;
/// Requests for a set of generated rules.
const REQUESTS: usize = 64;
/// Contexts of made-up values for a rule.
const MADE_UP: u64 = 8;
/// Bytes for the values of a context.
const VALUES: usize = 1 << 20;

/// Something that is measured as a whole.
pub(crate) struct Subject {
    /// The id of the rule, of the first rule of the set, or of the policy.
    pub(crate) id: String,
    pub(crate) partition: String,
    /// Bytes of machine code of the rule; `None` for a set or a policy.
    pub(crate) code_bytes: Option<usize>,
    unit: Box<dyn Unit>,
}

impl Subject {
    /// Runs all stages once.
    pub(crate) fn record(&mut self, probe: &mut Probe) {
        self.unit.record(probe);
    }
}

trait Unit {
    fn record(&mut self, probe: &mut Probe);
}

/// Contexts of requests. They live as long as the process.
fn request_contexts(requests: &[Request]) -> &'static [OfRequests] {
    let message = |request: &Request| Some((request.message().ok()?, request.source));
    let messages: Vec<(http::Request<Vec<u8>>, Option<SocketAddr>)> = requests.iter().filter_map(message).collect();
    let messages: &'static [_] = messages.leak();
    let context = |(message, source): &'static (http::Request<Vec<u8>>, Option<SocketAddr>)| {
        let context = RequestContext::new(message).with_body(message.body());
        source.map_or(context, |source| context.with_source(source))
    };
    let contexts: Vec<OfRequests> = messages.iter().map(context).collect();
    contexts.leak()
}

/// Contexts of made-up values. They live as long as the process.
fn value_contexts(env: &Env<OfValues>, shapes: &[Shapes]) -> &'static [OfValues] {
    let contexts = (0..MADE_UP).map(|seed| {
        let arena: &'static Arena = Box::leak(Box::new(Arena::new(VALUES)));
        let mut rng = Rng::new(seed);
        let mut context = Bindings::new(env);
        let mut set: Vec<&str> = Vec::new();
        for shapes in shapes {
            for name in shapes.names() {
                if set.contains(&name) {
                    continue;
                }
                set.push(name);
                // A name that is no variable is the name of a type, which has no value.
                if let Some(Ok(value)) = shapes.value(name, &mut rng).map(|value| value.in_arena(arena)) {
                    let _ = context.set(name, value);
                }
            }
        }
        context
    });
    contexts.collect::<Vec<_>>().leak()
}

/// Makes the rules of a plan, and sets of them, ready to be measured.
pub(crate) fn subjects(plan: &Plan) -> Vec<Subject> {
    let contexts = request_contexts(&plan.requests);
    let mut subjects = Vec::new();
    for (partition, planned) in &plan.partitions {
        if plan.searchers {
            subjects.extend(planned.rules.iter().filter_map(|rule| searched(partition, rule, contexts)));
            continue;
        }
        for rule in &planned.rules {
            subjects.extend(match rule.host {
                Host::Request => single(partition, rule, request_env(rule.language).clone(), contexts),
                Host::Bindings => {
                    let (env, shapes) = values_env(&[&rule.source]);
                    let contexts = value_contexts(&env, &shapes);
                    single(partition, rule, env, contexts)
                }
            });
        }
        for host in [Host::Request, Host::Bindings] {
            let rules: Vec<&PlannedRule> = planned.rules.iter().filter(|rule| rule.host == host).collect();
            for rules in rules.chunks(SET) {
                subjects.extend(match (host, rules) {
                    (_, []) => None,
                    (Host::Request, [first, ..]) => {
                        set(partition, rules, request_env(first.language).clone(), contexts)
                    }
                    (Host::Bindings, _) => {
                        let sources: Vec<&str> = rules.iter().map(|rule| &*rule.source).collect();
                        let (env, shapes) = values_env(&sources);
                        let contexts = value_contexts(&env, &shapes);
                        set(partition, rules, env, contexts)
                    }
                });
            }
        }
    }
    subjects.extend(plan.policies.iter().filter_map(|planned| {
        let unit = PolicyUnit::new(planned, &plan.requests)?;
        let (id, partition) = (planned.id.clone(), policies::PARTITION.to_owned());
        Some(Subject { id, partition, code_bytes: None, unit: Box::new(unit) })
    }));
    subjects.extend(plan.sizes.iter().filter_map(|rules| {
        let unit = SizeUnit::new(*rules, REQUESTS)?;
        let (id, partition) = (format!("{rules:016x}"), sizes::partition(*rules));
        Some(Subject { id, partition, code_bytes: None, unit: Box::new(unit) })
    }));
    subjects
}

impl Unit for SizeUnit {
    fn record(&mut self, probe: &mut Probe) {
        SizeUnit::record(self, probe);
    }
}

impl Unit for PolicyUnit {
    fn record(&mut self, probe: &mut Probe) {
        PolicyUnit::record(self, probe);
    }
}

fn single<C>(partition: &str, rule: &PlannedRule, env: Env<C>, contexts: &'static [C]) -> Option<Subject>
where
    C: Context<Static = C> + 'static,
{
    let native = SHARED.native.compile(&env, &rule.source).ok()?;
    let interpreted = SHARED.interpreter.compile(&env, &rule.source).ok()?;
    let code_bytes = Some(native.code_size());
    let truth = *native.result_type() == Type::Bool;
    let unit =
        RuleUnit { source: rule.source.clone(), language: rule.language, env, contexts, native, interpreted, truth };
    Some(Subject { id: rule.id.clone(), partition: partition.to_owned(), code_bytes, unit: Box::new(unit) })
}

/// A rule.
struct RuleUnit<C: 'static> {
    source: String,
    language: Language,
    env: Env<C>,
    contexts: &'static [C],
    native: Program<C>,
    interpreted: Program<C>,
    /// Whether its result is a `bool`.
    truth: bool,
}

impl<C: Context<Static = C> + 'static> RuleUnit<C> {
    /// Evaluates a program on all contexts.
    #[inline(never)]
    fn evaluate(&self, program: &Program<C>, scratch: &mut Scratch) {
        for context in self.contexts {
            if self.truth {
                let _ = black_box(program.test(context));
            } else {
                let _ = black_box(program.eval(context, scratch));
            }
        }
    }
}

impl<C: Context<Static = C> + 'static> Unit for RuleUnit<C> {
    fn record(&mut self, probe: &mut Probe) {
        let engine = &SHARED.native;
        let limits = &engine.limits().source;
        if self.language == Language::filter() {
            let options = FilterOptions::default();
            let _ = black_box(probe.stage("check", || check_filter(&self.source, &SHARED.scheme, &options)));
        } else {
            let declarations = self.env.declarations();
            let tree = probe.stage("parse", || parse_with(&self.source, limits, declarations.libraries()));
            if let Ok(tree) = tree {
                let _ = black_box(probe.stage("check", || check(tree, declarations, limits)));
            }
        }
        let Ok(rule) = probe.stage("front", || engine.check(&self.env, &self.source)) else { return };
        let Ok(program) = engine.compile_observed(&self.env, &rule, probe) else { return };
        if let Some(context) = self.contexts.first() {
            let mut scratch = Scratch::new();
            probe.stage("eval-cold", || {
                let _ = black_box(program.eval(context, &mut scratch));
            });
        }
        let mut scratch = Scratch::new();
        for (stage, program) in [("eval-warm", &self.native), ("eval-interpreted", &self.interpreted)] {
            self.evaluate(program, &mut scratch);
            probe.averaged(stage, self.contexts.len(), || self.evaluate(program, &mut scratch));
        }
    }
}

/// A rule on requests with two searchers.
fn searched(partition: &str, rule: &PlannedRule, contexts: &'static [OfRequests]) -> Option<Subject> {
    let (engine, env) = (&SHARED.native, request_env(rule.language));
    let source = in_cel(engine, env, rule)?;
    let programs = [
        ("eval-interpreted", SHARED.interpreter.compile(env, &rule.source).ok()?),
        ("eval-warm", engine.compile(env, &rule.source).ok()?),
        ("eval-memmem", with_searcher(engine, &source, Kind::Memmem)?),
        ("eval-searcher", with_searcher(engine, &source, Kind::Celero)?),
    ];
    let unit = EvaluationUnit { programs, contexts };
    Some(Subject { id: rule.id.clone(), partition: partition.to_owned(), code_bytes: None, unit: Box::new(unit) })
}

/// Programs of one rule, evaluated on all requests.
struct EvaluationUnit {
    programs: [(&'static str, Program<OfRequests>); 4],
    contexts: &'static [OfRequests],
}

impl Unit for EvaluationUnit {
    fn record(&mut self, probe: &mut Probe) {
        for (stage, program) in &self.programs {
            let evaluate = || {
                for context in self.contexts {
                    let _ = black_box(program.test(context));
                }
            };
            evaluate();
            probe.averaged(stage, self.contexts.len(), evaluate);
        }
    }
}

fn set<C>(partition: &str, rules: &[&PlannedRule], env: Env<C>, contexts: &'static [C]) -> Option<Subject>
where
    C: Context<Static = C> + 'static,
{
    let is_rule = |rule: &&&PlannedRule| {
        let checked = SHARED.native.check(&env, &rule.source);
        checked.is_ok_and(|rule| matches!(rule.result_type(), Type::Bool | Type::Dyn))
    };
    let rules: Vec<(String, String)> =
        rules.iter().filter(is_rule).map(|rule| (rule.id.clone(), rule.source.clone())).collect();
    let id = rules.first()?.0.clone();
    let built = SHARED.native.rules(&env).with_rules(ready(&rules)).build().ok()?;
    let unit = SetUnit { rules, env, contexts, built };
    Some(Subject { id, partition: partition.to_owned(), code_bytes: None, unit: Box::new(unit) })
}

fn ready(rules: &[(String, String)]) -> impl Iterator<Item = Rule<()>> + '_ {
    rules.iter().map(|(name, source)| Rule::new(name, source, ()))
}

/// Rules as a set.
struct SetUnit<C: 'static> {
    rules: Vec<(String, String)>,
    env: Env<C>,
    contexts: &'static [C],
    built: RuleSet<C, ()>,
}

impl<C: Context<Static = C> + 'static> SetUnit<C> {
    #[inline(never)]
    fn evaluate(&self, scratch: &mut Scratch) {
        for context in self.contexts {
            let _ = black_box(self.built.count(context, scratch));
        }
    }
}

impl<C: Context<Static = C> + 'static> Unit for SetUnit<C> {
    fn record(&mut self, probe: &mut Probe) {
        let builder = SHARED.native.rules(&self.env).with_rules(ready(&self.rules));
        let built = builder.build_observed(&mut OfSets { probe: &mut *probe });
        drop(black_box(built));
        let mut scratch = Scratch::new();
        self.evaluate(&mut scratch);
        probe.averaged("eval-set", self.contexts.len(), || self.evaluate(&mut scratch));
        let (live, rules) = (Live::new(SHARED.native.clone(), self.env.clone()), &self.rules);
        let _ = black_box(probe.stage("reload", || live.replace(|set| set.with_rules(ready(rules)))));
    }
}

/// Lets through those stages of a set that its rules do not have.
struct OfSets<'p> {
    probe: &'p mut Probe,
}

impl OfSets<'_> {
    fn stage(stage: &str) -> Option<&'static str> {
        match stage {
            "index" => Some("index"),
            "codegen" => Some("set-codegen"),
            _ => None,
        }
    }
}

impl StageObserver for OfSets<'_> {
    fn begin(&mut self, stage: &'static str) {
        if let Some(stage) = Self::stage(stage) {
            self.probe.begin(stage);
        }
    }

    fn end(&mut self, stage: &'static str) {
        if let Some(stage) = Self::stage(stage) {
            self.probe.end(stage);
        }
    }
}
