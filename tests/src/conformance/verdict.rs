//! Whether what an engine gave is what a case expects.

use super::case::{Case, Expected};
use crate::generate::Owned;
use celero::Type;

/// What an engine gave for a case.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It compiled, to an expression of this type; nothing was evaluated.
    Compiled(Type),
    /// It has a value, and the expression this type.
    Value(Type, Owned),
    /// It was rejected or failed: the kind (`parse`, `check`, `no_such_key`, ..) and the message.
    Error(String, String),
    /// The engine can't be asked: why.
    Unsupported(String),
}

/// How a case went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// Not run.
    Skipped,
}

/// The kinds that stand for an error message of the suite, or `None` if the message is not one we know.
#[must_use]
pub fn kinds(message: &str) -> Option<&'static [&'static str]> {
    /// Part of the message, in lower case and without underscores; the kinds it stands for. The first that fits counts.
    const TABLE: &[(&str, &[&str])] = &[
        ("no such overload", &["no_such_overload", "check"]),
        ("no matching overload", &["no_such_overload", "check"]),
        ("no such key", &["no_such_key"]),
        ("repeated key", &["duplicate_key"]),
        ("unsupported key type", &["check", "no_such_overload", "invalid_argument"]),
        ("modulus by zero", &["modulus_by_zero"]),
        ("divide by zero", &["divide_by_zero"]),
        ("division by zero", &["divide_by_zero"]),
        ("index out of range", &["invalid_argument"]),
        ("out of range", &["invalid_argument", "overflow"]),
        ("overflow", &["overflow"]),
        ("range. start", &["invalid_argument"]),
        ("range", &["overflow"]),
        ("invalid argument", &["invalid_argument"]),
        ("invalid utf-8", &["invalid_argument"]),
        ("type conversion error", &["invalid_argument"]),
        ("unknown variable", &["check", "no_such_key"]),
        ("undeclared reference", &["check", "no_such_key"]),
        ("unbound function", &["check", "no_such_overload"]),
        ("ip address", &["invalid_argument"]),
        ("ipv6 address", &["invalid_argument"]),
        ("negative offset", &["invalid_argument"]),
        ("formatting", &["invalid_argument"]),
    ];
    let message = message.to_lowercase().replace('_', " ");
    TABLE.iter().find(|(part, _)| message.contains(part)).map(|(_, kinds)| *kinds)
}

/// As [`judge`], but a case whose error message in the suite is beside the point may fail with the kind of error that
/// `instead` names (`kind, reason`).
#[must_use]
pub fn judge_instead(case: &Case, outcome: &Outcome, instead: Option<&str>) -> (Status, String) {
    let verdict = judge(case, outcome);
    let (Some((kind, reason)), Outcome::Error(got, _)) = (instead.and_then(|i| i.split_once(", ")), outcome) else {
        return verdict;
    };
    match verdict.0 {
        Status::Failed if kind == got => (Status::Passed, format!("{got}: {reason}")),
        _ => failed(format!("listed to fail with {kind} instead, got {got}")),
    }
}

/// Compares; gives the status and, unless all is plain, a line on it.
#[must_use]
pub fn judge(case: &Case, outcome: &Outcome) -> (Status, String) {
    match (&case.expected, outcome) {
        (_, Outcome::Unsupported(why)) => (Status::Skipped, why.clone()),
        (Expected::Error(messages), Outcome::Error(kind, text)) => judge_error(messages, kind, text),
        (Expected::Error(messages), Outcome::Value(_, value)) => {
            failed(format!("expected an error ({}), got {value}", messages.join(" or ")))
        }
        (Expected::Error(messages), Outcome::Compiled(_)) => {
            failed(format!("expected an error ({}), it compiles", messages.join(" or ")))
        }
        (Expected::Value(want), Outcome::Value(_, got)) => judge_value(want, got),
        (Expected::Typed(ty, want), Outcome::Value(got_ty, got)) => match (judge_type(ty, got_ty), want) {
            (Some(text), _) => failed(text),
            (None, Some(want)) => judge_value(want, got),
            (None, None) => (Status::Passed, String::new()),
        },
        (Expected::Typed(ty, _), Outcome::Compiled(got)) => match judge_type(ty, got) {
            Some(text) => failed(text),
            None => (Status::Passed, String::new()),
        },
        (Expected::Value(want), Outcome::Compiled(_)) => failed(format!("expected {want}, nothing was evaluated")),
        (Expected::Value(want), Outcome::Error(kind, text)) => failed(format!("expected {want}, got {kind}: {text}")),
        (Expected::Typed(ty, _), Outcome::Error(kind, text)) => {
            failed(format!("expected a value of type {ty}, got {kind}: {text}"))
        }
    }
}

fn failed(text: String) -> (Status, String) {
    (Status::Failed, text)
}

fn judge_value(want: &Owned, got: &Owned) -> (Status, String) {
    if want.same(got) { (Status::Passed, String::new()) } else { failed(format!("expected {want}, got {got}")) }
}

/// Types are compared as authors read them: whether null fits as well is not part of the name.
fn judge_type(want: &Type, got: &Type) -> Option<String> {
    (want.to_string() != got.to_string()).then(|| format!("expected the type {want}, got {got}"))
}

