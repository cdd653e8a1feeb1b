//! Passes keep graphs valid and their roots' values, and each does what it is for.

use crate::common::{ALL_OPS, Random, field_of, fields, mutated};
use crate::evaluate::{Host, Val, evaluate};
use crate::generate::{SCALARS, random_constant, random_graph, random_scalar_graph};
use celero_ir::passes::{Evaluator, Options, Pattern, TextTest, run};
use celero_ir::{Constant, ErrorKind, Graph, Helper, Wildcard, parse, verify};

/// A library of two functions; patterns are valid when they hold no parenthesis, match as plain text, and are
/// decided by their length in different ways.
struct Library;

impl Evaluator for Library {
    fn call(&self, helper: Helper, args: &[Constant]) -> Option<Result<Constant, ErrorKind>> {
        match (helper, args) {
            (Helper::string_add, [Constant::Str(a), Constant::Str(b)]) => {
                Some(Ok(Constant::Str(format!("{a}{b}").into())))
            }
            (Helper::index_list, [Constant::List(_), _]) => Some(Err(ErrorKind::InvalidArgument)),
            // Of the wrong type, which must not be believed.
            (Helper::size, _) => Some(Ok(Constant::Null)),
            _ => None,
        }
    }

    fn dispatch(&self, function: &str, args: &[Constant]) -> Option<Result<Constant, ErrorKind>> {
        (function == "same").then(|| args.first().cloned().ok_or(ErrorKind::NoSuchOverload))
    }

    fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        Some(text.contains(pattern))
    }

    fn byte_matches(&self, pattern: &str, bytes: &[u8]) -> Option<bool> {
        Some(bytes.starts_with(pattern.as_bytes()))
    }

    fn wildcard_matches(&self, wildcard: &Wildcard, bytes: &[u8]) -> bool {
        crate::evaluate::wildcard_matches(wildcard, bytes)
    }

    fn is_selection(&self, function: &str) -> bool {
        function == "get"
    }

    fn pattern(&self, pattern: &str) -> Option<Pattern> {
        let text = || pattern.into();
        match pattern.len() % 3 {
            _ if pattern.contains('(') => None,
            0 => Some(Pattern::Engine),
            1 => Some(Pattern::AnyOf(vec![TextTest::Contains(text())])),
            _ => Some(Pattern::AnyOf(vec![
                TextTest::Is(text()),
                TextTest::StartsWith(text()),
                TextTest::Contains(text()),
            ])),
        }
    }
}

pub(crate) const NONE: Options = Options::NONE;
const EACH: [Options; 9] = [
    Options { fold: true, ..NONE },
    Options { canonical: true, ..NONE },
    Options { sets: true, ..NONE },
    Options { precompute: true, ..NONE },
    Options { raw: true, ..NONE },
    Options { project: true, ..NONE },
    Options { messages: true, ..NONE },
    Options::ALL,
    NONE,
];

fn host(random: &mut Random) -> Host {
    let mut host = Host::new();
    for &ty in SCALARS {
        host.insert(field_of(ty), Ok(Val::Constant(random_constant(random, ty))));
    }
    let raws: [&[u8]; 6] = [b"", b"a", b"ab", b"\xff", b"a\xe2\x82b", "é".as_bytes()];
    host.insert(field_of(celero_ir::Ty::Raw), Ok(Val::Raw(random.pick(&raws).to_vec())));
    let header = (random.below(3) > 0).then(|| random.pick(&raws).to_vec());
    host.insert(field_of(celero_ir::Ty::Maybe), Ok(Val::Maybe(header.clone())));
    host.insert(12, Ok(Val::Maybe(header)));
    let value = random_constant(random, celero_ir::Ty::Value);
    host.insert(field_of(celero_ir::Ty::Value), Ok(Val::Constant(value)));
    for (field, value) in &mut host {
        if field % 2 == 1 && random.below(4) == 0 {
            *value = Err(ErrorKind::NoSuchKey);
        }
    }
    host
}

