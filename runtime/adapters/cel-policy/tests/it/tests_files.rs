//! Files of tests.

use super::{compile, env};
use celero::settings::Tier;
use celero_cel_policy::{Tests, is_policy};

const POLICY: &str = "rule:\n  match:\n  - condition: a > 0\n    output: 10 / b\n";

/// The failures of one test.
fn failures(test: &str) -> String {
    let file = format!("section:\n- name: s\n  tests:\n  - {test}\n");
    let tests = Tests::parse("tests.yaml", &file).unwrap_or_else(|error| panic!("{error}"));
    let report = tests.run(&env(), &compile(POLICY, Tier::Native));
    assert_eq!(report.cases().next().unwrap().1, report.passed());
    report.failures().to_string()
}

#[test]
fn outputs_are_compared() {
    let input = "input: {a: {value: 1}, b: {expr: 2 + 3}}";
    assert_eq!(failures(&format!("{{name: t, {input}, output: {{value: 2}}}}")), "");
    assert_eq!(failures(&format!("{{name: t, {input}, output: {{expr: optional.of(2)}}}}")), "");
    let wrong = failures(&format!("{{name: t, {input}, output: {{value: 3}}}}"));
    assert!(wrong.contains("the result is optional.of(2), not 3") && wrong.contains("tests.yaml:4:"), "{wrong}");
    let wrong = failures(&format!("{{name: t, {input}, output: {{error_set: [x]}}}}"));
    assert!(wrong.contains("the result is optional.of(2), not an error"), "{wrong}");
    let zero = "input: {a: {value: 1}, b: {value: 0}}";
    assert_eq!(failures(&format!("{{name: t, {zero}, output: {{error_set: [x]}}}}")), "");
    assert!(failures(&format!("{{name: t, {zero}, output: {{value: 1}}}}")).contains("the evaluation fails: divi"));
    assert_eq!(failures("{name: t, input: {a: {value: 0}}, output: {expr: optional.none()}}"), "");
}

#[test]
fn mistakes_in_tests_are_shown() {
    let wrong = failures("{name: t, input: {c: {value: 1}}, output: {value: 1}}");
    assert!(wrong.contains("`c` is not declared"), "{wrong}");
    let wrong = failures("{name: t, input: {a: {value: x}}, output: {value: 1}}");
    assert!(wrong.contains("is declared as `int`"), "{wrong}");
    let wrong = failures("{name: t, input: {a: {expr: 1 + }}, output: {value: 1}}");
    assert!(wrong.contains("tests.yaml:4:3"), "{wrong}");
    for (file, message) in [
        ("section:\n- {name: s, tests: [{name: t}]}\n", "a test has no `output`"),
        ("section:\n- {name: s, tests: [{name: t, output: {}}]}\n", "an output has no keys"),
        ("section:\n- {name: s, tests: [{name: t, output: {valeu: 1}}]}\n", "did you mean `value`?"),
        ("sects: []\n", "a file of tests has no key `sects`"),
        ("", "the file is empty"),
    ] {
        let found = Tests::parse("tests.yaml", file).unwrap_err().to_string();
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn policies_are_told_by_their_keys() {
    assert!(is_policy(POLICY) && is_policy("name: x\nkind: 'ValidatingAdmissionPolicy'\nspec: {}\n"));
    assert!(!is_policy("request:\n- when: true\n  deny: 403\n") && !is_policy("kind: Deployment\n"));
}
