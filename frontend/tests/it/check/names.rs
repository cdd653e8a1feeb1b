//! Names: which declaration one stands for, and what is said of one that is not declared.

use super::{host, outcome, root_reference, table, variable};
use celero_frontend::{Declarations, Reference, Type};
use std::sync::Arc;

#[test]
fn names_that_are_not_declared() {
    table(
        &host(),
        &[
            ("request.path", "string"),
            ("request.headers.host", "string"),
            ("nothing", "undeclared-name at \"nothing\": undeclared reference to `nothing`"),
            ("nothing.below", "undeclared-name at \"nothing\": undeclared reference to `nothing`"),
            ("port", "undeclared-name at \"port\": undeclared reference to `port` (did you mean `ports`?)"),
            (
                "request",
                "undeclared-name at \"request\": undeclared reference to `request` (`request` is only the start of declared names: `request.headers`, `request.method`, `request.path`)",
            ),
            (
                "request.pth",
                "undeclared-name at \"pth\": undeclared reference to `request.pth` (did you mean `request.path`?)",
            ),
            (
                "request.pth.x.y",
                "undeclared-name at \"pth\": undeclared reference to `request.pth` (did you mean `request.path`?)",
            ),
            (
                "request.query",
                "undeclared-name at \"query\": undeclared reference to `request.query` (declared are `request.headers`, `request.method`, `request.path`)",
            ),
            (
                "reqest.path",
                "undeclared-name at \"reqest\": undeclared reference to `reqest` (did you mean `request.path`?)",
            ),
            (
                "has(request.pth)",
                "undeclared-name at \"pth\": undeclared reference to `request.pth` (did you mean `request.path`?)",
            ),
            ("size", "undeclared-name at \"size\": undeclared reference to `size` (`size` is a function: call it)"),
            // One mistake is reported once.
            (
                "size(nothing.a + nothing[0]).foo",
                "undeclared-name at \"nothing\": undeclared reference to `nothing`\nundeclared-name at \"nothing\": undeclared reference to `nothing`",
            ),
        ],
    );
}

#[test]
fn containers_are_searched_innermost_first() {
    let mut d = Declarations::new();
    let outer = variable(&mut d, "y", Type::String);
    let middle = variable(&mut d, "com.y", Type::Bool);
    let inner = variable(&mut d, "com.example.y", Type::map(Type::String, Type::Int));
    let deep = variable(&mut d, "y.z.w", Type::Bytes);
    d.add_function("com.example.f", false, vec![Type::Int], Type::Bool);
    d.add_function("f", false, vec![Type::Int], Type::String);
    assert_eq!(root_reference(&d, "y"), Reference::Variable(outer));
    assert_eq!(root_reference(&d, "com.y"), Reference::Variable(middle));
    table(&d, &[("f(1)", "string"), ("com.example.f(1)", "bool")]);
    d.set_container("com.example");
    assert_eq!(root_reference(&d, "y"), Reference::Variable(inner));
    assert_eq!(root_reference(&d, ".y"), Reference::Variable(outer));
    assert_eq!(root_reference(&d, "example.y"), Reference::Variable(inner));
    assert_eq!(root_reference(&d, ".y.z.w"), Reference::Variable(deep));
    // The outer scope's longer `y.z.w` comes before the inner scope's `y`.
    assert_eq!(root_reference(&d, "y.z.w"), Reference::Variable(deep));
    table(
        &d,
        &[
            ("y.z", "int"),
            ("y.z.v", "no-fields at \"v\": a value of type `int` has no field `v`"),
            ("f(1)", "bool"),
            (".f(1)", "string"),
            ("example.f(1)", "bool"),
            (".example.f(1)", "undeclared-name at \"example\": undeclared reference to `example`"),
            (
                "com.example.nothing",
                "undeclared-name at \"nothing\": undeclared reference to `com.example.nothing` (declared are `com.example.y`)",
            ),
        ],
    );
    d.set_container("com.other");
    assert_eq!(root_reference(&d, "y"), Reference::Variable(middle));
}

#[test]
fn the_longest_name_wins_within_a_scope() {
    let mut d = Declarations::new();
    variable(&mut d, "a", Type::map(Type::String, Type::Dyn));
    let long = variable(&mut d, "a.b.c", Type::String);
    assert_eq!(root_reference(&d, "a.b.c"), Reference::Variable(long));
    assert_eq!(root_reference(&d, "has(a.b.c)"), Reference::Variable(long));
    table(&d, &[("a.b.c", "string"), ("a.b", "dyn"), ("has(a.b.c)", "bool"), ("has(a.b)", "bool")]);
    assert_eq!(root_reference(&d, "has(a.b)"), Reference::None);
}

#[test]
fn macro_variables_shadow_declared_names() {
    let mut d = Declarations::new();
    d.set_container("com.example");
    variable(&mut d, "com.example.y", Type::Int);
    variable(&mut d, "com.example.y.z", Type::Int);
    variable(&mut d, "y", Type::String);
    variable(&mut d, "y.z", Type::String);
    d.add_function("y.f", false, vec![], Type::Bool);
    table(
        &d,
        &[
            ("['a'].map(y, y)", "list(string)"),
            ("[1u].map(y, .y)", "list(string)"),
            ("[{'z': 0u}].map(y, y.z)", "list(uint)"),
            ("[{'z': 0u}].map(y, .y.z)", "list(string)"),
            ("y.f()", "bool"),
            ("[1].map(y, .y.f())", "list(bool)"),
            ("[1].map(y, y.f())", "undeclared-function at \"f\": undeclared function `f`"),
        ],
    );
}

#[test]
fn types_are_values() {
    let d = host();
    for (text, ty) in [
        ("int", Type::Int),
        ("null_type", Type::Null),
        ("list", Type::list(Type::Dyn)),
        ("map", Type::map(Type::Dyn, Type::Dyn)),
        ("type", Type::Type(Arc::new(Type::Dyn))),
        ("optional_type", Type::optional(Type::Dyn)),
        ("google.protobuf.Timestamp", Type::Timestamp),
        ("google.protobuf.Duration", Type::Duration),
        ("net.IP", Type::Opaque("net.IP".into(), Arc::new([]))),
        ("net.CIDR", Type::Opaque("net.CIDR".into(), Arc::new([]))),
    ] {
        assert_eq!(root_reference(&d, text), Reference::Type(ty.clone()), "{text}");
        assert_eq!(outcome(&d, text), format!("type({ty})"));
    }
    assert_eq!(outcome(&d, "has(net.IP)"), "undeclared-name at \"net\": undeclared reference to `net`");
}
