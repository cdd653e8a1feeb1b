//! Evaluations that know a part of the context only, held against evaluations that know all of it:
//! what is decided early is the result, and what is left has the result. For random expressions
//! and random unknown variables, and for random rules in both languages about a request.
//!
//! `CELERO_PARTIAL_CASES` sets how many evaluations of each kind are compared, `CELERO_SEED` the
//! seed.

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::arithmetic_side_effects, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::settings::Unknowns;
use celero::values::Arena;
use celero::{Bindings, Context, Engine, Env, ErrorKind, Limits, Program, Scratch, Tier};
use celero_tests::differential::Ended;
use celero_tests::generate::gateway::{rule, sample};
use celero_tests::generate::{Generator, Owned, Rng};
use std::time::{Duration, SystemTime};

const CASES: u64 = 20_000;

/// Variables of a request.
const REQUEST: [&str; 6] =
    ["request.method", "request.path", "request.query", "request.headers", "request.host", "source.address"];

/// Conditions in the filter language.
const CONDITIONS: [&str; 9] = [
    "http.request.method eq \"GET\"",
    "http.request.uri.path contains \"a\"",
    "http.host in {\"example.com\" \"a.example\"}",
    "any(http.request.headers.names[*] eq \"x-team\")",
    "http.request.headers[\"x-team\"][0] eq \"ops\"",
    "http.request.uri.query matches \"a=.\"",
    "ip.src in {10.0.0.0/8 ::1}",
    "len(http.request.uri.path) gt 4",
    "lower(http.user_agent) ne \"curl\"",
];

/// How many evaluations were decided, and of how many something is left.
#[derive(Debug, Default)]
struct Counts {
    decided: u64,
    left: u64,
    shorter: u64,
    spent: u64,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

fn ended<C: Context>(program: &Program<C::Static>, context: &C) -> Ended {
    match program.eval(context, &mut Scratch::new()) {
        Ok(value) => Ended::Value(Owned::of(&value, &Arena::new(1 << 24)).unwrap()),
        Err(error) => Ended::failed(&error),
    }
}

/// Compares one evaluation. The places of errors in what is left are its own.
fn judge<E: Context, C: Context<Static = E::Static>>(
    env: &Env<E>,
    program: &Program<E::Static>,
    context: &C,
    unknown: &[&str],
    counts: &mut Counts,
) -> Result<(), String> {
    let whole = ended(program, context);
    if whole.error() == Some(ErrorKind::OutOfBudget) {
        counts.spent += 1;
        return Ok(());
    }
    let (unknowns, mut scratch) = (Unknowns::new(env, unknown).unwrap(), Scratch::new());
    let found = |what: &str| format!("{}\n  unknown: {unknown:?}\n  {what}, and is {whole}", program.source());
    let decided = program.decide(context, &unknowns, &mut Scratch::new());
    let partial = program.partial(context, &unknowns, &mut scratch).unwrap();
    match partial.result() {
        Some(Err(error)) if error.kind == ErrorKind::OutOfBudget => counts.spent += 1,
        Some(result) => {
            counts.decided += 1;
            let early = match &result {
                Ok(value) => Ended::Value(Owned::of(value, &Arena::new(1 << 24)).unwrap()),
                Err(error) => Ended::failed(error),
            };
            if !early.agrees(&whole) {
                return Err(found(&format!("was decided to be {early}")));
            }
            let same = match (decided, program.test(context)) {
                (Ok(Some(decided)), Ok(whole)) => decided == whole,
                (Err(decided), Err(whole)) => decided == whole,
                _ => false,
            };
            if !same {
                return Err(found(&format!("was decided to be {decided:?} as a rule")));
            }
        }
        None => {
            counts.left += 1;
            let residual = partial.residual();
            counts.shorter += u64::from(residual.len() < program.source().len());
            let left = Engine::builder().tier(Tier::Native).build().compile(env, &residual);
            let left = ended(&left.map_err(|error| found(&format!("leaves {residual}: {error}")))?, context);
            let same = match (&left, &whole) {
                (Ended::Error(kind, _), Ended::Error(other, _)) => kind == other,
                _ => left.agrees(&whole),
            };
            if decided != Ok(None) || !same {
                return Err(found(&format!("leaves {residual}, which is {left}")));
            }
        }
    }
    Ok(())
}

/// Some of the names, and at least one.
fn some<'n>(rng: &mut Rng, names: &[&'n str]) -> Vec<&'n str> {
    let mut some: Vec<&str> = names.iter().copied().filter(|_| rng.chance(40)).collect();
    if some.is_empty() {
        some.push(rng.pick::<&str>(names));
    }
    some
}

