//! `celero eval --jsonl`.

use crate::support::{answers, celero, celero_reading, command};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};

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