#[test]
fn values_and_errors_stay() {
    let (mut values, mut errors, mut smaller) = (0, 0, 0);
    for seed in 0..500 {
        let graph = random_scalar_graph(seed, 40);
        let random = &mut Random::new(seed);
        let hosts: Vec<_> = (0..4).map(|_| host(random)).collect();
        for options in EACH {
            let passed = run(&graph, &options, &Library);
            smaller += usize::from(passed.len() < graph.len());
            assert_eq!(passed.roots().len(), graph.roots().len());
            for host in &hosts {
                for (&before, &after) in graph.roots().iter().zip(passed.roots()) {
                    let wanted = evaluate(&graph, before, host);
                    let found = evaluate(&passed, after, host);
                    if wanted == Err(ErrorKind::OutOfBudget) {
                        // A pass may save budget.
                        continue;
                    }
                    assert_eq!(
                        format!("{wanted:?}"),
                        format!("{found:?}"),
                        "seed {seed}, {options:?}, {before} became {after}, {host:?}\n{graph}\n{passed}"
                    );
                    values += usize::from(wanted.is_ok());
                    errors += usize::from(wanted.is_err());
                }
            }
        }
    }
    assert!(values > 5_000 && errors > 5_000 && smaller > 300, "{values} {errors} {smaller}");
}

#[test]
fn graphs_stay_valid_and_passes_settle() {
    for seed in 0..120 {
        let graph = random_graph(seed, 60);
        for options in EACH {
            let passed = run(&graph, &options, &Library);
            verify(&passed, &fields())
                .unwrap_or_else(|violation| panic!("seed {seed}, {options:?}: {violation}\n{graph}\n{passed}"));
            assert_eq!(parse(&passed.to_string()).unwrap(), passed);
            assert_eq!(run(&passed, &options, &Library), passed, "seed {seed}, {options:?}");
        }
    }
}

#[test]
fn no_graph_makes_a_pass_panic() {
    let mut random = Random::new(11);
    let (mut valid, mut invalid) = (0, 0);
    for _ in 0..8000 {
        let Ok(graph) = parse(&mutated(ALL_OPS, &mut random)) else { continue };
        let passed = run(&graph, &Options::ALL, &Library);
        if verify(&graph, &fields()).is_ok() {
            valid += 1;
            verify(&passed, &fields()).unwrap();
        } else {
            invalid += 1;
        }
    }
    assert!(valid > 100 && invalid > 100, "{valid} {invalid}");
}

#[test]
fn without_passes_only_dead_nodes_go() {
    let graph = parse(ALL_OPS).unwrap();
    let passed = run(&graph, &NONE, &Library);
    verify(&passed, &fields()).unwrap();
    assert!(passed.len() < graph.len());
    assert_eq!(run(&passed, &NONE, &Library), passed);
}

const HEAD: &str = "v0: bool = field 0\nv1: int = field 1\nv2: double = field 3\nv3: str = field 4\nv4: raw = field 6\n\
    v5: value = field 11\nv6: bool = const true\nv7: bool = const false\nv8: bool = fail host\nv9: value = dispatch impure \"now\"\n\
    v10: bool = unbox bool v9\nv11: int = const 1\nv12: int = const 0\nv13: str = decode v4\nv14: uint = field 2\n";

/// What the node that `lines` end with becomes, as nodes without numbers, the operands put in their places.
pub(crate) fn becomes(options: Options, lines: &str) -> String {
    let last = lines.lines().last().unwrap().split(':').next().unwrap();
    let graph = parse(&format!("{HEAD}{lines}\nroot {last}")).unwrap();
    verify(&graph, &fields()).unwrap();
    let passed = run(&graph, &options, &Library);
    verify(&passed, &fields()).unwrap();
    show(&passed)
}

fn show(graph: &Graph) -> String {
    let mut shown: Vec<String> = Vec::new();
    for line in graph.to_string().lines().filter(|line| line.starts_with('v')) {
        let mut text = line.split(" = ").nth(1).unwrap().to_owned();
        for (index, operand) in shown.iter().enumerate().rev() {
            text = text.replace(&format!("v{index}"), &format!("({operand})"));
        }
        shown.push(text);
    }
    shown.swap_remove(graph.roots()[0].0 as usize)
}

