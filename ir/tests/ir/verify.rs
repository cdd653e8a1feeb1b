//! The verifier finds a planted violation of each requirement, at its node.

use crate::common::fields;
use celero_ir::{CallForm, Constant, Graph, MAX_CONSTANT_DEPTH, NodeId, Op, Origin, Requirement, Ty, parse, verify};

fn broken(text: &str) -> (NodeId, Requirement) {
    let graph = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let violation = verify(&graph, &fields()).err().unwrap_or_else(|| panic!("accepted:\n{text}"));
    (violation.node, violation.requirement)
}

#[test]
fn one_node_can_break_each_requirement() {
    for (requirement, line) in [
        (Requirement::Order, "not v1"),
        (Requirement::Order, "not v7"),
        (Requirement::Arity, "and v0"),
        (Requirement::Arity, "not v0, v0"),
        (Requirement::Arity, "coalesce v0"),
        (Requirement::Arity, "call string_contains"),
        (Requirement::Arity, "fold.map 0 v0"),
        (Requirement::ResultType, "fold.map 0 v0, v0"),
        (Requirement::OperandType, "in_cidr cidr \"10.0.0.0/8\" v0"),
        (Requirement::OperandType, "cmp.eq v0, v0"),
        (Requirement::OperandType, "and v0, v0"),
        (Requirement::OperandType, "call has v0, v0"),
        (Requirement::ResultType, "coalesce v0, v0"),
        (Requirement::ResultType, "default v0, v0"),
        (Requirement::ResultType, "list v0"),
        (Requirement::ResultType, "call size v0"),
        (Requirement::ResultType, "unbox ip v0"),
        (Requirement::Arity, "has_types [int] v0, v0, v0, v0"),
        (Requirement::Payload, "has_types [int, int] v0"),
        (Requirement::Payload, "has_types [ip] v0"),
        (Requirement::Payload, "call list_push v0"),
        (Requirement::Payload, "fold.all 0 filtered v0, v0"),
        (Requirement::Constant, "const 1"),
        (Requirement::Constant, "const regex \"a\""),
        (Requirement::Constant, "const [regex \"a\"]"),
        (Requirement::Field, "field 1"),
        (Requirement::Field, "field 16"),
        (Requirement::Field, "has_field 16"),
        (Requirement::Level, "local 1024"),
    ] {
        let text = format!("v0: value = field 11\nv1: bool = {line}\n");
        let (node, found) = broken(&text);
        // A requirement checked earlier may be broken by the operands as well.
        let close = matches!(
            (requirement, found),
            (Requirement::ResultType | Requirement::Payload, Requirement::OperandType | Requirement::ResultType)
        );
        assert!(found == requirement || close, "{line}: {found:?}");
        assert_eq!(node, NodeId(1), "{line}");
    }
}

#[test]
fn types_are_tested_of_values_only() {
    for (line, found) in [
        ("has_types [int, int] v0, v1", None),
        ("has_types [int] v0, v0", None),
        ("has_types [int, value, value] v1, v0", None),
        ("has_types [str, int] v0, v1", None),
        ("has_types [int, str] v0, v1", Some(Requirement::OperandType)),
        ("has_types [int] v0, v1", Some(Requirement::OperandType)),
    ] {
        let text = format!("v0: value = field 11\nv1: int = field 1\nv2: bool = {line}\nroot v2\n");
        let graph = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let violation = verify(&graph, &fields()).err();
        assert_eq!(violation.map(|violation| violation.requirement), found, "{line}");
    }
}

#[test]
fn entries_are_of_their_own_field() {
    let head = "v0: str = field 4\nv1: int = field 1\n";
    for (node, requirement, lines) in [
        (2, Requirement::Field, "v2: entry = entry 4 v0"),
        (2, Requirement::Field, "v2: entry = entry 12 v1"),
        (2, Requirement::OperandType, "v2: bool = has_entry v0"),
        (3, Requirement::Field, "v2: entry = entry 12 v0\nv3: str = entry_value 12 v2"),
        (3, Requirement::Field, "v2: entry = entry 12 v0\nv3: int = entry_value 4 v2"),
        (3, Requirement::Payload, "v2: entry = local 0\nv3: int = entry_value 12 v2"),
    ] {
        assert_eq!(broken(&format!("{head}{lines}")), (NodeId(node), requirement), "{lines}");
    }
    let failed = format!("{head}v2: entry = fail host\nv3: int = entry_value 12 v2\nroot v3");
    verify(&parse(&failed).unwrap(), &fields()).unwrap();
}

#[test]
fn operands_that_are_alternatives_are_alike() {
    let text = "v0: value = field 11\nv1: bool = field 0\nv2: value = coalesce v0, v1\n";
    assert_eq!(broken(text), (NodeId(2), Requirement::OperandType));
}

