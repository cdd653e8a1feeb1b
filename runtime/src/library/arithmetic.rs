//! Arithmetic of numbers. Integers never wrap: a result outside 64 bit is `overflow`.

use crate::arena::EvalResult;
use celero_ir::ErrorKind;
use celero_ir::ErrorKind::{DivideByZero, ModulusByZero, Overflow};

fn ranged<T>(result: Option<T>) -> EvalResult<T> {
    result.ok_or(Overflow)
}

/// `result` where the divisor is not zero.
fn divided<T>(zero: bool, kind: ErrorKind, result: Option<T>) -> EvalResult<T> {
    if zero { Err(kind) } else { ranged(result) }
}

pub(crate) fn add_int(a: i64, b: i64) -> EvalResult<i64> {
    ranged(a.checked_add(b))
}

pub(crate) fn add_uint(a: u64, b: u64) -> EvalResult<u64> {
    ranged(a.checked_add(b))
}

pub(crate) fn sub_int(a: i64, b: i64) -> EvalResult<i64> {
    ranged(a.checked_sub(b))
}

pub(crate) fn sub_uint(a: u64, b: u64) -> EvalResult<u64> {
    ranged(a.checked_sub(b))
}

pub(crate) fn mul_int(a: i64, b: i64) -> EvalResult<i64> {
    ranged(a.checked_mul(b))
}

pub(crate) fn mul_uint(a: u64, b: u64) -> EvalResult<u64> {
    ranged(a.checked_mul(b))
}

pub(crate) fn div_int(a: i64, b: i64) -> EvalResult<i64> {
    divided(b == 0, DivideByZero, a.checked_div(b))
}

pub(crate) fn div_uint(a: u64, b: u64) -> EvalResult<u64> {
    divided(b == 0, DivideByZero, a.checked_div(b))
}

/// The remainder has the sign of `a`. That of the smallest integer by -1 is `overflow`, as their quotient is.
pub(crate) fn rem_int(a: i64, b: i64) -> EvalResult<i64> {
    divided(b == 0, ModulusByZero, a.checked_rem(b))
}

pub(crate) fn rem_uint(a: u64, b: u64) -> EvalResult<u64> {
    divided(b == 0, ModulusByZero, a.checked_rem(b))
}

pub(crate) fn neg_int(a: i64) -> EvalResult<i64> {
    ranged(a.checked_neg())
}
