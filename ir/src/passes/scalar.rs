//! The results of operations on scalar constants, as the documentation of [`Op`] defines them.

use crate::constant::{Constant, TIMESTAMP_SECONDS};
use crate::error::ErrorKind;
use crate::op::{Arith, Cmp, Op};
use crate::ty::Ty;
use std::cmp::Ordering;

type ScalarResult = Result<Constant, ErrorKind>;

/// The result of an operation on constants of the types that it accepts. `None` if it is not an operation on scalars.
pub(super) fn evaluate(op: Op, args: &[Constant], payload: Option<&Constant>) -> Option<ScalarResult> {
    Some(match (op, args, payload) {
        (Op::Not, [Constant::Bool(value)], _) => Ok(Constant::Bool(!value)),
        (Op::Neg, [Constant::Int(value)], _) => value.checked_neg().map(Constant::Int).ok_or(ErrorKind::Overflow),
        (Op::Neg, [Constant::Double(bits)], _) => Ok(double(-f64::from_bits(*bits))),
        (Op::Arith(arith), [a, b], _) => return arithmetic(arith, a, b),
        (Op::TimeAdd, [Constant::Timestamp(seconds, nanos), Constant::Duration(span)], _) => {
            time(since_epoch(*seconds, *nanos).saturating_add((*span).into()))
        }
        (Op::TimeSub, [Constant::Timestamp(seconds, nanos), Constant::Duration(span)], _) => {
            time(since_epoch(*seconds, *nanos).saturating_sub((*span).into()))
        }
        (Op::TimeSince, [Constant::Timestamp(a, m), Constant::Timestamp(b, n)], _) => {
            let span = i64::try_from(since_epoch(*a, *m).saturating_sub(since_epoch(*b, *n)));
            span.map(Constant::Duration).map_err(|_| ErrorKind::Overflow)
        }
        (Op::Cmp(cmp), [a, b], _) => Ok(Constant::Bool(compare(cmp, a, b)?)),
        (Op::StartsWith, [text, start], _) => Ok(Constant::Bool(bytes(text)?.starts_with(bytes(start)?))),
        (Op::EndsWith, [text, end], _) => Ok(Constant::Bool(bytes(text)?.ends_with(bytes(end)?))),
        (Op::ContainsConst(_), [text], Some(Constant::Searcher(needle))) => {
            Ok(Constant::Bool(contains(bytes(text)?, needle)))
        }
        (Op::InStrSet(_), [text], Some(Constant::StrSet(set))) => {
            let text = bytes(text)?;
            Ok(Constant::Bool(set.binary_search_by(|member| (**member).cmp(text)).is_ok()))
        }
        (Op::InIntSet(_), [Constant::Int(value)], Some(Constant::IntSet(set))) => {
            Ok(Constant::Bool(set.binary_search(value).is_ok()))
        }
        (Op::SeqSize, [Constant::Bytes(bytes)], _) => Ok(Constant::Int(i64::try_from(bytes.len()).unwrap_or(i64::MAX))),
        (Op::AsBytes, [Constant::Str(text)], _) => Ok(Constant::Bytes(text.as_bytes().into())),
        (Op::Box, [value], _) => Ok(value.clone()),
        (Op::Unbox(ty), [value], _) => unbox(ty, value),
        (Op::HasTypes(types), values, _) => {
            let is_of = |(ty, value): (Ty, &Constant)| ty == Ty::Value || value.ty() == Some(ty);
            Ok(Constant::Bool(types.iter().zip(values).all(is_of)))
        }
        _ => return None,
    })
}

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// Nanoseconds since 1970.
fn since_epoch(seconds: i64, nanos: u32) -> i128 {
    i128::from(seconds).saturating_mul(NANOS_PER_SECOND).saturating_add(nanos.into())
}

/// The time this many nanoseconds after 1970 began.
fn time(nanos: i128) -> ScalarResult {
    let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).ok();
    let seconds = seconds.filter(|seconds| TIMESTAMP_SECONDS.contains(seconds));
    let nanos = u32::try_from(nanos.rem_euclid(NANOS_PER_SECOND)).ok();
    seconds.zip(nanos).map(|(seconds, nanos)| Constant::Timestamp(seconds, nanos)).ok_or(ErrorKind::Overflow)
}

