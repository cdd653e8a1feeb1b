//! The text form reads back as the graph it was printed from, and bad text is refused with its line.

use crate::common::{ALL_OPS, Random, fields, mutated};
use crate::generate::random_graph;
use celero_ir::{Constant, Graph, Op, Origin, Parameter, ParameterKind, Projection, Step, Ty, Wildcard, parse, verify};
use std::collections::HashSet;

#[test]
fn every_operation_reads_back() {
    let graph = parse(ALL_OPS).unwrap();
    verify(&graph, &fields()).unwrap();
    let text = graph.to_string();
    assert_eq!(parse(&text).unwrap(), graph);
    assert_eq!(parse(&text).unwrap().to_string(), text);
    let names: HashSet<_> = graph.ids().map(|id| graph.op(id).decl().name).collect();
    let missing: Vec<_> = Op::EACH.iter().map(|op| op.decl().name).filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "no line with {missing:?}");
}

#[test]
fn names_are_distinct() {
    let names: HashSet<_> = Op::EACH.iter().map(|op| op.decl().name).collect();
    assert_eq!(names.len(), Op::EACH.len());
}

#[test]
fn every_constant_reads_back() {
    let constants = [
        Constant::Null,
        Constant::Bool(true),
        Constant::Int(i64::MIN),
        Constant::Uint(u64::MAX),
        Constant::Double((-0.0f64).to_bits()),
        Constant::Double(1e300f64.to_bits()),
        Constant::Double(5e-324f64.to_bits()),
        Constant::Double(f64::INFINITY.to_bits()),
        Constant::Double(f64::NEG_INFINITY.to_bits()),
        Constant::Double(0xfff8_0000_0000_0123),
        Constant::Str("a \"quoted\" \\ line\nbreak\r\t\u{0} \u{fffd} é \u{2028}".into()),
        Constant::Bytes([0, 10, 34, 92, 65, 200, 255].into()),
        Constant::Bytes([].into()),
        Constant::Duration(-5),
        Constant::Timestamp(-62_135_596_800, 999_999_999),
        Constant::Type("list".into()),
        Constant::List([Constant::List([].into()), Constant::Int(1), Constant::Str(", ]".into())].into()),
        Constant::Map([(Constant::Str("k: }".into()), Constant::Map([].into()))].into()),
        Constant::Ip("2001:db8::1".parse().unwrap()),
        Constant::Ip("::ffff:1.2.3.4".parse().unwrap()),
        Constant::Cidr("10.0.0.0".parse().unwrap(), 8),
        Constant::Searcher(b"x"[..].into()),
        Constant::Searcher("\"\u{fffd}".as_bytes().into()),
        Constant::Searcher(b"x\xff"[..].into()),
        Constant::Regex("(?i)a\\d\"".into()),
        Constant::ByteRegex("(?i)a\\xff\"".into()),
        Constant::Wildcard(Wildcard::new([&b"*\""[..], b"\xff", b""], false)),
        Constant::Wildcard(Wildcard::new([&b"A"[..]], true)),
        Constant::StrSet([b"a"[..].into(), "é".as_bytes().into(), b"\xff\""[..].into()].into()),
        Constant::StrSet([].into()),
        Constant::IntSet([-1, 7].into()),
        Constant::HeaderName("x-team".into()),
        Constant::Projection(Projection::all()),
        Constant::Projection(Projection {
            whole: false,
            parts: [
                (
                    Step::Key("a \"".into()),
                    Projection { whole: false, parts: [(Step::Index(3), Projection::all())].into() },
                ),
                (Step::Index(0), Projection::default()),
            ]
            .into(),
        }),
    ];
    let parameters = ParameterKind::ALL.into_iter().zip(0..);
    let parameters = parameters.map(|(kind, at)| Constant::Parameter(Parameter { kind, plain: at % 2 == 0, at }));
    for constant in constants.into_iter().chain(parameters) {
        let mut graph = Graph::new();
        let id = graph.constant(constant.clone());
        graph.add(Op::Const(id), Ty::Value, &[], Origin { start: 1, end: u32::MAX });
        let text = graph.to_string();
        let read = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read.constants(), [constant], "{text}");
        assert_eq!(read, graph);
    }
}

#[test]
fn equality_sees_each_part() {
    let base = "v0: int = const 1 @1..2\nv1: value = dispatch pure \"f\"\nroot v0\n";
    let graph = parse(base).unwrap();
    for (from, to) in
        [("const 1", "const 2"), ("@1", "@0"), ("\"f\"", "\"g\""), ("root v0", "root v1"), ("int", "value")]
    {
        assert_ne!(parse(&base.replace(from, to)).unwrap(), graph, "{from} as {to}");
    }
}

#[test]
fn bad_text_is_refused_with_its_line() {
    let deep = format!("v0: value = const {}", "[".repeat(100_000));
    for (text, line, reason) in [
        ("v0: int = const 1\nv1: int = nonsense v0", 2, "no operation is called `nonsense`"),
        ("\n# note\nv1: int = const 1", 3, "nodes are numbered in order: expected v0, found v1"),
        ("v0: int = const 1\nv1: int = const 1", 2, "v1 repeats v0"),
        ("v0: number = const 1", 1, "no type is called `number`"),
        ("v0: int = const 1 2", 1, "expected the end of the line, found `2`"),
        ("v0: int = const 99999999999999999999", 1, "`99999999999999999999` is not an integer"),
        ("v0: int = const \"a", 1, "text ends without a quote"),
        ("v0: int = const \"\\q\"", 1, "unknown escape in text"),
        ("v0: bytes = const b\"\\xaé\"", 1, "expected two digits after `\\x`"),
        ("v0: bool = call no_such", 1, "no helper is called `no_such`"),
        ("v0: bool = fail sadness", 1, "no error kind is called `sadness`"),
        ("v0: bool = not v99999999999", 1, "`99999999999` is not an integer of that size"),
        (deep.as_str(), 1, "constants nest deeper than 256"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!((error.line, error.reason.as_str()), (line, reason), "{}", text.get(..40).unwrap_or(text));
    }
}

#[test]
fn any_text_is_safe_to_read() {
    let mut random = Random::new(7);
    let mut refused = 0;
    for _ in 0..3000 {
        let text = mutated(ALL_OPS, &mut random);
        match parse(&text) {
            Ok(graph) => {
                let _ = verify(&graph, &fields());
                assert_eq!(parse(&graph.to_string()).unwrap(), graph);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 1000);
}

#[test]
fn random_graphs_read_back_and_are_valid() {
    for seed in 0..300 {
        let graph = random_graph(seed, 60);
        verify(&graph, &fields()).unwrap_or_else(|violation| panic!("seed {seed}: {violation}\n{graph}"));
        assert_eq!(parse(&graph.to_string()).unwrap(), graph, "seed {seed}");
    }
}
