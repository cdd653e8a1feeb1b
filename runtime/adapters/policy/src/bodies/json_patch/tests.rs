//! Changes of JSON documents: the examples of both RFCs, what keeps its bytes, names, bounds, and
//! documents that are refused.

use super::PatchError::{Duplicate, Missing, NotJson, OtherCase, TestFailed, TooLarge};
use super::*;
use serde_json::json;

fn pointer(text: &str) -> JsonPointer {
    JsonPointer::parse(text).unwrap()
}

/// Applies a patch, written as RFC 6902 writes it.
fn patched_within(document: &str, patch: &Json, most: usize) -> Result<String, PatchError> {
    let mut document = JsonDocument::read(document.as_bytes(), most)?;
    for operation in patch.as_array().unwrap() {
        let place = |key: &str| pointer(operation[key].as_str().unwrap());
        let parsed = match operation["op"].as_str().unwrap() {
            "add" => PatchOperation::Add(place("path"), ()),
            "remove" => PatchOperation::Remove(place("path")),
            "replace" => PatchOperation::Replace(place("path"), ()),
            "move" => PatchOperation::Move { from: place("from"), to: place("path") },
            "copy" => PatchOperation::Copy { from: place("from"), to: place("path") },
            _ => PatchOperation::Test(place("path"), ()),
        };
        document.apply(&parsed, &operation["value"])?;
    }
    document.text()
}

fn patched(document: &str, patch: &Json) -> Result<String, PatchError> {
    patched_within(document, patch, 1000)
}

fn merged(document: &str, patch: Json) -> Result<String, PatchError> {
    let Json::Object(patch) = patch else { panic!("a merge patch is an object") };
    let mut document = JsonDocument::read(document.as_bytes(), 1000)?;
    document.merge(patch)?;
    document.text()
}

