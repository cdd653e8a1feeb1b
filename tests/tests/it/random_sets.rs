//! A set of rules answers what its rules answer one by one: for random rules, in both tiers, with
//! and without passes, in every mode and under every policy for errors, down to the places of the
//! errors.

#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero::http::RequestContext;
use celero::values::Arena;
use celero::{
    Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, EvalError, Program, RuleError, RuleSet, Scratch, Tier, Type,
};
use celero_tests::generate::{Declared, Generator, Rng, declare};

const POLICIES: [ErrorPolicy; 3] = [ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::Stop];

fn engines() -> Vec<Engine> {
    let ways = [(Tier::Native, true), (Tier::Native, false), (Tier::Interpret, true)];
    ways.into_iter().map(|(tier, optimize)| Engine::builder().tier(tier).optimize(optimize).build()).collect()
}

/// What a set must answer, from what its rules answer alone: matches, and errors up to the end of the evaluation.
fn expected(
    alone: &[Result<bool, EvalError>],
    policy: ErrorPolicy,
    once: bool,
) -> (Result<Vec<usize>, RuleError>, Vec<RuleError>) {
    let (mut matched, mut errors) = (Vec::new(), Vec::new());
    for (rule, answer) in alone.iter().enumerate() {
        let matches = match *answer {
            Ok(matches) => matches,
            Err(error) => {
                errors.push(RuleError::new(rule, error));
                if policy == ErrorPolicy::Stop {
                    return (Err(RuleError::new(rule, error)), errors);
                }
                policy == ErrorPolicy::Match
            }
        };
        if matches {
            matched.push(rule);
            if once {
                break;
            }
        }
    }
    (Ok(matched), errors)
}

/// Compares all modes of a set with its programs, on one context.
fn compare<C: Context>(
    set: &RuleSet<C::Static, usize>,
    programs: &[Program<C::Static>],
    context: &C,
    scratch: &mut Scratch,
) -> usize {
    let alone: Vec<_> = programs.iter().map(|program| program.test(context)).collect();
    let (policy, sources) = (set.on_error(), || programs.iter().map(Program::source).collect::<Vec<_>>());
    // Of failures that change nothing an index finds some.
    let reported = |scratch: &Scratch, real: &[RuleError]| {
        let same = match policy {
            ErrorPolicy::NoMatch => scratch.errors().iter().all(|error| real.contains(error)),
            _ => scratch.errors() == real,
        };
        assert!(same, "{policy:?} {:#?}\n{:?}\n{real:?}", sources(), scratch.errors());
    };
    let (all, all_errors) = expected(&alone, policy, false);
    assert_eq!(set.indices(context, scratch).map(<[usize]>::to_vec), all, "{policy:?} {:#?}", sources());
    reported(scratch, &all_errors);
    assert_eq!(set.count(context, scratch), all.map(|all| all.len()), "{policy:?} {:#?}", sources());
    reported(scratch, &all_errors);
    let (once, once_errors) = expected(&alone, policy, true);
    let first = set.first(context, scratch).map(|found| found.map(|found| *found.action));
    assert_eq!(first, once.clone().map(|once| once.first().copied()), "{policy:?} {:#?}", sources());
    reported(scratch, &once_errors);
    assert_eq!(set.any(context, scratch), once.map(|once| !once.is_empty()), "{policy:?} {:#?}", sources());
    reported(scratch, &once_errors);
    for (rule, (program, alone)) in programs.iter().zip(&alone).enumerate() {
        assert_eq!(set.test(rule, context, scratch), Some(*alone), "{}", program.source());
    }
    reported(scratch, &once_errors);
    all_errors.len()
}

fn build<C: Context>(
    engine: &Engine,
    env: &Env<C>,
    sources: &[String],
    policy: ErrorPolicy,
) -> RuleSet<C::Static, usize> {
    let rules = engine.rules(env).on_error(policy).standalone(true);
    let numbered = sources.iter().enumerate();
    numbered.fold(rules, |rules, (n, source)| rules.rule("r", source, n)).build().unwrap()
}

fn variables() -> Vec<Declared> {
    let types = [
        ("a", Type::Int),
        ("b", Type::String),
        ("c", Type::list(Type::Int)),
        ("d", Type::Dyn),
        ("req.path", Type::String),
        ("auth.claims", Type::map(Type::String, Type::Dyn)),
    ];
    types.into_iter().map(|(name, ty)| Declared { name: name.into(), ty, optional: name.len() == 1 }).collect()
}

