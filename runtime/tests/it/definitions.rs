//! Functions defined in CEL, as a host sees them: what rules read and are shown as, bounds, clashes
//! with other functions.

use celero::settings::{Library, SourceLimits};
use celero::{Bindings, Engine, Env, ErrorKind, Limits, Scratch, Tier, Type, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn engines() -> [Engine; 2] {
    [Tier::Interpret, Tier::Native].map(|tier| Engine::builder().tier(tier).build())
}

fn env() -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("peer", Type::String).variable("ports", Type::list(Type::Int));
    env.define("internal(a: string) -> bool", "cidr('10.0.0.0/8').containsIP(a)")
        .define("open(port) -> bool", "port in ports")
        .define("int.doubled()", "this + this")
}

#[test]
fn a_program_reads_what_bodies_read() {
    let env = env();
    for engine in engines() {
        let fields = |rule: &str| {
            let program = engine.compile(&env, rule).unwrap();
            program.fields().names().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(fields("open(80)"), ["ports"]);
        assert_eq!(fields("internal(peer) && open(80)"), ["peer", "ports"]);
        assert_eq!(fields("1.doubled() == 2"), Vec::<String>::new());
    }
}

#[cfg(feature = "http")]
#[test]
fn headers_are_known_by_name_in_bodies_and_through_parameters() {
    use celero::http::RequestContext;
    let env = Env::<RequestContext<'_>>::new()
        .define("team() -> string", "request.headers['x-team']")
        .define("map(string, string).role() -> string", "this['x-role']");
    for engine in engines() {
        let program = engine.compile(&env, "team() == request.headers.role()").unwrap();
        assert!(program.fields().headers("request.headers").eq(["x-role", "x-team"]));
        assert!(!program.fields().reads_any_header("request.headers"));
        let request = http::Request::builder().header("x-team", "ops").header("x-role", "ops").body(()).unwrap();
        assert_eq!(program.test(&RequestContext::new(&request)), Ok(true));
    }
}

#[test]
fn a_program_is_shown_as_it_was_written() {
    let env = env();
    let program = Engine::new().compile(&env, "internal( peer )&&3.doubled()==6").unwrap();
    assert_eq!(program.to_source(), "internal(peer) && 3.doubled() == 6");
    assert_eq!(*program.result_type(), Type::Bool);
    let explained = Engine::new().explain(&env, "open(80)").unwrap();
    let section = |wanted: &str| explained.sections().find(|(title, _)| *title == wanted).unwrap().1.to_owned();
    assert!(section("tree").contains("call open"));
    assert!(section("graph").contains("field 1") && section("graph").contains("@0..8"));
}

#[test]
fn warnings_are_about_the_rule() {
    let env = Env::dynamic().define("always(x) -> bool", "true || x == 1");
    let program = Engine::new().compile(&env, "always(2) || 'a'.matches('(')").unwrap();
    let warnings: Vec<&str> = program.warnings().iter().map(|w| w.code).collect();
    assert_eq!(warnings, ["literal-never-valid"]);
}

/// An impure function in an argument is called once, however often the body uses the parameter.
#[test]
fn an_argument_is_evaluated_at_most_once() {
    for engine in engines() {
        let calls = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&calls);
        let env = Env::dynamic()
            .function("next", move || i64::from(counter.fetch_add(1, Ordering::Relaxed)))
            .define("thrice(x: int) -> int", "x + x + x")
            .define("once() -> int", "next()");
        let program = engine.compile(&env, "thrice(next() + 1)").unwrap();
        let bindings = Bindings::new(&env);
        assert!(matches!(program.eval(&bindings, &mut Scratch::new()), Ok(Value::Int(3))));
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert!(matches!(program.eval(&bindings, &mut Scratch::new()), Ok(Value::Int(6))));
        let program = engine.compile(&env, "[once(), once()]").unwrap();
        assert!(program.eval(&bindings, &mut Scratch::new()).is_ok());
        assert_eq!(calls.load(Ordering::Relaxed), 4);
    }
}

