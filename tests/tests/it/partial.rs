//! Evaluations that know a part of the context only, held against evaluations that know all of it:
//! what is decided early is the result, what is left has the result, and where a necessary condition
//! is false the rule is. For random expressions and random unknown variables, and for random rules in
//! both languages about a request.
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
use std::sync::LazyLock;

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

static NATIVE: LazyLock<Engine> = LazyLock::new(|| Engine::builder().tier(Tier::Native).build());
static INTERPRETED: LazyLock<Engine> = LazyLock::new(|| Engine::builder().tier(Tier::Interpret).build());

/// How many evaluations were decided, and of how many something is left.
#[derive(Debug, Default)]
struct Counts {
    decided: u64,
    left: u64,
    shorter: u64,
    spent: u64,
    /// How many evaluations a necessary condition has decided, of those that are decided to be false.
    excluded: u64,
    decided_false: u64,
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
    // Compiling takes longer than what is compared.
    let engine = if (counts.decided + counts.left).is_multiple_of(8) { &*NATIVE } else { &*INTERPRETED };
    let rule = engine.check(env, program.source()).map_err(|error| found(&error.to_string()))?;
    counts.decided_false += u64::from(decided == Ok(Some(false)));
    if let Some(necessary) = engine.necessary(env, &rule, &unknowns) {
        let known = engine.compile_checked(env, &necessary).map_err(|error| found(&error.to_string()))?;
        if known.test(context) == Ok(false) {
            counts.excluded += 1;
            if program.test(context) != Ok(false) {
                return Err(found(&format!("needs {}, which is false", necessary.source())));
            }
        }
    }
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
            let left = NATIVE.compile(env, &residual);
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
    assert!(counts.excluded > counts.decided_false / 2, "{counts:?}");
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
        assert!(counts.excluded > counts.decided_false / 2, "{counts:?}");
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

#[test]
fn a_necessary_condition_is_what_is_known_of_a_rule() {
    let env = Env::dynamic()
        .variable("a", celero::Type::Bool)
        .variable("b", celero::Type::Bool)
        .variable("n", celero::Type::Int)
        .variable("d", celero::Type::Dyn)
        .function("load", |of: i64| of)
        .define("both(x: bool, y: bool) -> bool", "x && y")
        .alias("v.small", "n < 4 // a comment")
        .alias("v.bad", "v.small && (b || d == 'x' && n > 2)")
        .alias("v.known", "both(a, v.small)")
        .alias("v.unknown", "both(a, b)");
    let unknowns = Unknowns::new(&env, &["b"]).unwrap();
    let engine = Engine::new();
    for (source, necessary) in [
        ("a && n > 2", Some("a && n > 2")),
        ("a && b", Some("a")),
        ("b && a && n > 2", Some("(a) && (n > 2)")),
        ("a || b", None),
        ("b", None),
        ("!b", None),
        ("has(b) && a", Some("a")),
        ("(a && b) || (n > 2 && b)", Some("(a) || (n > 2)")),
        ("(a && b) || b", None),
        ("!(a || b)", Some("!(a)")),
        ("!(a && b)", None),
        ("!(!(a && b) || n > 2)", Some("!((!(a)) || (n > 2))")),
        ("(a ? b : n > 2) && true", Some("((a) ? (true) : (n > 2)) && (true)")),
        ("!(a ? b : n > 2)", Some("!((a) ? (false) : (n > 2))")),
        ("b ? a : a", None),
        ("a && [n].exists(a, a == 1 && b)", Some("a")),
        ("[true].exists(a, a && n == 1) && b", Some("[true].exists(a, a && n == 1)")),
        ("cel.bind(a, b, a) && n > 2", Some("n > 2")),
        ("v.bad", Some("v.small")),
        ("!v.bad", Some("!((v.small) && (d == 'x' && n > 2))")),
        ("v.known && b", Some("v.known")),
        ("v.unknown && n > 2", Some("n > 2")),
        ("both(a, b) && both(a, a)", Some("both(a, a)")),
        ("coalesce(a, b) && n > 2", Some("n > 2")),
        ("a && load(1) > 2 && random() > 0.5", Some("a")),
        ("d && b", Some("d")),
    ] {
        let rule = engine.check(&env, source).unwrap_or_else(|error| panic!("{error}"));
        let found = engine.necessary(&env, &rule, &unknowns);
        assert_eq!(found.as_ref().map(celero::settings::CheckedRule::source), necessary, "{source}");
    }
    let other = Env::dynamic().variable("b", celero::Type::Bool);
    let rule = engine.check(&env, "a && b").unwrap();
    assert!(engine.necessary(&other, &rule, &unknowns).is_none());
    assert!(engine.necessary(&env, &rule, &Unknowns::new(&other, &["b"]).unwrap()).is_none());
    let filter = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let unknowns = Unknowns::new(&filter, &["request.path"]).unwrap();
    for (source, necessary) in [
        ("http.request.uri.path eq \"/\" and (http.host eq \"a\" or ssl)", Some("http.host eq \"a\" or ssl")),
        ("not (http.request.uri.path eq \"/\" or http.host eq \"a\")", Some("not (http.host eq \"a\")")),
        ("lower(http.request.uri.path) eq \"/\" and ssl and http.host ne \"\"", Some("(ssl) and (http.host ne \"\")")),
        ("http.request.uri.path eq \"/\" xor ssl", None),
        (
            "any(http.request.headers.names[*] eq \"x\") and http.request.uri.path eq \"/\"",
            Some("any(http.request.headers.names[*] eq \"x\")"),
        ),
    ] {
        let rule = engine.check(&filter, source).unwrap_or_else(|error| panic!("{error}"));
        let found = engine.necessary(&filter, &rule, &unknowns);
        assert_eq!(found.as_ref().map(celero::settings::CheckedRule::source), necessary, "{source}");
    }
}

/// Definitions that use each other twice would make a text of exponential length.
#[test]
fn a_necessary_condition_is_bounded() {
    let mut env = Env::dynamic().variable("b", celero::Type::Bool).variable("a0", celero::Type::Bool);
    for number in 1..14 {
        let before = if number == 1 { "a0".to_owned() } else { format!("v.a{}", number - 1) };
        env = env.alias(&format!("v.a{number}"), &format!("(b || {before}) && ({before} || b)"));
    }
    let engine = Engine::new();
    let rule = engine.check(&env, "v.a13 && a0 && b").unwrap();
    let necessary = engine.necessary(&env, &rule, &Unknowns::new(&env, &["b"]).unwrap()).unwrap();
    assert!(necessary.source().len() < 8192, "{}", necessary.source().len());
}
