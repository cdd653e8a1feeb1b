//! Lists, maps, selection, membership, size.

use crate::arena::EvalResult;
use crate::library::Cx;
use crate::library::optionals;
use crate::library::strings::{bytes_size, length, string_size};
use crate::value::order::Key;
use crate::value::{List, Map, Value};
use celero_ir::ErrorKind;

/// The position that an index stands for: an `int`, a `uint` or a whole `double`. Negative and huge ones are out of the
/// bounds of every list.
pub(crate) fn position(index: &Value<'_>) -> EvalResult<usize> {
    match (index, Key::lookup(index)) {
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Some(Key::Number(n))) => {
            Ok(usize::try_from(n).unwrap_or(usize::MAX))
        }
        _ => Err(ErrorKind::InvalidArgument),
    }
}

/// An element of a list; out of bounds is `invalid_argument`.
pub(crate) fn list_index<'a>(cx: &Cx<'a>, list: List<'a>, index: Value<'a>) -> EvalResult<Value<'a>> {
    list.get(position(&index)?, cx.arena())?.ok_or(ErrorKind::InvalidArgument)
}

/// The value under a key; what can't be a key is not found.
pub(crate) fn map_index<'a>(cx: &Cx<'a>, map: &Map<'a>, key: &Value<'_>) -> EvalResult<Value<'a>> {
    map.find(key, cx)?.ok_or(ErrorKind::NoSuchKey)
}

/// `list[index]` of what is known to be a list, or `no_such_overload`.
pub(crate) fn index_list<'a>(cx: &Cx<'a>, list: Value<'a>, index: i64) -> EvalResult<Value<'a>> {
    match list {
        Value::List(list) => list_index(cx, list, Value::Int(index)),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// `map[key]` of what is known to be a map, or `no_such_overload`.
pub(crate) fn index_map<'a>(cx: &Cx<'a>, map: Value<'a>, key: Value<'a>) -> EvalResult<Value<'a>> {
    match map {
        Value::Map(map) => map_index(cx, &map, &key),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// `value.field`: of a map, the value under that key; of an optional, an optional of the same (absent stays absent).
pub(crate) fn select<'a>(cx: &Cx<'a>, map: Value<'a>, field: &'a str) -> EvalResult<Value<'a>> {
    match map {
        Value::Map(map) => map_index(cx, &map, &Value::String(field)),
        Value::Optional(inner) => optionals::select(cx, inner, field).map(Value::Optional),
        _ => Err(ErrorKind::NoSuchField),
    }
}

/// `has(value.field)`: whether [`select`] would find something.
pub(crate) fn has<'a>(cx: &Cx<'a>, map: Value<'a>, field: &'a str) -> EvalResult<bool> {
    match map {
        Value::Map(map) => Ok(map.find(&Value::String(field), cx)?.is_some()),
        Value::Optional(inner) => Ok(optionals::select(cx, inner, field)?.is_some()),
        _ => Err(ErrorKind::NoSuchField),
    }
}

/// `element in list`
pub(crate) fn in_list<'a>(cx: &Cx<'a>, element: Value<'a>, list: List<'a>) -> EvalResult<bool> {
    if let List::Slice(candidates) = list {
        for candidate in candidates {
            cx.charge(1)?;
            if element.equals(candidate, cx)? {
                return Ok(true);
            }
        }
        return Ok(false);
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

/// `key in map`
pub(crate) fn in_map<'a>(cx: &Cx<'a>, key: Value<'a>, map: Map<'a>) -> EvalResult<bool> {
    Ok(map.find(&key, cx)?.is_some())
}

/// `element in list` or `key in map`, by what the container is.
pub(crate) fn in_container<'a>(cx: &Cx<'a>, element: Value<'a>, container: Value<'a>) -> EvalResult<bool> {
    match container {
        Value::List(list) => in_list(cx, element, list),
        Value::Map(map) => in_map(cx, element, map),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// Code points, bytes, elements or entries.
pub(crate) fn size<'a>(cx: &Cx<'a>, value: Value<'a>) -> EvalResult<i64> {
    match value {
        Value::String(text) => string_size(cx, text),
        Value::Bytes(bytes) => Ok(bytes_size(cx, bytes)),
        Value::List(list) => Ok(length(list.len())),
        Value::Map(map) => Ok(length(map.len())),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// How many elements a list has; 0 for what is none.
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

/// What a comprehension of one variable goes over: the elements of a list, the keys of a map.
pub(crate) fn range_items<'a>(cx: &Cx<'a>, range: Value<'a>) -> EvalResult<Value<'a>> {
    let map = match range {
        Value::List(_) => return Ok(range),
        Value::Map(map) => map,
        _ => return Err(ErrorKind::NoSuchOverload),
    };
    cx.charge(map.len())?;
    let mut keys = cx.arena().vec();
    keys.reserve(map.len())?;
    for (key, _) in map.all(cx)? {
        keys.push(*key)?;
    }
    Ok(Value::List(List::Slice(keys.finish())))
}

/// The value itself, which must be a map.
pub(crate) fn map_only<'a>(_cx: &Cx<'a>, value: Value<'a>) -> EvalResult<Value<'a>> {
    match value {
        Value::Map(_) => Ok(value),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// What a comprehension of two variables goes over: index, element, index, element, .. of a list, key, value, .. of a map.
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

/// `==` of any two values.
pub(crate) fn value_equal<'a>(cx: &Cx<'a>, a: Value<'a>, b: Value<'a>) -> EvalResult<bool> {
    a.equals(&b, cx)
}
