//! Documents read, refused, written again, and read in parts.

use super::scan::MAX_DEPTH;
use super::*;
use crate::arena::Arena;
use crate::value::{Duration, List, Timestamp};
use celero_ir::{ErrorKind, Projection, Step};

fn with<R>(test: impl for<'a> FnOnce(&Cx<'a>) -> R) -> R {
    let arena = Arena::new(1 << 24);
    test(&Cx::new(10_000_000, &arena))
}

/// What a document is as JSON again, its keys sorted.
fn rewritten(json: &[u8]) -> Result<String, ErrorKind> {
    with(|cx| {
        let json = cx.arena().alloc_slice(json)?;
        let value = json_parse(cx, json)?;
        to_json(cx, &value).map(str::to_owned)
    })
}

/// The parts of a document as JSON.
fn projected(json: &str, parts: &Projection) -> Result<String, ErrorKind> {
    with(|cx| {
        let json = cx.arena().alloc_str(json)?;
        let value = project(cx, json.as_bytes(), &ProjectionPlan::new(parts))?;
        to_json(cx, &value).map(str::to_owned)
    })
}

fn parts<const N: usize>(parts: [(Step, Projection); N]) -> Projection {
    let projection = Projection { whole: false, parts: parts.into() };
    assert!(projection.is_valid());
    projection
}

fn key<const N: usize>(key: &str, inner: [(Step, Projection); N]) -> (Step, Projection) {
    (Step::Key(key.into()), parts(inner))
}

fn all(key: &str) -> (Step, Projection) {
    (Step::Key(key.into()), Projection::all())
}

#[test]
fn numbers_take_the_first_type_that_holds_them() {
    let cases = [
        ("0", Value::Int(0)),
        ("-0", Value::Int(0)),
        ("9223372036854775807", Value::Int(i64::MAX)),
        ("-9223372036854775808", Value::Int(i64::MIN)),
        ("9223372036854775808", Value::Uint(1 << 63)),
        ("18446744073709551615", Value::Uint(u64::MAX)),
        ("18446744073709551616", Value::Double(18_446_744_073_709_551_616.0)),
        ("-9223372036854775809", Value::Double(-9_223_372_036_854_775_808.0)),
        ("1.0", Value::Double(1.0)),
        ("1e2", Value::Double(100.0)),
        ("-1.5E-2", Value::Double(-0.015)),
        ("1.7976931348623157e308", Value::Double(f64::MAX)),
        ("0e99999999999999999999", Value::Double(0.0)),
        ("1e-99999999999999999999", Value::Double(0.0)),
    ];
    with(|cx| {
        for (json, want) in cases {
            let got = json_parse(cx, cx.arena().alloc_str(json).unwrap().as_bytes()).unwrap();
            assert!(got.type_name() == want.type_name() && got.equals(&want, cx).unwrap(), "{json}: {got:?}");
        }
    });
}

#[test]
fn what_is_no_document() {
    let long = "9".repeat(310);
    let bad = [
        "",
        " ",
        "{",
        "[",
        "\"",
        "\"\\",
        "nul",
        "nulls",
        "tru",
        "01",
        "-",
        "-a",
        "1.",
        ".5",
        "+1",
        "1e",
        "1e+",
        "0x1",
        "1e309",
        "-1e309",
        "[1e999]",
        "NaN",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{,}",
        "{\"a\":1,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "[1}",
        "{\"a\":1]",
        "1 2",
        "[] x",
        "}",
        "]",
        ",",
        ":",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\ud800x\"",
        "\"\\ud800\\n\"",
        "\"\\ud800\\ud800\"",
        "\"\\udc00\"",
        "\"\n\"",
        "\"\u{1f}\"",
        "\u{feff}1",
        "\u{a0}1",
        "'a'",
        "[1]]",
        "// c\n1",
        "1\0",
        &long,
    ];
    for json in bad {
        assert_eq!(rewritten(json.as_bytes()), Err(InvalidArgument), "{json}");
        // Wherever it stands.
        assert!(rewritten(format!("[{json}, 1]").as_bytes()).is_err(), "{json}");
    }
    for bytes in [
        &b"\"\xff\""[..],
        b"\"\xc0\x80\"",
        b"\"\xed\xa0\x80\"",
        b"\"aaaaaaaaaaaaaaaaaaaaa\xe2\x82\"",
        b"\xff",
        b"[\xff]",
    ] {
        assert_eq!(rewritten(bytes), Err(InvalidArgument), "{bytes:?}");
    }
}

