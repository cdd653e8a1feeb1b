//! Rules: every operation on every shape, in CEL and in the filter language.

use crate::SizedRule;
use crate::measure::{growth, measure};
use crate::{exclusive, report};
use celero::settings::SourceLimits;
use celero::{Bindings, Engine, Env, Limits, Scratch, Tier, Type, Value};
use celero_frontend::filter::{FilterOptions, Scheme, check_filter, format_filter, http_scheme, unparse_filter};
use celero_tests::generate::Rng;
use celero_tests::rule_shapes::SHAPES;
use celero_tests::shared::say;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn env() -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("a", Type::Bool).variable("i", Type::Int).variable("s", Type::String);
    env.variable("m", Type::map(Type::String, Type::Dyn)).variable("d", Type::Dyn)
}

/// Limits of sources of 4 MiB, so that the other bounds have to hold.
fn source_limits() -> SourceLimits {
    SourceLimits { max_source_bytes: 4 << 20, ..SourceLimits::default() }
}

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).limits(Limits { source: source_limits(), ..Limits::default() }).build()
}

fn evaluate(engine: &Engine, env: &Env<Bindings<'static>>, source: &str) {
    let Ok(program) = engine.compile(env, source) else { return };
    let mut bindings = Bindings::new(env);
    for (name, value) in [("a", Value::Bool(true)), ("i", Value::Int(1)), ("s", Value::String("x"))] {
        bindings.set(name, value).unwrap();
    }
    let mut scratch = Scratch::new();
    drop(black_box(program.eval(&bindings, &mut scratch)));
}

type Operation = (&'static str, fn(&Engine, &Env<Bindings<'static>>, &str));

/// What is done with a rule.
const OPERATIONS: &[Operation] = &[
    ("check and render", |engine, env, source| match engine.check(env, source) {
        Ok(rule) => drop(black_box(rule.guard_warnings(env, true))),
        Err(error) => drop(black_box(error.to_string())),
    }),
    ("format", |_, _, source| drop(black_box(celero_frontend::format(source, &source_limits(), 80)))),
    ("unparse", |_, _, source| {
        if let Ok(tree) = celero_frontend::parse(source, &source_limits()) {
            drop(black_box((celero_frontend::unparse(&tree), celero_frontend::layout(&tree, 80))));
        }
    }),
    ("translate", |engine, env, source| drop(black_box(engine.to_filter(env, source).is_ok()))),
    ("compile and evaluate", evaluate),
    ("trace", |engine, env, source| {
        let Ok(program) = engine.compile(env, source) else { return };
        let mut scratch = Scratch::new();
        drop(black_box(program.trace(&Bindings::new(env), &mut scratch)));
    }),
];

#[test]
fn rules_cost_what_their_size_says() {
    let _guard = exclusive();
    let (env, mut problems) = (env(), Vec::new());
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = engine(tier);
        for (operation, run) in OPERATIONS {
            // Only what compiles differs between the tiers.
            if tier == Tier::Native && *operation != "compile and evaluate" {
                continue;
            }
            for (name, make) in SHAPES {
                let work = |n: usize| {
                    let source = make(n);
                    let (engine, env) = (&engine, &env);
                    move || run(engine, env, &source)
                };
                problems.extend(growth(&format!("{tier:?} {operation}: {name}"), 1 << 15, work));
            }
        }
    }
    report(&problems);
}

/// Loops in loops, as deep as rules may be, cost little more to compile than as many loops that are less deep.
#[test]
fn loops_in_loops_cost_what_loops_cost() {
    let _guard = exclusive();
    let (env, engine, mut problems) = (env(), engine(Tier::Native), Vec::new());
    let shapes = SHAPES.iter().filter(|(name, _)| name.starts_with("macros") || *name == "transforms");
    for (name, make) in shapes {
        let mut deepest = 8;
        while deepest < 1 << 10 && engine.check(&env, &make(2 * deepest)).is_ok() {
            deepest *= 2;
        }
        let cost = |depth: usize| {
            let source = make(depth);
            let mut work = || (0..1024 / depth).for_each(|_| evaluate(&engine, &env, &source));
            (0..3).map(|_| measure(&mut work).seconds).fold(f64::INFINITY, f64::min)
        };
        let (flat, deep) = (cost(8), cost(deepest));
        say(&format!("  {name}: in loops of 8 {:.1} ms, of {deepest} {:.1} ms", flat * 1e3, deep * 1e3));
        if deep > 2.5 * flat {
            problems.push(format!("{name} in {deepest} loops: {deep:.3} s, in 8 loops {flat:.3} s"));
        }
    }
    report(&problems);
}

