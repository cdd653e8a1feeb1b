//! What is wrong with policies, and where.

use super::errors;

/// Tests that a policy is refused with this message at this place, and nothing else.
fn refused(policy: &str, message: &str, place: &str) {
    let found = errors(policy);
    assert!(found.contains(message) && found.contains(&format!("policy.yaml:{place}")), "{found}");
    assert_eq!(found.matches("error[").count(), 1, "{found}");
}

#[test]
fn variables_are_always_present() {
    refused(
        "rule:\n  variables: [{flag: '1 > 5'}]\n  match: [{condition: has(variables.flag), output: '1'}]\n",
        "a variable of a policy is always present",
        "3:23",
    );
    refused("rule: {variables: [{in: '1'}], match: [{output: '1'}]}\n", "is no name", "1:21");
}

#[test]
fn the_form_of_a_policy_is_checked() {
    refused("", "the file is empty", "1:1");
    refused("name: x\n", "a policy has no `rule`", "1:1");
    refused("rule: {match: [{output: a}]}\nrul: 1\n", "a policy has no key `rul`", "2:1");
    refused("rule: [1]\n", "a rule must be a mapping, this is a list", "1:7");
    refused("rule: {variables: []}\n", "a rule has neither `match` nor `aggregate`", "1:7");
    refused("rule: {match: []}\n", "`match` is empty", "1:15");
    refused(
        "rule:\n  match: [{output: a}]\n  aggregate: [{output: a}]\n",
        "only one of `match` and `aggregate` may be set in a rule",
        "3:3",
    );
    refused("rule: {match: [{condition: a > 1}]}\n", "match does not specify a rule or output", "1:17");
    refused(
        "rule:\n  match:\n  - output: a\n    rule: {match: [{output: a}]}\n",
        "only the rule or the output may be set",
        "4:5",
    );
    refused("rule: {match: [{output: true}]}\n", "`output` must be text, this is a truth value", "1:25");
    refused("rule: {match: [{output: 1}]}\n", "write it in quotes: \"1\"", "1:25");
    refused("rule: {match: [{output: a, otput: b}]}\n", "did you mean `output`?", "1:28");
    refused("rule: {match: [{output: a}], variables: [{name: x}]}\n", "a variable has no `expression`", "1:42");
    refused("name: &n x\nrule: {match: [{output: *n}]}\n", "aliases are not supported", "2:25");
    refused("rule: {match: [{output: a}]}\nverification: {}\n", "`verification` is not supported", "2:1");
    refused("rule: \"", "this is not YAML", "1");
}

#[test]
fn the_meaning_of_a_policy_is_checked() {
    refused(
        "rule:\n  match:\n  - {condition: a > 1, output: '1'}\n  - output: \"'x'\"\n",
        "incompatible output types: block has output type string, but previous outputs have type int",
        "4:14",
    );
    refused("rule:\n  match:\n  - {condition: a, output: '1'}\n", "a condition must be `bool`, this is `int`", "3:17");
    refused("rule:\n  match:\n  - {condition: 'false', output: '1'}\n", "condition is always false", "3:18");
    refused("rule:\n  match:\n  - output: '1'\n  - output: '2'\n", "match creates unreachable outputs", "3:5");
    refused(
        "rule:\n  variables:\n  - x: a\n  - x: b\n  match:\n  - output: variables.x\n",
        "overlapping identifier for name 'variables.x'",
        "4:5",
    );
    refused("rule:\n  variables:\n  - x y: a\n  match:\n  - output: a\n", "`x y` is no name", "3:5");
    refused("rule:\n  match:\n  - output: variables.x\n", "undeclared reference", "3:13");
    // A variable is not known before it is declared, nor after its rule.
    refused(
        "rule:\n  variables:\n  - x: variables.y\n  - y: '1'\n  match:\n  - output: variables.x + variables.y\n",
        "undeclared reference",
        "3:8",
    );
    refused(
        "rule:\n  match:\n  - condition: a > 1\n    rule:\n      variables: [{x: a}]\n      match: [{output: variables.x}]\n  - output: variables.x\n",
        "undeclared reference",
        "7:",
    );
    refused("imports: [{name: a.b.C}, {name: d.C}]\nrule: {match: [{output: a}]}\n", "`C` stands for `a.b.C`", "1:33");
    refused("rule:\n  match:\n  - {output: a, explanation: 1 + }\n", "found the end", "3");
}

#[test]
fn all_errors_are_reported_each_once() {
    let found = errors(
        "rule:\n  variables:\n  - x: nowhere\n  match:\n  - {condition: variables.x > 1, output: 1 + }\n  - output: elsewhere\n",
    );
    assert_eq!(found.matches("error[").count(), 3, "{found}");
}

#[test]
fn a_variable_that_nothing_reads_is_a_warning() {
    let program = super::compile("rule:\n  variables:\n  - x: a\n  match:\n  - output: b\n", celero::Tier::Interpret);
    let shown = program.render_warnings("policy.yaml", false);
    assert!(shown.contains("`variables.x` is not used") && shown.contains("policy.yaml:3:5"), "{shown}");
}
