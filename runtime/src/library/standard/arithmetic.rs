//! Integer arithmetic. A result that does not fit into 64 bits is `overflow`, never wrapped.

use crate::arena::EvalResult;
use celero_ir::ErrorKind;
use celero_ir::ErrorKind::{DivideByZero, ModulusByZero, Overflow};

/// Returns the result, `overflow` if it does not fit.
#[inline]
fn ranged<T>(result: Option<T>) -> EvalResult<T> {
    result.ok_or(Overflow)
}

/// As [`ranged`], with the error `kind` for a divisor of zero.
#[inline]
fn divided<T>(zero: bool, kind: ErrorKind, result: Option<T>) -> EvalResult<T> {
    if zero { Err(kind) } else { ranged(result) }
}

#[inline]
pub(crate) fn add_int(a: i64, b: i64) -> EvalResult<i64> {
    ranged(a.checked_add(b))
}

#[inline]
pub(crate) fn add_uint(a: u64, b: u64) -> EvalResult<u64> {
    ranged(a.checked_add(b))
}

#[inline]
pub(crate) fn sub_int(a: i64, b: i64) -> EvalResult<i64> {
    ranged(a.checked_sub(b))
}

#[inline]
pub(crate) fn sub_uint(a: u64, b: u64) -> EvalResult<u64> {
    ranged(a.checked_sub(b))
}

#[inline]
pub(crate) fn mul_int(a: i64, b: i64) -> EvalResult<i64> {
    ranged(a.checked_mul(b))
}

#[inline]
pub(crate) fn mul_uint(a: u64, b: u64) -> EvalResult<u64> {
    ranged(a.checked_mul(b))
}

#[inline]
pub(crate) fn div_int(a: i64, b: i64) -> EvalResult<i64> {
    divided(b == 0, DivideByZero, a.checked_div(b))
}

#[inline]
pub(crate) fn div_uint(a: u64, b: u64) -> EvalResult<u64> {
    divided(b == 0, DivideByZero, a.checked_div(b))
}

/// Returns the remainder, which has the sign of `a`. `i64::MIN % -1` is `overflow`, as the quotient is.
#[inline]
pub(crate) fn rem_int(a: i64, b: i64) -> EvalResult<i64> {
    divided(b == 0, ModulusByZero, a.checked_rem(b))
}

#[inline]
pub(crate) fn rem_uint(a: u64, b: u64) -> EvalResult<u64> {
    divided(b == 0, ModulusByZero, a.checked_rem(b))
}

#[inline]
pub(crate) fn neg_int(a: i64) -> EvalResult<i64> {
    ranged(a.checked_neg())
}
