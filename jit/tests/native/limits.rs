//! Large and malformed graphs: code grows with the expression, and what is too large or ill formed is an error.

use crate::common::{Build, run};
use crate::runtime::Value;
use celero_ir::layout::{Access, Field, Path, Repr};
use celero_ir::{Arith, Cmp, ConstId, ErrorKind, FoldKind, Helper, NodeId, Op, Ty};
use celero_jit::{Bound, Code, Compiler, Error, Limits, Settings};

fn ints(b: &mut Build, n: u32) -> Vec<NodeId> {
    (0..n)
        .map(|i| {
            let access = Access::Load(Path(vec![i * 8]), Repr::I64);
            b.fields.push(Field::new(Ty::Int, false, access));
            b.add(Op::Field(i), Ty::Int, &[])
        })
        .collect()
}

fn compile_with(b: &Build, limits: Limits) -> Result<Code, Error> {
    b.with_unit(|unit| Compiler::new(&Settings { verify: true, limits, copies: true }).unwrap().compile(unit))
}

/// `x + 1 + 2 + ..`
fn additions(n: i64) -> Code {
    let mut b = Build::default();
    let mut sum = ints(&mut b, 1)[0];
    for i in 1..=n {
        let i = b.int(i);
        sum = b.add(Op::Arith(Arith::Add), Ty::Int, &[sum, i]);
    }
    b.graph.add_root(sum);
    b.compile()
}

#[test]
fn chains_of_ten_thousand_additions() {
    let code = additions(10_000);
    assert_eq!(run(&code, 0, &5_i64).int(), Ok(5 + 10_000 * 10_001 / 2));
    assert_eq!(run(&code, 0, &i64::MAX).int(), Err(ErrorKind::Overflow));
    assert!(code.size() < additions(1000).size() * 11);
}

/// `x != 1 && x != 2 && ..`, or, for odd numbers,
/// `1 / (x - 1) > -1500 && 2 / (x - 2) > -1500 && ..`; flat or nested to the left.
fn conjunctions(n: i64, flat: bool) -> Code {
    let mut b = Build::default();
    let x = ints(&mut b, 1)[0];
    let least = b.int(-1500);
    let operands: Vec<_> = (1..=n)
        .map(|i| {
            let i = b.int(i);
            if n % 2 == 0 {
                return b.add(Op::Cmp(Cmp::Ne), Ty::Bool, &[x, i]);
            }
            let divisor = b.add(Op::Arith(Arith::Sub), Ty::Int, &[x, i]);
            let quotient = b.add(Op::Arith(Arith::Div), Ty::Int, &[i, divisor]);
            b.add(Op::Cmp(Cmp::Gt), Ty::Bool, &[quotient, least])
        })
        .collect();
    let root = if flat {
        b.add(Op::And, Ty::Bool, &operands)
    } else {
        operands.into_iter().reduce(|all, operand| b.add(Op::And, Ty::Bool, &[all, operand])).unwrap()
    };
    b.graph.add_root(root);
    b.compile()
}

#[test]
fn chains_of_ten_thousand_conjunctions() {
    for flat in [true, false] {
        let code = conjunctions(10_000, flat);
        assert_eq!(run(&code, 0, &10_001_i64).bool(), Ok(true));
        assert_eq!(run(&code, 0, &10_000_i64).bool(), Ok(false));
        // A comparison on aarch64 holds at most 4,095: with a larger number it is three instructions instead of two.
        assert!(code.size() < conjunctions(1000, flat).size() * 16);
    }
    // Operands that can fail: the error is handed through all the later ones.
    let code = conjunctions(2001, true);
    assert_eq!(run(&code, 0, &5000_i64).bool(), Ok(true));
    assert_eq!(run(&code, 0, &7_i64).bool(), Err(ErrorKind::DivideByZero));
    assert_eq!(run(&code, 0, &2000_i64).bool(), Ok(false));
    assert!(code.size() < conjunctions(201, true).size() * 11);
}

