//! Large and hostile policies: time about linear, no overflow of the stack, an error beyond the bounds.

use super::{compile, env, errors};
use celero::settings::{Limits, SourceLimits, Tier};
use celero::{Bindings, Engine, Scratch};
use celero_cel_policy::CelPolicy;
use std::fmt::Write as _;

/// A policy of so many matches, over variables that use one another.
fn matches(count: usize) -> String {
    let mut policy = chain(40);
    policy.push_str("  match:\n");
    for i in 0..count {
        let _ = writeln!(policy, "  - condition: variables.v{} == {i}\n    output: \"'m{i}'\"", i % 40);
    }
    policy.push_str("  - output: \"'none'\"\n");
    policy
}

fn chain(count: usize) -> String {
    let mut policy = "rule:\n  variables:\n  - v0: a\n".to_owned();
    for i in 1..count {
        let _ = writeln!(policy, "  - v{i}: variables.v{} + {i}", i - 1);
    }
    policy
}

fn nested(depth: usize, aggregate: bool) -> String {
    let mut policy = String::new();
    for level in 0..depth {
        let kind = if aggregate && level == 0 { "aggregate" } else { "match" };
        let key = if level == 0 { String::new() } else { format!("{}- ", "  ".repeat(level * 3 - 2)) };
        let _ = writeln!(policy, "{key}rule:\n{}{kind}:", "  ".repeat(level * 3 + 1));
    }
    let _ =
        writeln!(policy, "{}- condition: a > 0\n{}output: b", "  ".repeat(depth * 3 - 2), "  ".repeat(depth * 3 - 1));
    policy
}

#[test]
fn a_thousand_matches_run_in_both_tiers() {
    let policy = matches(1000);
    for tier in [Tier::Native, Tier::Interpret] {
        let program = compile(&policy, tier);
        let env = env();
        let mut bindings = Bindings::new(&env);
        bindings.set("a", 0).unwrap();
        assert_eq!(program.eval(&bindings, &mut Scratch::new()).unwrap().to_string(), r#""m0""#);
        bindings.set("a", -1_000_000).unwrap();
        assert_eq!(program.eval(&bindings, &mut Scratch::new()).unwrap().to_string(), r#""none""#);
    }
}

#[test]
fn a_thousand_variables_run() {
    let policy = format!("{}  match:\n  - output: variables.v999\n", chain(1000));
    assert_eq!(super::result(&policy, 1, 0), (1 + 999 * 1000 / 2).to_string());
}

#[test]
fn time_is_linear() {
    celero_timing::assert_linear("a policy", [200, 800], |count| {
        let policy = matches(count);
        celero_timing::cpu_time_of(|| compile(&policy, Tier::Interpret))
    });
    celero_timing::assert_linear("a policy in native code", [200, 800], |count| {
        let policy = matches(count);
        celero_timing::cpu_time_of(|| compile(&policy, Tier::Native))
    });
}

#[test]
fn rules_nest_as_deep_as_files_and_no_deeper() {
    for aggregate in [false, true] {
        let policy = nested(41, aggregate);
        for tier in [Tier::Native, Tier::Interpret] {
            compile(&policy, tier);
        }
        let found = errors(&nested(60, aggregate));
        assert!(found.contains("nested deeper than 128 levels"), "{found}");
    }
}

#[test]
fn a_policy_beyond_the_limits_is_an_error() {
    let limits = Limits { source: SourceLimits { max_depth: 10, ..SourceLimits::default() }, ..Limits::default() };
    let engine = Engine::builder().limits(limits).build();
    let error = CelPolicy::compile(&engine, &env(), &matches(400)).unwrap_err().to_string();
    assert!(error.contains("cel-policy-size"), "{error}");
    let error = errors(&format!("rule: {{match: [{{output: a}}]}}\n#{}\n", "x".repeat(1 << 20)));
    assert!(error.contains("the policy is 1048607 bytes long, the limit is 1048576"), "{error}");
    // Each expression is within the limits of one.
    let error = errors(&format!("rule: {{match: [{{output: '{}1'}}]}}\n", "1 + ".repeat(300)));
    assert!(error.contains("too-deep"), "{error}");
}

#[test]
fn variables_that_double_stay_small() {
    let mut policy = "rule:\n  variables:\n  - v0: a\n".to_owned();
    for i in 1..60 {
        let _ = writeln!(policy, "  - v{i}: variables.v{0} * variables.v{0}", i - 1);
    }
    policy.push_str("  match:\n  - output: variables.v59\n");
    assert_eq!(super::result(&policy, 1, 0), "1");
}
