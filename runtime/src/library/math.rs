//! The math library (cel-go's `ext.Math`).

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::order::numbers;
use crate::value::{List, Value};
use celero_ir::ErrorKind::{InvalidArgument, NoSuchOverload, Overflow};
use std::cmp::Ordering;

/// Compares two numbers of any types. NaN is `invalid_argument`.
fn compare(a: &Value<'_>, b: &Value<'_>) -> EvalResult<Ordering> {
    numbers(a, b).ok_or(NoSuchOverload)?.ok_or(InvalidArgument)
}

/// Returns the greater of two numbers, the first if they are equal.
pub(super) fn greatest<'a>(a: &Value<'a>, b: &Value<'a>) -> EvalResult<Value<'a>> {
    Ok(if compare(a, b)?.is_lt() { *b } else { *a })
}

/// Returns the smaller of two numbers, the first if they are equal.
pub(super) fn least<'a>(a: &Value<'a>, b: &Value<'a>) -> EvalResult<Value<'a>> {
    Ok(if compare(a, b)?.is_gt() { *b } else { *a })
}

/// Reduces a list of numbers with `choose`. An empty list is `invalid_argument`.
pub(super) fn of_list<'a>(
    cx: &Cx<'a>,
    list: List<'a>,
    choose: fn(&Value<'a>, &Value<'a>) -> EvalResult<Value<'a>>,
) -> EvalResult<Value<'a>> {
    cx.charge(list.len())?;
    let mut best = list.get(0, cx.arena())?.ok_or(InvalidArgument)?;
    if !matches!(best, Value::Int(_) | Value::Uint(_) | Value::Double(_)) {
        return Err(NoSuchOverload);
    }
    for index in 1..list.len() {
        if let Some(number) = list.get(index, cx.arena())? {
            best = choose(&best, &number)?;
        }
    }
    Ok(best)
}

pub(super) fn abs_int(n: i64) -> EvalResult<i64> {
    n.checked_abs().ok_or(Overflow)
}

/// Returns -1, 0, 1 or NaN.
pub(super) fn sign(d: f64) -> f64 {
    if d == 0.0 { 0.0 } else { d.signum() }
}

/// Returns the distance of a shift in bits; `None` if it shifts out all bits. A negative distance
/// is `invalid_argument`.
fn distance(by: i64) -> EvalResult<Option<u32>> {
    let by = u64::try_from(by).map_err(|_| InvalidArgument)?;
    Ok(u32::try_from(by).ok().filter(|by| *by < u64::BITS))
}

pub(super) fn shift_left(n: u64, by: i64) -> EvalResult<u64> {
    Ok(distance(by)?.and_then(|by| n.checked_shl(by)).unwrap_or(0))
}

pub(super) fn shift_right(n: u64, by: i64) -> EvalResult<u64> {
    Ok(distance(by)?.and_then(|by| n.checked_shr(by)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Value::{Double, Int, Null, Uint};

    #[test]
    fn the_first_of_equals_wins() {
        let cases = [
            (Int(1), Double(1.0), Int(1), Int(1)),
            (Double(1.0), Uint(1), Double(1.0), Double(1.0)),
            (Int(-3), Uint(3), Uint(3), Int(-3)),
            (Uint(u64::MAX), Int(i64::MIN), Uint(u64::MAX), Int(i64::MIN)),
            (Double(5.5), Int(5), Double(5.5), Int(5)),
            (Uint(7), Double(7.5), Double(7.5), Uint(7)),
        ];
        for (a, b, most, few) in cases {
            assert_eq!(format!("{:?}", greatest(&a, &b)), format!("{:?}", Ok::<_, ()>(most)), "{a:?} {b:?}");
            assert_eq!(format!("{:?}", least(&a, &b)), format!("{:?}", Ok::<_, ()>(few)), "{a:?} {b:?}");
        }
        assert_eq!(greatest(&Double(f64::NAN), &Int(1)).err(), Some(InvalidArgument));
        assert_eq!(least(&Int(1), &Null).err(), Some(NoSuchOverload));
    }

    #[test]
    fn shifts_end_at_the_last_bit() {
        assert_eq!([shift_left(1, 63), shift_left(1, 64), shift_left(1, i64::MAX)], [Ok(1 << 63), Ok(0), Ok(0)]);
        assert_eq!([shift_right(u64::MAX, 63), shift_right(u64::MAX, 64)], [Ok(1), Ok(0)]);
        assert_eq!([shift_left(1, -1), shift_right(1, i64::MIN)], [Err(InvalidArgument); 2]);
    }
}