fn seed() -> u64 {
    number("CELERO_SEED", 1)
}

#[test]
fn what_is_decided_early_is_the_result_and_what_is_left_has_it() {
    let cases = number("CELERO_PARTIAL_CASES", CASES);
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let (mut counts, mut rng, mut generator) = (Counts::default(), Rng::new(seed()), Generator::new(seed()));
    while counts.decided + counts.left < cases {
        let case = generator.case();
        let env = case.env();
        let (None, Ok(program)) = (case.steps, engine.compile(&env, &case.source)) else { continue };
        let names: Vec<&str> = case.variables.iter().map(|variable| variable.name.as_str()).collect();
        for set in case.bindings.iter().take(4) {
            let arena = Arena::new(1 << 24);
            let mut bindings = Bindings::new(&env);
            for (variable, value) in case.variables.iter().zip(set) {
                if let Some(value) = value {
                    bindings.set(&variable.name, value.in_arena(&arena).unwrap()).unwrap();
                }
            }
            judge(&env, &program, &bindings, &some(&mut rng, &names), &mut counts)
                .unwrap_or_else(|why| panic!("{case}{why}"));
        }
    }
    println!("{counts:?}");
    assert!(counts.decided > cases / 10 && counts.left > cases / 10 && counts.shorter > cases / 50, "{counts:?}");
}

fn filter_rule(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 || rng.chance(20) {
        return (*rng.pick(&CONDITIONS)).to_owned();
    }
    let word = *rng.pick(&["and", "and", "or", "or", "xor"]);
    let operands: Vec<String> = (0..2 + rng.below(2)).map(|_| filter_rule(rng, depth - 1)).collect();
    let joined = operands.join(&format!(") {word} ("));
    if rng.chance(20) { format!("not (({joined}))") } else { format!("({joined})") }
}

#[test]
fn rules_about_requests_are_decided_as_they_end() {
    let cases = number("CELERO_PARTIAL_CASES", CASES);
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let cel = Env::<RequestContext<'_>>::new();
    let filter = cel.clone().filter_language(FilterLanguage::http());
    let mut rng = Rng::new(seed());
    for (env, is_filter) in [(cel, false), (filter, true)] {
        let mut counts = Counts::default();
        while counts.decided + counts.left < cases {
            let source = if is_filter { filter_rule(&mut rng, 3) } else { rule(&mut rng) };
            let program = engine.compile(&env, &source).unwrap_or_else(|error| panic!("{error}"));
            for _ in 0..4 {
                let sample = sample(&mut rng);
                let context = RequestContext::new(&sample.request);
                let context = sample.peer.map_or(context, |peer| context.with_source(peer));
                let unknown = some(&mut rng, &REQUEST);
                judge(&env, &program, &context, &unknown, &mut counts).unwrap_or_else(|why| panic!("{why}"));
            }
        }
        println!("{counts:?}");
        assert!(counts.decided > cases / 10 && counts.left > cases / 10 && counts.shorter > cases / 50, "{counts:?}");
    }
}

