//! The optionals library (cel-spec's optionals extension).

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::message;
use crate::value::{Duration, List, Timestamp, Value};
use celero_ir::ErrorKind;

type Optional<'a> = Option<&'a Value<'a>>;

/// `optional.of(value)`
pub(crate) fn of<'a>(cx: &Cx<'a>, value: Value<'a>) -> EvalResult<Optional<'a>> {
    cx.arena().alloc(value).map(Some)
}

/// `optional.ofNonZeroValue(value)`: absent for the zero value of the type.
pub(crate) fn of_non_zero<'a>(cx: &Cx<'a>, value: Value<'a>) -> EvalResult<Optional<'a>> {
    let zero = match value {
        Value::Null | Value::Bool(false) | Value::Int(0) | Value::Uint(0) | Value::Duration(Duration(0)) => true,
        Value::Timestamp(time) => time == Timestamp::default(),
        Value::Double(d) => d == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(list) => list.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Message(message) => message::is_empty(cx, message)?,
        _ => false,
    };
    if zero { Ok(None) } else { of(cx, value) }
}

/// `optional.value()`
pub(crate) fn value<'a>(optional: Optional<'a>) -> EvalResult<Value<'a>> {
    optional.copied().ok_or(ErrorKind::InvalidArgument)
}

/// `optional.field`, `optional.?field`: absent if the optional is absent or the map has no such key.
pub(crate) fn select<'a>(cx: &Cx<'a>, optional: Optional<'a>, field: &'a str) -> EvalResult<Optional<'a>> {
    match optional {
        None => Ok(None),
        Some(Value::Map(map)) => map.place(&Value::String(field), cx),
        Some(Value::Message(message)) => message::select_optional(cx, message, field),
        Some(_) => Err(ErrorKind::NoSuchKey),
    }
}

/// `container[?index]`: absent if `container[index]` does not exist.
pub(crate) fn index<'a>(cx: &Cx<'a>, container: &Value<'a>, index: Value<'a>) -> EvalResult<Optional<'a>> {
    match container {
        Value::List(list) => list.place(List::position(&index)?, cx.arena()),
        Value::Map(map) => map.place(&index, cx),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// `optional[index]`, `optional[?index]`: absent if the optional is absent or the element does not exist.
pub(crate) fn index_optional<'a>(cx: &Cx<'a>, optional: Optional<'a>, by: Value<'a>) -> EvalResult<Optional<'a>> {
    optional.map_or(Ok(None), |container| index(cx, container, by))
}

/// `optional.unwrap(list)`: the values of the optionals that are present, in order.
pub(crate) fn unwrap<'a>(cx: &Cx<'a>, list: List<'a>) -> EvalResult<List<'a>> {
    cx.charge(list.len())?;
    let mut held = cx.arena().vec();
    for index in 0..list.len() {
        match list.get(index, cx.arena())? {
            Some(Value::Optional(Some(value))) => held.push(*value)?,
            Some(Value::Optional(None)) | None => {}
            Some(_) => return Err(ErrorKind::NoSuchOverload),
        }
    }
    Ok(List::Slice(held.finish()))
}
