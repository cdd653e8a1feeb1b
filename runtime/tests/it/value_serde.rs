//! Values in other formats, with the feature `serde`.

use crate::support::each_value;
use celero::values::{List, Map};
use celero::{Bindings, Engine, Env, ErrorKind, OwnedValue, Scratch, Type, Value};
use serde_json::{Value as Json, json};

/// Values are written as the function `toJson` writes them.
#[test]
fn values_are_written_as_rules_write_them() {
    let env = Env::dynamic().variable("x", Type::Dyn);
    let program = Engine::new().compile(&env, "toJson(x)").unwrap();
    let compare = |source: &str, value: Value<'_>| {
        let mut bindings = Bindings::new(&env);
        bindings.set("x", value).unwrap();
        let mut scratch = Scratch::new();
        let Value::String(expected) = program.eval(&bindings, &mut scratch).unwrap() else { panic!("{source}") };
        let expected: Json = serde_json::from_str(expected).unwrap();
        assert_eq!(serde_json::to_value(value).unwrap(), expected, "{source}");
        assert_eq!(serde_json::to_value(value.to_owned().unwrap()).unwrap(), expected, "{source}");
    };
    each_value(compare);
    compare("a mapped address", Value::Ip("::ffff:192.0.2.1".parse().unwrap()));
    compare("a mapped network", Value::Cidr("::ffff:192.0.2.0".parse().unwrap(), 120));
    let document = json!({ "a": [1, { "b": 2.5 }], "c": u64::MAX });
    compare("a document", Value::from(&document));
}

#[test]
fn types_without_json_have_the_form_of_protocol_buffers() {
    for (source, expected) in [
        ("b'\\xff\\x00'", json!("/wA=")),
        ("duration('1500ms')", json!("1.5s")),
        ("timestamp('2024-02-29T12:34:56.5Z')", json!("2024-02-29T12:34:56.5Z")),
        ("18446744073709551615u", json!(u64::MAX)),
        ("double('-Infinity')", json!("-Infinity")),
        ("{true: 1, 2: 3, 4u: 5}", json!({ "true": 1, "2": 3, "4": 5 })),
        ("[optional.none(), optional.of(1), type(1)]", json!([null, 1, "int"])),
    ] {
        let env = Env::dynamic();
        let program = Engine::new().compile(&env, source).unwrap();
        let mut scratch = Scratch::new();
        let bindings = Bindings::new(&env);
        let value = program.eval(&bindings, &mut scratch).unwrap();
        assert_eq!(serde_json::to_value(value).unwrap(), expected, "{source}");
    }
}

#[test]
fn what_cannot_be_written_says_why() {
    let keys = [(Value::Int(1), Value::Null), (Value::String("1"), Value::Null)];
    let error = serde_json::to_string(&Value::Map(Map::Sorted(&keys))).unwrap_err();
    assert!(error.to_string().starts_with(ErrorKind::DuplicateKey.message()), "{error}");
    let missing = serde_json::to_string(&Value::List(List::Host(&crate::hostile_hosts::Short))).unwrap_err();
    assert!(missing.to_string().starts_with(ErrorKind::InvalidArgument.message()), "{missing}");
}

#[test]
fn what_is_read_is_what_json_says() {
    for (text, shown) in [
        ("null", "null"),
        ("-5", "-5"),
        ("18446744073709551615", "18446744073709551615u"),
        ("9223372036854775807", "9223372036854775807"),
        ("1.0", "1.0"),
        (r#""a\u0000""#, r#""a\u0000""#),
        (r#"[1, [], {}, {"b": true, "a": null}]"#, r#"[1, [], {}, {"a": null, "b": true}]"#),
    ] {
        let read: OwnedValue = serde_json::from_str(text).unwrap();
        assert_eq!(read.to_string(), shown);
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(read, Value::from(&json).to_owned().unwrap(), "{text}");
        assert_eq!(serde_json::to_value(&read).unwrap(), json, "{text}");
        assert_eq!(serde_json::from_value::<OwnedValue>(json).unwrap(), read);
    }
    let error = serde_json::from_str::<OwnedValue>(r#"{"a": 1, "a": 2}"#).unwrap_err();
    assert!(error.to_string().starts_with(ErrorKind::DuplicateKey.message()), "{error}");
}

/// Formats with more than JSON has: options, bytes, keys that are no text.
#[test]
fn other_formats_are_read_too() {
    use serde::de::value::{BytesDeserializer, Error, MapDeserializer, UnitDeserializer};
    use serde::{Deserialize, de::IntoDeserializer};
    let shown = |read: Result<OwnedValue, Error>| read.unwrap().to_string();
    assert_eq!(shown(OwnedValue::deserialize(BytesDeserializer::new(b"\xff"))), "b\"\\xff\"");
    assert_eq!(shown(OwnedValue::deserialize(UnitDeserializer::new())), "null");
    assert_eq!(shown(OwnedValue::deserialize('c'.into_deserializer())), "\"c\"");
    assert_eq!(shown(OwnedValue::deserialize(1.5_f32.into_deserializer())), "1.5");
    let entries = [(2_i64, "b"), (-1, "a")];
    assert_eq!(shown(OwnedValue::deserialize(MapDeserializer::new(entries.into_iter()))), "{-1: \"a\", 2: \"b\"}");
    let keys = [(0.5_f64, 1)];
    let error = OwnedValue::deserialize(MapDeserializer::<_, Error>::new(keys.into_iter())).unwrap_err();
    assert_eq!(error.to_string(), ErrorKind::NoSuchOverload.message());
}

/// A struct of the host holds values of rules.
#[test]
fn values_are_members_of_structs() {
    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Answer {
        rule: String,
        value: OwnedValue,
        before: Option<OwnedValue>,
    }
    let text = r#"{"rule":"a","value":{"x":[1,"b"]},"before":null}"#;
    let answer: Answer = serde_json::from_str(text).unwrap();
    assert_eq!(answer.before, None);
    assert_eq!(serde_json::to_string(&answer).unwrap(), text);
}

#[test]
fn diagnostics_are_written_by_their_fields() {
    let env = Env::dynamic().variable("path", Type::String);
    let error = Engine::new().compile(&env, "pth == 'a'").unwrap_err();
    let written = serde_json::to_value(error.diagnostics()).unwrap();
    let expected = json!([{
        "severity": "error", "stage": "check", "code": "undeclared-name", "message": "undeclared reference to `pth`",
        "span": { "start": 0, "end": 3 }, "labels": [], "help": ["did you mean `path`?"],
    }]);
    assert_eq!(written, expected);
}
