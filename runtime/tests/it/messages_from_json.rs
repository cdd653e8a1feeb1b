//! Messages that are written as JSON. Those with fields are in `runtime/adapters/policy/tests/policy/grpc_rules.rs`.

use celero::messages::{Descriptors, Message};
use celero::values::Arena;
use serde_json::{Value as Json, json};

#[test]
fn messages_of_google_are_written_as_what_they_stand_for() {
    let types = Descriptors::well_known();
    let bytes = |name: &str, json: Json| Message::bytes_of_json(&types, &format!("google.protobuf.{name}"), &json);
    let value = |name: &str, json: Json| {
        let (bytes, arena) = (bytes(name, json).unwrap(), Arena::new(1 << 16));
        let name = format!("google.protobuf.{name}");
        let value = Message::new(&types, &name, &bytes).unwrap().value(&arena).unwrap();
        value.to_owned().unwrap().to_string()
    };
    let time = "2001-09-09T01:46:40Z";
    assert!(value("Timestamp", json!(time)).contains(time), "{}", value("Timestamp", json!(time)));
    assert!(value("Duration", json!("1.5s")).contains("1.5s"), "{}", value("Duration", json!("1.5s")));
    assert_ne!(value("StringValue", json!("a")), value("StringValue", json!("")));
    assert_eq!(value("UInt64Value", json!("7")), value("UInt64Value", json!(7)));
    assert_eq!(bytes("BoolValue", json!(true)).unwrap(), [0x08, 1]);
    assert_eq!(bytes("BytesValue", json!("AQI=")).unwrap(), [0x0a, 2, 1, 2]);
    assert!(value("Struct", json!({"a": [null, 1.5]})).contains("1.5"));
    for (name, json, error) in [
        ("Timestamp", json!("yesterday"), "\"yesterday\" is no `google.protobuf.Timestamp`"),
        ("Int32Value", json!(1_u64 << 31), "2147483648 is no `google.protobuf.Int32Value`"),
        ("Struct", json!(1), "1 is no `google.protobuf.Struct`"),
        ("Any", json!({}), "a message in an `Any` can't be written as JSON here"),
        ("Nothing", json!({}), "there is no message `google.protobuf.Nothing`"),
    ] {
        assert_eq!(bytes(name, json).unwrap_err(), error);
    }
}
