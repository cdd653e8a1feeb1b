//! Lists and maps: index, selection, membership, size, and the ranges of comprehensions.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::optionals;
use crate::library::standard::text::{bytes_size, length, string_size};
use crate::value::message;
use crate::value::{List, Map, Value};
use celero_ir::ErrorKind;

/// `list[index]`; out of bounds is `invalid_argument`.
#[inline]
pub(crate) fn list_index<'a>(cx: &Cx<'a>, list: List<'a>, index: Value<'a>) -> EvalResult<Value<'a>> {
    list.at(&index, cx.arena())?.ok_or(ErrorKind::InvalidArgument)
}

/// `map[key]`; a value that cannot be a key is `no_such_key`.
#[inline]
pub(crate) fn map_index<'a>(cx: &Cx<'a>, map: &Map<'a>, key: &Value<'_>) -> EvalResult<Value<'a>> {
    map.find(key, cx)?.ok_or(ErrorKind::NoSuchKey)
}

/// `list[index]`; `no_such_overload` if the value is not a list.
#[inline]
pub(crate) fn index_list<'a>(cx: &Cx<'a>, list: Value<'a>, index: i64) -> EvalResult<&'a Value<'a>> {
    match list {
        Value::List(list) => {
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            list.place(index, cx.arena())?.ok_or(ErrorKind::InvalidArgument)
        }
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// `map[key]`; `no_such_overload` if the value is not a map.
#[inline]
pub(crate) fn index_map<'a>(cx: &Cx<'a>, map: Value<'a>, key: Value<'a>) -> EvalResult<&'a Value<'a>> {
    match map {
        Value::Map(map) => map.place(&key, cx)?.ok_or(ErrorKind::NoSuchKey),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// `container[index]` of a list, a map, or an optional of one; `no_such_overload` for other values.
#[inline]
pub(crate) fn index_value<'a>(cx: &Cx<'a>, container: Value<'a>, index: Value<'a>) -> EvalResult<&'a Value<'a>> {
    match container {
        Value::List(list) => list.place(List::position(&index)?, cx.arena())?.ok_or(ErrorKind::InvalidArgument),
        container => index_key(cx, container, index),
    }
}

/// `container[key]` of a map, or an optional of a list or a map; `no_such_overload` for other values.
#[inline]
pub(crate) fn index_key<'a>(cx: &Cx<'a>, container: Value<'a>, key: Value<'a>) -> EvalResult<&'a Value<'a>> {
    match container {
        Value::Map(map) => map.place(&key, cx)?.ok_or(ErrorKind::NoSuchKey),
        Value::Optional(held) => cx.arena().alloc(Value::Optional(optionals::index_optional(cx, held, key)?)),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// `value.field`: the value of a map under that key, or the optional of it if `value` is an optional.
#[inline]
pub(crate) fn select<'a>(cx: &Cx<'a>, map: Value<'a>, field: &'a str) -> EvalResult<&'a Value<'a>> {
    match map {
        Value::Map(map) => map.place(&Value::String(field), cx)?.ok_or(ErrorKind::NoSuchKey),
        Value::Optional(inner) => cx.arena().alloc(Value::Optional(optionals::select(cx, inner, field)?)),
        Value::Message(message) => cx.arena().alloc(message::select(cx, message, field)?),
        _ => Err(ErrorKind::NoSuchField),
    }
}

/// `has(value.field)`: whether [`select`] finds a value.
#[inline]
pub(crate) fn has<'a>(cx: &Cx<'a>, map: Value<'a>, field: &'a str) -> EvalResult<bool> {
    match map {
        Value::Map(map) => Ok(map.find(&Value::String(field), cx)?.is_some()),
        Value::Optional(inner) => Ok(optionals::select(cx, inner, field)?.is_some()),
        Value::Message(message) => message::has(cx, message, field),
        _ => Err(ErrorKind::NoSuchField),
    }
}

/// As [`select`], with the number of the field in messages of the value's static type.
#[inline]
pub(crate) fn message_field<'a>(
    cx: &Cx<'a>,
    value: Value<'a>,
    field: &'a str,
    number: i64,
) -> EvalResult<&'a Value<'a>> {
    match value {
        Value::Message(message) => message::select_known(cx, message, field, number),
        value => select(cx, value, field),
    }
}

/// As [`has`], with the number of the field in messages of the value's static type.
#[inline]
pub(crate) fn message_has<'a>(cx: &Cx<'a>, value: Value<'a>, field: &'a str, number: i64) -> EvalResult<bool> {
    match value {
        Value::Message(message) => message::has_known(cx, message, field, number),
        value => has(cx, value, field),
    }
}

/// The value; if it is a message, with those of its fields read whose numbers the bits are, the lowest that of 1.
pub(crate) fn message_fields<'a>(cx: &Cx<'a>, value: Value<'a>, numbers: i64) -> EvalResult<&'a Value<'a>> {
    cx.arena().alloc(match value {
        Value::Message(message) => Value::Message(cx.arena().alloc(message.with_fields(cx, numbers.cast_unsigned())?)?),
        value => value,
    })
}

