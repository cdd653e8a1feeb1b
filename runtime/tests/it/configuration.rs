//! Rules and limits in configuration files (the feature `serde`): what is read, what is refused,
//! and that writing is the inverse.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::{ErrorPolicy, Limits, Rule};

fn problem<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

#[test]
fn a_rule_is_read_and_written() {
    let text = r#"{"name":"a","when":"1 < 2","action":[403],"priority":-4,"tags":["x","y"],"onError":"noMatch"}"#;
    let rule: Rule<Vec<u16>> = serde_json::from_str(text).unwrap();
    assert_eq!((rule.name(), rule.source()), ("a", "1 < 2"));
    assert_eq!(serde_json::to_string(&rule).unwrap(), text);
    let short: Rule<u8> = serde_json::from_str(r#"{"name":"b","when":"true","action":1}"#).unwrap();
    let expected = r#"{"name":"b","when":"true","action":1,"priority":0,"tags":[]}"#;
    assert_eq!(serde_json::to_string(&short).unwrap(), expected);
}

#[test]
fn mistakes_in_a_rule_are_named() {
    let known = "expected one of `name`, `when`, `action`, `priority`, `tags`, `onError`";
    let said = problem::<Rule<u8>>(r#"{"name":"a","when":"true","action":1,"on_error":"match"}"#);
    assert!(said.starts_with(&format!("unknown field `on_error`, {known}")), "{said}");
    let said = problem::<Rule<u8>>(r#"{"name":"a","action":1}"#);
    assert!(said.starts_with("missing field `when`"), "{said}");
    let said = problem::<Rule<u8>>(r#"{"name":"a","when":"true","action":1,"onError":"closed"}"#);
    assert!(said.starts_with("unknown variant `closed`, expected one of `noMatch`, `match`, `stop`"), "{said}");
}

#[test]
fn limits_have_defaults() {
    assert_eq!(serde_json::from_str::<Limits>("{}").unwrap(), Limits::default());
    let limits: Limits =
        serde_json::from_str(r#"{"steps":10,"source":{"maxNodes":5},"memory":1024,"patterns":2048,"caseSteps":9}"#)
            .unwrap();
    assert_eq!((limits.steps, limits.source.max_nodes, limits.memory), (10, 5, 1024));
    assert_eq!((limits.patterns, limits.case_steps), (2048, 9));
    assert_eq!(limits.source.max_depth, Limits::default().source.max_depth);
    let written = serde_json::to_string(&limits).unwrap();
    assert_eq!(serde_json::from_str::<Limits>(&written).unwrap(), limits);
    assert!(problem::<Limits>(r#"{"step":1}"#).starts_with("unknown field `step`"));
    assert!(problem::<Limits>(r#"{"source":{"max_depth":1}}"#).starts_with("unknown field `max_depth`"));
}

#[test]
fn policies_have_the_names_of_their_documentation() {
    for policy in ErrorPolicy::ALL {
        assert_eq!(serde_json::to_string(&policy).unwrap(), format!("{:?}", policy.name()));
    }
}
