//! Values of any type: boxes, lists, maps, variables, comprehensions, functions chosen at evaluation.

use crate::common::{Build, run_with};
use crate::runtime::{MAP, Value, calls};
use celero_ir::layout::value::tag;
use celero_ir::{Arith, CallForm, Cmp, Constant, ErrorKind, FoldKind, Helper, NodeId, Op, Ty, Types};

fn boxed(b: &mut Build, id: NodeId) -> NodeId {
    b.add(Op::Box, Ty::Value, &[id])
}

fn boxed_int(b: &mut Build, n: i64) -> NodeId {
    let n = b.int(n);
    boxed(b, n)
}

fn fold(kind: FoldKind, level: u32, pairs: bool, filtered: bool) -> Op {
    Op::Fold { kind, level, pairs, filtered }
}

/// The variable of a level as an integer.
fn local_int(b: &mut Build, level: u32) -> NodeId {
    let local = b.add(Op::Local(level), Ty::Value, &[]);
    b.add(Op::Unbox(Ty::Int), Ty::Int, &[local])
}

fn less(b: &mut Build, x: NodeId, n: i64) -> NodeId {
    let n = b.int(n);
    b.add(Op::Cmp(Cmp::Lt), Ty::Bool, &[x, n])
}

#[test]
fn boxes_of_every_type_and_back() {
    let constants = [
        (Constant::Bool(true), Ty::Bool, "true"),
        (Constant::Int(-5), Ty::Int, "-5"),
        (Constant::Uint(u64::MAX), Ty::Uint, "18446744073709551615u"),
        (Constant::Double(1.5_f64.to_bits()), Ty::Double, "1.5"),
        (Constant::Str("text".into()), Ty::Str, "\"text\""),
        (Constant::Duration(-7), Ty::Duration, "-7"),
        (Constant::Timestamp(-3, 999_999_999), Ty::Timestamp, "-3.999999999"),
    ];
    for (constant, ty, shown) in &constants {
        let mut b = Build::default();
        let typed = b.constant(constant.clone(), *ty);
        let value = boxed(&mut b, typed);
        assert_eq!(b.run(value).show().unwrap(), *shown);
        for (_, to, _) in &constants {
            let back = b.add(Op::Unbox(*to), *to, &[value]);
            let got = b.run(back);
            if to != ty {
                let kind = if *to == Ty::Bool { got.bool().err() } else { got.words().err() };
                assert_eq!(kind, Some(ErrorKind::NoSuchOverload), "{ty} as {to}");
            } else if *to == Ty::Bool {
                assert_eq!(got.bool(), Ok(true));
            } else if *to == Ty::Str {
                assert_eq!(got.text(), Ok("text"));
            } else {
                let plain = b.run(typed).words().map(|words| words[..ty.words()].to_vec());
                assert_eq!(got.words().map(|words| words[..ty.words()].to_vec()), plain);
            }
        }
    }
}

