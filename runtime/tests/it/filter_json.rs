//! Trees of rules as JSON, read back: what is not a tree is named by its place.

use celero::filter::{FilterLanguage, FilterOptions, FilterType, Scheme, filter_json, http_scheme, read_filter_json};
use celero::http::RequestContext;
use celero::{Engine, Env};
use serde_json::{Value as Json, json};
use std::sync::Arc;

fn scheme() -> Arc<Scheme> {
    let mut scheme = http_scheme();
    scheme.accept_any_list(FilterType::Ip);
    Arc::new(scheme)
}

#[test]
fn trees_are_read() {
    for (json, text) in [
        (json!({"lhs": "ssl", "op": "IsTrue"}), "ssl"),
        (
            json!({"op": "And", "items": [
                {"lhs": "ssl", "op": "IsTrue"},
                {"op": "Or", "items": [
                    {"lhs": "tcp.dstport", "op": "OneOf", "rhs": [{"start": 80, "end": 80}, {"start": 8000, "end": 8999}]},
                    {"lhs": "ip.src", "op": "OneOf", "rhs": ["10.0.0.0/8", {"start": "::1", "end": "::2"}]},
                ]},
            ]}),
            "ssl and (tcp.dstport in {80 8000..8999} or ip.src in {10.0.0.0/8 ::1..::2})",
        ),
        (json!({"lhs": "http.host", "op": "Equal", "rhs": [255, 0]}), "http.host eq FF-00"),
        (json!({"lhs": "http.host", "op": "Equal", "rhs": [255]}), r#"http.host eq "\xFF""#),
        (json!({"lhs": "http.host", "op": "Wildcard", "rhs": [42, 255]}), r#"http.host wildcard "*\xFF""#),
        (
            json!({"lhs": {"name": "starts_with", "args": [{"kind": "IndexExpr", "value": "http.host"}, {"kind": "Literal", "value": [97, 255]}]}, "op": "IsTrue"}),
            r#"starts_with(http.host, "a\xFF")"#,
        ),
        (json!({"lhs": "http.host", "op": "Matches", "rhs": "a\"#\\."}), r###"http.host matches r##"a"#\."##"###),
        (json!({"lhs": "ip.src", "op": "InList", "rhs": "bad"}), "ip.src in $bad"),
        (
            json!({"op": "Any", "arg": {"kind": "SimpleExpr", "value": {"op": "Not", "arg":
                {"lhs": ["http.request.headers", {"kind": "MapKey", "value": "a\"b"}, {"kind": "MapEach"}], "op": "Equal", "rhs": "x"}}}}),
            r#"any(not http.request.headers["a\"b"][*] eq "x")"#,
        ),
        (
            json!({"lhs": {"name": "cidr", "args": [{"kind": "IndexExpr", "value": "ip.src"}, {"kind": "Literal", "value": 24}, {"kind": "Literal", "value": 64}]}, "op": "Equal", "rhs": "10.0.0.0"}),
            "cidr(ip.src, 24, 64) eq 10.0.0.0",
        ),
        (
            json!({"name": "concat", "args": [{"kind": "Literal", "value": "/x"}, {"kind": "IndexExpr", "value": "http.host"}]}),
            r#"concat("/x", http.host)"#,
        ),
    ] {
        let tree = read_filter_json(&json, &scheme(), &FilterOptions::default())
            .unwrap_or_else(|why| panic!("{json}: {why:?}"));
        assert_eq!(&**tree.source(), text);
        assert_eq!(filter_json(&tree).parse::<Json>().unwrap(), json);
    }
}

#[test]
fn what_is_no_tree_is_named_by_its_place() {
    for (json, errors) in [
        (json!(1), vec!["/: expected an object"]),
        (json!({}), vec!["/: the member `op` is missing"]),
        (json!({"op": 1}), vec!["/op: expected a string"]),
        (json!({"lhs": "ssl or ssl", "op": "IsTrue"}), vec!["/lhs: there is no field `ssl or ssl`"]),
        (json!({"lhs": "ssl", "op": "IsTrue", "rhs": 1}), vec!["/rhs: unknown member; expected lhs, op"]),
        (json!({"lhs": "http.host", "op": "Like", "rhs": "a"}), vec!["/op: there is no operator `Like`"]),
        (json!({"lhs": "ip.src", "op": "InList", "rhs": "bad or ssl"}), vec!["/rhs: invalid list name \"bad or ssl\""]),
        (
            json!({"lhs": "ip.src", "op": "Equal", "rhs": "10.0.0.1 or ssl"}),
            vec!["/rhs: \"10.0.0.1 or ssl\" is not an address or a network"],
        ),
        (json!({"lhs": "tcp.dstport", "op": "Equal", "rhs": 1.5}), vec!["/rhs: expected a whole number of 64 bits"]),
        (json!({"lhs": "http.host", "op": "Equal", "rhs": [256]}), vec!["/rhs: expected numbers from 0 to 255"]),
        (
            json!({"op": "Or", "items": [{"lhs": "a/b~", "op": "IsTrue"}, {"op": "Not", "arg": {"lhs": {"name": "f()", "args": []}, "op": "IsTrue"}}]}),
            vec!["/items/0/lhs: there is no field `a/b~`", "/items/1/arg/lhs/name: there is no function `f()`"],
        ),
        (
            json!({"op": "Or", "items": [{"lhs": "ssl", "op": "IsTrue"}]}),
            vec!["/items: expected an array of at least two conditions"],
        ),
        // What the check of the text finds.
        (
            json!({"op": "Not", "arg": {"lhs": "http.host", "op": "BitwiseAnd", "rhs": "x"}}),
            vec!["/arg: cannot perform this operation on type Bytes"],
        ),
        (json!({"lhs": "http.host", "op": "Wildcard", "rhs": "a**"}), vec!["/rhs: wildcard contains a double star"]),
        (
            json!({"lhs": ["http.host", {"kind": "ArrayIndex", "value": -1}], "op": "Equal", "rhs": "a"}),
            vec!["/lhs/1/value: expected a number that is not negative"],
        ),
        (json!({"a/b": 1, "lhs": "ssl", "op": "IsTrue"}), vec!["/a~1b: unknown member; expected lhs, op"]),
    ] {
        let found = read_filter_json(&json, &scheme(), &FilterOptions::default()).unwrap_err();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, errors, "{json}");
    }
}

#[test]
fn trees_are_read_within_limits() {
    let mut json = json!({"lhs": "ssl", "op": "IsTrue"});
    for _ in 0..1_500 {
        json = json!({"op": "Not", "arg": json});
    }
    let found = read_filter_json(&json, &scheme(), &FilterOptions::default()).unwrap_err();
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("nested more than 1000 deep"), "{}", found[0]);
    for _ in 0..1_300 {
        json = json["arg"].take();
    }
    let found = read_filter_json(&json, &scheme(), &FilterOptions::default()).unwrap_err();
    assert!(found[0].message.contains("maximum nesting depth exceeded (limit: 128)"), "{}", found[0]);
    let items: Vec<Json> = (0..100).map(|number| json!({"lhs": format!("f{number}"), "op": "IsTrue"})).collect();
    let found =
        read_filter_json(&json!({"op": "Or", "items": items}), &scheme(), &FilterOptions::default()).unwrap_err();
    assert_eq!(found.len(), 16);
}

#[test]
fn environments_read_trees() {
    let (engine, cel) = (Engine::new(), Env::<RequestContext<'_>>::new());
    let env = cel.clone().filter_language(FilterLanguage::http());
    let json = json!({"op": "Not", "arg": {"lhs": "http.host", "op": "Contains", "rhs": "a"}});
    assert_eq!(engine.filter_from_json(&env, &json).unwrap(), "not http.host contains \"a\"\n");
    assert!(engine.filter_from_json(&cel, &json).unwrap_err()[0].message.contains("not the filter language"));
}
