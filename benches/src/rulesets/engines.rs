//! The engines that are compared on sets: each finds the rules of a set that match a request.

use super::generate::{GeneratedRule, RequestSample, in_cel, source};
use super::handwritten;
use crate::cel_crate;
use crate::measure::allocated;
use celero::http::RequestContext;
use celero::{Engine, Env, ErrorPolicy, Program, RuleSet, Scratch, Tier};
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Instant;

/// Appends the indices of the rules that match a request, in order.
pub(crate) type FindMatches = Box<dyn Fn(&RequestSample, &mut Vec<usize>)>;

/// An engine with its rules prepared.
pub(crate) struct PreparedEngine {
    pub(crate) name: &'static str,
    pub(crate) find: FindMatches,
    /// Whether it stops at the first match.
    pub(crate) once: bool,
}

impl PreparedEngine {
    pub(crate) fn all(name: &'static str, find: impl Fn(&RequestSample, &mut Vec<usize>) + 'static) -> Self {
        Self { name, find: Box::new(find), once: false }
    }
}

pub(crate) type Set = RuleSet<RequestContext<'static>>;

/// What building a set costs, for each rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuildCost {
    /// Microseconds to build.
    pub(crate) us: f64,
    /// Bytes of heap and code, without the rule's text.
    pub(crate) bytes: f64,
    /// Of these, bytes of machine code.
    pub(crate) code: f64,
}

/// Builds a set and measures the cost: the least of four builds for sets of up to 1,000 rules.
pub(crate) fn build(sources: &[String], policy: ErrorPolicy) -> (Set, BuildCost) {
    let (mut set, mut built) = build_once(sources, policy);
    let again = if sources.len() > 1_000 { 0 } else { 3 };
    for _ in 0..again {
        let (other, least) = build_once(sources, policy);
        set = other;
        let us = built.us.min(least.us);
        built = BuildCost { us, ..if least.bytes < built.bytes { least } else { built } };
    }
    (set, built)
}

fn build_once(sources: &[String], policy: ErrorPolicy) -> (Set, BuildCost) {
    let engine = Engine::builder().tier(Tier::Native).build();
    let env = Env::<RequestContext<'static>>::new();
    let text: usize = sources.iter().map(|source| source.len().saturating_add("rule".len())).sum();
    let (before, start) = (allocated(), Instant::now());
    let rules = sources.iter().fold(engine.rules(&env), |rules, source| rules.rule("rule", source, ()));
    let set = rules.on_error(policy).build().expect("rules that compile");
    let took = start.elapsed().as_secs_f64() * 1e6;
    let bytes = allocated().saturating_sub(before).saturating_add(set.code_size()).saturating_sub(text);
    let each = |total: f64| total / sources.len().max(1) as f64;
    let built = BuildCost { us: each(took), bytes: each(bytes as f64), code: each(set.code_size() as f64) };
    (set, built)
}

/// Microseconds for each rule that planning and building the index takes on one thread: the median
/// of several builds with the interpreter, which needs the index too.
pub(crate) fn index_us(sources: &[String]) -> f64 {
    let env = Env::<RequestContext<'static>>::new();
    let builds = if sources.len() > 10_000 { 5 } else { 15 };
    let mut times: Vec<f64> = (0..builds)
        .map(|_| {
            // With more threads, keys are found while rules are lowered, and nothing says which of
            // both a thread waits for.
            let engine = Engine::builder().tier(Tier::Interpret).threads(NonZeroUsize::MIN).build();
            let rules = sources.iter().fold(engine.rules(&env).on_error(ErrorPolicy::NoMatch), |rules, source| {
                rules.rule("rule", source, ())
            });
            drop(rules.build().expect("rules that compile"));
            engine.index_time().as_secs_f64() * 1e6 / sources.len().max(1) as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(builds / 2).copied().unwrap_or(f64::NAN)
}

pub(crate) fn context(sample: &RequestSample) -> RequestContext<'_> {
    RequestContext::new(&sample.request).with_source(sample.peer)
}

/// A set as two engines: one finds all rules that match, one the first.
pub(crate) fn of_set(set: Set) -> [PreparedEngine; 2] {
    let (set, scratch) = (Rc::new(set), || RefCell::new(Scratch::new()));
    let (other, of_all, of_first) = (Rc::clone(&set), scratch(), scratch());
    let all = PreparedEngine::all("indexed", move |sample, matched| {
        let mut scratch = of_all.borrow_mut();
        matched.extend(set.indices(&context(sample), &mut scratch).unwrap_or_default());
    });
    let first = move |sample: &RequestSample, matched: &mut Vec<usize>| {
        let found = other.first(&context(sample), &mut of_first.borrow_mut());
        matched.extend(found.ok().flatten().map(|found| found.index));
    };
    [all, PreparedEngine { name: "first", find: Box::new(first), once: true }]
}

/// Rules compiled to native code one by one.
pub(crate) type Programs = Rc<Vec<Program<RequestContext<'static>>>>;

pub(crate) fn compile(sources: &[String]) -> Programs {
    let engine = Engine::builder().tier(Tier::Native).build();
    let env = Env::<RequestContext<'static>>::new();
    let compile = |source: &String| engine.compile(&env, source).expect("a rule that compiles");
    Rc::new(sources.iter().map(compile).collect())
}

/// Evaluates programs one after the other; a program that fails counts as `failed`.
pub(crate) fn one_by_one(programs: &Programs, failed: bool) -> PreparedEngine {
    let programs = Rc::clone(programs);
    PreparedEngine::all("one_by_one", move |sample, matched| {
        let context = context(sample);
        let numbered = programs.iter().enumerate();
        matched.extend(numbered.filter(|(_, program)| program.test(&context).unwrap_or(failed)).map(|(n, _)| n));
    })
}

/// The loop that an expert writes.
pub(crate) fn by_hand(rules: &[GeneratedRule]) -> PreparedEngine {
    PreparedEngine::all("handwritten", handwritten::all(rules))
}

/// The `cel` crate, rule by rule.
pub(crate) fn cel(rules: &[GeneratedRule]) -> PreparedEngine {
    let sources: Vec<String> =
        rules.iter().map(|rule| in_cel(rule, |network| format!("cidrContains({network:?}, source.address)"))).collect();
    let find = cel_crate::all(&sources);
    PreparedEngine::all("cel", move |sample, matched| find(&sample.request, sample.peer.ip(), matched))
}

/// The rules in celero's CEL.
pub(crate) fn sources(rules: &[GeneratedRule]) -> Vec<String> {
    rules.iter().map(source).collect()
}
