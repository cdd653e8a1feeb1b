//! Validators: what an environment refuses besides what types refuse.
#![expect(clippy::string_slice, reason = "tests")]

use celero::diagnostics::Severity;
use celero::settings::Validator;
use celero::{Engine, Env, Type};

/// The source of each part that a validator refuses; `None` if it refuses nothing.
fn refused(validator: Validator, source: &str) -> Option<String> {
    let env = Env::dynamic()
        .variable("n", Type::Int)
        .variable("d", Type::Dyn)
        .variable("maybe", Type::optional(Type::Int))
        .define("any(list: list(int)) -> bool", "list.exists(n, n > 0)");
    assert!(Engine::new().check(&env, source).is_ok(), "{source}");
    let error = Engine::new().check(&env.validator(validator), source).err()?;
    assert!(error.diagnostics().iter().all(|found| found.severity == Severity::Error), "{error}");
    let parts = error.diagnostics().iter().map(|found| &source[found.span.start as usize..found.span.end as usize]);
    Some(parts.collect::<Vec<_>>().join(" | "))
}

fn refuses(validator: Validator, cases: &[(&str, Option<&str>)]) {
    for (source, expected) in cases {
        assert_eq!(refused(validator, source).as_deref(), *expected, "{source}");
    }
}

#[test]
fn literals_are_tested() {
    let durations = [
        ("duration('1h')", None),
        ("duration('soon')", Some("'soon'")),
        ("n > 0 || duration('1') > duration('2')", Some("'1' | '2'")),
        ("timestamp('soon')", None),
        ("duration(string(n))", None),
    ];
    refuses(Validator::Durations, &durations);
    let timestamps = [
        ("timestamp('2024-02-29T13:00:00Z')", None),
        ("timestamp('2023-02-29T13:00:00Z')", Some("'2023-02-29T13:00:00Z'")),
        ("timestamp(253402300799) > timestamp(0)", None),
        ("timestamp(253402300800) > timestamp(-1)", Some("timestamp(253402300800)")),
        ("duration('soon')", None),
    ];
    refuses(Validator::Timestamps, &timestamps);
    let patterns = [
        ("'a'.matches('a+')", None),
        ("'a'.matches('(a')", Some("(")),
        ("regex.extract('a', '[')", Some("[")),
        ("'a'.matches(string(d))", None),
    ];
    for (source, expected) in patterns {
        assert_eq!(refused(Validator::Patterns, source).is_some(), expected.is_some(), "{source}");
    }
    let formats = [
        ("'%d'.format([1])", None),
        ("'%d %d'.format([1])", Some("%d")),
        ("'%y'.format([1])", Some("%y")),
        ("'%y'", None),
    ];
    refuses(Validator::Formats, &formats);
}

#[test]
fn many_wrong_patterns_are_all_refused() {
    let wrong: Vec<String> = (0..40).map(|number| format!("'a'.matches('({number}')")).collect();
    let env = Env::dynamic().validator(Validator::Patterns);
    let right = "'a'.matches('a') || ".repeat(40);
    assert!(Engine::new().check(&env, &format!("{right}{}", wrong.join(" || "))).is_err());
    assert!(Engine::new().check(&env, &format!("{right} true")).is_ok());
}

#[test]
fn parts_of_literals_have_one_type() {
    let cases = [
        ("[1, 2, n]", None),
        ("[1, 'a', 2u]", Some("'a'")),
        ("[1, d]", Some("d")),
        ("[[1], ['a']]", Some("['a']")),
        ("[?maybe, 1]", None),
        ("[?maybe, 'a']", Some("'a'")),
        ("{1: 'a', 2: 'b'}", None),
        ("{1: 'a', 'b': 2, 3: 4}", Some("'b' | 2 | 4")),
        ("{?'a': maybe, 'b': 1}", None),
        ("'%s %d'.format(['a', 1])", None),
        ("'%s'.format([[1, 'a'].map(x, string(x)).join()])", None),
        ("['%s'.format(['a', 1]), 1]", Some("1")),
        ("[]", None),
    ];
    refuses(Validator::HomogeneousLiterals, &cases);
}

#[test]
fn loops_are_nested_to_a_limit() {
    let cases = [
        ("[1].all(a, a > 0) && [2].all(b, b > 0)", None),
        ("[1].all(a, [2].exists(b, a == b))", Some("[2].exists(b, a == b)")),
        ("[1].map(a, a).filter(a, a > 0)", Some("[1].map(a, a)")),
        ("[1].all(a, [].all(b, true))", None),
        ("[].all(a, [1].all(b, true))", None),
        ("cel.bind(a, [1], a.all(b, b > 0))", None),
        ("[1].all(a, cel.bind(b, [a], b.all(c, c > 0)))", Some("b.all(c, c > 0)")),
        ("[1].all(a, any([a]))", None),
        ("[2, 1].sortBy(a, [a].map(b, b)[0])", Some("[a].map(b, b)")),
    ];
    refuses(Validator::ComprehensionNesting(1), &cases);
    refuses(Validator::ComprehensionNesting(0), &[("n > 0", None), ("[1].all(a, a > 0)", Some("[1].all(a, a > 0)"))]);
    refuses(Validator::ComprehensionNesting(2), &[("[1].all(a, [2].exists(b, a == b))", None)]);
}

#[test]
fn bindings_are_nested_to_a_limit() {
    let cases = [
        ("cel.bind(a, 1, a) + cel.bind(b, 2, b)", None),
        ("cel.bind(a, 1, cel.bind(b, a, b))", Some("cel.bind(b, a, b)")),
        ("cel.bind(a, cel.bind(b, 1, b), a)", Some("cel.bind(b, 1, b)")),
        ("maybe.optMap(a, cel.bind(b, a, b))", Some("cel.bind(b, a, b)")),
        ("[1].all(a, cel.bind(b, a, b > 0))", None),
        ("maybe.optMap(a, a).orValue(1)", None),
        ("[maybe][0].optMap(a, a).orValue(1)", Some("[maybe][0].optMap(a, a)")),
    ];
    refuses(Validator::BindNesting(1), &cases);
}

#[test]
fn the_last_limit_counts() {
    let env = Env::dynamic().validator(Validator::BindNesting(0)).validator(Validator::BindNesting(1));
    assert!(Engine::new().check(&env, "cel.bind(a, 1, a)").is_ok());
    let env = env.validator(Validator::BindNesting(0));
    assert!(Engine::new().check(&env, "cel.bind(a, 1, a)").is_err());
}

#[test]
fn deep_and_long_rules_take_time_by_their_size() {
    let env = Env::dynamic().validator(Validator::ComprehensionNesting(1)).validator(Validator::HomogeneousLiterals);
    let deep = format!("{}true{}", "[1].all(a, ".repeat(100), ")".repeat(100));
    let error = Engine::new().check(&env, &deep).unwrap_err();
    assert_eq!(error.diagnostics().len(), 16);
    let long = format!("[{}'a']", "1, ".repeat(10_000));
    assert_eq!(Engine::new().check(&env, &long).err().map(|error| error.diagnostics().len()), Some(1));
}
