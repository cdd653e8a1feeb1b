//! What the results of policies are.

use super::{compile, result};
use celero::Type;
use celero::settings::Tier;

fn type_of(policy: &str) -> String {
    compile(policy, Tier::Interpret).result_type().to_string()
}

const NESTED: &str = "
rule:
  match:
  - condition: a > 0
    rule:
      match:
      - condition: a > 2
        output: \"'large'\"
  - rule:
      match:
      - condition: b > 0
        output: \"'b'\"
  - condition: b < -5
    output: \"'low'\"
";

#[test]
fn a_rule_without_a_condition_leaves_the_decision_to_the_next_match() {
    assert_eq!(type_of(NESTED), "optional_type(string)");
    assert_eq!(result(NESTED, 3, 1), r#"optional.of("large")"#);
    // The condition of the first match holds, so it decides.
    assert_eq!(result(NESTED, 1, 1), "optional.none()");
    assert_eq!(result(NESTED, 0, 1), r#"optional.of("b")"#);
    assert_eq!(result(NESTED, 0, -9), r#"optional.of("low")"#);
    assert_eq!(result(NESTED, 0, 0), "optional.none()");
    let always = format!("{NESTED}  - output: \"'else'\"\n");
    assert_eq!(type_of(&always), "optional_type(string)", "the first match may decide on nothing");
    assert_eq!(result(&always, 0, 0), r#"optional.of("else")"#);
    assert_eq!(result(&always, 1, 0), "optional.none()");
}

#[test]
fn a_policy_that_always_has_an_output_has_no_optional() {
    let policy = "rule:\n  match:\n  - rule:\n      match:\n      - {condition: a > 0, output: '1'}\n  - output: '2'\n";
    assert_eq!(type_of(policy), "int");
    assert_eq!([result(policy, 1, 0), result(policy, 0, 0)], ["1", "2"]);
}

#[test]
fn an_aggregate_is_the_list_of_what_holds() {
    let policy = "
rule:
  aggregate:
  - {condition: a > 0, output: '[a]'}
  - output: '[0]'
  - condition: b > 0
    rule:
      match:
      - {condition: b > 5, output: '[b, b]'}
      - rule:
          match:
          - {condition: b > 3, output: '[b]'}
";
    assert_eq!(type_of(policy), "list(list(int))");
    assert_eq!(result(policy, 1, 9), "[[1], [0], [9, 9]]");
    assert_eq!(result(policy, 0, 4), "[[0], [4]]");
    assert_eq!(result(policy, 0, 1), "[[0]]");
    let inside = "rule:\n  match:\n  - condition: a > 0\n    rule:\n      aggregate:\n      - {condition: b > 0, output: b}\n  - output: '[9]'\n";
    assert_eq!(type_of(inside), "list(int)");
    assert_eq!([result(inside, 1, 2), result(inside, 1, 0), result(inside, 0, 0)], ["[2]", "[]", "[9]"]);
}

#[test]
fn outputs_that_are_optionals_stay_optionals() {
    let policy = "rule:\n  aggregate:\n  - {condition: a > 0, output: optional.none()}\n  - output: optional.of(1)\n";
    assert_eq!(result(policy, 1, 0), "[optional.none(), optional.of(1)]");
    assert_eq!(result(policy, 0, 0), "[optional.of(1)]");
    let policy = "rule:\n  match:\n  - {condition: a > 0, output: optional.none()}\n";
    assert_eq!(result(policy, 1, 0), "optional.of(optional.none())");
    assert_eq!(result(policy, 0, 0), "optional.none()");
}

#[test]
fn variables_are_evaluated_where_they_are_used() {
    let policy = "
rule:
  variables:
  - broken: 1 / b
  - sum: variables.broken + a
  match:
  - {condition: a > 0, output: \"'no need'\"}
  - {condition: variables.sum > 0, output: \"'needed'\"}
  - output: \"'last'\"
";
    assert_eq!(result(policy, 1, 0), r#""no need""#);
    assert_eq!(result(policy, 0, 1), r#""needed""#);
    assert_eq!(result(policy, 0, 0), r#"division by zero at "1 / b""#);
}

#[test]
fn an_error_of_a_condition_is_the_result() {
    let policy = "rule:\n  match:\n  - {condition: 1 / a > 0, output: '1'}\n  - output: '2'\n";
    assert_eq!(result(policy, 0, 0), r#"division by zero at "1 / a""#);
    let policy = "rule:\n  aggregate:\n  - {condition: 1 / a > 0, output: '1'}\n  - output: '2'\n";
    assert_eq!(result(policy, 0, 0), r#"division by zero at "1 / a""#);
    let policy = "rule:\n  match:\n  - condition: a > 0 || 1 / a > 0\n    output: '1'\n";
    assert_eq!(result(policy, 1, 0), "optional.of(1)");
}

#[test]
fn a_nested_rule_may_declare_a_name_again() {
    let policy = "
rule:
  variables:
  - {name: x, expression: '1'}
  match:
  - condition: a > 0
    rule:
      variables:
      - {name: y, expression: variables.x + 1}
      - {name: x, expression: \"'inner ' + string(variables.y)\"}
      match:
      - output: variables.x
  - output: string(variables.x)
";
    assert_eq!([result(policy, 1, 0), result(policy, 0, 0)], [r#""inner 2""#, r#""1""#]);
}

#[test]
fn variables_of_macros_and_of_policies_do_not_meet() {
    let policy = "
rule:
  variables:
  - {name: x, expression: '[1, 2, 3]'}
  - {name: big, expression: 'variables.x.filter(x, x > a && variables.x.exists(y, y == x))'}
  match:
  - condition: variables.big.exists(x, variables.x[0] < x)
    output: variables.big.map(n, n + variables.x.size())
";
    assert_eq!(result(policy, 1, 0), "optional.of([5, 6])");
    assert_eq!(result(policy, 3, 0), "optional.none()");
}

#[test]
fn blocks_are_taken_as_they_stand() {
    let policy = "rule:\n  match:\n  - condition: >\n      // both are large\n      a > 1 &&\n      b > 1\n    output: |\n      '''two\n      lines'''\n";
    assert_eq!(result(policy, 2, 2), r#"optional.of("two\n      lines")"#);
    let folded = policy.replace("output: |", "output: >-");
    assert_eq!(result(&folded, 2, 2), r#"optional.of("two\n      lines")"#);
}

#[test]
fn places_of_errors_are_those_of_the_file() {
    let escaped = "rule:\n  match:\n  - output: \"'\\u00e9\\t' + string(1 / a)\"\n";
    assert_eq!(result(escaped, 0, 0), r#"division by zero at "1 / a""#);
    let folded = "rule:\n  match:\n  - output: 'b +\n      1 / a'\n";
    assert_eq!(result(folded, 0, 0), r#"division by zero at "1 / a""#);
}

#[test]
fn the_validations_of_kubernetes_are_a_policy() {
    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: demo}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: []}
  variables:
  - {name: both, expression: a + b}
  validations:
  - expression: variables.both < 10
    messageExpression: \"'too many: ' + string(variables.both)\"
  - expression: a >= 0
";
    assert_eq!(result(policy, 1, 2), "optional.none()");
    assert_eq!(result(policy, 9, 2), r#"optional.of("too many: 11")"#);
    assert_eq!(result(policy, -1, 2), r#"optional.of("invalid admission request")"#);
}

#[test]
fn a_value_of_unknown_type_may_be_a_condition_and_an_output() {
    let policy = "rule:\n  match:\n  - {condition: d, output: '1'}\n  - output: d\n";
    assert_eq!(compile(policy, Tier::Native).result_type(), &Type::Dyn);
    assert_eq!(result(policy, 0, 0), r#"no such overload at "d""#);
}