#[test]
fn constants_are_well_formed_and_where_they_belong() {
    for line in [
        "value = const timestamp 0 1000000000",
        "value = const cidr \"10.0.0.0/33\"",
        "value = const cidr \"::/129\"",
        "value = const {1.5: 1}",
        "value = const {1: 1, 1u: 2}",
        "value = const [{\"a\": searcher \"b\"}]",
        "str = const b\"a\"",
        "maybe = const null",
        "raw = const \"a\"",
        "value = const str_set [\"a\"]",
        "maybe = header 12 header_name \"X-Team\"",
        "maybe = header 12 \"x-team\"",
    ] {
        assert_eq!(broken(&format!("v0: {line}")), (NodeId(0), Requirement::Constant), "{line}");
    }
    for line in [
        "contains_const regex \"a\" v0",
        "matches_const searcher \"a\" v0",
        "matches_const byte_regex \"a\" v0",
        "wildcard_const searcher \"a\" v0",
        "wildcard_const wildcard [] v0",
        "wildcard_const wildcard [\"\", \"A\"] v0",
        "in_str_set int_set [1] v0",
        "in_str_set str_set [\"b\", \"a\"] v0",
        "in_str_set str_set [\"a\", \"a\"] v0",
    ] {
        let text = format!("v0: str = field 4\nv1: bool = {line}");
        assert_eq!(broken(&text), (NodeId(1), Requirement::Constant), "{line}");
    }
    let text = "v0: bytes = field 5\nv1: bool = matches_const regex \"a\" v0";
    assert_eq!(broken(text), (NodeId(1), Requirement::Constant));
    let text = "v0: int = field 1\nv1: bool = in_int_set int_set [2, 1] v0";
    assert_eq!(broken(text), (NodeId(1), Requirement::Constant));
    let text = "v0: maybe = header 4 header_name \"x\"";
    assert_eq!(broken(text), (NodeId(0), Requirement::Field));
}

#[test]
fn a_constant_that_nests_too_deep() {
    let mut constant = Constant::Null;
    for _ in 0..MAX_CONSTANT_DEPTH {
        constant = Constant::List([constant].into());
    }
    let mut graph = Graph::new();
    let id = graph.constant(constant);
    graph.add(Op::Const(id), Ty::Value, &[], Origin::default());
    assert_eq!(verify(&graph, &[]).unwrap_err().requirement, Requirement::Constant);
}

#[test]
fn payloads_of_another_graph() {
    let mut other = Graph::new();
    let id = other.constant(Constant::Null);
    for op in
        [Op::Const(id), Op::Dispatch { function: 0, pure: true }, Op::Invoke { function: 0, form: CallForm::Framed }]
    {
        let mut graph = Graph::new();
        graph.add(op, Ty::Value, &[], Origin::default());
        assert_eq!(verify(&graph, &[]).unwrap_err().requirement, Requirement::Payload);
    }
}

#[test]
fn typed_calls() {
    let head = "v0: raw = field 6\nv1: str = field 4\nv2: value = invoke framed \"f\" v1\n";
    for (line, requirement) in [
        ("v3: int = invoke framed \"f\" v0", Requirement::OperandType),
        ("v3: raw = invoke framed \"f\" v1", Requirement::ResultType),
        ("v3: value = invoke total \"f\" v1", Requirement::ResultType),
        ("v3: timestamp = invoke partial \"f\" v1", Requirement::ResultType),
    ] {
        assert_eq!(broken(&format!("{head}{line}")), (NodeId(3), requirement), "{line}");
    }
}

#[test]
fn raw_text_meets_only_constants_without_replacement_characters() {
    let head = "v0: raw = field 6\nv1: str = field 4\nv2: str = const \"\\u{fffd}\"\nv3: str = const \"a\"\n";
    for line in [
        "cmp.eq v0, v1",
        "cmp.ne v0, v2",
        "starts_with v0, v2",
        "ends_with v0, v1",
        "contains_const searcher \"a\\u{fffd}\" v0",
        "in_str_set str_set [\"a\", \"\\u{fffd}\"] v0",
        "contains_const searcher b\"a\\xff\" v0",
        "wildcard_const wildcard [\"\", \"\\u{fffd}\"] v0",
        "wildcard_const wildcard [b\"\\xff\", \"\"] v0",
        "in_str_set str_set [\"a\", b\"\\xff\"] v0",
    ] {
        assert_eq!(broken(&format!("{head}v4: bool = {line}")), (NodeId(4), Requirement::Raw), "{line}");
    }
    for line in ["cmp.lt v0, v3", "cmp.eq v3, v0", "cmp.eq v0, v0", "matches_const regex \"a\" v0"] {
        let (node, requirement) = broken(&format!("{head}v4: bool = {line}"));
        assert!(matches!(requirement, Requirement::OperandType | Requirement::Raw), "{line}: {requirement:?}");
        assert_eq!(node, NodeId(4));
    }
    verify(&parse(&format!("{head}v4: bool = cmp.eq v0, v3")).unwrap(), &fields()).unwrap();
}

