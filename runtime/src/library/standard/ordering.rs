//! The comparisons `<`, `<=`, `>` and `>=` of values whose types the evaluation decides.

use super::text::bytes_compare;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::Value;
use crate::value::order::numbers;
use celero_ir::ErrorKind;
use std::cmp::Ordering;

/// The order of two values; `None` if one is NaN, `no_such_overload` if their types are in no order.
#[inline]
fn order<'a>(cx: &Cx<'a>, a: Value<'a>, b: Value<'a>) -> EvalResult<Option<Ordering>> {
    if let Some(order) = numbers(&a, &b) {
        return Ok(order);
    }
    Ok(match (a, b) {
        (Value::String(a), Value::String(b)) => Some(bytes_compare(Some(cx), a.as_bytes(), b.as_bytes()).cmp(&0)),
        (Value::Bytes(a), Value::Bytes(b)) => Some(bytes_compare(Some(cx), a, b).cmp(&0)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(&b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(&b)),
        (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(&b)),
        _ => return Err(ErrorKind::NoSuchOverload),
    })
}

/// `a < b`
#[inline]
pub(crate) fn value_less<'a>(cx: &Cx<'a>, a: Value<'a>, b: Value<'a>) -> EvalResult<bool> {
    order(cx, a, b).map(|order| order.is_some_and(Ordering::is_lt))
}

/// `a <= b`
#[inline]
pub(crate) fn value_less_equal<'a>(cx: &Cx<'a>, a: Value<'a>, b: Value<'a>) -> EvalResult<bool> {
    order(cx, a, b).map(|order| order.is_some_and(Ordering::is_le))
}

/// `a > b`
#[inline]
pub(crate) fn value_greater<'a>(cx: &Cx<'a>, a: Value<'a>, b: Value<'a>) -> EvalResult<bool> {
    order(cx, a, b).map(|order| order.is_some_and(Ordering::is_gt))
}

/// `a >= b`
#[inline]
pub(crate) fn value_greater_equal<'a>(cx: &Cx<'a>, a: Value<'a>, b: Value<'a>) -> EvalResult<bool> {
    order(cx, a, b).map(|order| order.is_some_and(Ordering::is_ge))
}
