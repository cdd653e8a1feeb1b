//! Equality of values (language definition, "Equality").
//!
//! Values of different types are unequal, never an error. Integers of different types compare exactly. Lists and maps
//! compare by content. NaN is not equal to itself, and neither is a container that holds NaN.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::message;
use crate::value::nesting::{MAX_DEPTH, nested};
use crate::value::network::canonical_network;
use crate::value::order::{int_double, int_uint, uint_double};
use crate::value::{List, Map, Value};
use std::cmp::Ordering::Equal;

impl<'a> Value<'a> {
    /// Returns whether two values are equal. Values of different types are unequal, except numbers:
    /// they are equal if they are the same number (an integer and a double, if the integer rounds
    /// to the double).
    ///
    /// # Errors
    /// `out_of_budget` when the evaluation's budget or arena is spent, or beyond 512 levels of
    /// nesting; otherwise only what a list or map of the host fails with.
    #[inline]
    pub fn equals(&self, other: &Value<'a>, cx: &Cx<'a>) -> EvalResult<bool> {
        equal(self, other, cx, MAX_DEPTH)
    }
}

fn equal<'a>(a: &Value<'a>, b: &Value<'a>, cx: &Cx<'a>, depth: u32) -> EvalResult<bool> {
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Double(a), Value::Double(b)) => a == b,
        (Value::Int(i), Value::Uint(u)) | (Value::Uint(u), Value::Int(i)) => int_uint(*i, *u) == Equal,
        (Value::Int(i), Value::Double(d)) | (Value::Double(d), Value::Int(i)) => int_double(*i, *d) == Some(Equal),
        (Value::Uint(u), Value::Double(d)) | (Value::Double(d), Value::Uint(u)) => uint_double(*u, *d) == Some(Equal),
        (Value::String(a), Value::String(b)) => bytes(a.as_bytes(), b.as_bytes(), cx)?,
        (Value::Bytes(a), Value::Bytes(b)) => bytes(a, b, cx)?,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        // An IPv4-mapped address is the IPv4 address.
        (Value::Ip(a), Value::Ip(b)) => a.to_canonical() == b.to_canonical(),
        (Value::Cidr(a, m), Value::Cidr(b, n)) => canonical_network(*a, *m) == canonical_network(*b, *n),
        (Value::Optional(None), Value::Optional(None)) => true,
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => {
            cx.charge(1)?;
            nested(depth, |depth| equal(a, b, cx, depth))?
        }
        (Value::List(a), Value::List(b)) => nested(depth, |depth| lists(a, b, cx, depth))?,
        (Value::Map(a), Value::Map(b)) => nested(depth, |depth| maps(a, b, cx, depth))?,
        (Value::Message(a), Value::Message(b)) => {
            nested(depth, |depth| message::equal(a, b, cx, &mut |a: &Value<'a>, b: &Value<'a>| equal(a, b, cx, depth)))?
        }
        _ => false,
    })
}

fn bytes(a: &[u8], b: &[u8], cx: &Cx<'_>) -> EvalResult<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    cx.charge_bytes(a.len())?;
    Ok(a == b)
}

fn lists<'a>(a: &List<'a>, b: &List<'a>, cx: &Cx<'a>, depth: u32) -> EvalResult<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for index in 0..a.len() {
        cx.charge(1)?;
        let same = match (a.get(index, cx.arena())?, b.get(index, cx.arena())?) {
            (Some(a), Some(b)) => equal(&a, &b, cx, depth)?,
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps<'a>(a: &Map<'a>, b: &Map<'a>, cx: &Cx<'a>, depth: u32) -> EvalResult<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    cx.charge(a.len())?;
    for (key, value) in a.all(cx)? {
        let same = match b.find(key, cx)? {
            Some(other) => equal(value, &other, cx, depth)?,
            None => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