/// A test of types evaluates all operands first, and does not fail; where it is true, no type is tested again.
#[test]
fn types_are_tested_before_values_are_unboxed() {
    let mut b = Build::default();
    let [text, other] = ["a", "b"].map(|text| b.constant(Constant::Str(text.into()), Ty::Value));
    let (five, seven) = (boxed_int(&mut b, 5), boxed_int(&mut b, 7));
    let fails = b.add(Op::Fail(ErrorKind::DivideByZero), Ty::Value, &[]);
    let small = b.int(3);
    let ints = Op::HasTypes(Types::new(&[Ty::Int, Ty::Int]).unwrap());
    for (operands, holds) in [
        ([five, seven], Ok(true)),
        ([five, text], Ok(false)),
        ([text, five], Ok(false)),
        ([five, small], Ok(true)),
        ([text, fails], Err(ErrorKind::DivideByZero)),
    ] {
        let test = b.add(ints, Ty::Bool, &operands);
        assert_eq!(b.run(test).bool(), holds);
        let numbers = operands.map(|id| if id == small { id } else { b.add(Op::Unbox(Ty::Int), Ty::Int, &[id]) });
        let sum = b.add(Op::Arith(Arith::Add), Ty::Int, &numbers);
        let fallback = b.int(-1);
        let either = b.add(Op::Cond, Ty::Int, &[test, sum, fallback]);
        let wanted = if operands[1] == small { 8 } else { 12 };
        assert_eq!(b.run(either).int(), holds.map(|holds| if holds { wanted } else { -1 }));
        // What is true in one branch is not known in the other one, nor after both.
        let swapped = b.add(Op::Cond, Ty::Int, &[test, fallback, sum]);
        let refused = holds.and_then(|holds| if holds { Ok(-1) } else { Err(ErrorKind::NoSuchOverload) });
        assert_eq!(b.run(swapped).int(), refused);
        let after = b.add(Op::Arith(Arith::Add), Ty::Int, &[either, sum]);
        assert_eq!(
            b.run(after).int(),
            holds.and_then(|holds| if holds { Ok(2 * wanted) } else { Err(ErrorKind::NoSuchOverload) })
        );
    }
    let same = b.add(Op::HasTypes(Types::ANY), Ty::Bool, &[text, other]);
    assert_eq!(b.run(same).bool(), Ok(true));
}

#[test]
fn boxes_beyond_the_stack_are_made_in_the_arena() {
    let mut b = Build::default();
    let elements: Vec<_> = (0..100).map(|n| boxed_int(&mut b, n)).collect();
    let list = b.add(Op::List, Ty::Value, &elements);
    let x = b.constant(Constant::Double(0.5_f64.to_bits()), Ty::Double);
    let double = boxed(&mut b, x);
    let lists = b.add(Op::List, Ty::Value, &[list, double]);
    let expected = (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(b.run(lists).show().unwrap(), format!("[[{expected}] 0.5]"));
    assert_eq!(calls(Helper::value_new), 37);
}

#[test]
fn constants_lists_and_maps() {
    let mut b = Build::default();
    let constant = b.value(Value::ints([1, 2]));
    assert_eq!(b.run(constant).show().unwrap(), "[1 2]");
    let text = b.constant(Constant::Str("abc".into()), Ty::Value);
    assert_eq!(b.run(text).show().unwrap(), "\"abc\"");
    let (one, two) = (boxed_int(&mut b, 1), boxed_int(&mut b, 2));
    let empty = b.add(Op::List, Ty::Value, &[]);
    assert_eq!(b.run(empty).show().unwrap(), "[]");
    let map = b.add(Op::Map, Ty::Value, &[one, constant, two, empty]);
    assert_eq!(b.run(map).show().unwrap(), "{1 [1 2] 2 []}");
    let twice = b.add(Op::Map, Ty::Value, &[one, two, one, two]);
    assert_eq!(b.run(twice).show(), Err(ErrorKind::DuplicateKey));
    let size = b.add(Op::Call(Helper::size), Ty::Int, &[constant]);
    assert_eq!(b.run(size).int(), Ok(2));
    let size = b.add(Op::Call(Helper::size), Ty::Int, &[one]);
    assert_eq!(b.run(size).int(), Err(ErrorKind::NoSuchOverload));
}

#[test]
fn functions_chosen_at_evaluation() {
    let mut b = Build::default();
    let numbers: Vec<_> = (1..=5).map(|n| boxed_int(&mut b, n)).collect();
    let op = |function| Op::Dispatch { function, pure: true };
    // An inner call between the operands of the outer one.
    let inner = b.add(op(2), Ty::Value, &numbers[..3]);
    let outer = b.add(op(0), Ty::Value, &[numbers[0], inner, numbers[3], numbers[4], inner]);
    assert_eq!(b.run(outer).show().unwrap(), "[1 6 4 5 6]");
    let none = b.add(op(0), Ty::Value, &[]);
    assert_eq!(b.run(none).show().unwrap(), "[]");
    let fails = b.add(op(1), Ty::Value, &[outer]);
    assert_eq!(b.run(fails).show(), Err(ErrorKind::NoSuchOverload));
}

#[test]
fn functions_with_typed_operands() {
    let mut b = Build::default();
    let call = |function, form| Op::Invoke { function, form };
    let [zero, seven, two] = [0, 7, 2].map(|n| b.int(n));
    let quotient = b.add(call(3, CallForm::Partial), Ty::Int, &[seven, two]);
    assert_eq!(b.run(quotient).int(), Ok(3));
    let fails = b.add(call(3, CallForm::Partial), Ty::Int, &[seven, zero]);
    assert_eq!(b.run(fails).int(), Err(ErrorKind::DivideByZero));
    let three = b.graph.constant(Constant::Double(3.0_f64.to_bits()));
    let (three, yes) = (b.add(Op::Const(three), Ty::Double, &[]), b.bool(true));
    // The status of a function that cannot fail is not read.
    let half = b.add(call(5, CallForm::Total), Ty::Double, &[three]);
    for (number, holds) in [(quotient, true), (zero, false)] {
        let test = b.add(call(4, CallForm::Framed), Ty::Bool, &[number, half, yes]);
        assert_eq!(b.run(test).bool(), Ok(holds));
        let absorbed = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[fails, number]);
        let either = b.add(Op::Or, Ty::Bool, &[absorbed, test]);
        assert_eq!(b.run(either).bool(), if holds { Ok(true) } else { Err(ErrorKind::DivideByZero) });
    }
    let (text, empty) = (b.text("abc"), b.text(""));
    let rest = b.add(call(6, CallForm::Partial), Ty::Str, &[text]);
    assert_eq!(b.run(rest).text(), Ok("bc"));
    let fails = b.add(call(6, CallForm::Partial), Ty::Str, &[empty]);
    assert_eq!(b.run(fails).text(), Err(ErrorKind::InvalidArgument));
}