#[test]
fn random_rules_answer_as_alone() {
    let variables = variables();
    let env = variables.iter().fold(declare(Env::dynamic()), |env, v| env.variable(&v.name, v.ty.clone()));
    let engines = engines();
    let (mut rules, mut failed) = (0, 0);
    for seed in 0..14_u64 {
        let mut rng = Rng::new(seed);
        let mut generator = Generator::over(seed, variables.clone());
        let size = [1, 2, 7, 30, 64, 65, 90].get(rng.below(7)).copied().unwrap_or(1);
        let (mut sources, mut inputs) = (Vec::new(), Vec::new());
        while sources.len() < size {
            let case = generator.case();
            if case.steps.is_some() || case.unchecked {
                continue;
            }
            let Ok(program) = engines.last().unwrap().compile(&env, &case.source) else { continue };
            sources.push(match program.result_type() {
                Type::Bool => case.source.clone(),
                _ if rng.chance(20) => format!("dyn({})", case.source),
                _ => format!("({}) == ({})", case.source, case.source),
            });
            if rng.chance(10) && sources.len() < size {
                let again = rng.pick(&sources).clone();
                sources.push(again);
            }
            inputs = case.bindings;
        }
        let scratch = &mut Scratch::new();
        for engine in &engines {
            let programs: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
            let sets = POLICIES.map(|policy| build(engine, &env, &sources, policy));
            for input in &inputs {
                let arena = Arena::new(1 << 24);
                let mut bindings = Bindings::new(&env);
                for (variable, value) in variables.iter().zip(input) {
                    if let Some(value) = value {
                        bindings.set(&variable.name, value.in_arena(&arena).unwrap()).unwrap();
                    }
                }
                if programs.iter().any(|p| p.test(&bindings).is_err_and(|e| e.kind == ErrorKind::OutOfBudget)) {
                    continue;
                }
                rules += size;
                failed += sets.iter().map(|set| compare(set, &programs, &bindings, scratch)).sum::<usize>();
            }
        }
    }
    assert!(rules > 5_000 && failed > 1_000, "{rules} rules evaluated, {failed} failed");
}

/// A random condition on a request.
fn condition(rng: &mut Rng, depth: usize) -> String {
    if depth > 0 && rng.chance(55) {
        let (a, b) = (condition(rng, depth - 1), condition(rng, depth - 1));
        return match rng.below(5) {
            0 | 1 => format!("({a} && {b})"),
            2 | 3 => format!("({a} || {b})"),
            _ => format!("({a} ? {b} : !({a}))"),
        };
    }
    let name = *rng.pick(&["x-team", "x-none", "user-agent", "x-bytes", "x-twice"]);
    let text = *rng.pick(&["ops", "curl/8", "a,b", "web"]);
    match rng.below(11) {
        0 => format!("request.headers['{name}'] == '{text}'"),
        1 => format!("request.headers['{name}'].contains('{text}')"),
        2 => format!("'{name}' in request.headers"),
        3 => format!("request.headers['{name}'].startsWith('{text}')"),
        4 => "request.path.startsWith('/admin')".into(),
        5 => format!("request.method in ['GET', '{text}', 'PUT']"),
        6 => "cidr('10.0.0.0/8').containsIP(source.address)".into(),
        7 => format!("request.headers['{name}'].size() / (size(request.path) - 6) > 0"),
        8 => format!("request.headers['{name}'].lowerAscii() == '{text}'"),
        9 => format!("[1, 2, 3].exists(x, x == size(request.headers['{name}']))"),
        _ => format!("cel.bind(h, request.headers['{name}'], h == '{text}' || h.endsWith('b'))"),
    }
}

#[test]
fn random_rules_on_requests_answer_as_alone() {
    let env = Env::<RequestContext<'_>>::new();
    let build_request = |path: &str, headers: &[(&str, &[u8])]| {
        let mut request = http::Request::get(format!("https://a.example{path}")).body(()).unwrap();
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, http::HeaderValue::from_bytes(value).unwrap());
        }
        request
    };
    let requests = [
        build_request("/admin", &[("x-team", b"ops"), ("user-agent", b"curl/8"), ("x-twice", b"a"), ("x-twice", b"b")]),
        build_request("/", &[("x-team", b"web"), ("x-bytes", b"a\xffb")]),
        build_request("/other", &[]),
    ];
    let mut contexts: Vec<_> = requests.iter().map(RequestContext::new).collect();
    if let Some(first) = contexts.first_mut() {
        *first = RequestContext::new(requests.first().unwrap()).with_source("10.1.2.3:4".parse().unwrap());
    }
    let engines = engines();
    let mut failed = 0;
    for seed in 0..10_u64 {
        let mut rng = Rng::new(seed + 1000);
        let size = [3, 20, 64, 130].get(rng.below(4)).copied().unwrap_or(3);
        let sources: Vec<String> = (0..size).map(|_| condition(&mut rng, 3)).collect();
        let scratch = &mut Scratch::new();
        for engine in &engines {
            let programs: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
            for policy in POLICIES {
                let set = build(engine, &env, &sources, policy);
                failed += contexts.iter().map(|c| compare(&set, &programs, c, scratch)).sum::<usize>();
            }
        }
    }
    assert!(failed > 1_000, "{failed} failed");
}
