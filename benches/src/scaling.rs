//! How the cost of a set grows with its number of rules: time to compile, memory and time to evaluate, for each rule.

use crate::measure::allocated;
use crate::{Input, Workload};
use celero::http::RequestContext;
use celero::{Engine, Env, ErrorPolicy, RuleSet, Scratch, Tier};
use std::hint::black_box;
use std::time::Instant;

/// Numbers of rules that are measured.
pub const SIZES: &[usize] = &[10, 100, 1_000, 10_000];

/// The cost of a set of one size, divided by its number of rules.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// How many rules.
    pub rules: usize,
    /// Microseconds to compile, best of several times.
    pub compile_us: f64,
    /// Bytes of heap and code, without the rules' text.
    pub bytes: f64,
    /// Bytes of machine code, part of `bytes`.
    pub code: f64,
    /// Nanoseconds to evaluate, best of several times.
    pub ns: f64,
}

/// The rule of this number: eight kinds in rotation, each with its own constants.
fn mixed(n: usize) -> String {
    let (team, number) = (n % 97, n % 13);
    match n % 8 {
        0 => format!("request.path.startsWith('/api/v{number}/{n}/') && request.method == 'GET'"),
        1 => format!("request.headers['x-tenant'] == 'tenant-{n}'"),
        2 => format!("request.host == 'h{n}.example.com' && request.path != '/health'"),
        3 => format!("request.headers['user-agent'].contains('bot-{n}')"),
        4 => format!("cidr('10.{team}.{number}.0/24').containsIP(source.address) && request.method != 'POST'"),
        5 => format!("'x-team-{team}' in request.headers && request.headers['x-team-{team}'] == 'g{n}'"),
        6 => format!("request.path in ['/a{n}', '/b{n}', '/c{n}', '/d{n}']"),
        _ => format!("request.headers['referer'].endsWith('/{n}') || request.path.endsWith('/{n}.php')"),
    }
}

fn build(
    engine: &Engine,
    env: &Env<RequestContext<'static>>,
    sources: &[String],
) -> RuleSet<RequestContext<'static>, u32> {
    let rules = sources
        .iter()
        .fold(engine.rules(env).on_error(ErrorPolicy::NoMatch), |rules, source| rules.rule("rule", source, 0_u32));
    rules.build().expect("rules that compile")
}

/// Measures a set of this many rules.
#[must_use]
pub fn measure(rules: usize) -> Scale {
    let engine = Engine::builder().tier(Tier::Native).build();
    let env = Env::<RequestContext<'_>>::new();
    let sources: Vec<String> = (0..rules).map(mixed).collect();
    let text: usize = sources.iter().map(|source| source.len().saturating_add("rule".len())).sum();
    let times = if rules > 1_000 { 3 } else { 7 };
    let each = |total: f64| total / rules.max(1) as f64;
    let mut compile = f64::INFINITY;
    for _ in 0..times {
        let start = Instant::now();
        drop(black_box(build(&engine, &env, &sources)));
        compile = compile.min(start.elapsed().as_secs_f64());
    }
    let before = allocated();
    let set = build(&engine, &env, &sources);
    let heap = allocated().saturating_sub(before);
    let code = set.code_size();
    let bytes = heap.saturating_add(code).saturating_sub(text);

    let input: Input = Workload::new("W9").expect("a workload").input();
    let context = RequestContext::new(&input.request).with_source(input.peer);
    let mut scratch = Scratch::new();
    let evaluations = 200_000_usize.div_ceil(rules.max(1));
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..evaluations {
            let _ = black_box(set.count(black_box(&context), &mut scratch));
        }
        best = best.min(start.elapsed().as_secs_f64() / evaluations as f64);
    }
    Scale {
        rules,
        compile_us: each(compile * 1e6),
        bytes: each(bytes as f64),
        code: each(code as f64),
        ns: each(best * 1e9),
    }
}