/// The bytes of text or bytes.
fn bytes(constant: &Constant) -> Option<&[u8]> {
    match constant {
        Constant::Str(text) => Some(text.as_bytes()),
        Constant::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

/// Whether bytes occur in others, in linear time: the search of the standard library, with a character for each byte.
fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    let wide = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
    wide(bytes).contains(&wide(needle))
}

/// The result of unboxing a value to this type.
fn unbox(ty: Ty, value: &Constant) -> ScalarResult {
    if value.ty() == Some(ty) { Ok(value.clone()) } else { Err(ErrorKind::NoSuchOverload) }
}

/// A double. All NaNs become the same one, because processors differ in the bits that they compute.
fn double(value: f64) -> Constant {
    Constant::Double(if value.is_nan() { f64::NAN } else { value }.to_bits())
}

fn arithmetic(arith: Arith, a: &Constant, b: &Constant) -> Option<ScalarResult> {
    let zero = match arith {
        Arith::Rem => ErrorKind::ModulusByZero,
        _ => ErrorKind::DivideByZero,
    };
    let divides = matches!(arith, Arith::Div | Arith::Rem);
    Some(match (a, b) {
        (Constant::Int(_), Constant::Int(0)) | (Constant::Uint(_), Constant::Uint(0)) if divides => Err(zero),
        // The evaluation decides whether this is 0 or out of range.
        (Constant::Int(i64::MIN), Constant::Int(-1)) if arith == Arith::Rem => return None,
        (&Constant::Int(a), &Constant::Int(b)) => match arith {
            Arith::Add => a.checked_add(b),
            Arith::Sub => a.checked_sub(b),
            Arith::Mul => a.checked_mul(b),
            Arith::Div => a.checked_div(b),
            Arith::Rem => a.checked_rem(b),
        }
        .map(Constant::Int)
        .ok_or(ErrorKind::Overflow),
        (&Constant::Uint(a), &Constant::Uint(b)) => match arith {
            Arith::Add => a.checked_add(b),
            Arith::Sub => a.checked_sub(b),
            Arith::Mul => a.checked_mul(b),
            Arith::Div => a.checked_div(b),
            Arith::Rem => a.checked_rem(b),
        }
        .map(Constant::Uint)
        .ok_or(ErrorKind::Overflow),
        (&Constant::Duration(a), &Constant::Duration(b)) => match arith {
            Arith::Add => a.checked_add(b),
            Arith::Sub => a.checked_sub(b),
            Arith::Mul | Arith::Div | Arith::Rem => return None,
        }
        .map(Constant::Duration)
        .ok_or(ErrorKind::Overflow),
        (&Constant::Double(a), &Constant::Double(b)) => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            Ok(double(match arith {
                Arith::Add => a + b,
                Arith::Sub => a - b,
                Arith::Mul => a * b,
                Arith::Div => a / b,
                Arith::Rem => return None,
            }))
        }
        _ => return None,
    })
}

fn compare(cmp: Cmp, a: &Constant, b: &Constant) -> Option<bool> {
    let order = match (a, b) {
        (Constant::Bool(a), Constant::Bool(b)) => Some(a.cmp(b)),
        (Constant::Int(a), Constant::Int(b)) | (Constant::Duration(a), Constant::Duration(b)) => Some(a.cmp(b)),
        (Constant::Uint(a), Constant::Uint(b)) => Some(a.cmp(b)),
        // `None` for a NaN: unequal, and in no order.
        (Constant::Double(a), Constant::Double(b)) => f64::from_bits(*a).partial_cmp(&f64::from_bits(*b)),
        (Constant::Str(a), Constant::Str(b)) => Some(a.cmp(b)),
        (Constant::Bytes(a), Constant::Bytes(b)) => Some(a.cmp(b)),
        (Constant::Timestamp(a, m), Constant::Timestamp(b, n)) => Some((a, m).cmp(&(b, n))),
        _ => return None,
    };
    Some(match cmp {
        Cmp::Eq => order == Some(Ordering::Equal),
        Cmp::Ne => order != Some(Ordering::Equal),
        Cmp::Lt => order == Some(Ordering::Less),
        Cmp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Cmp::Gt => order == Some(Ordering::Greater),
        Cmp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}