/// One shape in another one, at a random place. `CELERO_COST_SECONDS` says how long pairs are tried.
#[test]
fn random_compositions_cost_what_their_size_says() {
    let seconds = std::env::var("CELERO_COST_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let _guard = exclusive();
    let end = Instant::now() + Duration::from_secs(seconds);
    let seed = std::env::var("CELERO_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (mut rng, env, mut problems) = (Rng::new(seed), env(), Vec::new());
    let engine = engine(Tier::Interpret);
    while Instant::now() < end {
        let [(outer_name, outer), (inner_name, inner)] = [(); 2].map(|()| SHAPES[rng.below(SHAPES.len())]);
        let (count, (operation, run)) = (rng.below(20) + 1, OPERATIONS[rng.below(OPERATIONS.len())]);
        let around = outer(count);
        let places: Vec<usize> = around.match_indices(['a', 'i', '1', 's', 'd']).map(|(at, _)| at).collect();
        let Some(at) = (!places.is_empty()).then(|| places[rng.below(places.len())]) else { continue };
        let (before, after) = (&around[..at], &around[at + 1..]);
        let work = |n: usize| {
            let source = format!("{before}({}){after}", inner(n));
            let (engine, env) = (&engine, &env);
            move || run(engine, env, &source)
        };
        let name = format!("{operation}: {inner_name} in {outer_name} x {count} at byte {at}");
        problems.extend(growth(&name, 1 << 13, work));
    }
    report(&problems);
}

/// Rules in the filter language that repeat something `n` times.
const FILTERS: &[SizedRule] = &[
    ("parentheses", |n| "(".repeat(n) + "ssl" + &")".repeat(n)),
    ("unclosed", |n| "(".repeat(n)),
    ("not", |n| "not ".repeat(n) + "ssl"),
    ("bangs", |n| "!".repeat(n) + "ssl"),
    ("and", |n| "ssl".to_owned() + &" and ssl".repeat(n)),
    ("or", |n| "ssl".to_owned() + &" || ssl".repeat(n)),
    ("xor", |n| "ssl".to_owned() + &" xor ssl".repeat(n)),
    ("or of and", |n| "ssl".to_owned() + &" or ssl and not ssl".repeat(n)),
    ("different comparisons", |n| many(n, " or ", |k| format!("http.host eq \"h{k}\""))),
    ("contains", |n| many(n, " or ", |k| format!("http.request.uri.path contains \"/{k}\""))),
    ("wildcards", |n| many(n, " or ", |k| format!("http.request.uri.path wildcard \"/{k}/*\""))),
    ("stars", |n| format!("http.host wildcard \"{}\"", "a*".repeat(n))),
    ("patterns", |n| many(n, " or ", |k| format!("http.request.uri.path matches \"^/{k}/[0-9]+$\""))),
    ("a long pattern", |n| format!("http.host matches \"{}\"", "(a|b)*".repeat(n))),
    ("a set of texts", |n| format!("http.host in {{{}}}", many(n, " ", |k| format!("\"h{k}\"")))),
    ("a set of equal texts", |n| format!("http.host in {{{}}}", "\"h\" ".repeat(n))),
    ("a set of numbers", |n| {
        format!("http.request.timestamp.sec in {{{}}}", many(n, " ", |k| format!("{k}..{}", 2 * k)))
    }),
    ("a set of networks", |n| {
        format!("ip.src in {{{}}}", many(n, " ", |k| format!("10.{}.{}.0/{}", k / 256 % 256, k % 256, k % 25 + 8)))
    }),
    ("calls", |n| "lower(".repeat(n) + "http.host" + &")".repeat(n) + " eq \"a\""),
    ("a wide call", |n| format!("concat(http.host{}) eq \"a\"", ", http.host".repeat(n))),
    ("indexes", |n| format!("http.request.headers{} eq \"a\"", "[0]".repeat(n))),
    ("keys", |n| many(n, " or ", |k| format!("any(http.request.headers[\"x-{k}\"][*] eq \"a\")"))),
    ("a long text", |n| format!("http.host eq \"{}\"", "a".repeat(n))),
    ("escapes", |n| format!("http.host eq \"{}\"", "\\x41".repeat(n))),
    ("raw texts", |n| format!("http.host eq r{0}\"a\"{0}", "#".repeat(n))),
    ("bytes", |n| format!("http.host eq 61{}", ":61".repeat(n))),
    ("unknown fields", |n| many(n, " or ", |k| format!("x{k} eq \"a\""))),
    ("wrong literals", |n| many(n, " or ", |_| "http.host eq 1.2.3.4".to_owned())),
    ("a long name", |n| "x".repeat(n)),
    ("spaces", |n| " ".repeat(n)),
    ("comments", |n| "# a\n".repeat(n) + "ssl"),
    ("lists", |n| many(n, " or ", |k| format!("ip.src in $list_{k}"))),
];

pub(crate) fn many(n: usize, between: &str, each: impl Fn(usize) -> String) -> String {
    (0..n).map(each).collect::<Vec<_>>().join(between)
}

type FilterOperation = (&'static str, fn(&std::sync::Arc<Scheme>, &str));

const FILTER_OPERATIONS: &[FilterOperation] = &[
    ("check", |scheme, source| match check_filter(source, scheme, &FilterOptions::default()) {
        Ok((tree, _)) => drop(black_box(unparse_filter(&tree))),
        Err(problems) => drop(black_box(problems)),
    }),
    ("format", |scheme, source| drop(black_box(format_filter(source, scheme, &FilterOptions::default(), 80).is_ok()))),
    ("compile", |scheme, source| {
        drop(black_box(celero::filter::Filter::compile(source, scheme, &FilterOptions::default()).is_ok()));
    }),
];

#[test]
fn filters_cost_what_their_size_says() {
    let _guard = exclusive();
    let scheme = std::sync::Arc::new(http_scheme());
    let mut problems = Vec::new();
    for (operation, run) in FILTER_OPERATIONS {
        for (name, make) in FILTERS {
            let work = |n: usize| {
                let (source, scheme) = (make(n), &scheme);
                move || run(scheme, &source)
            };
            problems.extend(growth(&format!("filter {operation}: {name}"), 1 << 15, work));
        }
    }
    report(&problems);
}