#[test]
fn variables_are_bound_with_their_type() {
    let head = "v0: value = field 11\nv1: int = field 1\nv2: int = local 0\nv3: value = local 0\nv4: value = local 1\n";
    for (node, requirement, lines) in [
        (2, Requirement::Root, "root v2"),
        (7, Requirement::Root, "v5: bool = cmp.eq v2, v1\nv6: bool = not v5\nv7: bool = and v5, v6\nroot v7"),
        (5, Requirement::LocalType, "v5: value = let 0 v1, v3"),
        (5, Requirement::LocalType, "v5: int = let 0 v0, v2"),
        (6, Requirement::LocalType, "v5: bool = cmp.eq v2, v1\nv6: bool = fold.all 0 v0, v5"),
        // Not bound: the second variable of a fold with one, a binder's own first operand, another path.
        (5, Requirement::Root, "v5: value = fold.map 0 v0, v4\nroot v5"),
        (5, Requirement::Root, "v5: value = fold.map 0 v3, v0\nroot v5"),
        (6, Requirement::Root, "v5: value = fold.map 0 v0, v3\nv6: value = list v5, v3\nroot v6"),
        (6, Requirement::Level, "v5: value = fold.map 0 v0, v3\nv6: value = fold.map 0 v0, v5"),
        (6, Requirement::Level, "v5: value = fold.map 1 v0, v4\nv6: value = fold.map 0 pairs v0, v5"),
        (5, Requirement::Level, "v5: value = fold.map 1023 pairs v0, v0"),
        // A member of the elements of another list, of what is no element, and one that may be absent.
        (
            8,
            Requirement::LocalType,
            "v5: record = local 0\nv6: str = member 13 0 v5\nv7: seq = elements 12\nv8: str = let 0 v7, v6",
        ),
        (
            9,
            Requirement::LocalType,
            "v5: record = local 0\nv6: str = member 13 0 v5\nv7: seq = elements 12\nv8: bool = cmp.eq v6, v6\nv9: bool = fold.all 0 v7, v8",
        ),
        (7, Requirement::LocalType, "v5: record = local 0\nv6: str = member 13 0 v5\nv7: str = let 0 v0, v6"),
        (6, Requirement::Field, "v5: record = local 0\nv6: int = member 13 2 v5"),
        (6, Requirement::Field, "v5: record = local 0\nv6: int = member 12 0 v5"),
        (6, Requirement::Payload, "v5: record = fail host\nv6: int = member 13 1 v5"),
        (7, Requirement::Payload, "v5: seq = elements 14\nv6: record = seq_at v5, v1\nv7: str = member 13 0 v6"),
        (6, Requirement::ResultType, "v5: seq = elements 12\nv6: record = seq_at v5, v1"),
        // Values that are not read.
        (6, Requirement::OperandType, "v5: cursor = cursor 15\nv6: value = fold.map 0 pairs v5, v0"),
    ] {
        assert_eq!(broken(&format!("{head}{lines}")), (NodeId(node), requirement), "{lines}");
    }
    for lines in [
        "v5: seq = elements 14\nv6: record = seq_at v5, v1\nv7: str = member 14 0 v6\nroot v7",
        "v5: value = fold.map 0 pairs v0, v4\nroot v5",
        "v5: cursor = cursor 12\nv6: value = fold.map 0 pairs v5, v0\nroot v6",
        "v5: cursor = cursor 15\nv6: value = fold.map 0 v5, v0\nroot v6",
        "v5: value = fold.map 1 v3, v4\nv6: value = let 0 v0, v5\nroot v6",
        // A shared use, under two binders.
        "v5: value = fold.map 0 v0, v3\nv6: value = let 0 v0, v3\nv7: value = list v5, v6\nroot v7",
        // One binder after the other, in its range.
        "v5: value = fold.map 0 v0, v3\nv6: value = fold.map 0 v5, v3\nroot v6",
    ] {
        let text = format!("{head}{lines}");
        verify(&parse(&text).unwrap(), &fields()).unwrap_or_else(|violation| panic!("{violation}\n{text}"));
    }
}

#[test]
fn roots_are_nodes() {
    assert_eq!(broken("root v0"), (NodeId(0), Requirement::Root));
}
