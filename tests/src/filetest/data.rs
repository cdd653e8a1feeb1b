//! JSON as values for variables. What is built lives as long as the process: test data is small.

use super::request::unescape;
use celero::host::Cx;
use celero::values::{Arena, Duration, List, MapBuilder, Timestamp};
use celero::{Type, Value};
use serde_json::Value as Json;

fn keep<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// The value that JSON writes for a variable of a type.
pub(super) fn value(json: &Json, ty: &Type) -> Result<Value<'static>, String> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(v) => Value::Bool(*v),
        Json::Number(n) => match (ty, n.as_i64(), n.as_u64(), n.as_f64()) {
            (Type::Uint, _, Some(v), _) => Value::Uint(v),
            (Type::Double, _, _, Some(v)) | (_, None, None, Some(v)) => Value::Double(v),
            (_, Some(v), ..) => Value::Int(v),
            _ => return Err(format!("number {n} is out of range")),
        },
        Json::String(v) => Value::String(keep(v.clone())),
        Json::Array(elements) => {
            let inner = if let Type::List(inner) = ty { inner } else { &Type::Dyn };
            let elements = elements.iter().map(|e| value(e, inner)).collect::<Result<Vec<_>, _>>()?;
            Value::List(List::Slice(keep(elements)))
        }
        Json::Object(members) => match members.iter().next() {
            Some((name, inner)) if members.len() == 1 => match special(name, inner)? {
                Some(value) => value,
                None => object(members, ty)?,
            },
            _ => object(members, ty)?,
        },
    })
}

fn object(members: &serde_json::Map<String, Json>, ty: &Type) -> Result<Value<'static>, String> {
    let inner = if let Type::Map(types) = ty { &types.1 } else { &Type::Dyn };
    let entries = members.iter().map(|(key, v)| Ok((Value::String(keep(key.clone())), value(v, inner)?)));
    map(entries.collect::<Result<_, String>>()?)
}

fn map(entries: Vec<(Value<'static>, Value<'static>)>) -> Result<Value<'static>, String> {
    let arena = keep(Arena::new(1 << 20));
    let mut builder = MapBuilder::new(arena, entries.len()).map_err(|e| e.to_string())?;
    for (key, value) in entries {
        builder.insert(key, value).map_err(|e| e.to_string())?;
    }
    builder.finish(&Cx::new(i64::MAX, arena)).map(Value::Map).map_err(|e| e.to_string())
}

/// What an object with this one member stands for, if it is one of those that JSON has no type for.
fn special(name: &str, inner: &Json) -> Result<Option<Value<'static>>, String> {
    let text = inner.as_str().unwrap_or_default();
    let bad = || format!("{{\"{name}\": {inner}}} is no value");
    Ok(Some(match name {
        "uint" => Value::Uint(inner.as_u64().ok_or_else(bad)?),
        "double" => Value::Double(match inner.as_f64() {
            Some(v) => v,
            None => text.parse().map_err(|_| bad())?,
        }),
        "bytes" => Value::Bytes(keep(unescape(text)?)),
        "timestamp" => Value::Timestamp(Timestamp::parse(text).map_err(|_| bad())?),
        "duration" => Value::Duration(Duration::parse(text).map_err(|_| bad())?),
        "optional" => Value::Optional(Some(keep(value(inner, &Type::Dyn)?))),
        "none" => Value::Optional(None),
        "map" => {
            let entries =
                inner.as_array().ok_or_else(bad)?.iter().map(|entry| match entry.as_array().map(Vec::as_slice) {
                    Some([key, v]) => Ok((value(key, &Type::Dyn)?, value(v, &Type::Dyn)?)),
                    _ => Err(bad()),
                });
            map(entries.collect::<Result<_, String>>()?)?
        }
        _ => return Ok(None),
    }))
}
