//! Types of other crates as fields, each behind the feature with the name of its crate.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::field_types::results;
use crate::layout::{agree, show};
use celero::Context;

#[derive(Context)]
struct Foreign {
    id: uuid::Uuid,
    #[context(name = "maybe.id")]
    maybe: Option<uuid::Uuid>,
    url: url::Url,
    body: bytes::Bytes,
    part: Option<bytes::BytesMut>,
    json: serde_json::Value,
    object: serde_json::Map<String, serde_json::Value>,
    documents: Vec<serde_json::Value>,
    at: jiff::Timestamp,
    zoned: jiff::Zoned,
    span: jiff::SignedDuration,
    utc: chrono::DateTime<chrono::Utc>,
    local: chrono::DateTime<chrono::FixedOffset>,
    delta: chrono::TimeDelta,
}

fn foreign(time: &str) -> Foreign {
    let json = serde_json::json!({"a": [1, 18446744073709551615u64, 2.5, "x", null, true], "b": {"c": -1}});
    let at: jiff::Timestamp = time.parse().unwrap();
    Foreign {
        id: uuid::Uuid::from_u128(0xABCD),
        maybe: None,
        url: "https://example.com/p?q".parse().unwrap(),
        body: bytes::Bytes::from_static(b"body"),
        part: Some(b"part"[..].into()),
        object: json.as_object().unwrap().clone(),
        documents: vec![json.clone()],
        json,
        at,
        zoned: at.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(2))),
        span: jiff::SignedDuration::from_millis(-1500),
        utc: time.parse().unwrap(),
        local: time.parse().unwrap(),
        delta: chrono::TimeDelta::milliseconds(-1500),
    }
}

#[test]
fn types_of_other_crates_are_read_alike() {
    for time in ["2024-02-03T04:05:06.789Z", "1969-12-31T23:59:58.25Z"] {
        let context = foreign(time);
        assert_eq!(agree(&context).join(" "), "url body part json object at zoned span utc local delta");
        let at = format!("at == timestamp('{time}') && zoned == at && utc == at && local == at");
        results(
            &context,
            &[
                (&at, "Bool(true)"),
                ("span == delta && span == duration('-1500ms')", "Bool(true)"),
                ("id", r#"String("00000000-0000-0000-0000-00000000abcd")"#),
                ("has(maybe.id)", "Bool(false)"),
                ("url.startsWith('https://example.com/')", "Bool(true)"),
                ("body + part", "Bytes([98, 111, 100, 121, 112, 97, 114, 116])"),
                (
                    "json.a",
                    "List(Host([Int(1), Uint(18446744073709551615), Double(2.5), String(\"x\"), Null, Bool(true)]))",
                ),
                ("json.b.c + object.b.c + documents[0].b.c", "Int(-3)"),
                ("'a' in json && !('z' in object) && size(json) == 2", "Bool(true)"),
                ("json == object && json == documents[0]", "Bool(true)"),
                ("json.a.exists(x, x == 'x')", "Bool(true)"),
                ("json.z", "no_such_key"),
            ],
        );
    }
}

#[test]
fn times_that_cel_cannot_hold_are_overflows() {
    let mut context = foreign("2024-02-03T04:05:06Z");
    context.utc = chrono::DateTime::<chrono::Utc>::MAX_UTC;
    context.delta = chrono::TimeDelta::MAX;
    context.span = jiff::SignedDuration::MAX;
    for name in ["utc", "delta", "span"] {
        assert_eq!(show(&context, name), "error overflow", "{name}");
    }
}
