//! The first of several operands that has a value: all combinations of null, values and errors.

use crate::common::{Build, run, run_with};
use crate::runtime::Value;
use celero_ir::layout::value::tag;
use celero_ir::layout::{Access, Field, Path, Repr};
use celero_ir::{Catch, Cmp, Constant, ErrorKind, FoldKind, NodeId, Op, Ty};

const ERRORS: [ErrorKind; 3] = [ErrorKind::NoSuchKey, ErrorKind::Host, ErrorKind::OutOfBudget];

fn start(fields: u32) -> Build {
    let mut b = Build::default();
    for i in 0..fields {
        let access = Access::Load(Path(vec![i * 8]), Repr::I64);
        b.fields.push(Field::new(Ty::Int, false, access));
    }
    b
}

/// A number, null (of values), or an error, as the field of this number says: 0, 1, or more.
fn operand(b: &mut Build, n: u32, ty: Ty) -> NodeId {
    let field = b.add(Op::Field(n), Ty::Int, &[]);
    let number = b.int(i64::from(n) + 10);
    let (value, null) = if ty == Ty::Value {
        (b.add(Op::Box, ty, &[number]), b.value(Value::new(tag::NULL, 0, 0)))
    } else {
        (number, b.add(Op::Fail(ErrorKind::InvalidArgument), ty, &[]))
    };
    let mut node = b.add(Op::Fail(ERRORS[2]), ty, &[]);
    for (state, result) in
        [(3, b.add(Op::Fail(ERRORS[1]), ty, &[])), (2, b.add(Op::Fail(ERRORS[0]), ty, &[])), (1, null), (0, value)]
    {
        let state = b.int(state);
        let is = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[field, state]);
        node = b.add(Op::Cond, ty, &[is, result, node]);
    }
    node
}

/// What the operation's documentation says; `None` is null.
fn expected(catch: Catch, operands: &[Result<Option<i64>, ErrorKind>]) -> Result<Option<i64>, ErrorKind> {
    let mut last_error = None;
    for (i, operand) in operands.iter().enumerate() {
        match (catch, operand) {
            (Catch::Absence, _) if i + 1 == operands.len() => return *operand,
            (_, Ok(Some(_)) | Err(ErrorKind::OutOfBudget)) => return *operand,
            (_, Ok(None)) | (Catch::Absence, Err(ErrorKind::NoSuchKey)) => {}
            (Catch::Absence, Err(_)) => return *operand,
            (Catch::Any, Err(kind)) => last_error = Some(*kind),
        }
    }
    last_error.map_or(Ok(None), Err)
}

