//! `celero check --cost` and `--max-operations`: the static costs of expressions, files of rules and policies.

use crate::support::{celero, file};
use serde_json::{Value as Json, json};

const LOOP: &str = "request.path == '/a' || request.headers.exists(h, h == 'x')";

const RULES: &str = "\
cheap: request.path == '/a'
# the loop of the next rule
dear [priority 1]: request.method == 'GET' &&
  request.headers.exists(h, h == 'x')
filter [language filter]: http.host eq \"a\"
";

const POLICY: &str = "\
request:
- name: cheap
  when: request.path == '/a'
  setHeaders: {x-a: 'a ${request.path + request.host}'}
- when: request.path == '/b' || request.headers.exists(h, h == 'x')
  deny: true
";

/// The text of a span of a text.
fn part<'t>(text: &'t str, cost: &Json, member: &str) -> &'t str {
    let [start, end] =
        [0, 1].map(|at: usize| usize::try_from(cost[member].get(at).unwrap().as_u64().unwrap()).unwrap());
    &text[start..end]
}

#[test]
fn check_shows_the_cost_of_an_expression() {
    let run = celero(&["check", "--cost", "-e", LOOP]);
    let line = "  cost: 3 to 5 + 2n operations (n: elements of the largest list or map); up to 205 if n is 100; most of them at 1:25";
    assert_eq!((run.code, run.out), (0, format!("ok: bool\n{line}\n")));
    assert_eq!(celero(&["check", "-e", LOOP]).out, "ok: bool\n");
    // No part takes more than half.
    assert_eq!(celero(&["check", "--cost", "-e", "request.path == '/a'"]).out, "ok: bool\n  cost: 2 operations\n");
    assert_eq!(celero(&["check", "--cost", "-e", "'a'"]).out, "ok: string\n  cost: 0 operations\n");

    let json = celero(&["check", "-e", LOOP, "--json"]).json();
    let [cost] = &json["costs"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!((&cost["least"], &cost["most"]), (&json!(3), &json!([5, 2, 0, 0, 0])));
    assert_eq!((&cost["elements"], &cost["operations"]), (&json!(100), &json!(205)));
    assert_eq!(part(LOOP, cost, "span"), LOOP);
    assert_eq!(part(LOOP, cost, "part"), "request.headers.exists(h, h == 'x')");
    assert!(celero(&["check", "-e", "nope", "--json"]).json()["costs"].is_null());
}

#[test]
fn check_shows_the_cost_of_each_rule_of_a_file() {
    let path = file("costs.rules", RULES);
    let run = celero(&["check", "--cost", &path]);
    let lines = "ok: 3 rules\n  cheap: 2 operations\n  filter: 2 operations\n  dear: 3 to 5 + 2n operations (n: elements of the largest list or map); up to 205 if n is 100; most of them at 4:3\n";
    assert_eq!((run.code, &*run.out), (0, lines));
    let json = celero(&["check", &path, "--json"]).json();
    let costs = json["costs"].as_array().unwrap();
    let names: Vec<&str> = costs.iter().filter_map(|cost| cost["name"].as_str()).collect();
    assert_eq!(names, ["cheap", "filter", "dear"]);
    assert_eq!(part(RULES, &costs[1], "span"), "http.host eq \"a\"");
    assert_eq!(part(RULES, &costs[2], "part"), "request.headers.exists(h, h == 'x')");
}

#[test]
fn check_shows_the_cost_of_each_expression_of_a_policy() {
    let path = file("costs.yaml", POLICY);
    let run = celero(&["check", "--cost", &path]);
    assert_eq!(run.code, 0, "{}", run.err);
    let shown: Vec<&str> = run.out.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(
        shown,
        [
            format!("  {path}:3:9: request `cheap`: 2 operations"),
            format!("  {path}:4:26: request `cheap`: 3 operations; the time of 1 grows with the length of a text"),
            format!(
                "  {path}:5:9: request `request #2`: 3 to 5 + 2n operations (n: elements of the largest list or map); up to 205 if n is 100; most of them at 5:33"
            ),
        ]
    );
    let json = celero(&["check", &path, "--json"]).json();
    let costs = json["costs"].as_array().unwrap();
    let texts: Vec<&str> = costs.iter().map(|cost| part(POLICY, cost, "span")).collect();
    assert_eq!(
        texts,
        [
            "request.path == '/a'",
            "request.path + request.host",
            "request.path == '/b' || request.headers.exists(h, h == 'x')"
        ]
    );
    assert_eq!(part(POLICY, &costs[2], "part"), "request.headers.exists(h, h == 'x')");
    let named = ["file", "phase", "rule"].map(|member| costs[0][member].as_str().unwrap());
    assert_eq!(named, [&*path, "request", "cheap"]);
}

#[test]
fn check_refuses_what_takes_too_many_operations() {
    let refused = |args: &[&str], most: &str, shown: &[&str]| {
        let run = celero(&[args, &["--max-operations", most]].concat());
        assert_eq!((run.code, &*run.out), (1, ""), "{args:?} {most}");
        for part in shown {
            assert!(run.err.contains(part), "{part}: {}", run.err);
        }
        let json = celero(&[args, &["--max-operations", most, "--json"]].concat()).json();
        assert_eq!((&json["ok"], &json["diagnostics"][0]["code"]), (&json!(false), &json!("too-costly")), "{json}");
        assert!(json["costs"].is_null());
    };
    let accepted = |args: &[&str], most: &str| {
        assert_eq!(celero(&[args, &["--max-operations", most]].concat()).code, 0, "{args:?} {most}");
    };
    let loops = "up to 202 operations if lists and maps have up to 100 elements, more than 200";
    let expression = ["check", "-e", LOOP];
    accepted(&expression, "205");
    refused(&expression, "200", &[loops, "-e:1:25"]);
    let path = file("max.rules", RULES);
    accepted(&["check", &path], "205");
    refused(&["check", &path], "200", &[loops, &format!("{path}:4:3")]);
    // Every rule that is refused is named.
    refused(&["check", &path], "1", &[&format!("{path}:1:8"), &format!("{path}:5:27"), "3 |"]);
    let path = file("max.yaml", POLICY);
    accepted(&["check", &path], "205");
    refused(&["check", &path], "200", &[loops, &format!("{path}:5:33"), "the limit is set by the host of the policy"]);
    // The lower limit counts.
    let own = file("own.yaml", &format!("defaults: {{maxOperations: 200}}\n{POLICY}"));
    refused(&["check", &own], "204", &[loops, "the limit is set by `maxOperations` in `defaults`"]);
    let cel = "rule:\n  match:\n  - condition: '[1, 2].exists(a, a > 1)'\n    output: 1 + 1\n";
    let path = file("max-cel.yaml", cel);
    accepted(&["check", &path], "100");
    refused(&["check", &path], "2", &[&format!("{path}:3:17")]);
    assert_eq!(celero(&["check", "-e", "1", "--max-operations", "0"]).code, 2);
}
