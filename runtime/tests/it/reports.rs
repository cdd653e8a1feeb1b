//! Reports: errors of evaluations in words, the same from both tiers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use celero::diagnostics::Report;
use celero::http::RequestContext;
use celero::values::{Arena, List, Map, MapBuilder};
use celero::{Bindings, Engine, Env, EvalError, Limits, Live, Rule, Scratch, Tier, Type, Value};

fn env() -> Env<Bindings<'static>> {
    let even = |n: i64| if n % 2 == 0 { Ok(true) } else { Err(format!("{n} is odd")) };
    Env::dynamic()
        .variable("m", Type::map(Type::String, Type::Int))
        .variable("absent", Type::Int)
        .variable("req.team", Type::String)
        .variable("d", Type::Dyn)
        .variable("list", Type::list(Type::Int))
        .variable("s", Type::String)
        .variable("zero", Type::Int)
        .pure_function("even", even)
        .pure_function("boom", |_: i64| -> i64 { panic!("on purpose") })
        .function("roll", |n: i64| if n > 0 { Err(format!("no dice for {n}")) } else { Ok(n) })
}

/// Calls `f` with the report of each tier.
fn reports(source: &str, d: Value<'static>, mut f: impl FnMut(&Report)) {
    let env = env();
    for tier in [Tier::Interpret, Tier::Native] {
        let limits = Limits { steps: 10_000, ..Limits::default() };
        let program = Engine::builder().tier(tier).limits(limits).build().compile(&env, source).unwrap();
        let arena = Arena::new(1 << 16);
        let mut map = MapBuilder::new(&arena, 1).unwrap();
        map.insert(Value::String("known"), Value::Int(1)).unwrap();
        let map: Map<'_> = map.finish(&celero::host::Cx::new(1_000, &arena)).unwrap();
        let mut bindings = Bindings::new(&env);
        let list = [Value::Int(1), Value::Int(2)];
        for (name, value) in [
            ("m", Value::Map(map)),
            ("d", d),
            ("list", Value::List(List::Slice(&list))),
            ("s", Value::String("secret")),
            ("zero", Value::Int(0)),
        ] {
            bindings.set(name, value).unwrap();
        }
        let error: EvalError =
            program.eval(&bindings, &mut Scratch::new()).map(|value| format!("{source} is {value:?}")).unwrap_err();
        let report = program.describe(&error, &bindings);
        assert_eq!(report.error(), error);
        f(&report);
    }
}