/// From the specification of partial evaluation: an operand that decides wins over what is not known,
/// and that over an error.
#[test]
fn what_is_left_is_as_written() {
    let env = Env::dynamic()
        .variable("a", celero::Type::Bool)
        .variable("b", celero::Type::Bool)
        .variable("n", celero::Type::Int)
        .variable("d", celero::Type::Dyn)
        .define("both(x: bool, y: bool) -> bool", "x && y");
    let mut call = Bindings::new(&env);
    call.set("a", true).unwrap();
    call.set("n", -4).unwrap();
    call.set("d", "x").unwrap();
    let unknowns = Unknowns::new(&env, &["b"]).unwrap();
    let engine = Engine::new();
    for (source, left) in [
        ("a && b", "b"),
        ("b && a", "b"),
        ("!(a && b) || n == 4", "!((b))"),
        ("b && 1 / (n + 4) > 0", "(b) && (1 / ((0)) > 0)"),
        ("a ? b : n / 0 > 1", "true ? b : n / 0 > 1"),
        ("b ? n > 1 : d == 'x'", "b ? n > 1 : d == 'x'"),
        ("[n, 2].exists(i, i == n && b)", "[(-4), 2].exists(i, i == n && b)"),
        ("[d, b] == ['x', true]", "[dyn(\"x\"), b] == ['x', true]"),
        ("both(a, b)", "b"),
        ("cel.bind(x, n, x > 2 || b)", "cel.bind(x, (-4), x > 2 || b)"),
        ("coalesce(b, a)", "coalesce(b, a)"),
        ("dyn(b) && a", "true && (dyn(b))"),
        ("(b ? false : true) && a ? false : true", "(b ? false : true) ? false : true"),
        ("!both(a, b)", "!(b)"),
        ("both(b, a) == b", "(b) == b"),
    ] {
        let program = engine.compile(&env, source).unwrap_or_else(|error| panic!("{error}"));
        let mut scratch = Scratch::new();
        let partial = program.partial(&call, &unknowns, &mut scratch).unwrap();
        assert!(partial.result().is_none(), "{source}");
        assert_eq!(partial.residual(), left, "{source}");
        engine.compile(&env, left).unwrap_or_else(|error| panic!("{error}"));
    }
    let fails = "n / 0 > 1 ? b : a";
    for (source, decided) in [("a || b", Ok(true)), ("b && n > 0", Ok(false)), (fails, Err(ErrorKind::DivideByZero))] {
        let program = engine.compile(&env, source).unwrap_or_else(|error| panic!("{error}"));
        let result = program.decide(&call, &unknowns, &mut Scratch::new());
        assert_eq!(result.map_err(|error| error.kind), decided.map(Some), "{source}");
    }
    // What is not known could decide before the budget is spent.
    let engine = Engine::builder().limits(Limits { steps: 50, ..Limits::default() }).build();
    let program =
        engine.compile(&env, "b || [1, 2, 3, 4, 5, 6, 7, 8, 9].all(i, [1, 2, 3, 4, 5, 6, 7, 8, 9].all(j, i + j > n))");
    assert_eq!(program.unwrap().decide(&call, &unknowns, &mut Scratch::new()), Ok(None));
    for name in ["c", "", "aa", "a.b.c", "request"] {
        assert_eq!(Unknowns::new(&env, &[name]).is_ok(), name == "a.b.c", "{name}");
    }
    let other = Env::dynamic().variable("b", celero::Type::Bool);
    let of_another = Unknowns::new(&other, &["b"]).unwrap();
    let program = engine.compile(&env, "b").unwrap();
    assert_eq!(program.decide(&call, &of_another, &mut Scratch::new()).unwrap_err().kind, ErrorKind::Host);
}

/// What a client sends decides which results are kept: none may be needed to tell what is left.
#[test]
fn long_values_leave_no_condition_out() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let source = "(http.user_agent contains \"a\" or http.host contains \"zz\") and (http.request.method eq \"GET\")";
    let program = Engine::builder().tier(Tier::Interpret).build().compile(&env, source).unwrap();
    let mut counts = Counts::default();
    for length in ((1 << 20) - 160..(1 << 20) + 16).step_by(4) {
        let request = http::Request::get("http://a/").header("user-agent", "a".repeat(length)).body(()).unwrap();
        let context = RequestContext::new(&request);
        judge(&env, &program, &context, &["request.method"], &mut counts)
            .unwrap_or_else(|why| panic!("{length}: {why}"));
    }
    assert_eq!((counts.decided, counts.spent), (0, 0));
}

#[derive(Context)]
struct Times {
    flag: bool,
    times: Vec<SystemTime>,
}

/// An element that can't be read comes after an iteration that could have decided.
#[test]
fn an_error_after_what_is_not_known_is_no_decision() {
    let env = Env::<Times>::new();
    let times = vec![SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(400_000_000_000)];
    let (unknowns, context) = (Unknowns::new(&env, &["flag"]).unwrap(), Times { flag: true, times });
    for source in ["times.exists(t, flag)", "times.all(t, !flag)"] {
        let program = Engine::new().compile(&env, source).unwrap();
        assert_eq!(program.decide(&context, &unknowns, &mut Scratch::new()), Ok(None), "{source}");
        assert_eq!(program.test(&context), Ok(source.contains("exists")), "{source}");
    }
}
