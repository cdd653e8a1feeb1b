//! What expressions give, as tables: the source, and its value or its error with the text that the error points at.

use super::*;
use crate::arena::{Arena, EvalResult};
use crate::value::{List, Map};
use celero_frontend::{Declarations, Limits, Type, Variable, check, parse};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// `absent: int`, never there; `req.path: string`; `claims: map(string, dyn)` of `{"sub": "me", "n": 2, "none": null}`.
#[derive(Debug)]
struct Fields;

impl Host for Fields {
    fn field<'s>(&'s self, index: u32, _arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        const CLAIMS: &[(Value<'_>, Value<'_>)] = &[
            (Value::String("n"), Value::Int(2)),
            (Value::String("none"), Value::Null),
            (Value::String("sub"), Value::String("me")),
        ];
        match index {
            0 => Ok(None),
            1 => Ok(Some(Value::String("/a"))),
            2 => Ok(Some(Value::Map(Map::Sorted(CLAIMS)))),
            _ => Err(ErrorKind::Host),
        }
    }
}

fn declarations() -> Declarations {
    let mut declarations = Declarations::new();
    let mut add =
        |name: &str, ty, optional| declarations.add_variable(Variable { optional, ..Variable::new(name, ty) });
    add("req.absent", Type::Int, true);
    add("req.path", Type::String, false);
    add("claims", Type::map(Type::String, Type::Dyn), false);
    add("broken", Type::Int, false);
    declarations.add_function("tick", false, vec![Type::Int], Type::Int);
    declarations
}

/// Adds one to its argument, and to the counter.
fn functions(calls: &Arc<AtomicU32>) -> Functions {
    let calls = Arc::clone(calls);
    let mut functions = Functions::default();
    let tick = move |_: &Cx<'_>, args: &[Value<'_>]| {
        calls.fetch_add(1, Ordering::Relaxed);
        match args {
            [Value::Int(n)] => Ok(n.saturating_add(1)),
            _ => Err(ErrorKind::NoSuchOverload),
        }
    };
    functions.add("tick", Arc::new([Type::Int]), false, Arc::new(move |cx, args| tick(cx, args).map(Value::Int)));
    functions
}

