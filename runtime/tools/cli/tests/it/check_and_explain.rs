//! `celero check` and `celero explain` of a single expression.

use crate::support::{celero, celero_reading, file};
use serde_json::json;

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
fn explain_shows_every_stage() {
    let run = celero(&["explain", "-e", "x + 1 > 2", "--vars", "x: int", "--all"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.contains("tree") && run.out.contains("bool"), "{}", run.out);
    let json = celero(&["explain", "-e", "x + 1 > 2", "--vars", "x: int", "--json"]).json();
    assert!(json["sections"].as_array().unwrap().len() > 1);
    assert_eq!(json["sections"][0]["title"], "tree");
    assert_eq!(celero(&["explain", "-e", "x"]).code, 1);
}