#[test]
fn variables_hold_values_and_errors() {
    let mut b = Build::default();
    let (zero, one) = (b.int(0), b.int(1));
    let bad = b.add(Op::Arith(Arith::Div), Ty::Int, &[one, zero]);
    let x = b.add(Op::Local(0), Ty::Int, &[]);
    let yes = b.bool(true);
    let used = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[x, one]);
    let absorbed = b.add(Op::Or, Ty::Bool, &[used, yes]);
    for (init, body, expected) in [
        (bad, used, Err(ErrorKind::DivideByZero)),
        (bad, absorbed, Ok(true)),
        (bad, yes, Ok(true)),
        (one, used, Ok(true)),
        (zero, used, Ok(false)),
    ] {
        let root = b.add(Op::Let(0), Ty::Bool, &[init, body]);
        assert_eq!(b.run(root).bool(), expected);
    }
    // The same body under two bindings, one after the other, boxes included.
    let value = boxed(&mut b, x);
    let (first, second) = (b.add(Op::Let(0), Ty::Value, &[zero, value]), b.add(Op::Let(0), Ty::Value, &[one, value]));
    let list = b.add(Op::Dispatch { function: 0, pure: true }, Ty::Value, &[first, second]);
    assert_eq!(b.run(list).show().unwrap(), "[0 1]");
    // Two words, nested, the outer one used inside.
    let (a, c) = (b.text("a"), b.text("c"));
    let (outer, inner) = (b.add(Op::Local(0), Ty::Str, &[]), b.add(Op::Local(1), Ty::Str, &[]));
    let joined = b.add(Op::Call(Helper::string_add), Ty::Str, &[outer, c]);
    let both = b.add(Op::Call(Helper::string_add), Ty::Str, &[inner, outer]);
    let body = b.add(Op::Let(1), Ty::Str, &[joined, both]);
    let root = b.add(Op::Let(0), Ty::Str, &[a, body]);
    assert_eq!(b.run(root).text(), Ok("aca"));
}