#[test]
fn folding() {
    let fold = Options { fold: true, ..NONE };
    for (lines, wanted) in [
        ("v15: int = arith.add v11, v11", "const 2"),
        ("v15: int = arith.div v11, v12", "fail divide_by_zero"),
        ("v15: int = coalesce v11, v1", "const 1"),
        ("v15: int = fail host\nv16: int = coalesce v15, v1, v11, v1", "coalesce (field 1), (const 1)"),
        ("v15: int = fail host\nv16: int = coalesce v15, v1", "coalesce (fail host), (field 1)"),
        (
            "v15: int = fail host\nv16: int = fail overflow\nv17: int = coalesce v15, v1, v16",
            "coalesce (field 1), (fail overflow)",
        ),
        ("v15: int = fail out_of_budget\nv16: int = coalesce v15, v1", "fail out_of_budget"),
        ("v15: value = const null\nv16: value = coalesce v15, v5, v15", "field 11"),
        ("v15: value = const null\nv16: value = coalesce v15, v15", "const null"),
        ("v15: value = const null\nv16: value = fail host\nv17: value = coalesce v16, v15", "fail host"),
        ("v15: value = const null\nv16: value = default v5, v15", "default (field 11), (const null)"),
        ("v15: value = const null\nv16: value = default v15, v5", "field 11"),
        ("v15: int = fail no_such_key\nv16: int = default v15, v1", "field 1"),
        ("v15: int = fail host\nv16: int = default v15, v1", "fail host"),
        ("v15: int = fail host\nv16: int = default v1, v15", "default (field 1), (fail host)"),
        ("v15: value = box v1\nv16: value = default v5, v15, v5", "default (field 11), (box (field 1)), (field 11)"),
        (
            "v15: value = box v14\nv16: value = const 1\nv17: value = default v5, v16, v5",
            "default (field 11), (const 1)",
        ),
        ("v15: int = arith.rem v11, v12", "fail modulus_by_zero"),
        ("v15: int = const -9223372036854775808\nv16: int = neg v15", "fail overflow"),
        // The specification leaves this one open.
        (
            "v15: int = const -9223372036854775808\nv16: int = const -1\nv17: int = arith.rem v15, v16",
            "arith.rem (const -9223372036854775808), (const -1)",
        ),
        ("v15: bool = and v0, v8, v7", "const false"),
        ("v15: bool = and v8, v6, v0", "and (fail host), (field 0)"),
        ("v15: bool = and v0, v6", "field 0"),
        ("v15: bool = or v0, v8, v6", "const true"),
        ("v15: bool = or v7, v7", "const false"),
        // What is not pure is evaluated, unless something before decides.
        ("v15: bool = and v0, v10, v7", "and (unbox bool (dispatch impure \"now\")), (const false)"),
        ("v15: bool = and v7, v10", "const false"),
        ("v15: int = cond v6, v1, v11", "field 1"),
        ("v15: bool = cond v0, v7, v6", "not (field 0)"),
        ("v15: bool = cond v8, v7, v6", "fail host"),
        ("v15: double = const nan 7ff8000000000000\nv16: bool = cmp.eq v15, v15", "const false"),
        ("v15: double = const nan 7ff8000000000000\nv16: bool = cmp.ne v15, v15", "const true"),
        ("v15: double = const nan 7ff8000000000000\nv16: bool = cmp.ge v15, v15", "const false"),
        ("v15: double = const 0.0\nv16: double = neg v15", "const -0.0"),
        ("v15: double = const 0.0\nv16: double = const -0.0\nv17: bool = cmp.eq v15, v16", "const true"),
        ("v15: bool = cmp.eq v2, v2", "cmp.eq (field 3), (field 3)"),
        // The first operand's error comes first.
        ("v15: int = fail host\nv16: int = arith.add v15, v1", "fail host"),
        ("v15: int = fail host\nv16: int = arith.add v11, v15", "fail host"),
        ("v15: int = fail host\nv16: int = arith.add v1, v15", "arith.add (field 1), (fail host)"),
        ("v15: value = box v1\nv16: int = unbox int v15", "field 1"),
        ("v15: value = box v11\nv16: uint = unbox uint v15", "fail no_such_overload"),
        ("v15: value = box v1\nv16: uint = unbox uint v15", "unbox uint (box (field 1))"),
        ("v15: value = box v11\nv16: value = list v15, v15", "const [1, 1]"),
        ("v15: value = const 1\nv16: value = const 1u\nv17: value = map v15, v15, v16, v15", "fail duplicate_key"),
        ("v15: value = const 1.5\nv16: value = map v15, v15", "fail no_such_overload"),
        ("v15: str = const \"a\"\nv16: str = call string_add v15, v15", "const \"aa\""),
        ("v15: str = const \"a\"\nv16: value = box v15\nv17: value = dispatch pure \"same\" v16", "const \"a\""),
        ("v15: str = const \"a\"\nv16: str = invoke total \"same\" v15", "const \"a\""),
        ("v15: str = const \"a\"\nv16: int = invoke framed \"same\" v15", "invoke framed \"same\" (const \"a\")"),
        ("v15: str = const \"a\"\nv16: str = invoke impure \"same\" v15", "invoke impure \"same\" (const \"a\")"),
        ("v15: value = const []\nv16: value = call index_list v15, v11", "fail invalid_argument"),
        ("v15: value = const []\nv16: int = call size v15", "call size (const [])"),
        ("v15: value = const []\nv16: bool = fold.all 0 v15, v8", "const true"),
        ("v15: value = const {}\nv16: value = fold.map 0 v15, v5", "const []"),
        ("v15: value = const 1\nv16: bool = fold.all 0 v15, v8", "fail no_such_overload"),
        ("v15: str = const \"xay\"\nv16: bool = matches_const regex \"a\" v15", "const true"),
        ("v15: bytes = const b\"A\\xff\"\nv16: bool = wildcard_const wildcard [\"a\", \"\"] v15", "const true"),
        ("v15: str = const \"Ab\"\nv16: bool = wildcard_const wildcard strict [\"a\", \"\"] v15", "const false"),
        ("v15: bytes = const b\"a\\xff\"\nv16: bool = matches_const byte_regex \"a\" v15", "const true"),
        ("v15: bytes = const b\"x\\xc3y\"\nv16: bool = contains_const searcher b\"\\xc3\" v15", "const true"),
        ("v15: str = const \"x\u{e9}y\"\nv16: bool = contains_const searcher b\"\\xa9\" v15", "const true"),
        ("v15: bytes = const b\"x\\xc3y\"\nv16: bool = contains_const searcher \"\u{c3}\" v15", "const false"),
        ("v15: bytes = const b\"\\xff\"\nv16: bool = in_str_set str_set [\"a\", b\"\\xff\"] v15", "const true"),
        (
            "v15: bytes = const b\"\\xffa\"\nv16: bytes = const b\"\\xff\"\nv17: bool = starts_with v15, v16",
            "const true",
        ),
        (
            "v15: bytes = const b\"\\xffa\"\nv16: bytes = const b\"\\xff\"\nv17: bool = ends_with v15, v16",
            "const false",
        ),
    ] {
        assert_eq!(becomes(fold, lines), wanted, "{lines}");
    }
}

