//! `celero eval`: values, bindings, requests, functions.

use crate::support::{celero, celero_reading, file};
use serde_json::json;

#[test]
fn eval_prints_the_value() {
    for (expr, text) in [
        ("1 + 2 * 3", "7\n"),
        ("'a' + \"b\"", "\"ab\"\n"),
        ("[1u, 2.0, b'\\xff']", "[1u, 2.0, b\"\\xff\"]\n"),
        ("{'a': [true, null]}", "{\"a\": [true, null]}\n"),
        ("duration('90s')", "duration(\"90s\")\n"),
        ("type(1)", "int\n"),
        ("-1", "-1\n"),
    ] {
        let run = celero(&["eval", "-e", expr]);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, text, ""), "{expr}");
    }
    assert_eq!(celero_reading(&["eval", "-"], b" 1 + 1\n").out, "2\n");
    assert_eq!(celero(&["eval", "-e", "1 + 1", "--json"]).json(), json!({ "value": { "int": "2" } }));
}

#[test]
fn eval_points_at_errors() {
    let run = celero(&["eval", "-e", "1 +"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("error[") && run.err.contains("1 | 1 +"), "{}", run.err);

    let run = celero(&["eval", "-e", "1 / 0 == 1"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("error[divide_by_zero]") && run.err.contains('^'), "{}", run.err);
    assert!(!run.err.contains('\x1b'), "no colours where there is no terminal");
    assert!(celero(&["eval", "-e", "1 / 0", "--color", "always"]).err.contains('\x1b'));

    let json = celero(&["eval", "-e", "[1][5]", "--json"]).json();
    assert_eq!(json["error"]["kind"], "invalid_argument");
    assert_eq!(json["error"]["message"], "index 5 is out of bounds: the list has 1 element");
    assert!(celero(&["eval", "-e", "[1, 2][5]"]).err.contains("index 5 is out of bounds: the list has 2 elements"));
    assert!(
        celero(&["eval", "-e", "\"a\".matches(\"(\")"]).err.contains("is not a regular expression: unclosed group")
    );
    assert!(celero(&["eval", "-e", "a > 1", "--vars", "a: int"]).err.contains("variable `a` has no value"));
    assert!(json["error"]["span"].is_array());
    assert_eq!(celero(&["eval", "-e", "nope", "--json"]).json()["error"]["kind"], "check");
    assert_eq!(celero(&["eval", "-e", "1 +", "--json"]).json()["error"]["kind"], "parse");
}

#[test]
fn bindings_give_values_to_variables() {
    let bindings = file(
        "bindings.json",
        r#"{"user.name": "ada", "n": 2, "half": 0.5, "tags": ["a"], "m": {"k": {"uint": "7"}}, "t": {"timestamp": "2009-02-13T23:31:30Z"}}"#,
    );
    for (expr, text) in [
        ("user.name == 'ada'", "true\n"),
        ("n + 1", "3\n"),
        ("half", "0.5\n"),
        ("tags[0]", "\"a\"\n"),
        ("m.k", "7u\n"),
        ("t.getFullYear()", "2009\n"),
    ] {
        let run = celero(&["eval", "-e", expr, "--bindings", &bindings]);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, text, ""), "{expr}");
    }
    let typed = celero(&["eval", "-e", "n", "--bindings", &bindings, "--vars", "n: uint, absent: int"]);
    assert_eq!(typed.out, "2u\n");
    let wrong = celero(&["eval", "-e", "n", "--bindings", &bindings, "--vars", "n: list(int)", "--json"]);
    assert_eq!((wrong.code, wrong.json()["error"]["kind"].as_str()), (1, Some("invalid_argument")));
    let absent = celero(&["eval", "-e", "absent", "--vars", "absent: int", "--json"]);
    assert_eq!(absent.json()["error"]["kind"], "no_such_key");
}

#[test]
fn requests_are_read_from_text() {
    let request = file("request.http", "GET /api/x?y=1 HTTP/1.1\nHost: example.com\nX-Team: ops\n\n");
    for (expr, text) in [
        ("request.method + ' ' + request.path", "\"GET /api/x\"\n"),
        ("request.headers['x-team']", "\"ops\"\n"),
        ("source.address", "\"192.0.2.7\"\n"),
    ] {
        let run = celero(&["eval", "-e", expr, "--request", &request, "--source", "192.0.2.7:4711", "--tier", "both"]);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, text, ""), "{expr}");
    }
    assert_eq!(celero(&["eval", "-e", "source.address", "--request", &request]).out, "\"127.0.0.1\"\n");
    let missing = celero(&["eval", "-e", "request.headers['x-none']", "--request", &request, "--json"]);
    assert_eq!((missing.code, missing.json()["error"]["kind"].as_str()), (1, Some("no_such_key")));
    let broken = file("broken.http", "what?\n");
    let run = celero(&["eval", "-e", "true", "--request", &broken]);
    assert!(run.code == 2 && run.err.contains("broken.http"), "{}", run.err);
}

