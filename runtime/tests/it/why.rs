//! Why an expression has its result: the parts that decided, in words.

#![expect(clippy::unwrap_used, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Bindings, Context, Engine, Env, Program, Scratch, Tier, Type, Value};

fn why<C: Context>(program: &Program<C::Static>, context: &C) -> Vec<String> {
    let mut scratch = Scratch::new();
    let text = program.trace(context, &mut scratch).unwrap().render();
    assert!(text.ends_with('\n'), "{text:?}");
    text.lines().map(str::to_owned).collect()
}

fn env() -> Env<Bindings<'static>> {
    Env::dynamic()
        .variable("path", Type::String)
        .variable("n", Type::Int)
        .variable("beta", Type::Bool)
        .variable("tags", Type::list(Type::String))
        .variable("m", Type::map(Type::String, Type::Int))
        .variable("d", Type::Dyn)
        .define("admin()", "path.startsWith('/admin') && n > 1")
        .define("above(x: int, y: int) -> bool", "x * 2 > y")
        .define("any_above(y: int) -> bool", "above(n, y) || admin()")
}

/// The lines for `path` = "/x", `n` = 3, `beta` false, `tags` = ["a", "b"], and no `m`.
fn of(source: &str) -> Vec<String> {
    let env = env();
    let tags = [Value::String("a"), Value::String("b")];
    let mut bindings = Bindings::new(&env);
    for (name, value) in [
        ("path", Value::String("/x")),
        ("n", Value::Int(3)),
        ("beta", Value::Bool(false)),
        ("tags", Value::List(celero::values::List::Slice(&tags))),
        ("d", Value::Int(7)),
    ] {
        bindings.set(name, value).unwrap();
    }
    let of_tier = |tier| why(&Engine::builder().tier(tier).build().compile(&env, source).unwrap(), &bindings);
    let lines = of_tier(Tier::Interpret);
    assert_eq!(lines, of_tier(Tier::Native), "{source}");
    lines
}

