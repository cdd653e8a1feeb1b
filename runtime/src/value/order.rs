//! Ordering of values (language definition, "Ordering"), and the order of map keys.
//!
//! An integer and a double compare as doubles: the integer is first rounded to the nearest double.
//! The conformance suite requires this where it differs from an exact comparison
//! (`9223372036854775807 < 9223372036854775808.0` is false).

use crate::value::Value;
use std::cmp::Ordering;

/// Compares an `int` and a `uint` exactly.
#[inline]
pub(crate) fn int_uint(a: i64, b: u64) -> Ordering {
    u64::try_from(a).map_or(Ordering::Less, |a| a.cmp(&b))
}

/// Compares an `int`, rounded to a double, with a double; `None` if `b` is NaN.
#[inline]
pub(crate) fn int_double(a: i64, b: f64) -> Option<Ordering> {
    (a as f64).partial_cmp(&b)
}

/// Compares a `uint`, rounded to a double, with a double; `None` if `b` is NaN.
#[inline]
pub(crate) fn uint_double(a: u64, b: f64) -> Option<Ordering> {
    (a as f64).partial_cmp(&b)
}

/// The order of two numbers of any types, `Some(None)` if one is NaN; `None` if one is no number.
#[inline]
pub(crate) fn numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    Some(match (*a, *b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(&b),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(&b)),
        (Value::Int(a), Value::Uint(b)) => Some(int_uint(a, b)),
        (Value::Uint(a), Value::Int(b)) => Some(int_uint(b, a).reverse()),
        (Value::Int(a), Value::Double(b)) => int_double(a, b),
        (Value::Double(a), Value::Int(b)) => int_double(b, a).map(Ordering::reverse),
        (Value::Uint(a), Value::Double(b)) => uint_double(a, b),
        (Value::Double(a), Value::Uint(b)) => uint_double(b, a).map(Ordering::reverse),
        _ => return None,
    })
}

/// A value as a map key. Numbers of different types that are the same number are the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key<'k> {
    Bool(bool),
    Number(i128),
    String(&'k str),
}

impl<'k> Key<'k> {
    /// Returns the key to look up; `None` if no map has such a key. A double finds the integer that it is equal to.
    #[inline]
    pub(crate) fn lookup(value: &Value<'k>) -> Option<Self> {
        match *value {
            Value::Double(d) => whole(d).map(Self::Number),
            _ => Self::entry(value),
        }
    }

    /// Returns the key of an entry; `None` if the value is not a `bool`, `int`, `uint` or `string`.
    #[inline]
    pub(crate) fn entry(value: &Value<'k>) -> Option<Self> {
        match *value {
            Value::Bool(b) => Some(Self::Bool(b)),
            Value::Int(i) => Some(Self::Number(i.into())),
            Value::Uint(u) => Some(Self::Number(u.into())),
            Value::String(s) => Some(Self::String(s)),
            _ => None,
        }
    }
}

/// Returns the integer that a double is equal to. Doubles beyond the range of `int` and `uint` equal no key.
fn whole(d: f64) -> Option<i128> {
    (d.trunc() == d).then_some(d as i128)
}

/// Compares map keys in a total order: values that cannot be keys, then bools, numbers by value, strings.
#[inline]
pub(crate) fn key_order(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    Key::lookup(a).cmp(&Key::lookup(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_numbers() {
        assert_eq!(int_uint(-1, 0), Ordering::Less);
        assert_eq!(int_uint(i64::MAX, 1 << 63), Ordering::Less);
        assert_eq!(int_uint(7, 7), Ordering::Equal);
        assert_eq!(int_uint(7, 6), Ordering::Greater);
        assert_eq!(int_double(i64::MAX, 9_223_372_036_854_775_808.0), Some(Ordering::Equal));
        assert_eq!(int_double(i64::MAX, 9_223_372_036_854_777_857.0), Some(Ordering::Less));
        assert_eq!(int_double(i64::MIN, -9_223_372_036_854_777_857.0), Some(Ordering::Greater));
        assert_eq!(int_double(1, 1.5), Some(Ordering::Less));
        assert_eq!(int_double(0, f64::NAN), None);
        assert_eq!(uint_double(u64::MAX, 18_446_744_073_709_590_000.0), Some(Ordering::Less));
        assert_eq!(uint_double(0, f64::NEG_INFINITY), Some(Ordering::Greater));
        assert_eq!(uint_double(0, -0.0), Some(Ordering::Equal));
        assert_eq!(uint_double(0, f64::NAN), None);
    }

    #[test]
    fn keys_are_one_number_line() {
        let same = [Value::Int(3), Value::Uint(3), Value::Double(3.0)];
        for a in &same {
            for b in &same {
                assert_eq!(key_order(a, b), Ordering::Equal, "{a:?} {b:?}");
            }
        }
        let ascending = [
            Value::Bool(false),
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Double(-1.0),
            Value::Uint(0),
            Value::Int(1),
            Value::Uint(u64::MAX),
            Value::String(""),
            Value::String("a"),
            Value::String("b"),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(key_order(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn what_is_no_key() {
        for value in [Value::Double(0.5), Value::Double(f64::NAN), Value::Null, Value::Bytes(b"")] {
            assert_eq!(Key::lookup(&value), None, "{value:?}");
        }
        for value in [Value::Double(f64::INFINITY), Value::Double(1e300), Value::Double(18_446_744_073_709_551_616.0)] {
            assert_ne!(Key::lookup(&value), Key::lookup(&Value::Uint(u64::MAX)), "{value:?}");
        }
        assert_eq!(Key::entry(&Value::Double(1.0)), None);
        assert_eq!(Key::lookup(&Value::Double(9_223_372_036_854_775_808.0)), Key::lookup(&Value::Uint(1 << 63)));
    }
}