/// `element in list`
pub(crate) fn in_list<'a>(cx: &Cx<'a>, element: Value<'a>, list: List<'a>) -> EvalResult<bool> {
    if let (Value::String(text), List::Slice(candidates)) = (element, list) {
        return has_text(cx, text, candidates);
    }
    if let List::Slice(candidates) = list {
        for candidate in candidates {
            cx.charge(1)?;
            if element.equals(candidate, cx)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    if let Some(found) = list.contains(&element) {
        if let Value::String(text) = element {
            cx.charge_bytes(text.len())?;
        }
        return Ok(found);
    }
    for index in 0..list.len() {
        cx.charge(1)?;
        if let Some(candidate) = list.get(index, cx.arena())?
            && element.equals(&candidate, cx)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a text is among values: what [`Value::equals`] says, for the same steps.
fn has_text<'a>(cx: &Cx<'a>, text: &str, candidates: &[Value<'a>]) -> EvalResult<bool> {
    for candidate in candidates {
        cx.charge(1)?;
        if let Value::String(candidate) = candidate
            && candidate.len() == text.len()
        {
            cx.charge_bytes(text.len())?;
            if *candidate == text {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// `key in map`
#[inline]
pub(crate) fn in_map<'a>(cx: &Cx<'a>, key: Value<'a>, map: Map<'a>) -> EvalResult<bool> {
    Ok(map.find(&key, cx)?.is_some())
}

/// `element in list` or `key in map`.
#[inline]
pub(crate) fn in_container<'a>(cx: &Cx<'a>, element: Value<'a>, container: Value<'a>) -> EvalResult<bool> {
    match container {
        Value::List(list) => in_list(cx, element, list),
        Value::Map(map) => in_map(cx, element, map),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// `size(value)`: the number of code points, bytes, elements or entries.
#[inline]
pub(crate) fn size<'a>(cx: &Cx<'a>, value: Value<'a>) -> EvalResult<i64> {
    match value {
        Value::String(text) => string_size(cx, text),
        Value::Bytes(bytes) => Ok(bytes_size(cx, bytes)),
        Value::List(list) => Ok(length(list.len())),
        Value::Map(map) => Ok(length(map.len())),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// Returns the number of elements of a list; 0 for other values.
#[inline]
pub(crate) fn list_len<'a>(_: &Cx<'a>, list: Value<'a>) -> i64 {
    match list {
        Value::List(list) => length(list.len()),
        _ => 0,
    }
}

/// `list + list`
pub(crate) fn list_add<'a>(cx: &Cx<'a>, a: List<'a>, b: List<'a>) -> EvalResult<List<'a>> {
    if a.is_empty() || b.is_empty() {
        return Ok(if a.is_empty() { b } else { a });
    }
    let count = a.len().saturating_add(b.len());
    cx.charge(count)?;
    let mut both = cx.arena().vec();
    both.reserve(count)?;
    for list in [a, b] {
        for index in 0..list.len() {
            if let Some(element) = list.get(index, cx.arena())? {
                both.push(element)?;
            }
        }
    }
    Ok(List::Slice(both.finish()))
}

/// Returns the list that a comprehension with one variable iterates over: the elements of a list, the keys of a map.
pub(crate) fn range_items<'a>(cx: &Cx<'a>, range: Value<'a>) -> EvalResult<Value<'a>> {
    let map = match range {
        Value::List(_) => return Ok(range),
        Value::Map(map) => map,
        _ => return Err(ErrorKind::NoSuchOverload),
    };
    cx.charge(map.len())?;
    let mut keys = cx.arena().vec();
    keys.reserve(map.len())?;
    #[cfg(feature = "http")]
    if let Map::Host(host) = map
        && let Some(headers) = host.headers()
    {
        // Without their values, whose lines would have to be joined.
        headers.keys().try_for_each(|name| keys.push(Value::String(name.as_str())))?;
        return Ok(Value::List(List::Slice(keys.finish())));
    }
    for (key, _) in map.all(cx)? {
        keys.push(*key)?;
    }
    Ok(Value::List(List::Slice(keys.finish())))
}

/// Returns the value if it is a map; otherwise `no_such_overload`.
#[inline]
pub(crate) fn map_only<'a>(_cx: &Cx<'a>, value: Value<'a>) -> EvalResult<Value<'a>> {
    match value {
        Value::Map(_) => Ok(value),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// Returns the list that a comprehension with two variables iterates over, in pairs: index and
/// element of a list, key and value of a map.
pub(crate) fn range_pairs<'a>(cx: &Cx<'a>, range: Value<'a>) -> EvalResult<Value<'a>> {
    let count = match range {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return Err(ErrorKind::NoSuchOverload),
    };
    cx.charge(count)?;
    let mut flat = cx.arena().vec();
    flat.reserve(count.saturating_mul(2))?;
    match range {
        Value::Map(map) => {
            map.all(cx)?.iter().try_for_each(|(key, value)| flat.extend(&[*key, *value]))?;
        }
        Value::List(list) => {
            for index in 0..count {
                if let Some(element) = list.get(index, cx.arena())? {
                    flat.extend(&[Value::Int(length(index)), element])?;
                }
            }
        }
        _ => {}
    }
    Ok(Value::List(List::Slice(flat.finish())))
}

/// `a == b`
#[inline]
pub(crate) fn value_equal<'a>(cx: &Cx<'a>, a: Value<'a>, b: Value<'a>) -> EvalResult<bool> {
    a.equals(&b, cx)
}