#[test]
fn functions_are_defined_on_the_command_line() {
    let define = ["--define", "twice(n: int) -> int = n * 2", "--define", "int.same(n) = this == twice(n) / 2"];
    let run = |command: &str, expr: &[&str]| celero(&[&[command], expr, &define].concat());
    assert_eq!(run("eval", &["-e", "twice(21)"]).out, "42\n");
    assert_eq!(run("eval", &["-e", "3.same(3)", "--tier", "both"]).out, "true\n");
    assert_eq!(run("check", &["--expr", "twice(1) == 2"]).out, "ok: bool\n");
    assert!(run("explain", &["-e", "twice(x)", "--vars", "x: int"]).out.contains("arith.mul"));
    let request = file("define.http", "GET /api HTTP/1.1\nHost: example.com\n\n");
    let of_request = ["--define", "api() = request.path.startsWith('/api')", "--request", &request];
    for command in [&["eval", "-e", "api()"][..], &["explain", "-e", "api()"], &["check", "-e", "api()"]] {
        let run = celero(&[command, &of_request].concat());
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command:?}");
    }
}

#[test]
fn faulty_definitions_are_mistakes_in_the_command() {
    let run = celero(&["eval", "-e", "f(1)", "--define", "f(n: int) -> int = n * k"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("function `f` can't be defined") && run.err.contains("1 | n * k"), "{}", run.err);
    let run = celero(&["check", "--expr", "1", "--define", "f(n: int)"]);
    assert!(run.code == 2 && run.err.contains("--define: `f(n: int)`: expected"), "{}", run.err);
}

#[test]
fn tiers_are_not_compared_where_that_says_nothing() {
    let one = |expr: &str| {
        let given = file("n.json", "{\"n\": 1}");
        let run =
            |json: &[&str]| celero(&[&["eval", "-e", expr, "--bindings", &given, "--tier", "both"], json].concat());
        (run(&[]), run(&["--json"]))
    };
    let many: Vec<String> = (0..5500).map(|i| format!("n + {i}")).collect();
    let (text, json) = one(&format!("[{}][n]", many.join(", ")));
    assert_eq!((text.code, text.out.as_str()), (0, "2\n"), "{}", text.err);
    assert!(text.err.contains("native code is not used: "), "{}", text.err);
    assert_eq!((json.code, json.json()["value"]["int"].as_str()), (0, Some("2")));
    assert!(json.json()["note"].as_str().unwrap().starts_with("native code is not used: "));
    for expr in ["uuid()", "random()", "[1, 2].map(i, uuid())"] {
        let (text, json) = one(expr);
        assert_eq!(text.code, 0, "{expr}: {}{}", text.out, text.err);
        assert!(text.err.contains("the tiers are not compared"), "{expr}: {}", text.err);
        assert!(json.json()["note"].as_str().unwrap().starts_with("the tiers are not compared"), "{expr}");
    }
    let (_, compared) = one("n + 1");
    assert_eq!(compared.json(), serde_json::json!({"value": {"int": "2"}}));
}

#[test]
fn why_shows_the_parts_that_decided() {
    let request = file("why.http", "GET /x HTTP/1.1\nHost: example.com\n\n");
    let rule = "request.path.startsWith('/api') && request.method == 'GET'";
    let run = celero(&["eval", "--why", "-e", rule, "--request", &request]);
    let lines = "false\n  request.path.startsWith('/api') is false: request.path is \"/x\"\n";
    assert_eq!((run.code, &*run.out, &*run.err), (0, lines, ""));
    let json = celero(&["eval", "--why", "-e", rule, "--request", &request, "--json"]).json();
    let why = json!(["request.path.startsWith('/api') is false: request.path is \"/x\""]);
    assert_eq!(json, json!({ "value": { "bool": false }, "why": why }));
    let filter = r#"http.host eq "a" or ssl"#;
    let run = celero(&["eval", "--why", "--language", "filter", "-e", filter, "--request", &request]);
    assert_eq!(run.out, "false\n  http.host eq \"a\" is false: http.host is \"example.com\"\n  ssl is false\n");
    // The message of an error says why.
    let run = celero(&["eval", "--why", "-e", "1 / 0 == 1"]);
    assert_eq!((run.code, &*run.out), (1, ""));

    let rules = file("why.rules", "admin: request.path.startsWith('/admin')\nget: request.method == 'GET'\n");
    let run = celero(&["eval", "--why", &rules, "--requests", &request]);
    let lines = "GET example.com/x: get
  admin: no match
    request.path.startsWith('/admin') is false: request.path is \"/x\"
  get: match
    request.method == 'GET' is true: request.method is \"GET\"
";
    assert_eq!((run.code, &*run.out), (0, lines));
    let json = celero(&["eval", "--why", &rules, "--requests", &request, "--json"]).json();
    assert_eq!(json["why"][0], json!({ "rule": "admin", "why": [lines.lines().nth(2).unwrap().trim()] }));
}