#[test]
fn documents_are_written_as_they_were_read() {
    let same = [
        "null",
        "true",
        "[]",
        "{}",
        "[1,2.5,\"x\",null,[{}]]",
        "{\"a\":{\"b\":[false]},\"c\":-7}",
        "\"\\u0000\\u001f\\\"\\\\\\n\\r\\t\\b\\f\"",
        "\"é😀\u{7f}\u{2028}/\"",
        "18446744073709551615",
        "1.0",
        "1e300",
        "5e-324",
    ];
    for json in same {
        assert_eq!(rewritten(json.as_bytes()).as_deref(), Ok(json));
        assert_eq!(rewritten(format!(" \t\r\n{json} \n").as_bytes()).as_deref(), Ok(json));
    }
    assert_eq!(rewritten(br#""\u0041\ud83d\ude00\/\uFFFF""#).as_deref(), Ok("\"A😀/\u{ffff}\""));
    assert_eq!(rewritten(br#"{"b":1,"a":2,"b":3,"\u0061":4}"#).as_deref(), Ok(r#"{"a":4,"b":3}"#));
    assert_eq!(rewritten(br#"{"a":{"b":1},"a":{"c":2}}"#).as_deref(), Ok(r#"{"a":{"c":2}}"#));
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(rewritten(nested(MAX_DEPTH).as_bytes()).as_deref(), Ok(nested(MAX_DEPTH).as_str()));
        assert_eq!(rewritten(nested(MAX_DEPTH + 1).as_bytes()), Err(InvalidArgument));
        assert!(projected(&nested(MAX_DEPTH), &parts([key("x", [])])).is_ok());
        assert_eq!(projected(&nested(MAX_DEPTH + 1), &parts([key("x", [])])), Err(InvalidArgument));
    }
    assert_eq!(rewritten("[".repeat(1 << 20).as_bytes()), Err(InvalidArgument));
}

#[test]
fn parts_are_what_they_are_in_the_whole() {
    let model = parts([all("model")]);
    assert_eq!(projected(r#"{"x":[{"model":1}],"model":"a","y":{}}"#, &model).as_deref(), Ok(r#"{"model":"a"}"#));
    assert_eq!(projected(r#"{"model":"a","model":[1,{"z":2}]}"#, &model).as_deref(), Ok(r#"{"model":[1,{"z":2}]}"#));
    assert_eq!(projected(r#"{"\u006dodel":"\u0041"}"#, &model).as_deref(), Ok(r#"{"model":"A"}"#));
    assert_eq!(projected(r#"{"modell":1,"mode":2}"#, &model).as_deref(), Ok("{}"));
    assert_eq!(projected("[1]", &model).as_deref(), Ok("[]"));
    assert_eq!(projected("7", &model).as_deref(), Ok("7"));
    assert_eq!(projected(r#"{"model":"a"} x"#, &model), Err(InvalidArgument));
    assert_eq!(projected(r#"{"model":"a","x":"\ud800"}"#, &model), Err(InvalidArgument));

    let several = parts([
        (Step::Key("a".into()), parts([all("b"), all("c")])),
        (Step::Key("items".into()), parts([(Step::Index(0), parts([all("n")])), (Step::Index(2), Projection::all())])),
        key("seen", []),
    ]);
    let json = r#"{"items":[{"n":1,"m":2},{"n":3},[{"k":4}],9],"seen":{"deep":[1]},"a":{"b":1},"a":{"c":2,"d":3}}"#;
    let want = r#"{"a":{"c":2},"items":[{"n":1},null,[{"k":4}]],"seen":{}}"#;
    assert_eq!(projected(json, &several).as_deref(), Ok(want));
    assert_eq!(
        projected(r#"{"items":[1],"a":5,"seen":null}"#, &several).as_deref(),
        Ok(r#"{"a":5,"items":[1],"seen":null}"#)
    );
    // A later value under a key takes away what was in the earlier one.
    let again = r#"{"items":[{"n":1},2,3],"items":[{}],"a":{"b":1,"c":1},"a":[]}"#;
    assert_eq!(projected(again, &several).as_deref(), Ok(r#"{"a":[],"items":[{}]}"#));
    let first = parts([(Step::Index(0), parts([(Step::Index(1), Projection::all())]))]);
    assert_eq!(projected("[[1,2,3],[4,5]]", &first).as_deref(), Ok("[[null,2]]"));
    assert_eq!(projected("[[[9],[8]],[4,5]]", &first).as_deref(), Ok("[[null,[8]]]"));
}

#[test]
fn a_plain_string_is_borrowed() {
    with(|cx| {
        let json = cx.arena().alloc_str(r#"{"model":"gpt"}"#).unwrap();
        let Value::Map(map) = project(cx, json.as_bytes(), &ProjectionPlan::new(&parts([all("model")]))).unwrap()
        else {
            panic!("no map");
        };
        let Some(Value::String(text)) = map.get(&Value::String("model"), cx.arena()).unwrap() else {
            panic!("no text")
        };
        assert!(json.as_bytes().as_ptr_range().contains(&text.as_ptr()));
    });
}

#[test]
fn other_types_are_written_as_protocol_buffers_have_it() {
    with(|cx| {
        let write = |value: Value<'_>| with(|cx2| to_json(cx2, &clone_scalar(value)).map(str::to_owned));
        assert_eq!(write(Value::Double(f64::NAN)).as_deref(), Ok("\"NaN\""));
        assert_eq!(write(Value::Double(f64::NEG_INFINITY)).as_deref(), Ok("\"-Infinity\""));
        assert_eq!(write(Value::Double(1.0)).as_deref(), Ok("1.0"));
        assert_eq!(write(Value::Double(-0.0)).as_deref(), Ok("-0.0"));
        assert_eq!(write(Value::Bytes(b"\xff\xfe")).as_deref(), Ok("\"//4=\""));
        assert_eq!(write(Value::Duration(Duration(1_500_000_000))).as_deref(), Ok("\"1.5s\""));
        let time = Timestamp { seconds: 0, nanos: 500_000_000 };
        assert_eq!(write(Value::Timestamp(time)).as_deref(), Ok("\"1970-01-01T00:00:00.5Z\""));
        assert_eq!(write(Value::Type("int")).as_deref(), Ok("\"int\""));
        assert_eq!(write(Value::Optional(None)).as_deref(), Ok("null"));
        assert_eq!(write(Value::Cidr([10, 0, 0, 0].into(), 8)).as_deref(), Ok("\"10.0.0.0/8\""));
        let held = Value::Int(3);
        assert_eq!(to_json(cx, &Value::Optional(cx.arena().alloc(held).ok())), Ok("3"));

        let entries =
            [(Value::Bool(true), Value::Null), (Value::Int(1), Value::Null), (Value::String("k"), Value::Null)];
        let map = Value::Map(Map::Sorted(cx.arena().alloc_slice(&entries).unwrap()));
        assert_eq!(to_json(cx, &map), Ok(r#"{"1":null,"k":null,"true":null}"#));
        let entries = [(Value::Int(1), Value::Null), (Value::String("1"), Value::Null)];
        let map = Value::Map(Map::Sorted(cx.arena().alloc_slice(&entries).unwrap()));
        assert_eq!(to_json(cx, &map), Err(ErrorKind::DuplicateKey));

        let mut deep = Value::Null;
        for _ in 0..600 {
            deep = Value::List(List::Slice(cx.arena().alloc_slice(&[deep]).unwrap()));
        }
        assert_eq!(to_json(cx, &deep), Err(ErrorKind::OutOfBudget));
    });
}

/// The value in another lifetime; it refers to nothing that could end.
fn clone_scalar<'a>(value: Value<'_>) -> Value<'a> {
    match value {
        Value::Double(d) => Value::Double(d),
        Value::Bytes(b"\xff\xfe") => Value::Bytes(b"\xff\xfe"),
        Value::Duration(d) => Value::Duration(d),
        Value::Timestamp(t) => Value::Timestamp(t),
        Value::Type(_) => Value::Type("int"),
        Value::Optional(None) => Value::Optional(None),
        Value::Cidr(ip, prefix) => Value::Cidr(ip, prefix),
        other => panic!("{other:?}"),
    }
}

#[test]
fn tokens() {
    let claims = |token: &str| {
        with(|cx| jwt_payload(cx, token).and_then(|map| to_json(cx, &Value::Map(map)).map(str::to_owned)))
    };
    assert_eq!(claims("h.eyJzdWIiOiJhIn0.s").as_deref(), Ok(r#"{"sub":"a"}"#));
    assert_eq!(claims(".e30.").as_deref(), Ok("{}"));
    for bad in ["", "e30", "h.e30", "h.e30.s.t", "h..s", "h.e30=.s", "h.e3 0.s", "h.W10.s", "h.bnVsbA.s", "h.ey+/.s"] {
        assert_eq!(claims(bad), Err(InvalidArgument), "{bad}");
    }
}

#[test]
fn work_is_charged() {
    let json = format!("[{}1]", "1,".repeat(100_000));
    let spent = |run: &dyn Fn(&Cx<'_>, &[u8]) -> EvalResult<()>, steps: i64| {
        let arena = Arena::new(1 << 24);
        let bytes = Arena::new(1 << 24);
        let json = bytes.alloc_str(&json).unwrap();
        run(&Cx::new(steps, &arena), json.as_bytes())
    };
    let whole = |cx: &Cx<'_>, json: &[u8]| with_copied(cx, json, |cx, json| json_parse(cx, json).map(|_| ()));
    let part = |cx: &Cx<'_>, json: &[u8]| {
        with_copied(cx, json, |cx, json| project(cx, json, &ProjectionPlan::new(&parts([all("a")]))).map(|_| ()))
    };
    assert_eq!(spent(&whole, 50_000), Err(ErrorKind::OutOfBudget));
    assert_eq!(spent(&whole, 200_000), Ok(()));
    assert_eq!(spent(&part, 12_000), Err(ErrorKind::OutOfBudget));
    assert_eq!(spent(&part, 12_600), Ok(()));
}

fn with_copied<R>(cx: &Cx<'_>, json: &[u8], run: impl for<'a> FnOnce(&Cx<'a>, &'a [u8]) -> R) -> R {
    let arena = Arena::new(1 << 24);
    let steps = cx.left();
    let json = arena.alloc_slice(json).unwrap();
    run(&Cx::new(steps, &arena), json)
}