fn show(value: &Value<'_>) -> String {
    let arena = Arena::new(1 << 20);
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => format!("{u}u"),
        Value::Double(d) => format!("{d:?}"),
        Value::String(s) => format!("'{s}'"),
        Value::Type(name) => (*name).to_owned(),
        Value::Optional(None) => "none".into(),
        Value::Optional(Some(inner)) => format!("some({})", show(inner)),
        Value::List(List::Slice(elements)) => {
            format!("[{}]", elements.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Value::Map(map) => {
            let entries = (0..map.len()).map(|i| map.entry(i, &arena).unwrap().unwrap());
            let entries: Vec<_> = entries.map(|(k, v)| format!("{}: {}", show(&k), show(&v))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => format!("{other:?}"),
    }
}

fn run_with(source: &str, fuel: i64, calls: &Arc<AtomicU32>, unchecked: bool) -> String {
    let limits = Limits::default();
    let mut declarations = declarations();
    declarations.set_unchecked(unchecked);
    let ast = parse(source, &limits).unwrap_or_else(|d| panic!("{source}: {d:?}"));
    let (checked, _) = check(ast, &declarations, &limits).unwrap_or_else(|d| panic!("{source}: {d:?}"));
    let arena = Arena::new(1 << 20);
    let cx = Cx::new(fuel, &arena);
    let (mut value, constants) = (Value::Null, Constants::default());
    match interpret(&checked, &constants, &functions(calls), &Fields, &cx, &mut value) {
        Ok(()) => with_stack(limits.max_depth, || show(&value)),
        Err(error) => {
            let place = source.get(error.start as usize..error.end as usize);
            format!("{} at {}", error.kind.name(), place.unwrap())
        }
    }
}

fn run(source: &str) -> String {
    run_with(source, 1 << 20, &Arc::default(), false)
}

fn table(rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(source, expected)| (source, expected, run(source)))
        .filter(|(_, expected, got)| got != *expected)
        .map(|(source, expected, got)| format!("{source}\n  gives {got}\n  not   {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn literals_and_operators() {
    table(&[
        ("1 + 2 * 3", "7"),
        ("-(-9223372036854775808)", "overflow at -(-9223372036854775808)"),
        ("9223372036854775807 + 1", "overflow at 9223372036854775807 + 1"),
        ("1 / 0", "divide_by_zero at 1 / 0"),
        ("1 % 0", "modulus_by_zero at 1 % 0"),
        ("(1 % 0) + (1 / 0)", "modulus_by_zero at 1 % 0"),
        ("1.0 / 0.0", "inf"),
        ("dyn(1) == dyn(1u)", "true"),
        ("dyn(1) == dyn('1')", "false"),
        ("dyn(1) < 1.5", "true"),
        ("dyn('a') + 1", "no_such_overload at dyn('a') + 1"),
        ("!dyn(1)", "no_such_overload at !dyn(1)"),
        ("'é'.size()", "1"),
        ("size([1, 2])", "2"),
        ("[1, 2][1]", "2"),
        ("[1, 2][2]", "invalid_argument at [1, 2][2]"),
        ("[1, 2][dyn(1.0)]", "2"),
        ("[1, 2][dyn(0.1)]", "invalid_argument at [1, 2][dyn(0.1)]"),
        ("2 in [1, 2]", "true"),
        ("int", "int"),
        ("type([1])", "list"),
        ("type(type(1))", "type"),
        ("google.protobuf.Duration == type(duration('1s'))", "true"),
        ("optional_type == type(optional.none())", "true"),
    ]);
}

/// What is kept of an expression after its first evaluation.
fn constants(source: &str) -> Vec<String> {
    let (limits, arena) = (Limits::default(), Arena::new(1 << 20));
    let (checked, _) = check(parse(source, &limits).unwrap(), &declarations(), &limits).unwrap();
    let (constants, functions, cx) = (Constants::default(), functions(&Arc::default()), Cx::new(1 << 20, &arena));
    let kept = constants.of(&checked, &functions, &Fields, &cx);
    let kept = kept.iter().map(|(id, value)| {
        let span = checked.ast().span(*id);
        let text = source.get(span.start as usize..span.end as usize).unwrap();
        format!("{text} = {}", show(&value.as_value()))
    });
    kept.collect()
}

#[test]
fn constant_parts_are_kept() {
    assert_eq!(constants("req.path in ['/a', '/b']"), ["['/a', '/b'] = ['/a', '/b']"]);
    assert_eq!(constants("[1, 2].exists(n, n == size('abc')) || 3 in [size('ab'), 3]").len(), 3);
    assert_eq!(constants("[[int('1')], [2]] == [claims.n]"), ["[[int('1')], [2]] = [[1], [2]]"]);
    for changes in ["[req.path]", "tick(1)", "random() < 0.5", "[random()]", "claims[?'n']", "req.path.size()"] {
        assert_eq!(constants(changes), Vec::<String>::new(), "{changes}");
    }
    // What fails, and what costs too much, is left to each evaluation.
    assert_eq!(constants("int('x') == 1 || [int('1')] == [2]"), ["[int('1')] = [1]", "[2] = [2]"]);
    assert_eq!(constants(&format!("size('{}'.replace('a', '')) == 1", "a".repeat(60_000))), Vec::<String>::new());
}

#[test]
fn logic_absorbs_errors_and_keeps_the_first() {
    table(&[
        ("true || 1 / 0 > 0", "true"),
        ("1 / 0 > 0 || true", "true"),
        ("1 / 0 > 0 || false", "divide_by_zero at 1 / 0"),
        ("1 % 0 > 0 || 1 / 0 > 0 || false", "modulus_by_zero at 1 % 0"),
        ("1 % 0 > 0 || 1 / 0 > 0 || true", "true"),
        ("1 / 0 > 0 && false", "false"),
        ("false && 1 / 0 > 0", "false"),
        ("true && 1 / 0 > 0 && 1 % 0 > 0", "divide_by_zero at 1 / 0"),
        ("true && true", "true"),
        ("false || false", "false"),
        ("dyn(1) && true", "no_such_overload at dyn(1)"),
        ("dyn(1) && false", "false"),
        ("dyn('x') || true", "true"),
        ("true ? 1 : 1 / 0", "1"),
        ("false ? 1 / 0 : 2", "2"),
        ("1 / 0 > 0 ? 1 : 2", "divide_by_zero at 1 / 0"),
        ("dyn(1) ? 1 : 2", "no_such_overload at dyn(1)"),
    ]);
}

#[test]
fn variables_and_selections() {
    table(&[
        ("req.path", "'/a'"),
        ("req.absent", "no_such_key at req.absent"),
        ("has(req.absent)", "false"),
        ("has(req.path)", "true"),
        ("broken", "host at broken"),
        ("claims.sub", "'me'"),
        ("claims.nobody", "no_such_key at claims.nobody"),
        ("claims.sub.deeper", "no_such_field at claims.sub.deeper"),
        ("has(claims.none)", "true"),
        ("has(claims.nobody)", "false"),
        ("has(claims.nobody.deeper)", "no_such_key at claims.nobody"),
        ("has(claims.sub.deeper)", "no_such_field at has(claims.sub.deeper)"),
        ("claims['n']", "2"),
        ("claims['nobody']", "no_such_key at claims['nobody']"),
        ("{1u: 'a'}[dyn(1.0)]", "'a'"),
        ("dyn(1)['a']", "no_such_overload at dyn(1)['a']"),
        ("claims.?sub", "some('me')"),
        ("claims.?nobody", "none"),
        ("claims.?nobody.deeper", "none"),
        ("claims.?sub.orValue('x')", "'me'"),
        ("optional.of({'a': 1}).a", "some(1)"),
        ("optional.of({'a': 1}).b", "none"),
        ("has(optional.of({'a': 1}).a)", "true"),
        ("has(optional.of({'a': 1}).b)", "false"),
        ("[1][?0]", "some(1)"),
        ("[1][?1]", "none"),
        ("{'a': 1}[?'b']", "none"),
        ("optional.of([1])[0]", "some(1)"),
        ("optional.none().value()", "invalid_argument at optional.none().value()"),
    ]);
}

#[test]
fn collections() {
    table(&[
        ("[1, 1 + 1]", "[1, 2]"),
        ("[1, ?optional.of(2), ?optional.none()]", "[1, 2]"),
        ("[?dyn(1)]", "no_such_overload at [?dyn(1)]"),
        ("{'b': 1, 'a': 2}", "{'a': 2, 'b': 1}"),
        ("{'a': 1, ?'b': optional.none()}", "{'a': 1}"),
        ("{?'b': optional.of(1)}", "{'b': 1}"),
        ("{?'b': dyn(1)}", "no_such_overload at {?'b': dyn(1)}"),
        ("{dyn(0): 1, dyn(0u): 2}", "duplicate_key at {dyn(0): 1, dyn(0u): 2}"),
        ("{dyn(0): 1, dyn(0u): 1 / 0}", "divide_by_zero at 1 / 0"),
        ("{dyn(1.5): 1}", "no_such_overload at {dyn(1.5): 1}"),
    ]);
}

#[test]
fn quantifiers_absorb_errors() {
    table(&[
        ("[0, 1, 2].all(x, 1 / x >= 0)", "divide_by_zero at 1 / x"),
        ("[0, 1, -1].all(x, 1 / x > 0)", "false"),
        ("[-1, 0].all(x, 1 / x > 0)", "false"),
        ("[].all(x, 1 / x > 0)", "true"),
        ("[0, 1].exists(x, 1 / x > 0)", "true"),
        ("[0, -1].exists(x, 1 / x > 0)", "divide_by_zero at 1 / x"),
        ("[0, 5].exists(x, x == 0 ? 1 / x > 0 : 1 % (x - 5) > 0)", "divide_by_zero at 1 / x"),
        ("[].exists(x, x)", "false"),
        ("[1, 2].exists(i, x, i == 1 && x == 2)", "true"),
        ("{'a': 1}.all(k, v, k == 'a' && v == 1)", "true"),
        ("{'a': 1, 'b': 2}.exists(k, k == 'b')", "true"),
        ("[1, 'foo', 3].all(e, dyn(e) % 2 == 1)", "no_such_overload at dyn(e) % 2"),
        ("[dyn(1)].all(x, x)", "no_such_overload at x"),
        ("[dyn(1), dyn(false)].all(x, x)", "false"),
        ("[1, 2, 3].exists_one(x, x > 2)", "true"),
        ("[1, 2, 3].existsOne(i, x, x > 1)", "false"),
        ("[2, 0, 2].exists_one(x, 1 / x == 1)", "divide_by_zero at 1 / x"),
        ("dyn(1).all(x, true)", "no_such_overload at dyn(1).all(x, true)"),
    ]);
}

#[test]
fn comprehensions() {
    table(&[
        ("[1, 2, 3].filter(x, x > 1)", "[2, 3]"),
        ("{'a': 1, 'b': 2}.filter(k, k != 'a')", "['b']"),
        ("[1, 0].filter(x, 1 / x > 0)", "divide_by_zero at 1 / x"),
        ("[1, 2].map(x, x * 2)", "[2, 4]"),
        ("[1, 2].map(x, x > 1, x * 2)", "[4]"),
        ("[1, 0].map(x, 1 / x)", "divide_by_zero at 1 / x"),
        ("[1, 2].map(x, [x].map(y, [x + y, size([y])].map(x, x)))", "[[[2, 1]], [[4, 1]]]"),
        ("[[1], [2]].map(x, x.map(x, x + 1))", "[[2], [3]]"),
        ("[5, 6].transformList(i, x, i + x)", "[5, 7]"),
        ("[5, 6].transformList(i, x, i > 0, x)", "[6]"),
        ("[5, 6].transformMap(i, x, x + i)", "{0: 5, 1: 7}"),
        ("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, k)", "{'b': 'b'}"),
        ("[5, 6].transformMapEntry(i, x, {x: i})", "{5: 0, 6: 1}"),
        ("[5, 6].transformMapEntry(i, x, {1: i})", "duplicate_key at [5, 6].transformMapEntry(i, x, {1: i})"),
        ("[1].transformMapEntry(i, x, dyn(1))", "no_such_overload at [1].transformMapEntry(i, x, dyn(1))"),
        ("[1, 2].map(x, [[x]].map(x, x)[0].map(x, x)[0]) == [1, 2]", "true"),
    ]);
}

#[test]
fn lazy_forms() {
    table(&[
        ("claims.sub.with(x, x + x)", "'meme'"),
        ("(1 / 0).with(x, 5)", "5"),
        ("{'a': 1, 'b': 2}.mapValues(v, v * 10)", "{'a': 10, 'b': 20}"),
        ("{'a': 1, 'b': 2}.filterKeys(k, k > 'a')", "{'b': 2}"),
        ("{'a': {'x': 1}}.mapValues(v, v.filterKeys(k, k == 'y'))", "{'a': {}}"),
        ("{1: 2}.mapValues(v, {3: 4}.mapValues(w, [v, w]))", "{1: {3: [2, 4]}}"),
        ("{'a': 0}.mapValues(v, 1 / v)", "divide_by_zero at 1 / v"),
        ("{'a': 0}.filterKeys(k, dyn(k))", "no_such_overload at dyn(k)"),
        ("dyn([1]).mapValues(v, v)", "no_such_overload at dyn([1]).mapValues(v, v)"),
        ("dyn(1).filterKeys(k, true)", "no_such_overload at dyn(1).filterKeys(k, true)"),
        ("default(claims.sub, 'x')", "'me'"),
        ("default(claims.nobody, 'x')", "'x'"),
        ("default(claims.none, 'x')", "'x'"),
        ("default(req.absent, 7)", "7"),
        ("default(claims.nobody.name, 'x')", "'x'"),
        ("default(claims.sub.name, 'x')", "no_such_field at claims.sub.name"),
        ("default(1 / 0, 1)", "divide_by_zero at 1 / 0"),
        ("default([1][5], 1)", "invalid_argument at [1][5]"),
        ("default(claims.nobody, null)", "null"),
        ("default(claims.nobody, claims.none)", "null"),
        ("default(claims.none, claims.nobody)", "no_such_key at claims.nobody"),
        ("default(claims.sub, 1 / 0)", "'me'"),
        ("coalesce(claims.nobody, 1 / 0, claims.none, claims.n, 1 % 0)", "2"),
        ("coalesce(claims.none, null)", "null"),
        ("coalesce(1 / 0, claims.none)", "divide_by_zero at 1 / 0"),
        ("coalesce(1 / 0, 1 % 0)", "modulus_by_zero at 1 % 0"),
        ("coalesce(1 / 0, 1 % 0, dyn(null))", "modulus_by_zero at 1 % 0"),
        ("coalesce(1 / 0)", "divide_by_zero at 1 / 0"),
        ("coalesce(claims.none)", "null"),
        ("coalesce(claims.sub.name, dyn(false)) || true", "true"),
    ]);
}

#[test]
fn spent_budget_is_final() {
    let long = format!("[{}].all(x, true)", ["0"; 40].join(", "));
    for form in [
        format!("{long} || true"),
        format!("true && ({long} || true)"),
        format!("[1].exists(y, {long} || true)"),
        format!("[1, 2].exists(y, y == 1 ? {long} : true)"),
        format!("cel.bind(y, {long}, true)"),
        format!("{long}.with(y, true)"),
        format!("default({long}, true)"),
        format!("coalesce({long}, true)"),
        format!("coalesce(1 / 0, dyn({long}), null)"),
    ] {
        let outcome = run_with(&form, 20, &Arc::default(), false);
        assert_eq!(outcome, format!("out_of_budget at {long}"), "{form}");
        assert!(!run_with(&form, 100, &Arc::default(), false).contains("budget"), "{form}");
    }
}

#[test]
fn a_binding_is_evaluated_once_and_its_error_waits() {
    table(&[
        ("cel.bind(x, 1 / 0, 5)", "5"),
        ("cel.bind(x, 1 / 0, x > 0 || true)", "true"),
        ("cel.bind(x, 1 / 0, true ? x : 2)", "divide_by_zero at 1 / 0"),
        ("cel.bind(x, 2, cel.bind(y, x + 1, [x, y].map(x, x + y)))", "[5, 6]"),
        ("optional.of(2).optMap(x, x + 1)", "some(3)"),
        ("optional.none().optMap(x, 1 / 0)", "none"),
        ("optional.of(0).optMap(x, 1 / x)", "divide_by_zero at 1 / x"),
        ("optional.of(2).optFlatMap(x, optional.none())", "none"),
        ("optional.of(2).optFlatMap(x, optional.of(x))", "some(2)"),
        ("optional.of(2).optFlatMap(x, dyn(x))", "2"),
        ("dyn(2).optMap(x, x)", "no_such_overload at dyn(2)"),
    ]);
    let calls = Arc::default();
    assert_eq!(run_with("cel.bind(x, tick(1), [x, x, x])", 1 << 20, &calls, false), "[2, 2, 2]");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(run_with("tick(dyn('a'))", 1 << 20, &calls, false), "no_such_overload at tick(dyn('a'))");
}

#[test]
fn names_unknown_in_unchecked_mode_are_errors() {
    let run = |source| run_with(source, 1 << 20, &Arc::default(), true);
    assert_eq!(run("nothing"), "no_such_key at nothing");
    assert_eq!(run("nothing || true"), "true");
    assert_eq!(run("unknown(1)"), "no_such_overload at unknown(1)");
    assert_eq!(run("1 + 'a'"), "no_such_overload at 1 + 'a'");
}

#[test]
fn every_turn_is_paid_for() {
    let run = |source, fuel| run_with(source, fuel, &Arc::default(), false);
    let source = "[1, 2, 3].all(x, true)";
    assert_eq!(run(source, 3), "true");
    assert_eq!(run(source, 2), format!("out_of_budget at {source}"));
    let nested = "[1, 2, 3].all(x, [1, 2, 3].all(y, [1, 2, 3].all(z, true)))";
    assert_eq!(run(nested, 39), "true");
    assert_eq!(run(nested, 38), "out_of_budget at [1, 2, 3].all(z, true)");
    assert_eq!(run(nested, 20), "out_of_budget at [1, 2, 3].all(z, true)");
    assert_eq!(run(nested, 13), format!("out_of_budget at {nested}"));
}

#[test]
fn the_deepest_tree_fits_a_small_stack() {
    let nest = |levels: usize, open: &str, leaf: &str, close: &str| {
        format!("{}{leaf}{}", open.repeat(levels), close.repeat(levels))
    };
    let sources = [
        nest(120, "[dyn(", "1", ")]"),
        nest(120, "{'a': dyn(", "1", ")}"),
        nest(120, "-(1 + ", "1", ")"),
        nest(240, "string(", "'a'", ")"),
        nest(240, "(true ? ", "1", " : 2)"),
        nest(120, "(false || true == ", "true", ")"),
        nest(240, "cel.bind(x, 1, ", "x", ")"),
        nest(240, "coalesce(null, ", "1", ")"),
        nest(240, "default(", "1", ", 2)"),
        nest(120, "{1: 1}.mapValues(x, dyn(", "x", "))"),
        nest(240, "[1].all(x, ", "x == 1", ")"),
        nest(120, "[1].map(x, dyn(", "x", "))"),
        nest(80, "[1].transformMapEntry(i, x, {1: dyn(", "x", ")})"),
        nest(240, "optional.of(1).optFlatMap(x, ", "optional.of(x)", ")"),
    ];
    let evaluate = move || {
        for source in &sources {
            let result = run(source);
            assert!(!result.contains(" at "), "{source}: {result}");
        }
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(evaluate).unwrap().join().unwrap();
}
