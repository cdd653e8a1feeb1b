//! What each part of an expression evaluated to.

#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::settings::PartResult;
use celero::{Bindings, Engine, Env, ErrorKind, Program, Scratch, Type, Value};

fn shown(result: &PartResult<'_>) -> String {
    match result {
        PartResult::Value(Value::Bool(value)) => value.to_string(),
        PartResult::Value(Value::Int(value)) => value.to_string(),
        PartResult::Value(Value::String(text)) => format!("{text:?}"),
        PartResult::Value(Value::Bytes(bytes)) => format!("{:?}", String::from_utf8_lossy(bytes)),
        PartResult::Value(Value::List(list)) => format!("list of {}", list.len()),
        PartResult::Missing => "missing".to_owned(),
        PartResult::Failed(error) => format!("{} at {}", error.kind.name(), error.start),
        _ => "other".to_owned(),
    }
}

/// Each part on a line: its depth as an indent, its text, and its results.
fn lines<C: celero::Context>(program: &Program<C::Static>, context: &C) -> Vec<String> {
    let mut scratch = Scratch::new();
    let trace = program.trace(context, &mut scratch).unwrap();
    let line = |part: &celero::settings::TracedPart<'_>| {
        let span = part.span();
        let text = &program.source()[span.start as usize..span.end as usize];
        let results: Vec<String> = part.results().iter().map(shown).collect();
        let results = if part.evaluations() == 0 { "not evaluated".to_owned() } else { results.join(", ") };
        format!("{}{text} => {results}", " ".repeat(part.depth()))
    };
    trace.parts().iter().map(line).collect()
}

#[test]
fn parts_have_the_values_that_decided() {
    let env = Env::dynamic().variable("user.name", Type::String).variable("n", Type::Int);
    let source = r#"user.name == "ada" || [1, n].exists(x, x > 1 / (n - 2))"#;
    let program = Engine::new().compile(&env, source).unwrap();
    let mut context = Bindings::new(&env);
    context.set("user.name", Value::String("bob")).unwrap();
    context.set("n", Value::Int(3)).unwrap();
    assert_eq!(
        lines(&program, &context),
        [
            r#"user.name == "ada" || [1, n].exists(x, x > 1 / (n - 2)) => true"#,
            r#" user.name == "ada" => false"#,
            r#"  user.name => "bob""#,
            " [1, n].exists(x, x > 1 / (n - 2)) => true",
            "  [1, n] => list of 2",
            "   n => 3",
            "  x > 1 / (n - 2) => false, true",
            "   x => 1, 3",
            "   1 / (n - 2) => 1, 1",
            "    n - 2 => 1, 1",
            "     n => 3, 3",
        ]
    );
    context.set("n", Value::Int(2)).unwrap();
    let failed = lines(&program, &context);
    assert_eq!(failed[0], format!("{source} => divide_by_zero at 43"));
    assert!(failed.contains(&"   1 / (n - 2) => divide_by_zero at 43, divide_by_zero at 43".to_owned()), "{failed:?}");
    context.set("user.name", Value::String("ada")).unwrap();
    let decided = lines(&program, &context);
    assert_eq!(decided[3], " [1, n].exists(x, x > 1 / (n - 2)) => not evaluated");
}

#[test]
fn definitions_are_one_part() {
    let env = Env::dynamic().define("twice(x: int) -> int", "x + x");
    let program = Engine::new().compile(&env, "twice(1 + 2) == 6").unwrap();
    let found = lines(&program, &Bindings::new(&env));
    assert_eq!(found[..2], ["twice(1 + 2) == 6 => true", " twice(1 + 2) => 6"]);
}

#[test]
fn few_results_of_a_loop_are_kept() {
    let env = Env::dynamic();
    let list = format!("[{}]", vec!["0"; 100].join(", "));
    let program = Engine::new().compile(&env, &format!("{list}.all(a, {list}.all(b, a == b))")).unwrap();
    let (context, mut scratch) = (Bindings::new(&env), Scratch::new());
    let trace = program.trace(&context, &mut scratch).unwrap();
    let equal = trace.parts().iter().max_by_key(|part| part.evaluations()).unwrap();
    assert_eq!((equal.evaluations(), equal.results().len()), (10_000, 16));
}

#[test]
fn a_trace_is_bounded_as_an_evaluation_is() {
    let env = Env::dynamic();
    let list = format!("[{}]", vec!["0"; 200].join(", "));
    let source = format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, a == b))))");
    let program = Engine::new().compile(&env, &source).unwrap();
    let (context, mut scratch) = (Bindings::new(&env), Scratch::new());
    let trace = program.trace(&context, &mut scratch).unwrap();
    assert_eq!(trace.result().unwrap_err().kind, ErrorKind::OutOfBudget);
}

#[test]
fn conditions_of_the_filter_language_have_values() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let source =
        r#"http.host eq "b" or (any(http.request.headers["x"][*] eq "1") and not ssl) or len(http.referer) gt 3"#;
    let program = Engine::new().compile(&env, source).unwrap();
    let request = http::Request::get("/").header("host", "a").header("x", "0").header("x", "1").body(()).unwrap();
    let found = lines(&program, &RequestContext::new(&request));
    assert_eq!(found[0], format!("{source} => true"));
    for line in [
        r#" http.host eq "b" => false"#,
        r#"  http.host => "a""#,
        r#"  any(http.request.headers["x"][*] eq "1") => true"#,
        r#"   http.request.headers["x"][*] eq "1" => list of 2"#,
        "  not ssl => true",
        " len(http.referer) gt 3 => not evaluated",
    ] {
        assert!(found.iter().any(|found| found.trim() == line.trim()), "{line} in {found:#?}");
    }
    let missing = Engine::new().compile(&env, r#"http.referer eq "a""#).unwrap();
    let found = lines(&missing, &RequestContext::new(&request));
    assert_eq!(found[0], r#"http.referer eq "a" => false"#);
}