#[test]
fn tests_over_lists_and_maps() {
    let mut b = Build::default();
    let x = local_int(&mut b, 0);
    let small = less(&mut b, x, 3);
    // 10 / x > 1: fails for 0.
    let (ten, one) = (b.int(10), b.int(1));
    let ratio = b.add(Op::Arith(Arith::Div), Ty::Int, &[ten, x]);
    let risky = b.add(Op::Cmp(Cmp::Gt), Ty::Bool, &[ratio, one]);
    let mut check = |list: Value, kind, predicate, expected| {
        let list = b.value(list);
        let root = b.add(fold(kind, 0, false, false), Ty::Bool, &[list, predicate]);
        assert_eq!(b.run(root).bool(), expected);
    };
    use FoldKind::{All, Exists, ExistsOne};
    check(Value::ints([]), All, small, Ok(true));
    check(Value::ints([]), Exists, small, Ok(false));
    check(Value::ints([]), ExistsOne, small, Ok(false));
    check(Value::ints([1, 2]), All, small, Ok(true));
    check(Value::ints([1, 5]), All, small, Ok(false));
    check(Value::ints([5, 1]), Exists, small, Ok(true));
    check(Value::ints([5, 6]), Exists, small, Ok(false));
    check(Value::ints([5, 1, 6]), ExistsOne, small, Ok(true));
    check(Value::ints([5, 1, 2]), ExistsOne, small, Ok(false));
    check(Value::ints([0, 5]), All, risky, Err(ErrorKind::DivideByZero));
    check(Value::ints([0, 20]), All, risky, Ok(false));
    check(Value::ints([0, 5]), Exists, risky, Ok(true));
    check(Value::ints([0, 20]), Exists, risky, Err(ErrorKind::DivideByZero));
    check(Value::ints([5, 0]), ExistsOne, risky, Err(ErrorKind::DivideByZero));
    let mixed = Value::list(vec![Value::text("no number"), Value::int(1)]);
    check(mixed, All, small, Err(ErrorKind::NoSuchOverload));
    check(mixed, Exists, small, Ok(true));
    check(Value::int(3), All, small, Err(ErrorKind::NoSuchOverload));
    let map = Value::sequence(MAP, vec![Value::int(1), Value::int(9), Value::int(2), Value::int(9)]);
    check(map, All, small, Ok(true));
}

#[test]
fn lists_and_maps_from_lists_and_maps() {
    let mut b = Build::default();
    let x = local_int(&mut b, 0);
    let small = less(&mut b, x, 3);
    let double = b.add(Op::Arith(Arith::Add), Ty::Int, &[x, x]);
    let double = boxed(&mut b, double);
    let list = b.value(Value::ints([1, 5, 2]));
    let map = b.value(Value::sequence(MAP, vec![Value::int(7), Value::int(1), Value::int(8), Value::int(5)]));
    let (key, value) = (b.add(Op::Local(0), Ty::Value, &[]), b.add(Op::Local(1), Ty::Value, &[]));
    let second = local_int(&mut b, 1);
    let small_second = less(&mut b, second, 3);
    let swapped = b.add(Op::Map, Ty::Value, &[value, key]);
    let pair = b.add(Op::List, Ty::Value, &[key, value]);
    use FoldKind::{Filter, Map, TransformMap, TransformMapEntry};
    for (op, args, expected) in [
        (fold(Filter, 0, false, false), vec![list, small], "[1 2]"),
        (fold(Map, 0, false, false), vec![list, double], "[2 10 4]"),
        (fold(Map, 0, false, true), vec![list, small, double], "[2 4]"),
        (fold(Map, 0, false, false), vec![map, double], "[14 16]"),
        (fold(Map, 0, true, false), vec![list, pair], "[[0 1] [1 5] [2 2]]"),
        (fold(Map, 0, true, true), vec![map, small_second, pair], "[[7 1]]"),
        (fold(TransformMap, 0, true, false), vec![list, value], "{0 1 1 5 2 2}"),
        (fold(TransformMap, 0, true, true), vec![map, small_second, value], "{7 1}"),
        (fold(TransformMapEntry, 0, true, false), vec![map, swapped], "{1 7 5 8}"),
    ] {
        let root = b.add(op, Ty::Value, &args);
        assert_eq!(b.run(root).show().as_deref(), Ok(expected), "{op:?}");
    }
    let same = b.value(Value::ints([4, 4]));
    let clash = b.add(fold(TransformMapEntry, 0, true, false), Ty::Value, &[same, swapped]);
    assert_eq!(b.run(clash).show(), Err(ErrorKind::DuplicateKey));
}