#[test]
fn folding_does_not_grow_without_bound() {
    let mut text = "v0: str = const \"0123456789abcdef\"\n".to_owned();
    for id in 1..60 {
        let before = id - 1;
        text += &format!("v{id}: str = call string_add v{before}, v{before}\n");
    }
    let graph = parse(&(text + "root v59")).unwrap();
    assert!(run(&graph, &Options::ALL, &Library).to_string().len() < 1 << 18);
}

#[test]
fn canonical_forms() {
    let canonical = Options { canonical: true, ..NONE };
    for (lines, wanted) in [
        ("v15: bool = not v0\nv16: bool = not v15", "field 0"),
        ("v15: bool = cmp.lt v1, v11\nv16: bool = not v15", "cmp.ge (field 1), (const 1)"),
        ("v15: bool = cmp.lt v2, v2\nv16: bool = not v15", "not (cmp.lt (field 3), (field 3))"),
        ("v15: bool = cmp.eq v2, v2\nv16: bool = not v15", "cmp.ne (field 3), (field 3)"),
        ("v15: bool = cmp.lt v11, v1", "cmp.gt (field 1), (const 1)"),
        ("v15: int = arith.add v11, v1", "arith.add (field 1), (const 1)"),
        ("v15: int = arith.sub v11, v1", "arith.sub (const 1), (field 1)"),
        ("v15: bool = and v0, v8\nv16: bool = and v15, v6, v0", "and (field 0), (fail host), (const true)"),
        ("v15: bool = or v0, v8\nv16: bool = and v15, v0", "and (or (field 0), (fail host)), (field 0)"),
        ("v15: bool = or v0, v0", "field 0"),
        (
            "v15: bool = and v0, v8\nv16: bool = not v15\nv17: bool = and v15, v16",
            "and (and (field 0), (fail host)), (not (and (field 0), (fail host)))",
        ),
    ] {
        assert_eq!(becomes(canonical, lines), wanted, "{lines}");
    }
}