#[test]
fn the_bounds_of_the_engine_hold_for_the_inlined_rule() {
    let env = env();
    let source = SourceLimits { max_nodes: 8, ..SourceLimits::default() };
    let engine = Engine::builder().limits(Limits { source, ..Limits::default() }).build();
    assert!(engine.check(&env, "internal('::1')").is_ok());
    let error = engine.compile(&env, "internal('::1') && internal('::2')").unwrap_err();
    assert_eq!(error.diagnostics().iter().map(|d| d.code).collect::<Vec<_>>(), ["too-many-nodes"]);
    assert!(engine.check(&env, "internal('::1') && internal('::2')").is_err());

    let limits = Limits { steps: 1000, ..Limits::default() };
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().limits(limits).tier(tier).build();
        let env = Env::dynamic()
            .variable("l", Type::list(Type::Int))
            .define("pairs(a: list(int)) -> int", "a.map(x, a.map(y, x + y)).size()");
        let program = engine.compile(&env, "pairs(l)").unwrap();
        let arena = celero::values::Arena::new(1 << 20);
        let mut bindings = Bindings::new(&env);
        let many = vec![Value::Int(1); 100];
        let list = arena.alloc_slice(&many).unwrap();
        bindings.set("l", Value::List(celero::values::List::Slice(list))).unwrap();
        let kind = program.eval(&bindings, &mut Scratch::new()).map(drop).map_err(|e| e.kind);
        assert_eq!(kind, Err(ErrorKind::OutOfBudget));
    }
}

#[test]
fn functions_that_no_call_could_tell_apart_are_refused() {
    let problems = |env: Env<Bindings<'static>>| env.problems().iter().map(ToString::to_string).collect::<Vec<_>>();
    let host_after = problems(Env::dynamic().define("f(x: int)", "x").function("f", |s: &str| s.len() as u64));
    assert_eq!(host_after, ["function `f`: `f(int) -> int` is already defined"]);
    let host_before = problems(Env::dynamic().function("f", |s: &str| s.len() as u64).define("f(x: int)", "x"));
    assert!(host_before[0].starts_with("function `f` can't be defined\nerror[declaration]"), "{host_before:?}");
    assert!(problems(Env::dynamic().function("f", |s: &str| s.len() as u64).define("f(x, y)", "x")).is_empty());
    let off = Env::dynamic().library(Library::Strings, false).define("string.trim() -> string", "this");
    assert!(off.problems().is_empty());
    assert_eq!(problems(off.library(Library::Strings, true)).len(), 1);
}

#[test]
fn a_faulty_definition_keeps_rules_from_being_compiled() {
    let env = Env::dynamic().define("f(x) -> bool", "x == yy").define("g(", "1");
    let [first, second] = env.problems() else { panic!("{:?}", env.problems()) };
    let place = |d: &celero::Diagnostic| (d.code, d.span.start, d.span.end);
    assert_eq!(first.diagnostics().iter().map(place).collect::<Vec<_>>(), [("undeclared-name", 5, 7)]);
    assert_eq!(second.diagnostics().iter().map(place).collect::<Vec<_>>(), [("declaration", 2, 2)]);
    let error = Engine::new().compile(&env, "true").unwrap_err();
    let messages: Vec<&str> = error.diagnostics().iter().map(|d| &*d.message).collect();
    assert_eq!(
        messages,
        ["function `f`: undeclared reference to `yy`", "function `g(`: expected `PARAMETER: TYPE` or `)`"]
    );
}