#[test]
fn many_failures_meet_in_one_operand() {
    // x + 1 + .. + 1, each of which can fail, as an operand that is absorbed, and one that is not.
    let mut b = Build::default();
    let x = ints(&mut b, 1)[0];
    let (zero, one) = (b.int(0), b.int(1));
    let mut sum = x;
    for _ in 0..100 {
        sum = b.add(Op::Arith(Arith::Add), Ty::Int, &[sum, one]);
    }
    let risky = b.add(Op::Cmp(Cmp::Lt), Ty::Bool, &[sum, zero]);
    let positive = b.add(Op::Cmp(Cmp::Gt), Ty::Bool, &[x, zero]);
    let either = b.add(Op::Or, Ty::Bool, &[risky, positive]);
    let both = b.add(Op::And, Ty::Bool, &[risky, positive]);
    let bound = b.add(Op::Let(0), Ty::Bool, &[risky, either]);
    for root in [either, both, bound] {
        b.graph.add_root(root);
    }
    let code = b.compile();
    for i in 0..100 {
        let x = i64::MAX - i;
        assert_eq!(run(&code, 0, &x).bool(), Ok(true));
        assert_eq!(run(&code, 1, &x).bool(), Err(ErrorKind::Overflow), "{i}");
        assert_eq!(run(&code, 2, &x).bool(), Ok(true));
    }
    assert_eq!(run(&code, 1, &(i64::MAX - 100)).bool(), Ok(false));
}

#[test]
fn expressions_nested_ten_thousand_deep() {
    let mut b = Build::default();
    let x = ints(&mut b, 1)[0];
    // x == 1 ? 1 : (x == 2 ? 2 : ..), as deep on a small stack.
    let mut last = b.int(-1);
    for i in (1..=2_000).rev() {
        let i = b.int(i);
        let condition = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[x, i]);
        last = b.add(Op::Cond, Ty::Int, &[condition, i, last]);
    }
    b.graph.add_root(last);
    let mut negated = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[x, last]);
    for _ in 0..10_000 {
        negated = b.add(Op::Not, Ty::Bool, &[negated]);
    }
    b.graph.add_root(negated);
    std::thread::scope(|scope| {
        let compile = || b.compile();
        let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn_scoped(scope, compile).unwrap();
        let code = thread.join().unwrap();
        for x in [1, 2, 1999, 2000] {
            assert_eq!(run(&code, 0, &x).int(), Ok(x));
        }
        assert_eq!(run(&code, 0, &2001_i64).int(), Ok(-1));
        assert_eq!(run(&code, 1, &-1_i64).bool(), Ok(true));
    });
}

#[test]
fn every_limit_is_an_error_that_names_it() {
    let excess = |b: &Build, limits| match compile_with(b, limits) {
        Err(Error::TooLarge { root, bound, limit }) => (root, bound, limit),
        other => panic!("{other:?}"),
    };
    let mut b = Build::default();
    let fields = ints(&mut b, 100);
    let mut sum = fields[99];
    for &field in fields[..99].iter().rev() {
        sum = b.add(Op::Arith(Arith::Add), Ty::Int, &[field, sum]);
    }
    b.graph.add_root(fields[0]);
    b.graph.add_root(sum);
    let limits = Limits::default();
    assert!(compile_with(&b, limits).is_ok());
    assert_eq!(excess(&b, Limits { depth: 99, ..limits }), (1, Bound::Depth, 99));
    assert_eq!(excess(&b, Limits { instructions: 200, ..limits }), (1, Bound::Instructions, 200));
    assert_eq!(excess(&b, Limits { live_values: 80, ..limits }), (1, Bound::LiveValues, 80));
    assert_eq!(excess(&b, Limits { frame: 256, ..limits }), (1, Bound::Frame, 256));

    // Loops in loops; loops one after the other are none.
    let mut b = Build::default();
    let (range, mut lists, mut tests) = (b.value(Value::ints(0..2)), b.value(Value::ints(0..2)), b.bool(true));
    for level in (0..17).rev() {
        let element = b.add(Op::Local(level), Ty::Value, &[]);
        let fold = |kind| Op::Fold { kind, level, pairs: false, filtered: false };
        lists = b.add(fold(FoldKind::Map), Ty::Value, &[lists, element]);
        tests = b.add(fold(FoldKind::All), Ty::Bool, &[range, tests]);
    }
    b.graph.add_root(lists);
    b.graph.add_root(tests);
    assert_eq!(excess(&b, limits), (1, Bound::Loops, 16));
    assert!(compile_with(&b, Limits { loops: 17, ..limits }).is_ok());

    // A graph that doubles at each step is small, but not what it stands for.
    let mut b = Build::default();
    let x = ints(&mut b, 1)[0];
    let mut node = x;
    for i in 0..40 {
        let i = b.int(i);
        let (less, more) =
            (b.add(Op::Arith(Arith::Sub), Ty::Int, &[node, i]), b.add(Op::Arith(Arith::Add), Ty::Int, &[node, i]));
        let condition = b.add(Op::Cmp(Cmp::Lt), Ty::Bool, &[x, i]);
        node = b.add(Op::Cond, Ty::Int, &[condition, less, more]);
    }
    b.graph.add_root(node);
    assert_eq!(excess(&b, limits), (0, Bound::Instructions, 100_000));

    // The compiler goes on after a failure.
    let (mut good, mut compiler) = (Build::default(), Compiler::new(&Settings::default()).unwrap());
    let one = good.int(1);
    good.graph.add_root(one);
    assert!(b.with_unit(|unit| compiler.compile(unit)).is_err());
    let code = good.with_unit(|unit| compiler.compile(unit)).unwrap();
    assert_eq!(run(&code, 0, &0).int(), Ok(1));
}

