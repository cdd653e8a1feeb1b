//! Values as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use celero::Value;
use celero::values::Arena;
use serde_json::Value as Json;

/// The deepest nesting of a value that is converted to JSON.
const MAX_LEVELS: usize = 64;

/// The memory of a conversion, in bytes. It holds the entries of maps while they are written.
const MEMORY: usize = 1 << 20;
/// The same for a value that becomes a whole body: as much as an evaluation may use by default.
const BODY_MEMORY: usize = 16 << 20;

/// Returns a CEL value as JSON. Bytes become base64. Returns `None` for a value that JSON can't represent.
pub(crate) fn to_json(value: &Value<'_>) -> Option<Json> {
    written(value, &Arena::new(MEMORY), MAX_LEVELS)
}

/// Returns the same for a value that becomes a whole body.
pub(crate) fn to_body(value: &Value<'_>) -> Option<Json> {
    written(value, &Arena::new(BODY_MEMORY), MAX_LEVELS)
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
        // The JSON of messages is another mapping.
        Value::Message(_) => return None,
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