#[test]
fn every_combination_of_two_and_three_operands() {
    for catch in [Catch::Absence, Catch::Any] {
        for ty in [Ty::Value, Ty::Int] {
            for n in 2..=3_u32 {
                let mut b = start(n);
                let operands: Vec<_> = (0..n).map(|i| operand(&mut b, i, ty)).collect();
                let root = b.add(Op::Coalesce(catch), ty, &operands);
                b.graph.add_root(root);
                let code = b.compile();
                for case in 0..5_u32.pow(n) {
                    let states: Vec<u32> = (0..n).map(|i| case / 5_u32.pow(i) % 5).collect();
                    let results: Vec<_> = states
                        .iter()
                        .enumerate()
                        .map(|(i, &state)| match state {
                            0 => Ok(Some(i as i64 + 10)),
                            1 if ty == Ty::Value => Ok(None),
                            1 => Err(ErrorKind::InvalidArgument),
                            _ => Err(ERRORS[state as usize - 2]),
                        })
                        .collect();
                    let mut ints = [0_i64; 3];
                    for (i, &state) in states.iter().enumerate() {
                        ints[i] = i64::from(state);
                    }
                    let wanted = expected(catch, &results);
                    let outcome = run(&code, 0, &ints);
                    if ty == Ty::Value {
                        let wanted = wanted.map(|v| v.map_or("null".to_owned(), |v| v.to_string()));
                        assert_eq!(outcome.show(), wanted, "{catch:?} {states:?}");
                    } else {
                        assert_eq!(outcome.int().map(Some), wanted, "{catch:?} {states:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn operands_of_each_width() {
    let mut b = start(1);
    let missing = b.add(Op::Fail(ErrorKind::NoSuchKey), Ty::Str, &[]);
    let text = b.text("text");
    let text = b.add(Op::Coalesce(Catch::Absence), Ty::Str, &[missing, text]);
    assert_eq!(b.run(text).text(), Ok("text"));
    let missing = b.add(Op::Fail(ErrorKind::Host), Ty::Double, &[]);
    let double = b.constant(Constant::Double(2.5_f64.to_bits()), Ty::Double);
    let double = b.add(Op::Coalesce(Catch::Any), Ty::Double, &[missing, double]);
    let boxed = b.add(Op::Box, Ty::Value, &[double]);
    assert_eq!(b.run(boxed).show(), Ok("2.5".to_owned()));
    let missing = b.add(Op::Fail(ErrorKind::Host), Ty::Bool, &[]);
    let (yes, no) = (b.bool(true), b.bool(false));
    let first = b.add(Op::Coalesce(Catch::Any), Ty::Bool, &[missing, yes, no]);
    assert_eq!(b.run(first).bool(), Ok(true));
}

/// What an operand computes before it fails is not taken for computed in the next, and what is computed before is.
#[test]
fn sharing_follows_the_errors() {
    for catch in [Catch::Absence, Catch::Any] {
        let mut b = start(2);
        let (first, second) = (operand(&mut b, 0, Ty::Int), operand(&mut b, 1, Ty::Int));
        let sum = |b: &mut Build, x, y| b.add(Op::Arith(celero_ir::Arith::Add), Ty::Int, &[x, y]);
        let both = sum(&mut b, first, second);
        let root = b.add(Op::Coalesce(catch), Ty::Int, &[both, second, first]);
        let again = sum(&mut b, root, second);
        b.graph.add_root(root);
        b.graph.add_root(again);
        let code = b.compile();
        assert_eq!(run(&code, 0, &[0_i64, 0]).int(), Ok(21));
        assert_eq!(run(&code, 0, &[2_i64, 0]).int(), Ok(11));
        assert_eq!(run(&code, 0, &[0_i64, 2]).int(), Ok(10));
        assert_eq!(run(&code, 0, &[2_i64, 2]).int(), Err(ErrorKind::NoSuchKey));
        assert_eq!(run(&code, 1, &[2_i64, 0]).int(), Ok(22));
        assert_eq!(run(&code, 1, &[0_i64, 2]).int(), Err(ErrorKind::NoSuchKey));
    }
}

#[test]
fn spent_budget_ends_whatever_absorbs_errors() {
    let mut b = start(1);
    let range = b.value(Value::ints(0..10));
    let yes = b.bool(true);
    let number = b.int(7);
    let long =
        b.add(Op::Fold { kind: FoldKind::ExistsOne, level: 0, pairs: false, filtered: false }, Ty::Bool, &[range, yes]);
    let short = b.value(Value::ints(0..1));
    let fold = |kind| Op::Fold { kind, level: 1, pairs: false, filtered: false };
    let field = b.add(Op::Field(0), Ty::Int, &[]);
    let is_seven = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[field, number]);
    let mut roots = vec![
        b.add(Op::Or, Ty::Bool, &[long, is_seven]),
        b.add(Op::Or, Ty::Bool, &[long, yes]),
        b.add(Op::Coalesce(Catch::Any), Ty::Bool, &[long, yes]),
        b.add(Op::Coalesce(Catch::Absence), Ty::Bool, &[long, yes]),
        b.add(Op::Let(1), Ty::Bool, &[long, yes]),
    ];
    let inner =
        b.add(Op::Fold { kind: FoldKind::ExistsOne, level: 2, pairs: false, filtered: false }, Ty::Bool, &[range, yes]);
    for kind in [FoldKind::All, FoldKind::Exists] {
        roots.push(b.add(fold(kind), Ty::Bool, &[short, inner]));
    }
    for &root in &roots {
        b.graph.add_root(root);
    }
    let code = b.compile();
    for n in 0..roots.len() {
        assert_eq!(run_with(&code, n, &7_i64, 5).bool(), Err(ErrorKind::OutOfBudget), "{n}");
        assert!(run_with(&code, n, &7_i64, 50).bool().is_ok(), "{n}");
    }
}

#[test]
fn chains_of_three_thousand_operands() {
    let mut b = start(1);
    let x = b.add(Op::Field(0), Ty::Int, &[]);
    let mut operands = Vec::new();
    for i in 1..=3_000 {
        let i = b.int(i64::MAX - i);
        operands.push(b.add(Op::Arith(celero_ir::Arith::Add), Ty::Int, &[x, i]));
    }
    let root = b.add(Op::Coalesce(Catch::Any), Ty::Int, &operands);
    b.graph.add_root(root);
    let values: Vec<_> = operands.iter().map(|&operand| b.add(Op::Box, Ty::Value, &[operand])).collect();
    let root = b.add(Op::Coalesce(Catch::Any), Ty::Value, &values);
    b.graph.add_root(root);
    let code = b.compile();
    for x in [0_i64, 1, 1500, 3000] {
        assert_eq!(run(&code, 0, &x).int(), Ok(i64::MAX - x.max(1) + x), "{x}");
        assert_eq!(run(&code, 1, &x).show(), Ok((i64::MAX - x.max(1) + x).to_string()), "{x}");
    }
    assert_eq!(run(&code, 0, &3001_i64).int(), Err(ErrorKind::Overflow));
}