#[test]
fn malformed_graphs_are_errors() {
    type Make = fn(&mut Build) -> NodeId;
    let cases: [Make; 12] = [
        |b| b.add(Op::Field(9), Ty::Int, &[]),
        |b| b.add(Op::Const(ConstId(9)), Ty::Int, &[]),
        |b| b.constant(celero_ir::Constant::Int(1), Ty::Str),
        |b| b.add(Op::Local(0), Ty::Int, &[]),
        |b| b.add(Op::Not, Ty::Bool, &[]),
        |b| b.add(Op::And, Ty::Bool, &[]),
        |b| b.add(Op::Cond, Ty::Int, &[]),
        |b| {
            let n = b.int(1);
            b.add(Op::Require, Ty::Raw, &[n])
        },
        |b| {
            let n = b.int(1);
            b.add(Op::List, Ty::Value, &[n])
        },
        |b| {
            let n = b.int(1);
            b.add(Op::Call(Helper::string_add), Ty::Str, &[n])
        },
        |b| {
            let (t, n) = (b.bool(true), b.int(1));
            let text = b.text("x");
            b.add(Op::Cond, Ty::Int, &[t, n, text])
        },
        |b| {
            let (n, text) = (b.int(1), b.text("x"));
            b.add(Op::Arith(Arith::Add), Ty::Int, &[n, text])
        },
    ];
    for (i, make) in cases.into_iter().enumerate() {
        let mut b = Build::default();
        let root = make(&mut b);
        b.graph.add_root(root);
        assert!(matches!(b.try_compile(), Err(Error::Internal(_))), "case {i}");
    }
}

#[test]
fn listings_show_code_and_its_source() {
    let mut b = Build::default();
    let fields = ints(&mut b, 2);
    let sum = b.add(Op::Arith(Arith::Add), Ty::Int, &fields);
    b.graph.add_root(sum);
    let listing = b.with_unit(|unit| Compiler::new(&Settings::default()).unwrap().explain(unit).unwrap()).remove(0);
    assert!(listing.clif.contains("sadd_overflow"), "{}", listing.clif);
    assert_eq!(listing.bytes, b.compile().machine_code(0).unwrap(), "the listing shows the bytes that run");
    let span = listing.ranges.iter().find(|span| span.node == sum).unwrap();
    assert_eq!(span.origin, b.graph.origin(sum));
    assert!(span.from < span.to && span.to as usize <= listing.bytes.len());
    let error = Error::TooLarge { root: 3, bound: Bound::Depth, limit: 7 }.to_string();
    assert_eq!(error, "expression 3 is too large for native code: too many nested expressions (limit 7)");
}
