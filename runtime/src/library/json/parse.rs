//! `json.parse`: text that may be JSON, and may be of a type. What is not is an empty optional; only what can't be
//! decided is an error.

use super::token::Numbers;
use super::tree;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::encoders::{BASE64, base64_decode};
use crate::library::standard::conversions::charge_number;
use crate::value::{Duration, List, Map, Timestamp, Value};
use celero_ir::ErrorKind::{InvalidArgument, OutOfBudget};

type Optional<'a> = Option<&'a Value<'a>>;

/// `json.parse(text)`: the value of a document, absent if it is none.
///
/// # Errors
/// `out_of_budget`.
pub(in crate::library) fn parse<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<Optional<'a>> {
    optional(cx, tree::parse(cx, text.as_bytes()))
}

/// `json.parse(text, type)`: the value of a document of this type, absent if it is none. The numbers in lists and maps
/// are doubles; a list or map may be `null`, which is an empty one.
///
/// # Errors
/// `invalid_argument` for a type of messages, which are not read; `out_of_budget`.
pub(in crate::library) fn parse_as<'a>(cx: &Cx<'a>, text: &'a str, ty: &str) -> EvalResult<Optional<'a>> {
    let numbers = if matches!(ty, "int" | "uint") { Numbers::Exact } else { Numbers::Doubles };
    match ty {
        "bool"
        | "int"
        | "uint"
        | "double"
        | "string"
        | "bytes"
        | "null_type"
        | "list"
        | "map"
        | "google.protobuf.Timestamp"
        | "google.protobuf.Duration" => {}
        "type" | "optional_type" | "net.IP" | "net.CIDR" => return Ok(None),
        _ => return Err(InvalidArgument),
    }
    let read = tree::parse_with(cx, text.as_bytes(), numbers);
    optional(cx, read.and_then(|value| typed(cx, value, ty)))
}

/// A value, or none if it is not valid.
fn optional<'a>(cx: &Cx<'a>, read: EvalResult<Value<'a>>) -> EvalResult<Optional<'a>> {
    match read {
        Ok(value) => cx.arena().alloc(value).map(Some),
        Err(OutOfBudget) => Err(OutOfBudget),
        Err(_) => Ok(None),
    }
}

fn typed<'a>(cx: &Cx<'a>, value: Value<'a>, ty: &str) -> EvalResult<Value<'a>> {
    Ok(match (ty, value) {
        ("bool", Value::Bool(_))
        | ("int", Value::Int(_))
        | ("uint", Value::Uint(_))
        | ("double", Value::Double(_))
        | ("string", Value::String(_))
        | ("null_type", Value::Null)
        | ("list", Value::List(_))
        | ("map", Value::Map(_)) => value,
        ("uint", Value::Int(n)) => Value::Uint(u64::try_from(n).map_err(|_| InvalidArgument)?),
        ("bytes", Value::String(text)) => Value::Bytes(base64_decode(cx, &BASE64, text)?),
        ("list", Value::Null) => Value::List(List::Slice(&[])),
        ("map", Value::Null) => Value::Map(Map::Sorted(&[])),
        ("google.protobuf.Timestamp", Value::String(_)) => Value::Timestamp(timestamp_of(cx, &value)?),
        ("google.protobuf.Duration", Value::String(text)) => {
            cx.charge_each_byte(text.len())?;
            Value::Duration(Duration::parse(text)?)
        }
        _ => return Err(InvalidArgument),
    })
}

/// The time that a value of a document stands for: a number of seconds since 1970, or text with such a number or a time
/// of RFC 3339.
///
/// # Errors
/// `invalid_argument` for another value, `overflow` for a time out of range; `out_of_budget`.
pub(in crate::library) fn timestamp_of<'a>(cx: &Cx<'a>, value: &Value<'a>) -> EvalResult<Timestamp> {
    let text = match *value {
        Value::Double(seconds) => return from_seconds(seconds),
        Value::String(text) => text.trim(),
        _ => return Err(InvalidArgument),
    };
    cx.charge_each_byte(text.len())?;
    if let Ok(time) = Timestamp::parse(text) {
        return Ok(time);
    }
    if let Ok(seconds) = text.parse() {
        return Timestamp::new(seconds, 0);
    }
    charge_number(cx, text.len())?;
    from_seconds(text.parse().map_err(|_| InvalidArgument)?)
}

fn from_seconds(seconds: f64) -> EvalResult<Timestamp> {
    let whole = seconds.trunc();
    if !whole.is_finite() || whole.abs() >= 1e15 {
        return Err(InvalidArgument);
    }
    #[expect(clippy::cast_possible_truncation, reason = "both are far below 2^63")]
    Timestamp::new(whole as i64, ((seconds - whole) * 1e9) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    #[test]
    fn times_are_seconds_or_text() {
        let arena = Arena::new(1 << 16);
        let cx = Cx::new(1_000_000, &arena);
        let of = |value: Value<'static>| timestamp_of(&cx, &value).map(|time| time.to_string());
        for (value, time) in [
            (Value::Double(1.5), "1970-01-01T00:00:01.5Z"),
            (Value::Double(-1.5), "1969-12-31T23:59:58.5Z"),
            (Value::Double(1_700_000_000.0), "2023-11-14T22:13:20Z"),
            (Value::String(" 1700000000 "), "2023-11-14T22:13:20Z"),
            (Value::String("-0.25"), "1969-12-31T23:59:59.75Z"),
            (Value::String("2023-01-01T00:00:00+01:00"), "2022-12-31T23:00:00Z"),
        ] {
            assert_eq!(of(value), Ok(time.to_owned()));
        }
        for value in [
            Value::Double(f64::NAN),
            Value::Double(1e300),
            Value::Double(1e12),
            Value::String(""),
            Value::String("inf"),
            Value::String("2023-01-01"),
            Value::String("9223372036854775807"),
            Value::Null,
            Value::Bool(true),
        ] {
            assert!(of(value).is_err(), "{value:?}");
        }
    }
}
