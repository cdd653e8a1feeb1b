//! Values of the engine as values of the filter language, and back.

use super::value::FilterValue;
use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::value::{List, Map, Value};
use celero_frontend::Type;
use celero_frontend::filter::FilterType;
use std::collections::BTreeMap;

/// Returns the value as one of a type of the filter language; `None` if it is none, or if an element of it is none.
///
/// # Errors
/// `out_of_budget` for values that are larger than the steps that are left.
pub(crate) fn filter_value<'a>(value: &Value<'a>, ty: &FilterType, cx: &Cx<'a>) -> EvalResult<Option<FilterValue>> {
    cx.charge(1)?;
    Ok(Some(match (value, ty) {
        (Value::Bool(value), FilterType::Bool) => FilterValue::Bool(*value),
        (Value::Int(value), FilterType::Int) => FilterValue::Int(*value),
        (Value::Ip(value), FilterType::Ip) => FilterValue::Ip(*value),
        // CEL sees the addresses of hosts as text.
        (Value::String(text), FilterType::Ip) => return Ok(text.parse().ok().map(FilterValue::Ip)),
        (Value::String(text), FilterType::Bytes) => {
            cx.charge_bytes(text.len())?;
            FilterValue::Bytes(text.as_bytes().into())
        }
        (Value::Bytes(bytes), FilterType::Bytes) => {
            cx.charge_bytes(bytes.len())?;
            FilterValue::Bytes(bytes.to_vec())
        }
        (Value::List(list), FilterType::Array(element)) => return array(list, element, cx),
        (Value::Map(map), FilterType::Map(element)) => return entries(map, element, cx),
        _ => return Ok(None),
    }))
}

fn array<'a>(list: &List<'a>, element: &FilterType, cx: &Cx<'a>) -> EvalResult<Option<FilterValue>> {
    let mut values = Vec::new();
    for index in 0..list.len() {
        let Some(value) = list.get(index, cx.arena())? else { continue };
        let Some(value) = filter_value(&value, element, cx)? else { return Ok(None) };
        values.push(value);
    }
    Ok(Some(FilterValue::Array(values)))
}

fn entries<'a>(map: &Map<'a>, element: &FilterType, cx: &Cx<'a>) -> EvalResult<Option<FilterValue>> {
    let mut values = BTreeMap::new();
    #[cfg(feature = "http")]
    if let Map::Host(host) = map
        && let Some(headers) = host.headers()
    {
        for name in headers.keys() {
            let mut lines = Vec::new();
            for line in headers.get_all(name) {
                cx.charge(1)?;
                cx.charge_bytes(line.len())?;
                lines.push(FilterValue::Bytes(line.as_bytes().to_vec()));
            }
            values.insert(name.as_str().as_bytes().to_vec(), FilterValue::Array(lines));
        }
        return Ok(Some(FilterValue::Map(values)));
    }
    for (key, value) in map.sorted(cx)? {
        let Value::String(key) = key else { return Ok(None) };
        cx.charge_bytes(key.len())?;
        let Some(value) = filter_value(value, element, cx)? else { return Ok(None) };
        values.insert(key.as_bytes().to_vec(), value);
    }
    Ok(Some(FilterValue::Map(values)))
}

/// Returns the value in the arena. Byte strings are `bytes`, also where they are text.
///
/// # Errors
/// `out_of_budget` at the arena's limit.
pub(crate) fn engine_value<'a>(value: &FilterValue, arena: &'a Arena) -> EvalResult<Value<'a>> {
    Ok(match value {
        FilterValue::Bool(value) => Value::Bool(*value),
        FilterValue::Int(value) => Value::Int(*value),
        FilterValue::Ip(value) => Value::Ip(*value),
        FilterValue::Bytes(bytes) => Value::Bytes(arena.alloc_slice(bytes)?),
        FilterValue::Array(values) => {
            let mut list = arena.vec();
            list.reserve(values.len())?;
            for value in values {
                list.push(engine_value(value, arena)?)?;
            }
            Value::List(List::Slice(list.finish()))
        }
        FilterValue::Map(values) => {
            // Keys are text. Where bytes that are not UTF-8 are replaced, the order changes, and keys may become equal.
            let values: BTreeMap<_, _> =
                values.iter().map(|(key, value)| (String::from_utf8_lossy(key), value)).collect();
            let mut entries = arena.vec();
            entries.reserve(values.len())?;
            for (key, value) in values {
                entries.push((Value::String(arena.alloc_str(&key)?), engine_value(value, arena)?))?;
            }
            Value::Map(Map::Sorted(entries.finish()))
        }
    })
}

/// Returns the value as an argument for a parameter of a function of the host: byte strings that
/// are UTF-8 as text, where it takes text. `None` if the value is none of the type.
///
/// # Errors
/// `out_of_budget` at the arena's limit.
pub(super) fn argument<'a>(value: &FilterValue, ty: &Type, arena: &'a Arena) -> EvalResult<Option<Value<'a>>> {
    Ok(match (value, ty) {
        (FilterValue::Bytes(bytes), Type::String) => match std::str::from_utf8(bytes) {
            Ok(text) => Some(Value::String(arena.alloc_str(text)?)),
            Err(_) => None,
        },
        (FilterValue::Array(values), Type::List(element)) => {
            let mut list = arena.vec();
            for value in values {
                let Some(value) = argument(value, element, arena)? else { return Ok(None) };
                list.push(value)?;
            }
            Some(Value::List(List::Slice(list.finish())))
        }
        (value, _) => Some(engine_value(value, arena)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_sorted_by_keys_that_are_text() {
        let keys: [&[u8]; 4] = [b"\x80", b"\xc3\xa9", b"\xff", b"a"];
        let map = FilterValue::Map(keys.into_iter().map(|key| (key.to_vec(), true.into())).collect());
        let arena = Arena::new(1 << 20);
        let Ok(Value::Map(Map::Sorted(entries))) = engine_value(&map, &arena) else { panic!() };
        let text = |(key, _): &(Value<'_>, Value<'_>)| {
            if let Value::String(text) = key { (*text).to_owned() } else { panic!() }
        };
        let keys: Vec<String> = entries.iter().map(text).collect();
        assert_eq!(keys, ["a", "\u{e9}", "\u{fffd}"]);
    }
}