fn judge_error(messages: &[String], kind: &str, text: &str) -> (Status, String) {
    if matches!(kind, "limit" | "out_of_budget" | "panic" | "environment" | "binding" | "result") {
        return failed(format!("no case expects {kind}: {text}"));
    }
    let known: Vec<_> = messages.iter().filter_map(|m| kinds(m)).collect();
    if known.iter().any(|kinds| kinds.contains(&kind)) {
        return (Status::Passed, String::new());
    }
    if known.len() < messages.len() || messages.is_empty() {
        let wanted = if messages.is_empty() { "any error".to_owned() } else { format!("{messages:?}") };
        return (Status::Passed, format!("any error passes: wanted {wanted}, got {kind}: {text}"));
    }
    failed(format!("expected the error {}, got {kind}: {text}", messages.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::case::read_file;

    fn case(matcher: &str) -> Case {
        let text = format!("section {{ name: 's' test {{ name: 't' expr: 'x' {matcher} }} }}");
        read_file("f", &text).unwrap().remove(0)
    }

    fn error(kind: &str) -> Outcome {
        Outcome::Error(kind.into(), "text".into())
    }

    fn value(value: Owned) -> Outcome {
        Outcome::Value(Type::Dyn, value)
    }

    #[test]
    fn values_match_by_type_and_content() {
        let nan = case("value { double_value: nan }");
        assert_eq!(judge(&nan, &value(Owned::Double(f64::NAN))).0, Status::Passed);
        assert_eq!(judge(&nan, &value(Owned::Double(0.0))).0, Status::Failed);
        assert_eq!(judge(&case("value { int64_value: 1 }"), &value(Owned::Uint(1))).0, Status::Failed);
        assert_eq!(judge(&case("value { int64_value: 1 }"), &error("overflow")).0, Status::Failed);
        let map = case(
            "value { map_value { entries { key { int64_value: 1 } value { list_value {} } } \
                        entries { key { bool_value: true } value { type_value: 'int' } } } }",
        );
        let one = (Owned::Int(1), Owned::List(vec![]));
        let two = (Owned::Bool(true), Owned::Type("int".into()));
        assert_eq!(judge(&map, &value(Owned::Map(vec![two.clone(), one.clone()]))).0, Status::Passed);
        assert_eq!(judge(&map, &value(Owned::Map(vec![one.clone(), one]))).0, Status::Failed);
        assert_eq!(judge(&map, &value(Owned::Map(vec![two]))).0, Status::Failed);
    }

    #[test]
    fn errors_match_by_kind() {
        let overflow = case("eval_error { errors { message: 'return error for overflow' } }");
        assert_eq!(judge(&overflow, &error("overflow")).0, Status::Passed);
        assert_eq!(judge(&overflow, &error("divide_by_zero")).0, Status::Failed);
        assert_eq!(judge(&overflow, &value(Owned::Int(1))).0, Status::Failed);
        let overload = case("eval_error { errors { message: 'no_matching_overload' } }");
        assert_eq!(judge(&overload, &error("check")).0, Status::Passed);
        assert_eq!(judge(&overload, &error("parse")).0, Status::Failed);
        let (status, detail) = judge(&case("eval_error { errors { message: 'foo' } }"), &error("host"));
        assert!(status == Status::Passed && detail.contains("foo"));
        assert_eq!(judge(&case("eval_error { errors { message: 'foo' } }"), &error("out_of_budget")).0, Status::Failed);
        let any = case(
            "any_eval_errors { errors { errors { message: 'no such key' } } errors { errors { message: 'range' } } }",
        );
        assert_eq!(judge(&any, &error("no_such_key")).0, Status::Passed);
        assert_eq!(judge(&any, &error("overflow")).0, Status::Passed);
        assert_eq!(judge(&any, &error("check")).0, Status::Failed);
    }

    #[test]
    fn another_error_may_be_listed() {
        let overload = case("eval_error { errors { message: 'no matching overload' } }");
        let instead = Some("divide_by_zero, because");
        assert_eq!(judge_instead(&overload, &error("divide_by_zero"), instead).0, Status::Passed);
        assert_eq!(judge_instead(&overload, &error("overflow"), instead).0, Status::Failed);
        assert_eq!(judge_instead(&overload, &error("no_such_overload"), instead).0, Status::Failed, "not needed");
        assert_eq!(judge_instead(&overload, &error("divide_by_zero"), None).0, Status::Failed);
    }

    #[test]
    fn types_are_compared() {
        let typed = case("typed_result { result { int64_value: 1 } deduced_type { primitive: INT64 } }");
        assert_eq!(judge(&typed, &Outcome::Value(Type::Int, Owned::Int(1))).0, Status::Passed);
        assert_eq!(judge(&typed, &Outcome::Value(Type::Dyn, Owned::Int(1))).0, Status::Failed);
        assert_eq!(judge(&typed, &Outcome::Value(Type::Int, Owned::Int(2))).0, Status::Failed);
        assert_eq!(judge(&typed, &Outcome::Compiled(Type::Int)).0, Status::Passed);
    }
}