#[test]
fn comparisons_become_sets() {
    let sets = Options { sets: true, ..NONE };
    let texts = "v15: str = const \"b\"\nv16: str = const \"a\"\nv17: bool = cmp.eq v3, v15\nv18: bool = cmp.eq v3, v16\n\
        v19: str = const \"c\"\nv20: bool = cmp.eq v3, v19\n";
    for (lines, wanted) in [
        ("v21: bool = or v17, v18, v20", "in_str_set str_set [\"a\", \"b\", \"c\"] (field 4)"),
        ("v21: bool = or v17, v0, v18, v20", "or (in_str_set str_set [\"a\", \"b\", \"c\"] (field 4)), (field 0)"),
        ("v21: bool = or v17, v18", "or (cmp.eq (field 4), (const \"b\")), (cmp.eq (field 4), (const \"a\"))"),
        (
            "v21: bool = in_str_set str_set [\"x\", \"y\"] v3\nv22: bool = or v21, v17",
            "in_str_set str_set [\"b\", \"x\", \"y\"] (field 4)",
        ),
    ] {
        assert_eq!(becomes(sets, &format!("{texts}{lines}")), wanted, "{lines}");
    }
    for (lines, wanted) in [
        (
            "v15: int = const 5\nv16: bool = cmp.ne v1, v11\nv17: bool = cmp.ne v1, v12\nv18: bool = cmp.ne v1, v15\n\
             v19: bool = and v0, v16, v17, v18",
            "and (field 0), (not (in_int_set int_set [0, 1, 5] (field 1)))",
        ),
        (
            "v15: value = box v1\nv16: value = const [3, 1, 3]\nv17: bool = call in_container v15, v16",
            "in_int_set int_set [1, 3] (field 1)",
        ),
        (
            "v15: value = box v3\nv16: value = const [\"a\"]\nv17: bool = call in_container v15, v16",
            "cmp.eq (field 4), (const \"a\")",
        ),
        (
            "v15: value = box v1\nv16: value = const [3, 1u]\nv17: bool = call in_container v15, v16",
            "call in_container (box (field 1)), (const [3, 1u])",
        ),
        (
            "v15: value = box v14\nv16: value = const [3, 1]\nv17: bool = call in_container v15, v16",
            "call in_container (box (field 2)), (const [3, 1])",
        ),
        // The element's error is the answer then.
        (
            "v15: value = box v1\nv16: value = const []\nv17: bool = call in_container v15, v16",
            "call in_container (box (field 1)), (const [])",
        ),
        (
            "v15: value = box v13\nv16: value = const []\nv17: bool = call in_container v15, v16",
            "call in_container (box (decode (field 6))), (const [])",
        ),
        ("v15: value = box v11\nv16: value = const []\nv17: bool = call in_container v15, v16", "const false"),
        (
            "v15: bytes = as_bytes v4\nv16: value = box v15\nv17: value = const [b\"\\xff\", b\"a\"]\n\
             v18: bool = call in_container v16, v17",
            "in_str_set str_set [\"a\", b\"\\xff\"] (as_bytes (field 6))",
        ),
        (
            "v15: bytes = as_bytes v3\nv16: value = box v15\nv17: value = const [\"a\", b\"b\"]\n\
             v18: bool = call in_container v16, v17",
            "call in_container (box (as_bytes (field 4))), (const [\"a\", b\"b\"])",
        ),
    ] {
        assert_eq!(becomes(sets, lines), wanted, "{lines}");
    }
}