#[test]
fn unchecked_environments_check_parameters_when_they_run() {
    let env = Env::dynamic().unchecked(true).define("f(x: int) -> int", "x + 1").define("g(x) -> string", "x");
    for engine in engines() {
        let run = |rule: &str| {
            let program = engine.compile(&env, rule).unwrap();
            program.eval(&Bindings::new(&env), &mut Scratch::new()).map(|v| format!("{v:?}")).map_err(|e| e.kind)
        };
        assert_eq!(run("f(1)"), Ok("Int(2)".to_owned()));
        assert_eq!(run("f('a')"), Err(ErrorKind::NoSuchOverload));
        assert_eq!(run("g(1)"), Err(ErrorKind::NoSuchOverload));
        assert_eq!(run("f(1, 2)"), Err(ErrorKind::NoSuchOverload));
    }
}

#[test]
fn names_stand_for_expressions() {
    let env = Env::dynamic()
        .variable("peer", Type::String)
        .alias("env.REGION", "'eu'")
        .alias("is.internal", "cidr('10.0.0.0/8').containsIP(peer)")
        .alias("is.known", "is.internal || peer == '192.0.2.1'")
        .alias("all", "{'region': env.REGION, 'peer': peer}")
        .define("all(x: int) -> int", "x + 1");
    assert!(env.problems().is_empty(), "{:?}", env.problems());
    let mut bindings = Bindings::new(&env);
    bindings.set("peer", "10.1.2.3").unwrap();
    for tier in [Tier::Native, Tier::Interpret] {
        let engine = Engine::builder().tier(tier).build();
        for rule in [
            "is.internal && is.known && .is.known",
            "all.region == 'eu' && all.peer == '10.1.2.3' && has(all.region) && !has(all.none)",
            "all(1) == 2",
            "['us', 'eu'].exists(r, r == env.REGION) && env.REGION.startsWith('e')",
        ] {
            assert_eq!(engine.compile(&env, rule).unwrap().test(&bindings), Ok(true), "{rule}");
        }
    }
    let typo = Engine::new().compile(&env, "env.REGIN == 'eu'").unwrap_err().to_string();
    assert!(typo.contains("`env.REGION`"), "{typo}");
    assert!(Engine::new().compile(&env, "env.REGION()").is_err());
    assert!(Engine::new().compile(&env, "has(env.REGION)").is_err());
    for wrong in [
        Env::dynamic().alias("a", "a"),
        Env::dynamic().alias("a-b", "1"),
        Env::dynamic().variable("a", Type::Int).alias("a", "1"),
        Env::dynamic().alias("a", "1").alias("a", "2"),
    ] {
        assert_eq!(wrong.problems().len(), 1);
    }
}

#[test]
fn the_definitions_that_rules_of_a_set_use_are_bounded_together() {
    let limits = Limits { inlined_nodes: 100, ..Limits::default() };
    let engine = Engine::builder().limits(limits).build();
    let env = Env::dynamic().variable("n", Type::Int).define("many(n: int)", "n > 1 && n > 2 && n > 3 && n > 4");
    let set = |rules: usize| {
        let all = (0..rules)
            .fold(engine.rules(&env), |set, i| set.rule(&format!("r{i}"), &format!("many(n) || n == {i}"), ()));
        // A rule without definitions takes nothing.
        all.rule("other", "n > 1 && n > 2 && n > 3 && n > 4 && n > 5 && n > 6", ()).build()
    };
    let nodes = engine.check(&env, "many(n) || n == 0").unwrap().inlined_nodes();
    set(100 / nodes).unwrap();
    let error = set(100 / nodes + 3).unwrap_err();
    let found: Vec<_> = error.diagnostics().map(|(rule, found)| (rule, found.code)).collect();
    assert_eq!(found, [(100 / nodes, "too-many-nodes")], "{error}");
    assert!(error.to_string().contains("`inlined_nodes`"), "{error}");
}

/// Returns an environment with definitions each of which has twice the nodes of the one before: the last has 36,863.
fn doubling() -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("n", Type::Int).variable("s", Type::String).alias("v.a0", "size(s) + n * 2 - 1 ");
    (0..12).zip(1..13).fold(env, |env, (half, k)| env.alias(&format!("v.a{k}"), &format!("v.a{half} + v.a{half}")))
}

