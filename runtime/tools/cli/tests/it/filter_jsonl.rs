//! `celero eval --language filter --jsonl`.

use crate::support::celero_reading;
use serde_json::json;

fn answers(lines: &[&str]) -> Vec<String> {
    let run = celero_reading(&["eval", "--language", "filter", "--jsonl"], lines.join("\n").as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out.lines().map(str::to_owned).collect()
}

#[test]
fn rules_are_evaluated_with_the_values_and_lists_of_their_line() {
    let (yes, no) = (r#"{"value":{"bool":true}}"#, r#"{"value":{"bool":false}}"#);
    let cases = [
        (
            r#"{"language": "filter", "expr": "http.host eq \"a\"", "vars": {"http.host": "Bytes"}, "bindings": {"http.host": "a"}}"#,
            yes,
        ),
        (
            r#"{"expr": "http.host eq \"\\xff\"", "vars": {"http.host": "Bytes"}, "bindings": {"http.host": {"bytes": "/w=="}}}"#,
            yes,
        ),
        (r#"{"expr": "http.host ne \"a\"", "vars": {"http.host": "Bytes"}}"#, no),
        (r#"{"expr": "http.host ne \"a\"", "vars": {"http.host": "Bytes"}, "nilNotEqual": true}"#, yes),
        (
            r#"{"expr": "any(h[\"k\"][*] eq \"v\") and port in {80}", "vars": {"h": {"Map": {"Array": "Bytes"}}, "port": "Int"}, "bindings": {"h": {"k": ["u", "v"]}, "port": 80}}"#,
            yes,
        ),
        (
            r#"{"expr": "ip.src in $bad", "vars": {"ip.src": "Ip"}, "bindings": {"ip.src": "192.0.2.5"}, "lists": {"bad": {"Ip": ["10.0.0.0/8", "192.0.2.1..192.0.2.9"]}}}"#,
            yes,
        ),
        (
            r#"{"expr": "ssl and not ip.src in $bad", "vars": {"ip.src": "Ip", "ssl": "Bool"}, "bindings": {"ip.src": "10.1.1.1", "ssl": true}, "lists": {"bad": {"Ip": ["10.0.0.0/8"]}}}"#,
            no,
        ),
        (
            r#"{"expr": "x in $l", "vars": {"x": "Bytes"}, "bindings": {"x": "é\""}, "lists": {"l": {"Bytes": ["é\"", {"bytes": "AA=="}]}}}"#,
            yes,
        ),
    ];
    let answers = answers(&cases.map(|(line, _)| line));
    assert_eq!(answers, cases.map(|(_, answer)| answer));
}

#[test]
fn both_tiers_evaluate_every_kind_of_value() {
    let line = |expr: &str| {
        let mut vars = json!({
            "b": "Bytes", "i": "Int", "ip": "Ip", "t": "Bool", "none": "Bytes",
            "a": {"Array": "Bytes"}, "n": {"Array": {"Array": "Int"}}, "m": {"Map": "Ip"},
        });
        let mut bindings = json!({
            "b": {"bytes": "/wBh"}, "i": -7, "ip": "::ffff:192.0.2.1", "t": true,
            "a": ["x", {"bytes": "/w=="}], "n": [[1, 2], []], "m": {"k": "10.0.0.1"},
        });
        // No variable of an environment can have this name.
        if expr.contains("1a") {
            vars["1a"] = json!("Int");
            bindings["1a"] = json!(3);
        }
        json!({ "expr": expr, "vars": vars, "bindings": bindings }).to_string()
    };
    let rules = [
        (r#"b eq "\xff\x00a" and b contains "\x00""#, true),
        ("i lt 0 and i in {-9..-5} and t", true),
        ("ip eq ::ffff:192.0.2.1 and not ip eq 192.0.2.1 and not ip in {192.0.2.0/24}", true),
        (r#"none eq "" or none ne "" or none in {""}"#, false),
        (r#"any(a[*] eq "\xff") and a[1] matches "^\xff$" and not a[2] eq "x""#, true),
        ("any(n[*][*] eq 2) and n[0][0] eq 1 and not n[1][0] eq 1", true),
        (r#"m["k"] in {10.0.0.0/8} and not m["l"] in {10.0.0.0/8}"#, true),
        ("1a eq 3", true),
    ];
    let lines = rules.map(|(rule, _)| line(rule));
    let answers = answers(&lines.each_ref().map(String::as_str));
    for ((rule, expected), answer) in rules.iter().zip(answers) {
        assert_eq!(answer, format!("{{\"value\":{{\"bool\":{expected}}}}}"), "{rule}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let cases = [
        (
            r#"{"expr": "hst eq \"a\"", "vars": {"host": "Bytes"}}"#,
            r#"{"error":{"kind":"check","message":"unknown identifier","span":[0,3]}}"#,
        ),
        (r#"{"expr": "port eq 09", "vars": {"port": "Int"}}"#, r#""kind":"parse""#),
        (r#"{"expr": "a", "vars": {"a": "Text"}}"#, "type of `a`"),
        (
            r#"{"expr": "a", "vars": {"a": "Bool"}, "bindings": {"a": 1}}"#,
            "value of `a`: expected a value of type Bool",
        ),
        (r#"{"expr": "a", "bindings": {"a": 1}}"#, "not declared"),
        (r#"{"expr": "a in $l", "vars": {"a": "Ip"}, "lists": {"l": {"Ip": ["x"]}}}"#, "list `l`: "),
        (r#"{"language": "cel", "expr": "a"}"#, "expected `filter`"),
        (r#"{"expr": "a", "vars": {"a": "Bytes"}}"#, r#""kind":"#),
        ("{", "not a valid request"),
    ];
    let answers = answers(&cases.map(|(line, _)| line));
    for ((line, part), answer) in cases.iter().zip(&answers) {
        assert!(answer.contains(part), "{line}: {answer}");
    }
}

#[test]
fn a_line_can_name_the_language() {
    let lines = "{\"expr\": \"1 + 1\"}\n{\"language\": \"filter\", \"expr\": \"a\", \"vars\": {\"a\": \"Bool\"}, \"bindings\": {\"a\": true}}";
    let run = celero_reading(&["eval", "--jsonl"], lines.as_bytes());
    assert_eq!(run.out, "{\"value\":{\"int\":\"2\"}}\n{\"value\":{\"bool\":true}}\n");
    let run = celero_reading(&["eval", "--jsonl"], b"{\"language\": \"fliter\", \"expr\": \"1 + 1\"}");
    assert!(run.out.contains("there is no language `fliter`"), "{}", run.out);
}
