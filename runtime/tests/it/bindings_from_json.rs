//! Bindings from a JSON document.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::host::BindError;
use celero::{Bindings, Engine, Env, Scratch, Tier, Type};
use serde_json::{Value as Json, json};

fn env(variables: &str) -> Env<Bindings<'static>> {
    let variables = celero::values::parse_variables(variables).unwrap();
    variables.into_iter().fold(Env::dynamic(), |env, (name, ty)| env.variable(&name, ty))
}

/// What an expression evaluates to with the document, the same in both tiers.
#[track_caller]
fn shown(variables: &str, document: &Json, expression: &str) -> String {
    let env = env(variables);
    assert!(env.problems().is_empty(), "{:?}", env.problems());
    let bindings = Bindings::from_json(&env, document).unwrap();
    let [interpreted, native] = [Tier::Interpret, Tier::Native].map(|tier| {
        let program = Engine::builder().tier(tier).build().compile(&env, expression).unwrap();
        let mut scratch = Scratch::new();
        match program.eval(&bindings, &mut scratch) {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        }
    });
    assert_eq!(interpreted, native, "{expression}");
    interpreted
}

#[track_caller]
fn refused(variables: &str, document: &Json) -> String {
    Bindings::from_json(&env(variables), document).unwrap_err().to_string()
}

#[test]
fn each_variable_is_the_member_of_its_name() {
    let document = json!({ "name": "ada", "age": 41, "tags": ["a", "b"], "more": { "x": { "y": 2.5 } } });
    let variables = "name: string, age: int, tags: list(string), more: dyn, absent: string";
    for (expression, expected) in [
        ("name + '!'", r#""ada!""#),
        ("age + 1", "42"),
        ("tags.exists(t, t == 'b')", "true"),
        ("more.x.y", "2.5"),
        ("has(more.x.z)", "false"),
        ("[name, age, tags, more]", r#"["ada", 41, ["a", "b"], {"x": {"y": 2.5}}]"#),
        ("absent", "no such key (at 0..6; `Program::describe` says more)"),
    ] {
        assert_eq!(shown(variables, &document, expression), expected);
    }
    assert_eq!(shown("", &json!({}), "1"), "1");
}

#[test]
fn dotted_names_are_nested_objects() {
    let variables = "request.path: string, request.user.age: int, request.user.groups: list(string), other: int";
    let document = json!({ "request": { "path": "/a", "user": { "age": 41, "groups": ["x"] } }, "other": 1 });
    let expression = "[request.path, request.user.age, request.user.groups[0], other]";
    assert_eq!(shown(variables, &document, expression), r#"["/a", 41, "x", 1]"#);
    let flat = json!({ "request.path": "/a", "request": { "user.age": 41 } });
    assert_eq!(shown(variables, &flat, "[request.path, request.user.age]"), r#"["/a", 41]"#);
    assert_eq!(
        refused(variables, &json!({ "request": { "path": "/a" }, "request.path": "/b" })),
        "variable `request.path` has two values in the document"
    );
    assert_eq!(
        refused(variables, &json!({ "request": { "user": 5 } })),
        "`request.user` must be an object with the variable `request.user.age` inside, but it is of type `int`"
    );
}

/// A variable that is an object itself may have members that are no variables.
#[test]
fn a_variable_may_be_inside_another() {
    let variables = "user: dyn, user.age: int";
    let document = json!({ "user": { "age": 41, "name": "ada" } });
    assert_eq!(shown(variables, &document, "user.age"), "41");
    assert_eq!(shown(variables, &json!({ "user": 5 }), "user"), "5");
    let wrong = json!({ "user": { "age": "x" } });
    assert_eq!(refused(variables, &wrong), "variable `user.age` is declared as `int`, but the value is a `string`");
}

/// Numbers and text become what the declaration asks for, where JSON has no other form.
#[test]
fn scalars_have_the_declared_type() {
    let variables =
        "u: uint, d: double, t: google.protobuf.Timestamp, p: google.protobuf.Duration, a: net.IP, w: wrapper(int)";
    let document = json!({ "u": 5, "d": 1, "t": "2024-02-29T00:00:00Z", "p": "90s", "a": "::1" });
    let expected = r#"[5u, 1.0, timestamp("2024-02-29T00:00:00Z"), duration("90s"), ip("::1")]"#;
    let variables = variables.replace(", w: wrapper(int)", "");
    assert_eq!(shown(&variables, &document, "[u, d, t, p, a]"), expected);
    let env = Env::dynamic().variable("w", Type::Wrapper(Type::Int.into()));
    for (json, is_ok) in [(json!({ "w": null }), true), (json!({ "w": 1 }), true), (json!({ "w": "x" }), false)] {
        assert_eq!(Bindings::from_json(&env, &json).is_ok(), is_ok, "{json}");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    for (variables, document, expected) in [
        ("n: int", json!({ "n": 1, "m": 2 }), "variable `m` is not declared"),
        ("n.a: int", json!({ "n": { "b": 2 } }), "variable `n.b` is not declared"),
        ("n: int", json!({ "n": "5" }), "variable `n` is declared as `int`, but the value is a `string`"),
        ("n: int", json!({ "n": 1.5 }), "variable `n` is declared as `int`, but the value is a `double`"),
        ("n: int", json!({ "n": u64::MAX }), "variable `n` is declared as `int`, but the value is a `uint`"),
        ("n: int", json!({ "n": null }), "variable `n` is declared as `int`, but the value is a `null_type`"),
        ("n: uint", json!({ "n": -1 }), "variable `n` is declared as `uint`, but the value is a `int`"),
        ("n: bytes", json!({ "n": "AA==" }), "variable `n` is declared as `bytes`, but the value is a `string`"),
        (
            "tags: list(string)",
            json!({ "tags": ["a", 1] }),
            "variable `tags[1]` is declared as `string`, but the value is a `int`",
        ),
        (
            "m: map(string, list(bool))",
            json!({ "m": { "k": [true, null] } }),
            "variable `m[\"k\"][1]` is declared as `bool`, but the value is a `null_type`",
        ),
        (
            "m: map(int, bool)",
            json!({ "m": { "1": true } }),
            "variable `m` is declared as `map(int, bool)`, but the keys of an object are of type `string`",
        ),
        (
            "t: google.protobuf.Timestamp",
            json!({ "t": "now" }),
            "variable `t` is declared as `google.protobuf.Timestamp`, but \"now\" is none: invalid argument",
        ),
        ("a: net.IP", json!({ "a": "x" }), "variable `a` is declared as `net.IP`, but \"x\" is none: invalid argument"),
        (
            "n: int",
            json!([1]),
            "the document must be an object with a member for each variable, but it is of type `list`",
        ),
        (
            "n: int",
            json!("n"),
            "the document must be an object with a member for each variable, but it is of type `string`",
        ),
    ] {
        assert_eq!(refused(variables, &document), expected);
    }
    let unknown = Bindings::from_json(&env("n: int"), &json!({ "m": 1 })).unwrap_err();
    assert_eq!(unknown, BindError::Undeclared { name: "m".to_owned() });
}