#[test]
fn a_report_says_what_form_is_wanted() {
    for (source, part) in [
        (r#"json(s + "{a: 1}") == 1"#, r#""secret{a: 1}" is not a JSON document"#),
        (r#"json(bytes(s)) == 1"#, "is not a JSON document"),
        (r#"base64.decode(s + "*") == b"""#, r#""secret*" is not base64"#),
        (r#"hex.decode(s) == b"""#, r#""secret" is not hexadecimal"#),
        (r#"url.decode(s + "%z") == """#, r#""secret%z" is not percent-encoded text"#),
        (r#"s.charAt(10) == """#, "position 10 is out of range: the text has 6 characters"),
        (r#"s.substring(2, 9) == """#, "position 9 is out of range: the text has 6 characters"),
        (r#""%d".format([s]) == """#, r#"a value does not fit its verb in "%d""#),
        (r#""%d %s".format(list.filter(x, x > 1)) == """#, r#""%d %s" takes 2 values, the list has 1"#),
        (r#"{"cookie": s}.cookie("id") == """#, r#"no cookie "id" (at 0..26); write `default("#),
    ] {
        reports(source, Value::Null, |report| {
            assert!(report.to_string().contains(part), "{source}: {report}");
        });
    }
}

#[test]
fn a_report_says_which() {
    for (source, line) in [
        (r#"m["x"] == 1"#, r#"no key "x" (at 0..6); guard it with `"x" in m` or write `m[?"x"].orValue(..)`"#),
        ("m.x == 1", r#"no key "x" (at 0..3); guard it with `has(m.x)`"#),
        ("m[s] == 1", r#"no key "secret" (at 0..4)"#),
        ("absent > 1", "variable `absent` has no value (at 0..6); guard it with `has(absent)`"),
        ("req.team == ''", "`req.team` is absent (at 0..8); guard it with `has(req.team)`"),
        ("[1, 2][5] == 1", "index 5 is out of bounds: the list has 2 elements (at 0..9)"),
        ("list[zero - 1] == 1", "index -1 is out of bounds: the list has 2 elements (at 0..14)"),
        (r#"s.matches("(")"#, r#""(" is not a regular expression: unclosed group (at 0..14)"#),
        (
            "duration(s) > duration('1s')",
            r#""secret" is not a duration (at 0..11); write it as in "1h30m", "90s" or "1.5s""#,
        ),
        ("1 / zero == 1", "division of 1 by zero (at 0..8)"),
        ("7 % zero == 1", "remainder of 7 by zero (at 0..8)"),
        ("9223372036854775807 + (zero + 1) > 0", "9223372036854775807 + 1 is out of the range of `int` (at 0..32)"),
        ("{'secret': 1, s: 2} == {}", r#"key "secret" is twice in the map (at 0..19)"#),
        ("d.x == 1", "`int` has no field `x` (at 0..3)"),
        ("d && zero == 0 && false || d", "a `bool` is needed, this is a `int` (at 27..28)"),
        ("dyn(d) && true", "a `bool` is needed, this is a `int` (at 0..6)"),
        ("-d && true", "a `bool` is needed, this is a `int` (at 0..2)"),
        ("d.orValue(5) == 5", "an optional is needed, this is a `int` (at 0..12)"),
        ("{'a':\n1}['k'] == 1", r#"no key "k" (at 0..13)"#),
        (
            "roll(0) == 0 && list.all(x, m[[7].map(y, string(x))[0]] > roll(0))",
            "no key `[7].map(y, string(x))[0]` (at 28..55)",
        ),
        ("fail('closed today')", r#"the rule failed on purpose: "closed today" (at 0..20)"#),
        ("even(2) && even(3)", "`even` failed: 3 is odd (at 11..18)"),
        ("boom(1) == 1", "`boom` failed: it panicked (at 0..7)"),
        ("roll(5) == 1", "`roll` failed; its last message on this thread: no dice for 5 (at 0..7)"),
        // The error that counts is not the last one, nor the first.
        ("(m['y'] == 1 || even(2)) && even(5) && m.z == 1", "`even` failed: 5 is odd (at 28..35)"),
        ("list.all(x, m['k' + string(x)] == 1)", r#"no key "k1" (at 12..30)"#),
        // Of an impure rule, what is pure of it is evaluated again.
        ("roll(0) == 0 && m[s] == 1", r#"no key "secret" (at 16..20)"#),
        ("list.all(x, m[string(x)] > roll(0))", "no key `string(x)` (at 12..24)"),
    ] {
        reports(source, Value::Int(1), |report| assert_eq!(report.to_string(), line, "{source}"));
    }
    reports("lists.range(20000 + zero).all(x, x < 90000 && string(x) != s)", Value::Null, |report| {
        let text = report.to_string();
        assert!(text.starts_with("the evaluation needs more than 10000 steps; it ended in"), "{text}");
        assert!(text.ends_with("(at 0..61)"), "{text}");
    });
}

/// The limit that was spent, if the rule can be evaluated again.
#[test]
fn a_spent_limit_is_named() {
    let env = env();
    for tier in [Tier::Interpret, Tier::Native] {
        for (source, steps, memory, message) in [
            ("lists.range(20000).size() == zero", u32::MAX, 4_000, "needs more than 4000 bytes of memory"),
            ("lists.range(20000).all(x, x + 1 != zero)", 500, 1 << 24, "needs more than 500 steps"),
            ("s + s + s + s + s + s + s + s + s == ''", u32::MAX, 32, "needs more than 32 bytes of memory"),
            // What a function of the host did is not done again.
            ("lists.range(20000).size() == roll(0)", u32::MAX, 4_000, "4294967295 steps or 4000 bytes of memory"),
        ] {
            let limits = Limits { steps, memory, ..Limits::default() };
            let program = Engine::builder().tier(tier).limits(limits).build().compile(&env, source).unwrap();
            let mut bindings = Bindings::new(&env);
            bindings.set("zero", Value::Int(0)).unwrap();
            bindings.set("s", Value::String("secret")).unwrap();
            let error = program.test(&bindings).unwrap_err();
            let report = program.describe(&error, &bindings);
            let text = report.message();
            assert!(text.contains(message), "{tier:?} {source}: {text}");
            assert_eq!(text.contains(" or "), source.contains("roll"), "{tier:?} {source}: {text}");
        }
    }
}

#[test]
fn an_overload_is_named_with_its_types() {
    reports("d + 1 == 2", Value::String("a"), |report| {
        assert_eq!(report.message(), "no overload of `+` takes (string, int)");
        assert!(report.help().is_some_and(|help| help.contains("(int, int)")), "{report}");
    });
    reports("even(d)", Value::String("a"), |report| {
        assert_eq!(report.to_string(), "no overload of `even` takes (string) (at 0..7); it takes (int)");
    });
}

#[test]
fn logs_do_not_hold_the_text_of_requests() {
    let long: &'static str = "x".repeat(10_000).leak();
    for (source, shown, line) in [
        ("m[s] == 1", "no key \"secret\"", "no key `s` (at 0..4)"),
        ("m[d] == 1", "no key \"xxx", "no key `d` (at 0..4)"),
        ("duration(s) > duration('1s')", "\"secret\" is not", "`s` is not a duration (at 0..11)"),
        ("list[zero + 7] == 1", "index 7 is", "index 7 is out of bounds: the list has 2 elements (at 0..14)"),
    ] {
        reports(source, Value::String(long), |report| {
            assert!(report.message().starts_with(shown) && report.message().len() < 200, "{report}");
            assert!(report.log_line().starts_with(line), "{}", report.log_line());
        });
    }
}

#[test]
fn a_report_points_at_the_source() {
    reports("zero == 0 && m['x'] == 1", Value::Null, |report| {
        let text = report.render("team.cel", false);
        assert!(text.contains("no_such_key") && text.contains("team.cel:1:14"), "{text}");
        assert!(text.contains("zero == 0 && m['x'] == 1") && text.contains("^^^^^^"), "{text}");
    });
}

#[test]
fn an_error_that_is_passed_on_shows_the_rule() {
    let env = env();
    let mut bindings = Bindings::new(&env);
    bindings.set("s", Value::String("secret")).unwrap();
    for (source, parts) in [
        (
            "s == 'secret' &&\n  {'a': 1}['x'] == 1",
            &["error[no_such_key]: no key \"x\"", "--> rule:2:3", "2 |   {'a': 1}['x'] == 1", "guard it with"][..],
        ),
        ("even(2) && even(3)", &["`even` failed: 3 is odd", "--> rule:1:12", "1 | even(2) && even(3)"]),
        ("req.team == 'a'", &["`req.team` is absent", "guard it with `has(req.team)`"]),
    ] {
        for tier in [Tier::Interpret, Tier::Native] {
            let program = Engine::builder().tier(tier).build().compile(&env, source).unwrap();
            let passed_on = || -> Result<bool, Box<dyn std::error::Error>> { Ok(program.test_described(&bindings)?) };
            let error = passed_on().unwrap_err();
            for text in [error.to_string(), format!("{error:?}")] {
                assert!(parts.iter().all(|part| text.contains(part)) && !text.ends_with('\n'), "{text}");
            }
            let error = program.test(&bindings).unwrap_err();
            assert!(
                error.to_string().ends_with("; `Program::describe` says more)"),
                "the error names the way: {error}"
            );
            assert_eq!(program.test_described(&bindings).unwrap_err().report().error(), error);
        }
    }
    let program = Engine::new().compile(&env, "s == 'secret'").unwrap();
    assert!(program.test_described(&bindings).unwrap());
}

#[test]
fn rules_of_sets_are_named() {
    let env = Env::<RequestContext<'_>>::new();
    let request = http::Request::new(());
    let context = RequestContext::new(&request);
    let source = r#"request.headers["x-team"] == "ops""#;
    let line = r#"rule "admin": no header "x-team" (at 0..25); guard it with `"x-team" in request.headers` or write `request.headers[?"x-team"].orValue("")`"#;
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        let rules = engine.rules(&env).rule("never", "false", ()).rule("admin", source, ()).build().unwrap();
        let error = rules.first(&context, &mut Scratch::new()).unwrap_err();
        assert_eq!(error.to_string(), "rule \"admin\": no such key (at 0..25)");
        assert_eq!(rules.describe(&error, &context).unwrap().to_string(), line);
    }
    let live = Live::new(Engine::new(), env.clone());
    live.insert(Rule::new("first", "false", ())).unwrap();
    live.insert(Rule::new("admin", source, ())).unwrap();
    let rules = live.load();
    let error = rules.first(&context, &mut Scratch::new()).unwrap_err();
    assert_eq!(rules.describe(&error, &context).unwrap().to_string(), line);
    // What the report proposes works.
    for guarded in [
        r#""x-team" in request.headers && request.headers["x-team"] == "ops""#,
        r#"request.headers[?"x-team"].orValue("") == "ops""#,
    ] {
        assert_eq!(Engine::new().compile(&env, guarded).unwrap().test(&context), Ok(false));
    }
}

#[test]
fn a_part_of_a_source_is_reported_as_the_whole() {
    let part = "m['other'] == 1";
    reports(&format!("s == s && ({part})"), Value::Null, |report| {
        let part = reported(part);
        let moved = report.clone().of_part(11);
        assert_eq!((moved.to_string(), moved.span(), moved.error()), (part.to_string(), part.span(), part.error()));
        assert!(moved.render("a.cel", false).contains("a.cel:1:1"), "{}", moved.render("a.cel", false));
    });
}

fn reported(source: &str) -> Report {
    let mut found = None;
    reports(source, Value::Null, |report| found = Some(report.clone()));
    found.unwrap()
}