#[test]
fn constants_are_prepared() {
    let precompute = Options { precompute: true, ..NONE };
    let head = "v15: str = const \"a\"\nv16: str = const \"(\"\n";
    for (line, wanted) in [
        ("v17: bool = call string_contains v3, v15", "contains_const searcher \"a\" (field 4)"),
        ("v17: bool = call string_contains v15, v3", "call string_contains (const \"a\"), (field 4)"),
        ("v17: bool = call string_matches v3, v15", "contains_const searcher \"a\" (field 4)"),
        (
            "v17: str = const \"ab\"\nv18: bool = call string_matches v3, v17",
            "or (cmp.eq (field 4), (const \"ab\")), (starts_with (field 4), (const \"ab\")), \
             (contains_const searcher \"ab\" (field 4))",
        ),
        ("v17: str = const \"abc\"\nv18: bool = call string_matches v3, v17", "matches_const regex \"abc\" (field 4)"),
        ("v17: bool = call string_matches v3, v16", "call string_matches (field 4), (const \"(\")"),
    ] {
        assert_eq!(becomes(precompute, &format!("{head}{line}")), wanted, "{line}");
    }
}

#[test]
fn documents_are_projected() {
    let project = Options { project: true, ..NONE };
    let head = "v15: bytes = const b\"{}\"\nv16: value = call json_parse v15\nv17: str = const \"a\"\nv18: str = const \"b\"\n";
    let parsed = "call json_parse (const b\"{}\")";
    let projected = |parts: &str| format!("project projection {parts} (const b\"{{}}\")");
    let a = "v19: value = call select v16, v17\n";
    for (lines, parts) in [
        ("v19: bool = call has v16, v17", r#"{"a": {}}"#),
        (&format!("{a}v20: bool = call has v19, v18"), r#"{"a": {"b": {}}}"#),
        (
            &format!(
                "{a}v20: value = call select v19, v18\nv21: int = unbox int v19\nv22: value = box v21\nv23: value = list v20, v22"
            ),
            r#"{"a": {"b": *}}"#,
        ),
        ("v19: int = const 2\nv20: value = call index_list v16, v19", "{2: *}"),
        ("v19: value = const 0\nv20: value = dispatch pure \"get\" v16, v19", "{0: *}"),
        (&format!("{a}v20: value = call select v16, v18\nv21: value = list v19, v20"), r#"{"a": *, "b": *}"#),
        ("v19: value = local 0\nv20: value = call select v19, v17\nv21: value = let 0 v16, v20", r#"{"a": *}"#),
    ] {
        let shown = becomes(project, &format!("{head}{lines}"));
        assert!(shown.contains(&projected(parts)) && !shown.contains(parsed), "{lines}: {shown}");
    }
    let reached = |parts: &str| format!("reach 0 (find projection {parts} (const b\"{{}}\"))");
    for (lines, way) in [
        ("v19: value = call select v16, v17", reached(r#"{"a": *}"#)),
        (&format!("{a}v20: value = call select v19, v18"), format!("reach 1 ({})", reached(r#"{"a": {"b": *}}"#))),
        (&format!("{a}v20: int = unbox int v19"), reached(r#"{"a": {}}"#)),
        (&format!("{a}v20: value = const 1\nv21: bool = call value_equal v19, v20"), reached(r#"{"a": {}}"#)),
        (&format!("{a}v20: value = const [1]\nv21: bool = call value_equal v19, v20"), reached(r#"{"a": *}"#)),
    ] {
        let shown = becomes(project, &format!("{head}{lines}"));
        assert!(shown.contains(&way) && !shown.contains("select"), "{lines}: {shown}");
    }
    // `v22` is unused once `or` is folded.
    let unused = "v20: value = const 1\nv21: bool = call value_equal v19, v20\nv22: value = call select v16, v18\n\
        v23: bool = call value_equal v22, v20\nv24: bool = or v23, v6\nv25: bool = and v21, v24";
    let shown = becomes(Options { fold: true, ..project }, &format!("{head}{a}{unused}"));
    assert!(shown.contains(&reached(r#"{"a": {}}"#)), "{shown}");
    for lines in [
        "v19: value = list v16",
        "v19: int = call size v16",
        "v19: value = box v17\nv20: bool = call in_container v19, v16",
        "v19: value = dispatch pure \"other\" v16, v16",
        "v19: value = dispatch impure \"get\" v16, v16",
        "v19: int = const 256\nv20: value = call index_list v16, v19",
        "v19: int = const -1\nv20: value = call index_list v16, v19",
        "v19: value = call select v16, v17\nv20: value = list v19, v16",
        "v19: value = call select v16, v3",
    ] {
        let shown = becomes(project, &format!("{head}{lines}"));
        assert!(shown.contains(parsed), "{lines}: {shown}");
    }
}

#[test]
fn raw_text_is_not_decoded() {
    let raw = Options { raw: true, ..NONE };
    let head = "v15: str = const \"a\"\nv16: str = const \"\\u{fffd}\"\n";
    for (line, wanted) in [
        ("v17: bool = cmp.eq v13, v15", "cmp.eq (field 6), (const \"a\")"),
        ("v17: bool = cmp.ne v13, v15", "cmp.ne (field 6), (const \"a\")"),
        ("v17: bool = starts_with v13, v15", "starts_with (field 6), (const \"a\")"),
        ("v17: bool = ends_with v13, v15", "ends_with (field 6), (const \"a\")"),
        ("v17: bool = contains_const searcher \"a\" v13", "contains_const searcher \"a\" (field 6)"),
        ("v17: bool = in_str_set str_set [\"a\"] v13", "in_str_set str_set [\"a\"] (field 6)"),
        ("v17: bool = wildcard_const wildcard [\"a\", \"\"] v13", "wildcard_const wildcard [\"a\", \"\"] (field 6)"),
        (
            "v17: bool = wildcard_const wildcard [\"\", b\"\\xff\"] v13",
            "wildcard_const wildcard [\"\", b\"\\xff\"] (decode (field 6))",
        ),
        ("v17: bool = cmp.eq v13, v16", "cmp.eq (decode (field 6)), (const \"\\u{fffd}\")"),
        ("v17: bool = cmp.lt v13, v15", "cmp.lt (decode (field 6)), (const \"a\")"),
        ("v17: bool = cmp.eq v13, v3", "cmp.eq (decode (field 6)), (field 4)"),
        ("v17: bool = starts_with v15, v13", "starts_with (const \"a\"), (decode (field 6))"),
        (
            "v17: bool = contains_const searcher \"\\u{fffd}\" v13",
            "contains_const searcher \"\\u{fffd}\" (decode (field 6))",
        ),
        ("v17: bool = matches_const regex \"a\" v13", "matches_const regex \"a\" (decode (field 6))"),
        ("v17: bool = contains_const searcher b\"\\xff\" v13", "contains_const searcher b\"\\xff\" (decode (field 6))"),
        // The bytes of decoded text are not those of the text that is decoded.
        ("v17: bytes = as_bytes v13", "as_bytes (decode (field 6))"),
        (
            "v17: bytes = as_bytes v13\nv18: bool = contains_const searcher \"a\" v17",
            "contains_const searcher \"a\" (as_bytes (decode (field 6)))",
        ),
    ] {
        assert_eq!(becomes(raw, &format!("{head}{line}")), wanted, "{line}");
    }
}

#[test]
fn passes_work_together() {
    let lines = "v15: str = const \"a\"\nv16: str = const \"b\"\nv17: str = const \"c\"\nv18: bool = cmp.eq v15, v13\n\
        v19: bool = cmp.eq v16, v13\nv20: bool = cmp.eq v17, v13\nv21: bool = or v18, v19\nv22: bool = or v21, v7, v20";
    assert_eq!(becomes(Options::ALL, lines), "in_str_set str_set [\"a\", \"b\", \"c\"] (field 6)");
}
