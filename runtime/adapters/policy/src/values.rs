//! Converts between JSON and CEL values.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use celero::{Arena, EvalResult, HostList, HostMap, List, Map, Value};
use serde_json::{Map as JsonMap, Value as Json};

/// The deepest nesting of a value that is converted to JSON.
const MOST_LEVELS: usize = 64;

/// A JSON object as a CEL map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonObject<'j>(pub(crate) &'j JsonMap<String, Json>);

#[derive(Clone, Copy, Debug)]
struct JsonArray<'j>(&'j [Json]);

/// Returns a JSON document as a CEL value without copying it. Numbers have the types that `json(..)` gives them.
fn value<'s>(json: &'s Json, arena: &'s Arena) -> EvalResult<Value<'s>> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(int), ..) => Value::Int(int),
            (None, Some(uint), _) => Value::Uint(uint),
            (None, None, double) => Value::Double(double.unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(text),
        Json::Array(elements) => Value::List(List::Host(arena.alloc(JsonArray(elements))?)),
        Json::Object(members) => Value::Map(Map::Host(arena.alloc(JsonObject(members))?)),
    })
}

impl HostMap for JsonObject<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        match key {
            Value::String(key) => self.0.get(*key).map(|json| value(json, arena)).transpose(),
            _ => Ok(None),
        }
    }

    fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        let entry = self.0.iter().nth(index);
        entry.map(|(key, json)| Ok((Value::String(key), value(json, arena)?))).transpose()
    }
}

impl HostList for JsonArray<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.0.get(index).map(|json| value(json, arena)).transpose()
    }
}

/// Returns a CEL value as JSON. Bytes become base64. Returns `None` for a value that JSON can't represent.
pub(crate) fn to_json(value: &Value<'_>) -> Option<Json> {
    let arena = Arena::new(1 << 20);
    written(value, &arena, MOST_LEVELS)
}

fn written(value: &Value<'_>, arena: &Arena, levels: usize) -> Option<Json> {
    let levels = levels.checked_sub(1)?;
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => (*number).into(),
        Value::Uint(number) => (*number).into(),
        Value::Double(number) => serde_json::Number::from_f64(*number).map(Json::Number)?,
        Value::String(text) => Json::String((*text).to_owned()),
        Value::Bytes(bytes) => Json::String(STANDARD.encode(bytes)),
        Value::Ip(address) => Json::String(address.to_string()),
        Value::Cidr(address, bits) => Json::String(format!("{address}/{bits}")),
        Value::Type(name) => Json::String((*name).to_owned()),
        Value::Optional(inner) => written((*inner)?, arena, levels)?,
        Value::List(list) => {
            let element =
                |index| list.get(index, arena).ok().flatten().and_then(|value| written(&value, arena, levels));
            Json::Array((0..list.len()).map(element).collect::<Option<_>>()?)
        }
        Value::Map(map) => {
            let entries = map.entries(arena).ok()?;
            let member = |(key, value): &(Value<'_>, Value<'_>)| {
                let key = match written(key, arena, levels)? {
                    Json::String(text) => text,
                    other => other.to_string(),
                };
                Some((key, written(value, arena, levels)?))
            };
            Json::Object(entries.iter().map(member).collect::<Option<_>>()?)
        }
        // Expressions of these types are compiled to their text, `string(..)`.
        Value::Duration(_) | Value::Timestamp(_) => return None,
    })
}
