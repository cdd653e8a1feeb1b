//! Numbers: every operation at the edges of its range, against checked arithmetic of Rust.

use crate::common::{Build, Outcome, run};
use celero_ir::layout::{Access, Field, Path, Repr};
use celero_ir::{Arith, Cmp, Constant, ErrorKind, NodeId, Op, Ty};

const OPS: [Arith; 5] = [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem];
const CMPS: [Cmp; 6] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];

fn field(b: &mut Build, ty: Ty, offset: u32, repr: Repr) -> NodeId {
    let index = b.fields.len() as u32;
    let access = Access::Load(Path(vec![offset]), repr);
    b.fields.push(Field::new(ty, false, access));
    b.add(Op::Field(index), ty, &[])
}

fn zero_divisor(op: Arith) -> ErrorKind {
    if op == Arith::Div { ErrorKind::DivideByZero } else { ErrorKind::ModulusByZero }
}

#[test]
fn signed_integers_at_every_edge() {
    let mut b = Build::default();
    let (x, y) = (field(&mut b, Ty::Int, 0, Repr::I64), field(&mut b, Ty::Int, 8, Repr::I64));
    for op in OPS {
        let root = b.add(Op::Arith(op), Ty::Int, &[x, y]);
        b.graph.add_root(root);
    }
    let negated = b.add(Op::Neg, Ty::Int, &[x]);
    b.graph.add_root(negated);
    let code = b.compile();
    let edges = [i64::MIN, i64::MIN + 1, -3_037_000_500, -7, -2, -1, 0, 1, 2, 3, 3_037_000_500, i64::MAX - 1, i64::MAX];
    for x in edges {
        for y in edges {
            for (root, op) in OPS.into_iter().enumerate() {
                let expected = match op {
                    Arith::Add => x.checked_add(y),
                    Arith::Sub => x.checked_sub(y),
                    Arith::Mul => x.checked_mul(y),
                    Arith::Div => x.checked_div(y),
                    Arith::Rem => x.checked_rem(y),
                };
                let by_zero = y == 0 && matches!(op, Arith::Div | Arith::Rem);
                let expected = expected.ok_or(if by_zero { zero_divisor(op) } else { ErrorKind::Overflow });
                assert_eq!(run(&code, root, &[x, y]).int(), expected, "{x} {op:?} {y}");
            }
        }
        assert_eq!(run(&code, OPS.len(), &[x, 0]).int(), x.checked_neg().ok_or(ErrorKind::Overflow));
    }
}

#[test]
fn unsigned_integers_at_every_edge() {
    let mut b = Build::default();
    let (x, y) = (field(&mut b, Ty::Uint, 0, Repr::U64), field(&mut b, Ty::Uint, 8, Repr::U64));
    for op in OPS {
        let root = b.add(Op::Arith(op), Ty::Uint, &[x, y]);
        b.graph.add_root(root);
    }
    let code = b.compile();
    let edges = [0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX];
    for x in edges {
        for y in edges {
            for (root, op) in OPS.into_iter().enumerate() {
                let expected = match op {
                    Arith::Add => x.checked_add(y),
                    Arith::Sub => x.checked_sub(y),
                    Arith::Mul => x.checked_mul(y),
                    Arith::Div => x.checked_div(y),
                    Arith::Rem => x.checked_rem(y),
                };
                let by_zero = y == 0 && matches!(op, Arith::Div | Arith::Rem);
                let expected = expected.ok_or(if by_zero { zero_divisor(op) } else { ErrorKind::Overflow });
                assert_eq!(run(&code, root, &[x, y]).words().map(|w| w[0]), expected, "{x} {op:?} {y}");
            }
        }
    }
}

#[test]
fn constant_divisors() {
    let mut b = Build::default();
    let x = field(&mut b, Ty::Int, 0, Repr::I64);
    let few = [-1, 0, 1, 2, 3, 5, 7, 10, 641, 1 << 31, 1 << 62, (1 << 62) + 1, i64::MAX - 1, i64::MAX, -7, i64::MIN];
    let divisors: Vec<i64> = few.into_iter().chain((1..40).map(|i| (i * 0x0123_4567_89ab_cdef_i64) >> i)).collect();
    for d in divisors.iter().copied() {
        let d = b.int(d);
        for op in [Arith::Div, Arith::Rem] {
            let root = b.add(Op::Arith(op), Ty::Int, &[x, d]);
            b.graph.add_root(root);
        }
    }
    let code = b.compile();
    let near = divisors.iter().flat_map(|d| [*d, d.wrapping_sub(1), d.wrapping_neg(), d.wrapping_mul(3)]);
    for x in [i64::MIN, i64::MIN + 1, -8, 0, 20, i64::MAX].into_iter().chain(near) {
        for (i, d) in divisors.iter().copied().enumerate() {
            for (j, op) in [Arith::Div, Arith::Rem].into_iter().enumerate() {
                let expected = if op == Arith::Div { x.checked_div(d) } else { x.checked_rem(d) };
                let expected = expected.ok_or(if d == 0 { zero_divisor(op) } else { ErrorKind::Overflow });
                assert_eq!(run(&code, i * 2 + j, &x).int(), expected, "{x} {op:?} {d}");
            }
        }
    }
}

