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
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::Poll;
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

/// Compares one evaluation of a context with that of a later one, which may differ in what is unknown. The places of
/// errors in what is left are its own.
fn judge<E: Context, C: Context<Static = E::Static>>(
    env: &Env<E>,
    program: &Program<E::Static>,
    [context, later]: [&C; 2],
    unknown: &[&str],
    counts: &mut Counts,
) -> Result<(), String> {
    let whole = ended(program, later);
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
            let same = match (decided, program.test(later)) {
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
            let left = ended(&left.map_err(|error| found(&format!("leaves {residual}: {error}")))?, later);
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
            judge(&env, &program, [&bindings; 2], &some(&mut rng, &names), &mut counts)
                .unwrap_or_else(|why| panic!("{case}{why}"));
        }
    }
    println!("{counts:?}");
    assert!(counts.decided > cases / 10 && counts.left > cases / 10 && counts.shorter > cases / 50, "{counts:?}");
    assert!(counts.excluded > counts.decided_false / 2, "{counts:?}");
}

/// A random rule of conditions, joined by operators of a language.
fn joined(rng: &mut Rng, depth: usize, conditions: &[&str], words: &[&str], not: &str) -> String {
    if depth == 0 || rng.chance(20) {
        return (*rng.pick::<&str>(conditions)).to_owned();
    }
    let word = *rng.pick::<&str>(words);
    let operands: Vec<String> = (0..2 + rng.below(2)).map(|_| joined(rng, depth - 1, conditions, words, not)).collect();
    let all = operands.join(&format!(") {word} ("));
    if rng.chance(20) { format!("{not} (({all}))") } else { format!("({all})") }
}

/// Parts of the data below that are unknown.
const PARTS: [&str; 10] =
    ["m.a", "m.a.x", "m.a.*", "m.b", "m.b.0", "m.b.*.x", "m.b.1.y", "m.*.x", "m.n", "m.a.x.deeper"];

/// Conditions on it.
const SELECTIONS: [&str; 19] = [
    "m.a.x == 1",
    "m['a']['y'] == 2",
    "m.b[0].x == 1",
    "m.b[m.n].y == 2",
    "m[m.k].x == 1",
    "has(m.a.x)",
    "has(m.a.z)",
    "has(m.b)",
    "m.?a.?x.orValue(1) == 1",
    "m[?'b'][?0].hasValue()",
    "m.b.exists(e, e.x == 1)",
    "m.b[1].x == m.a.x",
    "size(m.b) == 2",
    "'x' in m.a",
    "m.a == m.b[0]",
    "m['a'].exists(k, k == 'y')",
    "cel.bind(v, m.a, v.x == 1)",
    "m.b[-0.0].y == 2",
    "m.n == 1",
];

fn data(rng: &mut Rng) -> Json {
    let [a, b, c] = std::array::from_fn(|_| json!({ "x": rng.below(3), "y": rng.below(3) }));
    json!({ "a": a, "b": [b, c], "n": rng.below(3), "k": *rng.pick(&["a", "b", "c"]) })
}

/// Gives what lies at a path another value, or none.
fn vary(rng: &mut Rng, data: &mut Json, path: &[&str]) {
    let [step, rest @ ..] = path else { return };
    let is_meant = |key: &str| *step == "*" || *step == key;
    let other = |rng: &mut Rng| match rng.below(3) {
        0 => json!(rng.below(3)),
        1 => json!({ "x": rng.below(3) }),
        _ => json!([{ "y": 2 }]),
    };
    match data {
        Json::Object(entries) => {
            if rest.is_empty() && rng.chance(30) {
                entries.retain(|key, _| !is_meant(key));
            }
            for (_, value) in entries.iter_mut().filter(|(key, _)| is_meant(key)) {
                if rest.is_empty() { *value = other(rng) } else { vary(rng, value, rest) }
            }
        }
        Json::Array(elements) => {
            for (_, value) in elements.iter_mut().enumerate().filter(|(at, _)| is_meant(&at.to_string())) {
                if rest.is_empty() { *value = other(rng) } else { vary(rng, value, rest) }
            }
        }
        _ => {}
    }
}