#[test]
fn the_parts_that_decided_are_named_with_what_they_read() {
    for (source, lines) in [
        // Of a conjunction that is false the operand that is, and of a disjunction that is true the one that is.
        ("n > 1 && path == '/y' && beta", &[r#"path == '/y' is false: path is "/x""#][..]),
        ("path == '/y' || n > 1 || beta", &["n > 1 is true: n is 3"]),
        // Of the other results, all operands.
        ("n > 1 && path == '/x'", &["n > 1 is true: n is 3", r#"path == '/x' is true: path is "/x""#]),
        ("n > 4 || beta", &["n > 4 is false: n is 3", "beta is false"]),
        // Nested.
        ("(n > 1 || beta) && !(n < 2 || path == '/x')", &[r#"path == '/x' is true: path is "/x""#]),
        ("!(n > 1 && beta)", &["beta is false"]),
        ("n > 1 ? path == '/y' : beta", &["n > 1 is true: n is 3", r#"path == '/y' is false: path is "/x""#]),
        // What is computed on the way.
        (
            "size(path + 'abc') * n > 100",
            &[
                r#"size(path + 'abc') * n > 100 is false: size(path + 'abc') * n is 15; size(path + 'abc') is 5; path + 'abc' is "/xabc"; path is "/x"; n is 3"#,
            ],
        ),
        ("path in ['/a', '/b']", &[r#"path in ['/a', '/b'] is false: path is "/x""#]),
        ("'c' in tags", &[r#"'c' in tags is false: tags is ["a", "b"]"#]),
        ("tags[0] == 'b'", &[r#"tags[0] == 'b' is false: tags[0] is "a""#]),
        (
            "tags.exists(t, t == 'c')",
            &[
                r#"tags.exists(t, t == 'c') is false: tags is ["a", "b"]; t == 'c' is false, then false; t is "a", then "b""#,
            ],
        ),
        ("has(d.x) || beta", &["has(d.x) fails: no such field: d is 7"]),
        // Values.
        ("n + 1", &["n + 1 is 4: n is 3"]),
        ("path", &[r#"path is "/x""#]),
        ("true", &["true"]),
        ("beta && true", &["beta is false"]),
        // Failures: what failed, unless another operand decides.
        ("m['k'] == 1 && n == 3", &["m['k'] == 1 fails: no such key: m['k'] fails: no such key"]),
        ("m['k'] == 1 && n == 2", &["n == 2 is false: n is 3"]),
        ("n > 1 &&\n  path ==\n  '/y'", &[r#"path == '/y' is false: path is "/x""#]),
    ] {
        assert_eq!(of(source), lines, "{source}");
    }
}

#[test]
fn bodies_of_definitions_are_shown() {
    for (source, lines) in [
        ("admin()", &[r#"path.startsWith("/admin") is false: path is "/x""#][..]),
        ("beta || admin()", &["beta is false", r#"path.startsWith("/admin") is false: path is "/x""#]),
        ("above(n, 7)", &["above(n, 7) is false: n * 2 is 6; n is 3"]),
        // A part of a body with the values of the parameters.
        ("!any_above(n + 2)", &["n * 2 > y is true: n * 2 is 6; n is 3; y is 5"]),
    ] {
        assert_eq!(of(source), lines, "{source}");
    }
}

#[test]
fn texts_are_short_and_have_no_control_characters() {
    let lines = of(&format!("path == 'a\u{1b}[31m{}'", "b".repeat(1000)));
    let [line] = &*lines else { panic!("{lines:?}") };
    assert!(line.len() < 300 && !line.contains('\u{1b}'), "{line}");
    let many: Vec<String> = (0..200).map(|number| format!("n != {}", number + 10)).collect();
    let lines = of(&many.join(" && "));
    assert_eq!((lines.len(), lines.last().map(String::as_str)), (51, Some("…")));
    let wide: Vec<String> = (0..200).map(|number| format!("n * {}", number + 10)).collect();
    assert!(of(&format!("{} > 0", wide.join(" + "))).iter().all(|line| line.len() < 2000));
}

#[test]
fn parts_of_the_filter_language_are_named_with_what_they_read() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let request = http::Request::get("/p?q=1").header("host", "a").header("x", "0").header("x", "1").body(()).unwrap();
    let context = RequestContext::new(&request);
    for (source, lines) in [
        (
            r#"http.host eq "a" and http.request.method in {"PUT" "POST"}"#,
            &[r#"http.request.method in {"PUT" "POST"} is false: http.request.method is "GET""#][..],
        ),
        (r#"http.host eq "b" or not ssl"#, &["ssl is false"]),
        (r#"http.host eq "b" or ssl"#, &[r#"http.host eq "b" is false: http.host is "a""#, "ssl is false"]),
        (r#"http.referer eq "a""#, &[r#"http.referer eq "a" is false: http.referer is missing"#]),
        (r#"http.host eq "a" xor ssl"#, &[r#"http.host eq "a" is true: http.host is "a""#, "ssl is false"]),
        (r#"len(http.host) gt 3"#, &[r#"len(http.host) gt 3 is false: len(http.host) is 1; http.host is "a""#]),
        (
            r#"any(http.request.headers["x"][*] eq "2")"#,
            &[
                r#"any(http.request.headers["x"][*] eq "2") is false: http.request.headers["x"][*] eq "2" is [false, false]; http.request.headers["x"][*] is ["0", "1"]"#,
            ],
        ),
    ] {
        let program = Engine::new().compile(&env, source).unwrap();
        assert_eq!(why(&program, &context), lines, "{source}");
    }
}

#[test]
fn rules_of_sets_have_reasons() {
    let env = Env::<RequestContext<'_>>::new();
    let rules =
        || Engine::new().rules(&env).rule("get", "request.method == 'GET'", ()).rule("x", "request.path == '/x'", ());
    let request = http::Request::get("/p").body(()).unwrap();
    let context = RequestContext::new(&request);
    for standalone in [false, true] {
        let rules = rules().standalone(standalone).build().unwrap();
        let text = |rule| rules.trace(rule, &context, &mut Scratch::new()).map(|trace| trace.unwrap().render());
        assert_eq!(text(0).unwrap(), "request.method == 'GET' is true: request.method is \"GET\"\n");
        assert_eq!(text(1).unwrap(), "request.path == '/x' is false: request.path is \"/p\"\n");
        assert_eq!(text(2), None);
    }
}
