//! The `celero` command as people and programs use it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a run gave.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Run {
    fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {:?} {:?}", self.out, self.err))
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_celero"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn celero_reading(args: &[&str], input: &[u8]) -> Run {
    let mut child = command(args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn celero(args: &[&str]) -> Run {
    celero_reading(args, b"")
}

fn file(name: &str, content: &str) -> String {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = dir.join(format!("{}-{name}", std::process::id()));
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Answers to lines of `eval --jsonl`.
fn answers(args: &[&str], lines: &str) -> (i32, Vec<Json>) {
    let all: Vec<_> = ["eval", "--jsonl"].iter().chain(args).copied().collect();
    let run = celero_reading(&all, lines.as_bytes());
    assert_eq!(run.err, "");
    (run.code, run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

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
        let run = celero(&["eval", expr]);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, text, ""), "{expr}");
    }
    assert_eq!(celero_reading(&["eval", "-"], b" 1 + 1\n").out, "2\n");
    assert_eq!(celero(&["eval", "1 + 1", "--json"]).json(), json!({ "value": { "int": "2" } }));
}

#[test]
fn eval_points_at_errors() {
    let run = celero(&["eval", "1 +"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("error[") && run.err.contains("1 | 1 +"), "{}", run.err);

    let run = celero(&["eval", "1 / 0 == 1"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("divide_by_zero") && run.err.contains('^'), "{}", run.err);
    assert!(!run.err.contains('\x1b'), "no colours where there is no terminal");
    assert!(celero(&["eval", "1 / 0", "--color", "always"]).err.contains('\x1b'));

    let json = celero(&["eval", "[1][5]", "--json"]).json();
    assert_eq!(json["error"]["kind"], "invalid_argument");
    assert!(json["error"]["span"].is_array());
    assert_eq!(celero(&["eval", "nope", "--json"]).json()["error"]["kind"], "check");
    assert_eq!(celero(&["eval", "1 +", "--json"]).json()["error"]["kind"], "parse");
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
        let run = celero(&["eval", expr, "--bindings", &bindings]);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, text, ""), "{expr}");
    }
    let typed = celero(&["eval", "n", "--bindings", &bindings, "--vars", "n: uint, absent: int"]);
    assert_eq!(typed.out, "2u\n");
    let wrong = celero(&["eval", "n", "--bindings", &bindings, "--vars", "n: list(int)", "--json"]);
    assert_eq!((wrong.code, wrong.json()["error"]["kind"].as_str()), (1, Some("invalid_argument")));
    let absent = celero(&["eval", "absent", "--vars", "absent: int", "--json"]);
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
        let run = celero(&["eval", expr, "--request", &request, "--source", "192.0.2.7:4711", "--tier", "both"]);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, text, ""), "{expr}");
    }
    assert_eq!(celero(&["eval", "source.address", "--request", &request]).out, "\"127.0.0.1\"\n");
    let missing = celero(&["eval", "request.headers['x-none']", "--request", &request, "--json"]);
    assert_eq!((missing.code, missing.json()["error"]["kind"].as_str()), (1, Some("no_such_key")));
    let broken = file("broken.http", "what?\n");
    let run = celero(&["eval", "true", "--request", &broken]);
    assert!(run.code == 2 && run.err.contains("broken.http"), "{}", run.err);
}