#[test]
fn what_is_beside_unknown_parts_is_known() {
    let cases = number("CELERO_PARTIAL_CASES", CASES);
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let env = Env::dynamic().variable("m", celero::Type::Dyn);
    let (mut counts, mut rng) = (Counts::default(), Rng::new(seed()));
    while counts.decided + counts.left < cases {
        let source = joined(&mut rng, 2, &SELECTIONS, &["&&", "||"], "!");
        let program = engine.compile(&env, &source).unwrap_or_else(|error| panic!("{error}"));
        let now = data(&mut rng);
        let (mut later, unknown) = (now.clone(), some(&mut rng, &PARTS));
        for name in &unknown {
            let path: Vec<&str> = name.split('.').skip(1).collect();
            vary(&mut rng, &mut later, &path);
        }
        let [one, other] = [&now, &later].map(|data| {
            let mut bindings = Bindings::new(&env);
            bindings.set("m", data).unwrap();
            bindings
        });
        judge(&env, &program, [&one, &other], &unknown, &mut counts)
            .unwrap_or_else(|why| panic!("{now}\nlater {later}\n{why}"));
    }
    println!("{counts:?}");
    assert!(counts.decided > cases / 10 && counts.left > cases / 10 && counts.shorter > cases / 50, "{counts:?}");
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
            let source = if is_filter {
                joined(&mut rng, 3, &CONDITIONS, &["and", "and", "or", "or", "xor"], "not")
            } else {
                rule(&mut rng)
            };
            let program = engine.compile(&env, &source).unwrap_or_else(|error| panic!("{error}"));
            for _ in 0..4 {
                let sample = sample(&mut rng);
                let context = RequestContext::new(&sample.request);
                let context = sample.peer.map_or(context, |peer| context.with_source(peer));
                let unknown = some(&mut rng, &REQUEST);
                judge(&env, &program, [&context; 2], &unknown, &mut counts).unwrap_or_else(|why| panic!("{why}"));
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
    // Names of headers are found in any letter case, and a key may have dots.
    let part = Unknowns::new(&env, &["d.cookie", "d.https://a.example/roles"]).unwrap();
    for (source, is_known) in [
        ("d['Cookie'] == 'x'", false),
        ("d['https://a.example/roles'] == 'x'", false),
        ("d[n] == 'x'", false),
        ("d.other == 'x'", true),
    ] {
        let mut call = Bindings::new(&env);
        let data = json!({ "other": "y" });
        call.set("d", &data).unwrap();
        call.set("n", 1).unwrap();
        let program = engine.compile(&env, source).unwrap();
        let decided = program.decide(&call, &part, &mut Scratch::new());
        assert_eq!(decided, Ok(is_known.then_some(false)), "{source}");
    }
    // A variable with an unknown part is not known as a whole.
    let part = Unknowns::new(&env, &["d.y"]).unwrap();
    let program = engine.compile(&env, "d == 'x'").unwrap();
    assert_eq!(program.decide(&call, &part, &mut Scratch::new()), Ok(None));
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
        judge(&env, &program, [&context; 2], &["request.method"], &mut counts)
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

/// A function that has no answer yet is asked again when it has one.
#[test]
fn what_a_function_has_not_answered_is_not_known() {
    let answers = Arc::new(Mutex::new(HashMap::<String, Option<bool>>::new()));
    let asked = Arc::clone(&answers);
    let env = Env::dynamic().variable("user", celero::Type::String).function("banned", move |user: &str| {
        let mut answers = asked.lock().unwrap();
        answers.entry(user.to_owned()).or_insert(None).map_or(Poll::Pending, Poll::Ready)
    });
    for tier in [Tier::Native, Tier::Interpret] {
        answers.lock().unwrap().clear();
        let engine = Engine::builder().tier(tier).build();
        let rule = engine.compile(&env, "user != 'root' && (banned(user) || banned('all'))").unwrap();
        let (nothing, mut call) = (Unknowns::new(&env, &[]).unwrap(), Bindings::new(&env));
        call.set("user", "root").unwrap();
        assert_eq!(rule.decide(&call, &nothing, &mut Scratch::new()), Ok(Some(false)));
        assert!(answers.lock().unwrap().is_empty());

        call.set("user", "ann").unwrap();
        assert_eq!(rule.decide(&call, &nothing, &mut Scratch::new()), Ok(None));
        let mut questions: Vec<String> = answers.lock().unwrap().keys().cloned().collect();
        questions.sort();
        assert_eq!(questions, ["all", "ann"]);
        // Where nobody decides later, it is an error.
        let error = rule.test(&call).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Host);
        assert!(rule.describe(&error, &call).message().contains("it has no answer yet"));

        answers.lock().unwrap().insert("all".to_owned(), Some(true));
        assert_eq!(rule.decide(&call, &nothing, &mut Scratch::new()), Ok(Some(true)));
        assert_eq!(rule.test(&call), Ok(true));
        answers.lock().unwrap().insert("all".to_owned(), Some(false));
        assert_eq!(rule.decide(&call, &nothing, &mut Scratch::new()), Ok(None));
        answers.lock().unwrap().insert("ann".to_owned(), Some(false));
        assert_eq!(rule.decide(&call, &nothing, &mut Scratch::new()), Ok(Some(false)));
    }
}