#[test]
fn constant_unsigned_divisors() {
    let mut b = Build::default();
    let x = field(&mut b, Ty::Uint, 0, Repr::U64);
    let few = [1, 2, 3, 7, 641, 1 << 32, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
    let divisors: Vec<u64> = few.into_iter().chain((0..40).map(|i| 0xfedc_ba98_7654_3210_u64 >> i)).collect();
    for d in divisors.iter().copied() {
        let d = b.constant(Constant::Uint(d), Ty::Uint);
        for op in [Arith::Div, Arith::Rem] {
            let root = b.add(Op::Arith(op), Ty::Uint, &[x, d]);
            b.graph.add_root(root);
        }
    }
    let code = b.compile();
    let near = divisors.iter().flat_map(|d| [*d, d.wrapping_sub(1), d.wrapping_mul(3), d.wrapping_mul(7) - 1]);
    for x in [0, 1, 20, u64::MAX - 1, u64::MAX].into_iter().chain(near) {
        for (i, d) in divisors.iter().copied().enumerate() {
            for (j, expected) in [x / d, x % d].into_iter().enumerate() {
                let found = run(&code, i * 2 + j, &x).words().map(|words| words[0]);
                assert_eq!(found, Ok(expected), "{x} by {d}");
            }
        }
    }
}

#[test]
fn doubles_and_durations() {
    let mut b = Build::default();
    let (x, y) = (field(&mut b, Ty::Double, 0, Repr::F64), field(&mut b, Ty::Double, 8, Repr::F64));
    for op in &OPS[..4] {
        let root = b.add(Op::Arith(*op), Ty::Double, &[x, y]);
        b.graph.add_root(root);
    }
    let negated = b.add(Op::Neg, Ty::Double, &[x]);
    b.graph.add_root(negated);
    let (p, q) = (field(&mut b, Ty::Duration, 0, Repr::I64), field(&mut b, Ty::Duration, 8, Repr::I64));
    let sum = b.add(Op::Arith(Arith::Add), Ty::Duration, &[p, q]);
    b.graph.add_root(sum);
    let code = b.compile();
    let double = |o: Outcome| o.words().unwrap()[0];
    for x in [0.0, -0.0, 1.5, f64::MAX, f64::INFINITY, f64::NEG_INFINITY] {
        for y in [0.0, -0.0, -2.5, f64::MIN_POSITIVE, f64::INFINITY] {
            for (root, want) in [x + y, x - y, x * y, x / y].into_iter().enumerate() {
                let got = f64::from_bits(double(run(&code, root, &[x, y])));
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{x} {root} {y}");
            }
        }
        assert_eq!(double(run(&code, 4, &[x, 0.0])), (-x).to_bits());
    }
    assert_eq!(run(&code, 5, &[5_i64, -7]).int(), Ok(-2));
    assert_eq!(run(&code, 5, &[i64::MAX, 1]).int(), Err(ErrorKind::Overflow));
}

#[test]
fn comparisons_of_every_type() {
    fn holds(cmp: Cmp, order: Option<std::cmp::Ordering>) -> bool {
        match (cmp, order) {
            (Cmp::Ne, None) => true,
            (_, None) => false,
            (Cmp::Eq, Some(o)) => o.is_eq(),
            (Cmp::Ne, Some(o)) => o.is_ne(),
            (Cmp::Lt, Some(o)) => o.is_lt(),
            (Cmp::Le, Some(o)) => o.is_le(),
            (Cmp::Gt, Some(o)) => o.is_gt(),
            (Cmp::Ge, Some(o)) => o.is_ge(),
        }
    }
    let mut b = Build::default();
    let pairs = [
        (field(&mut b, Ty::Int, 0, Repr::I64), field(&mut b, Ty::Int, 8, Repr::I64)),
        (field(&mut b, Ty::Uint, 0, Repr::U64), field(&mut b, Ty::Uint, 8, Repr::U64)),
        (field(&mut b, Ty::Double, 0, Repr::F64), field(&mut b, Ty::Double, 8, Repr::F64)),
        (field(&mut b, Ty::Bool, 0, Repr::Bool), field(&mut b, Ty::Bool, 8, Repr::Bool)),
    ];
    for (x, y) in pairs {
        for cmp in CMPS {
            let root = b.add(Op::Cmp(cmp), Ty::Bool, &[x, y]);
            b.graph.add_root(root);
        }
    }
    let code = b.compile();
    let words = [0, 1, 2, u64::MAX, 1 << 63, 1.5_f64.to_bits(), f64::NAN.to_bits(), (-0.0_f64).to_bits()];
    for x in words {
        for y in words {
            let orders = [
                x.cast_signed().partial_cmp(&y.cast_signed()),
                x.partial_cmp(&y),
                f64::from_bits(x).partial_cmp(&f64::from_bits(y)),
                (x as u8 != 0).partial_cmp(&(y as u8 != 0)),
            ];
            for (i, order) in orders.into_iter().enumerate() {
                for (j, cmp) in CMPS.into_iter().enumerate() {
                    assert_eq!(run(&code, i * 6 + j, &[x, y]).bool(), Ok(holds(cmp, order)), "{x} {cmp:?} {y} {i}");
                }
            }
        }
    }

    let mut b = Build::default();
    let times = [(-1, 5), (0, 0), (0, 7), (3, 1)];
    let mut expected = Vec::new();
    for x in times {
        for y in times {
            for cmp in CMPS {
                let l = b.constant(Constant::Timestamp(x.0, x.1), Ty::Timestamp);
                let r = b.constant(Constant::Timestamp(y.0, y.1), Ty::Timestamp);
                let root = b.add(Op::Cmp(cmp), Ty::Bool, &[l, r]);
                b.graph.add_root(root);
                expected.push(holds(cmp, x.partial_cmp(&y)));
            }
        }
    }
    let code = b.compile();
    for (root, expected) in expected.into_iter().enumerate() {
        assert_eq!(run(&code, root, &0_u64).bool(), Ok(expected), "{root}");
    }
}

#[test]
fn fields_of_every_width() {
    let mut b = Build::default();
    let forms = [
        (Ty::Int, Repr::I8, -2),
        (Ty::Int, Repr::I16, -2),
        (Ty::Int, Repr::I32, -2),
        (Ty::Int, Repr::I64, -2),
        (Ty::Uint, Repr::U8, 0xfe),
        (Ty::Uint, Repr::U16, 0xfffe),
        (Ty::Uint, Repr::U32, 0xffff_fffe),
        (Ty::Uint, Repr::U64, -2),
    ];
    for (ty, repr, _) in forms {
        // Behind an address at offset 8, 16 bytes further.
        let index = b.fields.len() as u32;
        let access = Access::Load(Path(vec![8, 16]), repr);
        b.fields.push(Field::new(ty, false, access));
        let root = b.add(Op::Field(index), ty, &[]);
        b.graph.add_root(root);
    }
    let single = b.fields.len() as u32;
    b.fields.push(Field::new(Ty::Double, false, Access::Load(Path(vec![0]), Repr::F32)));
    let root = b.add(Op::Field(single), Ty::Double, &[]);
    b.graph.add_root(root);
    let code = b.compile();
    let behind = [0_u64, 0, u64::MAX - 1];
    let host = [u64::from(1.5_f32.to_bits()), behind.as_ptr() as u64];
    for (root, (_, repr, expected)) in forms.into_iter().enumerate() {
        assert_eq!(run(&code, root, &host).int(), Ok(expected), "{repr:?}");
    }
    assert_eq!(run(&code, forms.len(), &host).words().unwrap()[0], 1.5_f64.to_bits());
}

#[test]
fn errors_carry_the_place_of_the_operation() {
    let mut b = Build::default();
    let (max, one) = (b.int(i64::MAX), b.int(1));
    let sum = b.add(Op::Arith(Arith::Add), Ty::Int, &[max, one]);
    let root = b.add(Op::Arith(Arith::Mul), Ty::Int, &[one, sum]);
    let word = b.run(root).word;
    let (kind, origin) = celero_ir::ErrorWord(word).unpack();
    assert_eq!((kind, origin), (ErrorKind::Overflow, b.graph.origin(sum)));
}