/// The examples of RFC 6902, appendix A.
#[test]
fn the_examples_of_json_patch() {
    let cases = [
        (r#"{"foo":"bar"}"#, json!([{"op":"add","path":"/baz","value":"qux"}]), Ok(r#"{"foo":"bar","baz":"qux"}"#)),
        (
            r#"{"foo":["bar","baz"]}"#,
            json!([{"op":"add","path":"/foo/1","value":"qux"}]),
            Ok(r#"{"foo":["bar","qux","baz"]}"#),
        ),
        (r#"{"baz":"qux","foo":"bar"}"#, json!([{"op":"remove","path":"/baz"}]), Ok(r#"{"foo":"bar"}"#)),
        (r#"{"foo":["bar","qux","baz"]}"#, json!([{"op":"remove","path":"/foo/1"}]), Ok(r#"{"foo":["bar","baz"]}"#)),
        (
            r#"{"baz":"qux","foo":"bar"}"#,
            json!([{"op":"replace","path":"/baz","value":"boo"}]),
            Ok(r#"{"baz":"boo","foo":"bar"}"#),
        ),
        (
            r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
            json!([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]),
            Ok(r#"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#),
        ),
        (
            r#"{"foo":["all","grass","cows","eat"]}"#,
            json!([{"op":"move","from":"/foo/1","path":"/foo/3"}]),
            Ok(r#"{"foo":["all","cows","eat","grass"]}"#),
        ),
        (
            r#"{"baz":"qux","foo":["a",2,"c"]}"#,
            json!([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]),
            Ok(r#"{"baz":"qux","foo":["a",2,"c"]}"#),
        ),
        (r#"{"baz":"qux"}"#, json!([{"op":"test","path":"/baz","value":"bar"}]), Err(TestFailed)),
        (
            r#"{"foo":"bar"}"#,
            json!([{"op":"add","path":"/child","value":{"grandchild":{}}}]),
            Ok(r#"{"foo":"bar","child":{"grandchild":{}}}"#),
        ),
        (r#"{"foo":"bar"}"#, json!([{"op":"add","path":"/baz/bat","value":"qux"}]), Err(Missing)),
        (r#"{"/":9,"~1":10}"#, json!([{"op":"test","path":"/~01","value":10}]), Ok(r#"{"/":9,"~1":10}"#)),
        (r#"{"/":9,"~1":10}"#, json!([{"op":"test","path":"/~01","value":"10"}]), Err(TestFailed)),
        (
            r#"{"foo":["bar"]}"#,
            json!([{"op":"add","path":"/foo/-","value":["abc","def"]}]),
            Ok(r#"{"foo":["bar",["abc","def"]]}"#),
        ),
    ];
    for (document, patch, expected) in cases {
        assert_eq!(patched(document, &patch).as_deref(), expected.as_ref().map(|text| &**text), "{document} {patch}");
    }
}

/// The examples of RFC 7396, appendix A, whose patches are objects.
#[test]
fn the_examples_of_merge_patch() {
    let cases = [
        (r#"{"a":"b"}"#, json!({"a":"c"}), r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, json!({"b":"c"}), r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b"}"#, json!({"a":null}), "{}"),
        (r#"{"a":"b","b":"c"}"#, json!({"a":null}), r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, json!({"a":"c"}), r#"{"a":"c"}"#),
        (r#"{"a":"c"}"#, json!({"a":["b"]}), r#"{"a":["b"]}"#),
        (r#"{"a":{"b":"c"}}"#, json!({"a":{"b":"d","c":null}}), r#"{"a":{"b":"d"}}"#),
        (r#"{"a":[{"b":"c"}]}"#, json!({"a":[1]}), r#"{"a":[1]}"#),
        (r#"{"e":null}"#, json!({"a":1}), r#"{"e":null,"a":1}"#),
        ("[1,2]", json!({"a":"b","c":null}), r#"{"a":"b"}"#),
        ("{}", json!({"a":{"bb":{"ccc":null}}}), r#"{"a":{"bb":{}}}"#),
    ];
    for (document, patch, expected) in cases {
        assert_eq!(merged(document, patch.clone()).as_deref(), Ok(expected), "{document} {patch}");
    }
}

#[test]
fn what_a_change_does_not_go_through_keeps_its_bytes() {
    let document = "{ \"big\": 123456789012345678901234567890, \"e\":1.50E+400,\n\"s\":\"\\u0041\\ud800\", \"twice\":{\"x\":1,\"x\":2}, \"a\" : [ 1 , 2 ] }";
    let kept = r#"{"big":123456789012345678901234567890,"e":1.50E+400,"s":"\u0041\ud800","twice":{"x":1,"x":2},"a":[ 1 , 2 ],"n":1}"#;
    assert_eq!(merged(document, json!({"n": 1})).as_deref(), Ok(kept));
    assert_eq!(patched(document, &json!([{"op": "add", "path": "/n", "value": 1}])).as_deref(), Ok(kept));
    assert_eq!(patched(document, &json!([{"op": "replace", "path": "/twice/x", "value": 1}])), Err(Duplicate));
    assert_eq!(merged(r#"{"a":1,"\u0061":2}"#, json!({"b": 1})), Err(Duplicate), "two spellings of one name");
}

#[test]
fn names_that_differ_only_in_case_are_no_two_members() {
    for document in [r#"{"a":{"tenant":"x","Tenant":"root"}}"#, r#"{"a":{"\u0054enant":"root"}}"#] {
        for patch in [json!({"a": {"tenant": "acme"}}), json!({"a": {"tenant": null}})] {
            assert_eq!(merged(document, patch), Err(OtherCase), "{document}");
        }
        for operation in ["add", "replace", "remove", "test"] {
            let patch = json!([{"op": operation, "path": "/a/tenant", "value": "x"}]);
            assert_eq!(patched(document, &patch), Err(OtherCase), "{document} {patch}");
        }
        for (from, path) in [("/b", "/a/tenant"), ("/a/tenant", "/c")] {
            for operation in ["move", "copy"] {
                let patch = json!([
                    {"op": "add", "path": "/b", "value": 1},
                    {"op": operation, "from": from, "path": path},
                ]);
                assert_eq!(patched(document, &patch), Err(OtherCase), "{document} {patch}");
            }
        }
    }
    let parents = r#"{"user":{"id":1},"USER":{"id":2}}"#;
    assert_eq!(merged(parents, json!({"user": {"id": 3}})), Err(OtherCase));
    assert_eq!(patched(parents, &json!([{"op": "replace", "path": "/user/id", "value": 3}])), Err(OtherCase));
    for other in ["\u{17f}\u{212a}", "s\u{212a}", "\u{17f}k", "SK"] {
        let document = json!({ other: 1 }).to_string();
        assert_eq!(merged(&document, json!({"sk": 2})), Err(OtherCase), "{document}");
        assert_eq!(patched(&document, &json!([{"op": "add", "path": "/sk", "value": 2}])), Err(OtherCase));
    }
    // Both are named, or neither is.
    let both = r#"{"tenant":"x","Tenant":"y","n":1}"#;
    assert_eq!(
        merged(both, json!({"tenant": "a", "Tenant": "b"})).as_deref(),
        Ok(r#"{"tenant":"a","Tenant":"b","n":1}"#)
    );
    assert_eq!(merged(both, json!({"n": null})).as_deref(), Ok(r#"{"tenant":"x","Tenant":"y"}"#));
}

#[test]
fn members_are_found_after_others_were_removed_and_added() {
    let patch = json!([
        {"op": "test", "path": "/b", "value": 2},
        {"op": "remove", "path": "/a"},
        {"op": "add", "path": "/A", "value": 4},
        {"op": "test", "path": "/c", "value": 3},
        {"op": "move", "from": "/b", "path": "/b"},
        {"op": "remove", "path": "/c"},
        {"op": "add", "path": "/c", "value": 5},
        {"op": "test", "path": "", "value": {"A": 4, "b": 2, "c": 5, "x": 0, "X": 0}},
    ]);
    let document = r#"{"a":1,"b":2,"c":3,"x":0,"X":0}"#;
    assert_eq!(patched(document, &patch).as_deref(), Ok(r#"{"x":0,"X":0,"A":4,"b":2,"c":5}"#));
    let again = json!([{"op": "remove", "path": "/a"}, {"op": "remove", "path": "/a"}]);
    assert_eq!(patched(document, &again), Err(Missing));
    let other = json!([{"op": "add", "path": "/d", "value": 1}, {"op": "add", "path": "/D", "value": 1}]);
    assert_eq!(patched(document, &other), Err(OtherCase));
}

#[test]
fn what_is_no_json_has_no_result() {
    for document in ["", "{", "{} x", "\u{feff}{}", "{'a':1}", "[1,]", "nul"] {
        assert_eq!(merged(document, json!({"a": 1})), Err(NotJson), "{document}");
    }
    assert_eq!(JsonDocument::read(b"\"\xff\"", 10).map(drop), Err(NotJson));
    let deep = "[".repeat(100_000);
    assert_eq!(merged(&deep, json!({"a": 1})), Err(NotJson));
    let deep = format!("{deep}{}", "]".repeat(100_000));
    assert_eq!(
        patched_within(&deep, &json!([{"op": "add", "path": "/-", "value": 1}]), 1 << 20).map(|text| text.len()),
        Ok(200_002)
    );
}

#[test]
fn a_change_is_bounded() {
    let copies: Vec<Json> = (0..64).map(|_| json!({"op": "copy", "from": "", "path": "/-"})).collect();
    assert_eq!(patched(r#"["aaaaaaaaaaaaaaaa"]"#, &Json::Array(copies)), Err(TooLarge));
    assert_eq!(
        patched_within("[]", &json!([{"op": "add", "path": "/0", "value": "aaaa"}]), 8).as_deref(),
        Ok("[\"aaaa\"]")
    );
    assert_eq!(patched_within("[]", &json!([{"op": "add", "path": "/0", "value": "aaaa"}]), 7), Err(TooLarge));
}

#[test]
fn places_that_are_not_there() {
    for (document, place) in
        [("[1]", "/1"), ("[1]", "/01"), ("[1]", "/-"), ("[1]", "/+0"), ("{}", "/a"), ("1", "/a"), ("\"a\"", "/0")]
    {
        for operation in ["replace", "remove", "test"] {
            let patch = json!([{"op": operation, "path": place, "value": 1}]);
            assert_eq!(patched(document, &patch), Err(Missing), "{document} {patch}");
        }
    }
    assert_eq!(patched("[1]", &json!([{"op": "add", "path": "/2", "value": 1}])), Err(Missing));
    for wrong in ["a", "/~", "/~2", "/a~", " "] {
        assert_eq!(JsonPointer::parse(wrong), None, "{wrong}");
    }
    let contains = |one: &str, other: &str| pointer(one).contains(&pointer(other));
    assert!(contains("/a", "/a/b") && !contains("/a/b", "/a") && !contains("/a", "/a") && !contains("/a", "/ab"));
}

#[test]
fn numbers_are_tested_by_value() {
    for (document, value) in [("1.0", json!(1)), ("1", json!(1.0)), ("100e-2", json!(1)), ("-0", json!(0))] {
        let patch = json!([{"op": "test", "path": "", "value": value}]);
        assert_eq!(patched(document, &patch).as_deref(), Ok(document));
    }
    assert_eq!(
        patched("18446744073709551615", &json!([{"op": "test", "path": "", "value": 18446744073709551614_u64}])),
        Err(TestFailed)
    );
}

#[test]
fn later_operations_see_what_earlier_ones_did() {
    let patch = json!([
        {"op": "add", "path": "/a", "value": {"b": [1]}},
        {"op": "add", "path": "/a/b/0", "value": 0},
        {"op": "copy", "from": "/a/b", "path": "/c"},
        {"op": "remove", "path": "/a"},
        {"op": "test", "path": "/c", "value": [0, 1]},
        {"op": "replace", "path": "", "value": {"d": 1}},
    ]);
    assert_eq!(patched("{}", &patch).as_deref(), Ok(r#"{"d":1}"#));
}
