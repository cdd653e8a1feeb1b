//! References: what the later stages are told of names and calls.

use super::{check, host, root_reference, table};
use celero_frontend::{Declarations, Expr, NodeId, Overload, Reference};
use std::fmt::Write as _;

/// The overloads a call may mean, by the name of the variant.
fn overloads(declarations: &Declarations, text: &str) -> String {
    match root_reference(declarations, text) {
        Reference::Call { overloads, receiver } => {
            let names: Vec<String> = overloads
                .iter()
                .map(|o| match o {
                    Overload::Builtin(b) => format!("{b:?}"),
                    other => format!("{other:?}"),
                })
                .collect();
            format!("{}{}", if receiver { "receiver " } else { "" }, names.join(" "))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn calls_refer_to_the_overloads_that_may_apply() {
    let d = host();
    for (text, expected) in [
        ("1 + 2", "AddInt"),
        ("1 + any", "AddInt"),
        ("-any", "NegInt NegDouble"),
        ("'a'.size()", "receiver SizeString"),
        ("size('a')", "SizeString"),
        ("size(any)", "SizeString SizeBytes SizeList SizeMap Host(2)"),
        ("math.twice(1)", "Host(1)"),
        ("optional.of(1)", "OptionalOf"),
        ("ints[0]", "IndexList"),
        ("any[0]", "IndexList IndexMap IndexOptionalList IndexOptionalMap"),
        ("tags.?a", "OptionalSelectMap"),
        ("maybe[?'a']", "OptionalIndexOptionalMap"),
        ("1 < any", "LessInt LessIntUint LessIntDouble"),
        ("ints.pick(0)", "receiver Host(3)"),
    ] {
        assert_eq!(overloads(&d, text), expected, "{text}");
    }
}

#[test]
fn locals_are_numbered_from_the_root() {
    let text = "cel.bind(a, [1].map(r, r), a.map(b, tags.all(k, v, v.exists(e, e == k) && b > 0)).size() + a.size())";
    let checked = check(&host(), text).unwrap();
    let ast = checked.ast();
    let mut seen = String::new();
    for (node, index) in ast.nodes().iter().zip(0..) {
        if let (Expr::Ident { name, .. }, Reference::Local(level)) = (&node.expr, checked.reference(NodeId(index))) {
            write!(seen, "{}{level} ", ast.name(*name)).unwrap();
        }
    }
    assert_eq!(seen, "r0 a0 v3 e4 k2 b1 a0 ");
}

#[test]
fn no_variable_or_parameter_is_left() {
    for text in ["[[], {}]", "optional.none()", "[].map(x, [x, x])", "{}.transformMap(k, v, [])", "[].pick(0)"] {
        let checked = check(&host(), text).unwrap();
        for index in 0..checked.ast().nodes().len() {
            let ty = checked.type_of(NodeId(u32::try_from(index).unwrap())).to_string();
            assert!(!ty.contains(['_', 'A', 'B', 'T']) || ty.contains("optional_type"), "{text}: {ty}");
        }
    }
}

#[test]
fn unchecked_resolves_names_only() {
    let mut d = host();
    d.set_unchecked(true);
    table(
        &d,
        &[
            ("1 + 'a'", "dyn"),
            ("true ? 1 : 'a'", "dyn"),
            ("1 == 1u", "dyn"),
            ("[?1]", "dyn"),
            ("i.a.b && 3", "dyn"),
            ("1.map(x, x)", "dyn"),
            ("Foo{a: 1}", "dyn"),
            ("startsWith('a')", "dyn"),
        ],
    );
    assert_eq!(root_reference(&d, "nothing"), Reference::Undeclared);
    assert_eq!(root_reference(&d, "nothing.a"), Reference::None);
    assert!(matches!(root_reference(&d, "request.path"), Reference::Variable(_)));
    assert_eq!(overloads(&d, "f(1)"), "");
    assert_eq!(overloads(&d, "nothing.f(1)"), "receiver ");
    assert_eq!(overloads(&d, "s.startsWith(1)"), "receiver StartsWith");
    assert_eq!(overloads(&d, "startsWith(s, s)"), "");
    assert_eq!(overloads(&d, "getHours(1)"), "");
    assert_eq!(overloads(&d, "t.getHours()"), "receiver Hours HoursOfDuration");
    assert_eq!(overloads(&d, "!1"), "Not");
}