#[test]
fn misuse_exits_with_2() {
    for args in [
        &["eval"][..],
        &["nonsense"],
        &["eval", "1", "--bindings", "/no/such/file"],
        &["eval", "1", "--vars", "x: strin"],
        &["eval", "1", "--vars", "in: int"],
        &["eval", "1", "--tier", "fast"],
        &["check"],
        &["check", "/no/such/file"],
        &["eval", "1", "--bindings", "a", "--request", "b"],
    ] {
        let run = celero(args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert!(!run.err.is_empty(), "{args:?}");
    }
}

#[test]
fn check_tells_the_type_or_every_error() {
    let rule = file("rule.cel", "a > 1 &&\n  b\n");
    let run = celero(&["check", &rule, "--vars", "a: int, b: bool"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "ok: bool\n", ""));
    let run = celero(&["check", &rule]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("`a`") && run.err.contains("`b`") && run.err.contains("2 |"), "{}", run.err);
    let json = celero(&["check", "--expr", "a + 'x'", "--vars", "a: int", "--json"]);
    assert_eq!((json.code, json.json()["ok"].as_bool()), (1, Some(false)));
    assert_eq!(json.json()["diagnostics"][0]["kind"], "check");
    let json = celero(&["check", "--expr", "[1]", "--json"]).json();
    assert_eq!((json["ok"].as_bool(), json["type"].as_str()), (Some(true), Some("list(int)")));
    assert_eq!(celero_reading(&["check", "-"], b"1 == 1").out, "ok: bool\n");
}

#[test]
fn explain_shows_every_stage() {
    let run = celero(&["explain", "x + 1 > 2", "--vars", "x: int"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.contains("tree") && run.out.contains("bool"), "{}", run.out);
    let json = celero(&["explain", "x + 1 > 2", "--vars", "x: int", "--json"]).json();
    assert!(json["sections"].as_array().unwrap().len() > 1);
    assert_eq!(json["sections"][0]["title"], "tree");
    assert_eq!(celero(&["explain", "x"]).code, 1);
}

#[test]
fn jsonl_answers_in_order() {
    let lines = [
        r#"{"expr": "x + 1", "vars": {"x": "int"}, "bindings": {"x": {"int": "41"}}}"#,
        r#"{"expr": "x", "bindings": {"x": {"map": [[1, {"optional": null}]]}}}"#,
        r#"{"expr": "1 / 0"}"#,
        r#"{"expr": "1 +"}"#,
        r#"{"expr": "y"}"#,
        r#"{"expr": "y", "container": "a.b", "bindings": {"a.b.y": true}}"#,
        r#"{"expr": "1 + 'a'"}"#,
        r#"{"expr": "1 + 'a'", "check": false}"#,
        r#"{"expr": "0.0 / 0.0"}"#,
    ]
    .join("\n");
    for tier in ["native", "interpret", "both", "auto"] {
        let (code, answers) = answers(&["--tier", tier], &lines);
        assert_eq!((code, answers.len()), (0, 9), "{answers:?}");
        assert_eq!(answers[0], json!({ "value": { "int": "42" } }));
        assert_eq!(answers[1], json!({ "value": { "map": [[{ "int": "1" }, { "optional": null }]] } }));
        assert_eq!(answers[2]["error"]["kind"], "divide_by_zero");
        assert!(answers[2]["error"]["message"].is_string());
        assert_eq!(answers[2]["error"]["span"], json!([0, 5]));
        assert_eq!(answers[3]["error"]["kind"], "parse");
        assert_eq!(answers[4]["error"]["kind"], "check");
        assert_eq!(answers[5], json!({ "value": { "bool": true } }));
        assert_eq!(answers[6]["error"]["kind"], "check");
        assert_eq!(answers[7]["error"]["kind"], "no_such_overload");
        assert_eq!(answers[8], json!({ "value": { "double": "NaN" } }));
    }
}

#[test]
fn jsonl_survives_bad_lines() {
    let deep = format!("{{\"expr\": \"1\", \"bindings\": {{\"x\": {}}}}}", "[".repeat(100_000));
    let bad = [
        "",
        "not json",
        "{}",
        "[]",
        "{\"expr\": 1}",
        r#"{"expr": "x", "vars": {"x": "strin"}}"#,
        r#"{"expr": "x", "vars": {"x": 1}}"#,
        r#"{"expr": "x", "vars": {"x": "int"}, "bindings": {"x": "text"}}"#,
        r#"{"expr": "x", "bindings": {"x": {"int": "much"}}}"#,
        r#"{"expr": "x", "bindings": {"not a name": 1}}"#,
        &deep,
    ];
    let lines = bad.join("\n") + "\n{\"expr\": \"1\"}\n";
    let (code, answers) = answers(&[], &lines);
    assert_eq!((code, answers.len()), (0, bad.len() + 1));
    for (answer, line) in answers.iter().zip(bad) {
        assert_eq!(answer["error"]["kind"], "invalid_argument", "{line:.60}: {answer}");
        assert!(answer["error"]["message"].is_string());
    }
    assert_eq!(answers.last(), Some(&json!({ "value": { "int": "1" } })));

    let run = celero_reading(&["eval", "--jsonl"], b"\xff\xfe\n{\"expr\": \"2\"}");
    assert_eq!(run.code, 0);
    assert!(run.out.ends_with("{\"value\":{\"int\":\"2\"}}\n"), "{}", run.out);
    assert_eq!(celero(&["eval", "--jsonl"]).out, "");
}

/// Each answer is there before the next question is asked.
#[test]
fn jsonl_streams() {
    let mut child = command(&["eval", "--jsonl"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for n in 0..3 {
        writeln!(stdin, "{{\"expr\": \"{n}\"}}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, format!("{{\"value\":{{\"int\":\"{n}\"}}}}\n"));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn help_teaches() {
    for args in [&["--help"][..], &["eval", "--help"], &["check", "--help"], &["explain", "--help"]] {
        let run = celero(args);
        assert!(run.code == 0 && run.out.contains("Examples:"), "{args:?}: {}", run.out);
    }
}

#[test]
fn warnings_are_denied_when_asked() {
    let rule = ["check", "--expr", "'a'.matches('a(b')"];
    let run = celero(&rule);
    assert_eq!((run.code, run.out.as_str()), (0, "ok: bool\n"));
    assert!(run.err.contains("warning[literal-never-valid]: this is not a regular expression: unclosed group"));
    assert!(run.err.contains("'a'.matches('a(b')\n  |               ^\n"), "{}", run.err);
    let denied = celero(&[&rule[..], &["--deny-warnings"]].concat());
    assert_eq!((denied.code, denied.out.as_str(), denied.err), (1, "", run.err));
    let answer = celero(&[&rule[..], &["--deny-warnings", "--json"]].concat()).json();
    assert_eq!((&answer["ok"], &answer["diagnostics"][0]["severity"]), (&json!(false), &json!("warning")));
    assert_eq!(celero(&["check", "--deny-warnings", "--expr", "1 + 1"]).code, 0);
}

#[test]
fn fmt_rewrites_or_checks() {
    let path = file("fmt.cel", "// Who may.\n(a)&&b=='c'");
    let formatted = "// Who may.\na && b == \"c\"\n";
    let run = celero(&["fmt", "--check", &path]);
    assert_eq!((run.code, run.out), (1, format!("{path}: not formatted\n")));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "// Who may.\n(a)&&b=='c'");
    let run = celero(&["fmt", &path]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), formatted);
    assert_eq!(celero(&["fmt", "--check", &path]).code, 0);

    let run = celero_reading(&["fmt", "-"], b"1+1");
    assert_eq!((run.code, run.out.as_str()), (0, "1 + 1\n"));
    assert_eq!(celero(&["fmt", "--expr", "-(1)"]).out, "-(1)\n");
    assert_eq!(celero(&["fmt", "--check", "--expr", "a  && b"]).code, 1);
    assert_eq!(celero(&["fmt", "--check", "--expr", "a && b"]).code, 0);
    assert_eq!(celero(&["fmt"]).code, 2);

    let path = file("lost.cel", "a // why\n&& b");
    let run = celero(&["fmt", &path]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("lost.cel:1:3") && run.err.contains("would be lost"), "{}", run.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a // why\n&& b");
}

#[test]
fn functions_are_defined_on_the_command_line() {
    let define = ["--define", "twice(n: int) -> int = n * 2", "--define", "int.same(n) = this == twice(n) / 2"];
    let run = |command: &str, expr: &[&str]| celero(&[&[command], expr, &define].concat());
    assert_eq!(run("eval", &["twice(21)"]).out, "42\n");
    assert_eq!(run("eval", &["3.same(3)", "--tier", "both"]).out, "true\n");
    assert_eq!(run("check", &["--expr", "twice(1) == 2"]).out, "ok: bool\n");
    assert!(run("explain", &["twice(x)", "--vars", "x: int"]).out.contains("arith.mul"));
    let request = file("define.http", "GET /api HTTP/1.1\nHost: example.com\n\n");
    let of_request = ["--define", "api() = request.path.startsWith('/api')", "--request", &request];
    for command in [&["eval", "api()"][..], &["explain", "api()"], &["check", "--expr", "api()"]] {
        let run = celero(&[command, &of_request].concat());
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command:?}");
    }
}

#[test]
fn faulty_definitions_are_mistakes_in_the_command() {
    let run = celero(&["eval", "f(1)", "--define", "f(n: int) -> int = n * k"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("function `f` can't be defined") && run.err.contains("1 | n * k"), "{}", run.err);
    let run = celero(&["check", "--expr", "1", "--define", "f(n: int)"]);
    assert!(run.code == 2 && run.err.contains("--define: `f(n: int)`: expected"), "{}", run.err);
}

#[test]
fn lines_may_define_functions() {
    let lines = [
        r#"{"expr": "f(x)", "bindings": {"x": 4}, "define": ["f(n: int) -> int = n * 2"]}"#,
        r#"{"expr": "f(1)", "define": ["f(n) = f(n)"]}"#,
        r#"{"expr": "f(1)", "define": ["f"]}"#,
    ];
    let (code, answers) = answers(&["--tier", "both"], &lines.join("\n"));
    assert_eq!((code, answers.len()), (0, 3));
    assert_eq!(answers[0], json!({ "value": { "int": "8" } }));
    assert!(answers[1]["error"]["message"].as_str().unwrap().contains("never itself"), "{:?}", answers[1]);
    assert!(answers[2]["error"]["message"].as_str().unwrap().contains("= BODY"), "{:?}", answers[2]);
}

const RULES: &str = "\
# who may come in
admin: request.path.startsWith(\"/admin\")
  && request.headers[\"x-team\"] == \"ops\"

health: request.path == \"/health\"
";

#[test]
fn check_takes_files_of_rules() {
    let run = celero(&["check", &file("fine.rules", RULES)]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: 2 rules\n", ""));

    let late = format!("{RULES}late: request.path == \"/health\" &&\n  # only these\n  request.method == \"GET\"\n");
    let path = file("late.rules", &late);
    let run = celero(&["check", &path]);
    assert_eq!((run.code, &*run.out), (0, "ok: 3 rules\n"));
    assert!(run.err.contains("warning[shadowed-rule]: never the first match: rule 1 (`health`)"), "{}", run.err);
    assert!(run.err.contains(&format!(" --> {path}:6:7\n")), "{}", run.err);
    assert_eq!(celero(&["check", &path, "--deny-warnings"]).code, 1);
    let json = celero(&["check", &path, "--json"]).json();
    assert_eq!((&json["ok"], &json["rules"]), (&json!(true), &json!(3)));
    let [warning] = &json["diagnostics"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!(
        (&warning["rule"], &warning["name"], &warning["code"]),
        (&json!(2), &json!("late"), &json!("shadowed-rule"))
    );
    let start = usize::try_from(warning["span"][0].as_u64().unwrap()).unwrap();
    assert!(late.get(start..).unwrap().starts_with("request.path == \"/health\" &&"), "{json}");

    let path = file("wrong.rules", "a: request.pth == '/'\nb:\n  1 +\nc: size(user)\n");
    let run = celero(&["check", &path]);
    assert_eq!((run.code, &*run.out), (1, ""));
    for part in [&format!("{path}:1:12"), "`request.path`", "unexpected-end", "3 |   1 +", "undeclared-name"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let json = celero(&["check", &path, "--json"]).json();
    let names: Vec<&Json> = json["diagnostics"].as_array().unwrap().iter().map(|found| &found["name"]).collect();
    assert_eq!((&json["ok"], names), (&json!(false), vec![&json!("a"), &json!("b"), &json!("c")]));
    // Variables take the place of the request.
    assert_eq!(celero(&["check", &file("vars.rules", "a: n > 1\n"), "--vars", "n: int"]).code, 0);

    // By priority; what has another tag is not shadowed.
    let path = file("tags.rules", "a [priority 1]: 1 < n\nb [tag x]: 1 < n\nc [tag x]: 1 < n\nd [tag y]: 1 < n\n");
    let json = celero(&["check", &path, "--vars", "n: int", "--json"]).json();
    let found: Vec<_> = json["diagnostics"].as_array().unwrap().iter().map(|of| [&of["name"], &of["rule"]]).collect();
    assert_eq!(found, [[&json!("c"), &json!(1)], [&json!("a"), &json!(3)]], "{json}");
    let start = usize::try_from(json["diagnostics"][1]["span"][0].as_u64().unwrap()).unwrap();
    assert_eq!(start, "a [priority 1]: ".len());
    let json = celero(&["explain", "--rules", &path, "--vars", "n: int", "--json"]).json();
    let rule = &json["rules"][3];
    assert_eq!([&rule["name"], &rule["priority"], &json["rules"][0]["tags"]], [&json!("a"), &json!(1), &json!(["x"])]);

    let run = celero(&["check", &file("wrong3.rules", "a [priority x]: true\n")]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains(":1: `x` is no integer from"), "{}", run.err);
    let run = celero(&["check", &file("broken.rules", "a: true\nb == c\n")]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains(":2: expected `NAME: EXPRESSION`"), "{}", run.err);
}

/// Many rules by host, of which few match, and one that is evaluated every time.
fn many_rules() -> String {
    let hosts = (0..40).map(|n| format!("h{n}: request.host == \"{n}.example\" && size(request.path) > {n}\n"));
    format!("{}long: size(request.path) > 8\n", hosts.collect::<String>())
}

const REQUESTS: &str = "\
GET /abc HTTP/1.1
host: 2.example

###
GET /something/long HTTP/1.1
host: 3.example

### of no rule
GET / HTTP/1.1
host: x
";

#[test]
fn explain_takes_files_of_rules() {
    let rules = file("many.rules", &many_rules());
    let run = celero(&["explain", "--rules", &rules]);
    assert_eq!((run.code, &*run.err), (0, ""));
    for part in [
        "rules    41: 40 found by the index, 1 evaluated every time\n",
        "  found if request.host is \"7.example\"\n    left: size(request.path) > 7   (template 0, of 40 rules)\n",
        "rule 40 `long`, expected always\n  every time: none of its conditions is a test that an index supports\n",
    ] {
        assert!(run.out.contains(part), "{part} {}", run.out);
    }
    assert!(!run.out.contains("== cost"));

    let requests = file("requests.http", REQUESTS);
    let run = celero(&["explain", "--rules", &rules, "--requests", &requests]);
    let cost = run.out.split("== cost\n").nth(1).unwrap();
    assert!(cost.contains("rules     1.67 looked at a request, of which 1.00 match and 0.00 fail\n"), "{cost}");

    let json = celero(&["explain", "--rules", &rules, "--requests", &requests, "--json"]).json();
    assert_eq!(json["rules"][7]["ways"][0]["keys"], json!(["request.host is \"7.example\""]));
    assert_eq!(json["rules"][40]["every_time"], "none of its conditions is a test that an index supports");
    assert_eq!(json["cost"]["requests"], 3);
    let hottest = json["cost"]["hottest"].as_array().unwrap();
    let counts = |rule: u64| {
        let of = hottest.iter().find(|cost| cost["rule"] == rule).unwrap();
        [&of["looked_at"], &of["matched"], &of["failed"]].map(|count| count.as_u64().unwrap())
    };
    assert_eq!((hottest.len(), counts(2), counts(3), counts(40)), (3, [1, 1, 0], [1, 1, 0], [3, 1, 0]));
    let shares: Vec<f64> = hottest.iter().map(|cost| cost["share"].as_f64().unwrap()).collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6 && shares.is_sorted_by(|a, b| a >= b), "{shares:?}");

    let wrong = celero(&["explain", "--rules", &file("wrong2.rules", "a: request.pth == '/'\n")]);
    assert!(wrong.code == 1 && wrong.err.contains("undeclared-name"), "{}", wrong.err);
    assert_eq!(celero(&["explain", "1", "--rules", &rules]).code, 2);
}

#[test]
fn bench_measures_sets() {
    let rules = file("bench.rules", &format!("{}absent: request.headers[\"x-a\"] == \"1\"\n", many_rules()));
    let lines = "{\"uri\": \"/abc\", \"headers\": {\"host\": \"2.example\"}}\n{\"uri\": \"a b\"}\n";
    let requests = file("requests.jsonl", lines);
    let run = celero(&["bench", &rules, "--requests", &requests]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("left out: 1, such as line 2: uri `a b`"), "{}", run.err);
    assert!(run.out.starts_with("set       42 rules, 40 found by the index, 42 native\n"), "{}", run.out);
    assert!(run.out.contains(" ns a request for all matches, "), "{}", run.out);
    let json = celero(&["bench", &rules, "--requests", &requests, "--on-error", "match", "--json"]).json();
    assert_eq!((&json["rules"], &json["cost"]["matched_per_request"]), (&json!(42), &json!(2.0)));
    assert!(json["cost"]["ns_per_request"]["all"].as_f64().unwrap() > 0.0 && json["rules_per_second"].is_number());
    assert!(celero(&["bench", &rules]).err.contains("--requests is needed"));
    let bindings = file("bench.json", "{\"n\": 3}");
    let json = celero(&["bench", &file("n.rules", "a: n > 1\n"), "--bindings", &bindings, "--json"]).json();
    assert_eq!(json["cost"]["matched_per_request"], 1.0);
}

#[test]
fn policies_are_checked_tried_and_explained() {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let [policy, cases] = ["policy.yaml", "cases.yaml"].map(|name| examples.join(name).display().to_string());
    let run = celero(&["check", &policy]);
    assert_eq!(
        (run.code, &*run.out, &*run.err),
        (0, "ok: 9 rules (request 5, requestBody 0, response 2, log 2)\n", "")
    );
    let run = celero(&["test", &policy, &cases]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: 7 of 7 cases\n", ""));
    let run = celero(&["explain", &policy]);
    assert!(run.code == 0 && run.out.contains("2. admin: when"), "{}", run.out);
    let schema = celero(&["schema"]).json();
    assert_eq!(schema["properties"]["request"]["anyOf"][0]["type"], "array");

    let bad = file("bad.yaml", "request:\n- when: request.pth == '/'\n  dny: true\n");
    for args in [&["check", &bad][..], &["explain", &bad], &["test", &bad, &cases]] {
        let run = celero(args);
        assert_eq!((run.code, &*run.out), (1, ""));
        assert!(run.err.contains("bad.yaml:2:17") && run.err.contains("did you mean `deny`?"), "{}", run.err);
    }
    let run = celero(&["check", "--json", &bad]).json();
    assert_eq!((&run["ok"], &run["diagnostics"][0]["code"]), (&json!(false), &json!("policy-key")));
    assert_eq!(run["diagnostics"].as_array().unwrap().len(), 2);

    let idle =
        file("idle.yaml", "request:\n- name: idle\nrequestBody:\n- when: size(request.body) > 10\n  deny: true\n");
    let run = celero(&["check", &idle]);
    assert!(run.code == 0 && run.err.contains("this rule does nothing"), "{}", run.err);
    assert!(run.out.contains("gathered, up to 65536 bytes, for 1 rules of requestBody"), "{}", run.out);
    assert_eq!(celero(&["check", "--deny-warnings", &idle]).code, 1);

    let failing = file("cases.yaml", "- name: a\n  expect: {status: 404}\n");
    let run = celero(&["test", &idle, &failing]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("a: the status is 200") && run.out.contains("failed: 0 of 1 cases"), "{}", run.err);
    assert!(run.out.contains("no case comes to requestBody: requestBody #1"), "{}", run.out);
    let run = celero(&["test", "--json", &idle, &failing]).json();
    assert_eq!((&run["ok"], &run["cases"]), (&json!(false), &json!([{ "name": "a", "ok": false }])));
    assert_eq!(celero(&["test", &idle, "/nowhere.yaml"]).code, 2);
    assert_eq!(celero(&["check", "/nowhere.yaml"]).code, 2);
}