#[test]
fn folds_in_folds_beside_folds() {
    let mut b = Build::default();
    let (outer, inner) = (b.value(Value::ints([1, 2])), b.value(Value::ints([10, 20])));
    let (x, y) = (local_int(&mut b, 0), local_int(&mut b, 1));
    let sum = b.add(Op::Arith(Arith::Add), Ty::Int, &[x, y]);
    let sum = boxed(&mut b, sum);
    let row = b.add(fold(FoldKind::Map, 1, false, false), Ty::Value, &[inner, sum]);
    let rows = b.add(fold(FoldKind::Map, 0, false, false), Ty::Value, &[outer, row]);
    assert_eq!(b.run(rows).show().unwrap(), "[[11 21] [12 22]]");
    // The same body twice, over two lists.
    let double = b.add(Op::Arith(Arith::Add), Ty::Int, &[x, x]);
    let double = boxed(&mut b, double);
    let first = b.add(fold(FoldKind::Map, 0, false, false), Ty::Value, &[outer, double]);
    let second = b.add(fold(FoldKind::Map, 0, false, false), Ty::Value, &[inner, double]);
    let both = b.add(Op::List, Ty::Value, &[first, second, first]);
    assert_eq!(b.run(both).show().unwrap(), "[[2 4] [20 40] [2 4]]");
}

#[test]
fn each_turn_costs_fuel() {
    let mut b = Build::default();
    let list = b.value(Value::ints(0..10));
    let x = local_int(&mut b, 0);
    let small = less(&mut b, x, 100);
    let root = b.add(fold(FoldKind::All, 0, false, false), Ty::Bool, &[list, small]);
    b.graph.add_root(root);
    let code = b.compile();
    for (fuel, expected, left) in [(10, Ok(true), 0), (11, Ok(true), 1), (9, Err(ErrorKind::OutOfBudget), -1)] {
        let outcome = run_with(&code, 0, &0_u64, fuel);
        assert_eq!((outcome.bool(), outcome.fuel), (expected, left));
    }
}

#[test]
fn roots_of_every_type() {
    let mut b = Build::default();
    let no = b.bool(false);
    assert_eq!(b.run(no).bool(), Ok(false));
    let time = b.constant(Constant::Timestamp(-1, 5), Ty::Timestamp);
    assert_eq!(b.run(time).words(), Ok([u64::MAX, 5]));
    let bytes = b.constant(Constant::Bytes([0xff, 0].into()), Ty::Bytes);
    assert_eq!(b.run(bytes).words().map(|w| w[1]), Ok(2));
    let double = b.constant(Constant::Double(2.5_f64.to_bits()), Ty::Double);
    assert_eq!(b.run(double).words().map(|w| w[0]), Ok(2.5_f64.to_bits()));
    let absent = b.constant(Constant::Null, Ty::Maybe);
    assert_eq!(b.run(absent).words(), Ok([0, 0]));
    for ty in Ty::ALL {
        let fail = b.add(Op::Fail(ErrorKind::Host), ty, &[]);
        let outcome = b.run(fail);
        let kind = if ty == Ty::Bool { outcome.bool().err() } else { outcome.words().err() };
        assert_eq!(kind, Some(ErrorKind::Host), "{ty}");
    }
    // A value root copies all 32 bytes, from wherever they lie.
    let value = Value::new(tag::STRING, 1, 2);
    let value = b.value(Value { third: 77, ..value });
    assert_eq!(b.run(value).result, [u64::from(tag::STRING), 1, 2, 77]);
}