/// A rule in the filter language has the bodies of definitions in it too: large ones count at each use.
#[test]
fn large_definitions_count_in_the_filter_language() {
    use celero::filter::FilterLanguage;
    let env = doubling().alias("v.name", "s").filter_language(FilterLanguage::new());
    let engine = Engine::new();
    let mut bindings = Bindings::new(&env);
    bindings.set("s", "ab").unwrap();
    bindings.set("n", Value::Int(3)).unwrap();
    let small = engine.compile(&env, "v.a1 eq 14 and v.name eq \"ab\" and v.a0 eq 7").unwrap();
    assert_eq!(small.test(&bindings), Ok(true));
    let large = engine.check(&env, "v.a12 eq 28672").unwrap();
    assert!((32_000..=65_536).contains(&large.inlined_nodes()), "{}", large.inlined_nodes());
    assert_eq!(engine.compile_checked(&env, &large).unwrap().test(&bindings), Ok(true));
    assert!(large.fields().reads("s") && large.fields().reads("n"));
    assert_eq!(engine.check(&env, "v.a0 eq 7 or v.a0 eq 8").unwrap().inlined_nodes(), 0);
    let error = engine.check(&env, "v.a12 eq 1 or v.a12 eq 2").unwrap_err();
    let found: Vec<_> = error.diagnostics().iter().map(|found| (found.code, found.span.start)).collect();
    assert_eq!(found, [("too-many-nodes", 14)], "{error}");
    let limits = Limits { inlined_nodes: 100_000, ..Limits::default() };
    let engine = Engine::builder().limits(limits).build();
    let set = (0..5).fold(engine.rules(&env), |set, k| set.rule(&format!("r{k}"), &format!("v.a12 eq {k}"), ()));
    assert!(set.build().unwrap_err().to_string().contains("`inlined_nodes`"));
}

/// What an environment refuses leaves it as it was.
#[test]
fn definitions_can_be_tried() {
    let mut env = Env::dynamic().variable("n", Type::Int);
    let limits = SourceLimits::default();
    env.try_alias("twice", "n + n", &limits).unwrap();
    let error = env.try_alias("other", "twce + 1", &limits).unwrap_err();
    assert!(error.to_string().contains("did you mean `twice`?"), "{error}");
    let brief = SourceLimits { max_diagnostics: 0, ..limits };
    let error = env.try_alias("other", "twce + 1", &brief).unwrap_err();
    assert!(!error.to_string().contains("did you mean"), "{error}");
    assert!(env.try_define("f(x: int) -> int", "x + ", &limits).is_err());
    env.try_define("f(x: int) -> int", "x + twice", &limits).unwrap();
    assert!(env.problems().is_empty());
    assert!(Engine::new().compile(&env, "f(1) == other").is_err());
    assert!(Engine::new().compile(&env, "f(1) == 3").is_ok());
}

/// What is told of a body is about the body, however large the definitions are that it uses.
#[test]
fn the_lint_of_a_body_leaves_definitions_where_they_are() {
    let (engine, env) = (Engine::new(), doubling());
    let (warnings, steps) = engine.lint(&env, "v.a12 == 1 && 'a'.matches('(?i)[\\\\s\\\\S]')").unwrap();
    assert_eq!((warnings.len(), steps > 0), (0, true));
    let (warnings, _) = engine.lint(&env, "v.a12 == 1 || 'a'.matches('(')").unwrap();
    assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["literal-never-valid"]);
    assert!(engine.lint(&env, "v.a13").is_err());
    let undeclarable = Env::dynamic().function("namespace", |text: &str| text.len() as i64);
    assert!(engine.check(&undeclarable, "1 == 1").is_err() && engine.lint(&undeclarable, "1 == 1").is_err());
}
