//! Converts between values and JSON.
//!
//! Output has the type of each value: `{"int": "1"}`, `{"list": [..]}`. Input may have the same
//! forms, or be plain JSON: whole numbers are `int`, other numbers `double`, objects maps with
//! string keys. An object whose only key is the name of a form is that form; as a plain map it is
//! written `{"map": [["int", ..]]}`. Only `{"type": ..}` is a plain map too, when what it holds is
//! no type of CEL.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use celero::host::Cx;
use celero::values::{Arena, Duration, EvalResult, List, MapBuilder, Timestamp};
use celero::{ErrorKind, Type, Value};
use serde_json::{Value as Json, json};

/// The JSON of a value. The arena is for what lists and maps of the host must build.
///
/// # Errors
/// What the host's lists and maps fail with.
pub fn from_value<'a>(value: &Value<'a>, arena: &'a Arena) -> EvalResult<Json> {
    Ok(match *value {
        Value::Null => json!({ "null": null }),
        Value::Bool(v) => json!({ "bool": v }),
        Value::Int(v) => json!({ "int": v.to_string() }),
        Value::Uint(v) => json!({ "uint": v.to_string() }),
        Value::Double(v) if v.is_finite() => json!({ "double": v }),
        Value::Double(v) if v.is_nan() => json!({ "double": "NaN" }),
        Value::Double(v) => json!({ "double": if v > 0.0 { "Infinity" } else { "-Infinity" } }),
        Value::String(v) => json!({ "string": v }),
        Value::Bytes(v) => json!({ "bytes": BASE64.encode(v) }),
        Value::Duration(v) => json!({ "duration": v.to_string() }),
        Value::Timestamp(v) => json!({ "timestamp": v.to_string() }),
        Value::List(list) => {
            let mut elements = Vec::new();
            for index in 0..list.len() {
                if let Some(element) = list.get(index, arena)? {
                    elements.push(from_value(&element, arena)?);
                }
            }
            json!({ "list": elements })
        }
        Value::Map(map) => {
            let mut entries = Vec::new();
            for (key, value) in map.entries(arena)? {
                entries.push(json!([from_value(key, arena)?, from_value(value, arena)?]));
            }
            json!({ "map": entries })
        }
        Value::Type(name) => json!({ "type": name }),
        Value::Optional(None) => json!({ "optional": null }),
        Value::Optional(Some(v)) => json!({ "optional": from_value(v, arena)? }),
        Value::Ip(ip) => json!({ "ip": ip.to_string() }),
        Value::Cidr(ip, prefix) => json!({ "cidr": format!("{ip}/{prefix}") }),
        Value::Message(message) => json!({ "message": message.name(), "bytes": BASE64.encode(message.bytes()) }),
    })
}

/// Builds a value of JSON. Plain numbers and strings become what `ty` asks for, where it does: an
/// `int`, `uint` or `double`, a timestamp, a duration or an address.
///
/// # Errors
/// What is no value, for people.
pub fn to_value<'a>(json: &Json, ty: &Type, arena: &'a Arena) -> Result<Value<'a>, String> {
    let ty = if let Type::Wrapper(inner) = ty { inner } else { ty };
    match (json, ty) {
        (Json::Null, _) => Ok(Value::Null),
        (Json::Bool(v), _) => Ok(Value::Bool(*v)),
        (Json::Number(n), Type::Uint) if n.is_u64() => Ok(Value::Uint(n.as_u64().unwrap_or_default())),
        (Json::Number(n), Type::Double) => Ok(Value::Double(n.as_f64().unwrap_or(f64::NAN))),
        (Json::Number(n), _) => match (n.as_i64(), n.as_f64()) {
            (Some(v), _) => Ok(Value::Int(v)),
            (None, _) if n.is_u64() => {
                Err(format!("{n} is too large for an `int`; as a `uint` it is {{\"uint\": \"{n}\"}}"))
            }
            (None, v) => Ok(Value::Double(v.unwrap_or(f64::NAN))),
        },
        (Json::String(v), Type::Timestamp) => time(v, "timestamp", Timestamp::parse(v)).map(Value::Timestamp),
        (Json::String(v), Type::Duration) => time(v, "duration", Duration::parse(v)).map(Value::Duration),
        (Json::String(v), Type::Opaque(name, _)) if **name == *"net.IP" => {
            v.parse().map(Value::Ip).map_err(|_| format!("\"{v}\" is not an IP address"))
        }
        (Json::String(v), _) => arena.alloc_str(v).map(Value::String).map_err(full),
        (Json::Array(elements), _) => list(elements, ty, arena),
        (Json::Object(members), _) => {
            let mut all = members.iter();
            if let (Some((name, content)), None) = (all.next(), all.next())
                && let Some(value) = form(name, content, ty, arena)?
            {
                return Ok(value);
            }
            let (_, value_type) = entry_types(ty);
            let mut map = MapBuilder::new(arena, members.len()).map_err(full)?;
            for (key, value) in members {
                let key = Value::String(arena.alloc_str(key).map_err(full)?);
                map.insert(key, to_value(value, value_type, arena)?).map_err(full)?;
            }
            map.finish(&Cx::new(i64::MAX, arena)).map(Value::Map).map_err(full)
        }
    }
}

/// A typed form; `None` when the name is none of theirs.
fn form<'a>(name: &str, content: &Json, ty: &Type, arena: &'a Arena) -> Result<Option<Value<'a>>, String> {
    let bad = |what: &str| {
        Err(format!(
            "{{\"{name}\": {content}}}: {what} (a plain map with the one key `{name}` is written \
             {{\"map\": [[\"{name}\", ..]]}})"
        ))
    };
    // Numbers may be written as JSON numbers too.
    let digits = match content {
        Json::String(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        _ => String::new(),
    };
    Ok(Some(match (name, content) {
        ("null", Json::Null) => Value::Null,
        ("bool", Json::Bool(v)) => Value::Bool(*v),
        ("int", _) => match digits.parse() {
            Ok(v) => Value::Int(v),
            Err(_) => return bad("expected a whole number of 64 bit"),
        },
        ("uint", _) => match digits.parse() {
            Ok(v) => Value::Uint(v),
            Err(_) => return bad("expected a whole number of 64 bit without a sign"),
        },
        ("double", Json::Number(v)) => Value::Double(v.as_f64().unwrap_or(f64::NAN)),
        ("double", Json::String(v)) => Value::Double(match v.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => return bad("expected a number, \"NaN\", \"Infinity\" or \"-Infinity\""),
        }),
        ("string", Json::String(v)) => Value::String(arena.alloc_str(v).map_err(full)?),
        ("bytes", Json::String(v)) => match BASE64.decode(v) {
            Ok(bytes) => Value::Bytes(arena.alloc_slice(&bytes).map_err(full)?),
            Err(_) => return bad("expected base64"),
        },
        ("timestamp", Json::String(v)) => Value::Timestamp(time(v, "timestamp", Timestamp::parse(v))?),
        ("duration", Json::String(v)) => Value::Duration(time(v, "duration", Duration::parse(v))?),
        ("list", Json::Array(elements)) => list(elements, ty, arena)?,
        ("map", Json::Array(entries)) => {
            let (key_type, value_type) = entry_types(ty);
            let mut map = MapBuilder::new(arena, entries.len()).map_err(full)?;
            for entry in entries {
                let Some([key, value]) = entry.as_array().map(Vec::as_slice) else {
                    return bad("expected pairs of key and value");
                };
                let (key, value) = (to_value(key, key_type, arena)?, to_value(value, value_type, arena)?);
                map.insert(key, value).map_err(full)?;
            }
            Value::Map(map.finish(&Cx::new(i64::MAX, arena)).map_err(full)?)
        }
        ("type", Json::String(v)) => match v.parse::<Type>() {
            // A type value is known by its name without parameters.
            Ok(ty) => Value::Type(arena.alloc_str(&bare(&ty.to_string())).map_err(full)?),
            // Objects with the one member `type` are common, and few of them name a type of CEL.
            Err(_) => return Ok(None),
        },
        ("optional", Json::Null) => Value::Optional(None),
        ("optional", content) => {
            let inner = if let Type::Optional(inner) = ty { inner } else { &Type::Dyn };
            Value::Optional(Some(arena.alloc(to_value(content, inner, arena)?).map_err(full)?))
        }
        ("ip", Json::String(v)) => match v.parse() {
            Ok(ip) => Value::Ip(ip),
            Err(_) => return bad("expected an IP address"),
        },
        ("cidr", Json::String(v)) => match cidr(v) {
            Some(value) => value,
            None => return bad("expected an address and a prefix length, `10.0.0.0/8`"),
        },
        (
            "null" | "bool" | "double" | "string" | "bytes" | "timestamp" | "duration" | "list" | "map" | "type" | "ip"
            | "cidr",
            _,
        ) => {
            return bad("the content does not fit the form");
        }
        _ => return Ok(None),
    }))
}

fn list<'a>(elements: &[Json], ty: &Type, arena: &'a Arena) -> Result<Value<'a>, String> {
    let inner = if let Type::List(inner) = ty { inner } else { &Type::Dyn };
    let mut list = arena.vec();
    for element in elements {
        list.push(to_value(element, inner, arena)?).map_err(full)?;
    }
    Ok(Value::List(List::Slice(list.finish())))
}

fn entry_types(ty: &Type) -> (&Type, &Type) {
    if let Type::Map(pair) = ty { (&pair.0, &pair.1) } else { (&Type::Dyn, &Type::Dyn) }
}

fn bare(name: &str) -> String {
    name.split('(').next().unwrap_or(name).to_owned()
}

fn cidr<'a>(text: &str) -> Option<Value<'a>> {
    let (ip, prefix) = text.split_once('/')?;
    let (ip, prefix): (std::net::IpAddr, u8) = (ip.parse().ok()?, prefix.parse().ok()?);
    (prefix <= if ip.is_ipv4() { 32 } else { 128 }).then_some(Value::Cidr(ip, prefix))
}

fn time<T>(text: &str, what: &str, parsed: EvalResult<T>) -> Result<T, String> {
    parsed.map_err(|why| format!("`{text}` is no {what}: {why}"))
}

fn full(why: ErrorKind) -> String {
    why.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(text: &str, ty: &Type) -> Result<String, String> {
        let arena = Arena::new(1 << 20);
        let json = serde_json::from_str(text).unwrap();
        let value = to_value(&json, ty, &arena)?;
        Ok(from_value(&value, &arena).unwrap().to_string())
    }

    #[test]
    fn typed_forms_survive() {
        for text in [
            r#"{"int":"-9223372036854775808"}"#,
            r#"{"uint":"18446744073709551615"}"#,
            r#"{"double":1.5}"#,
            r#"{"double":"NaN"}"#,
            r#"{"double":"-Infinity"}"#,
            r#"{"string":"a\"\u0000"}"#,
            r#"{"bytes":"/wA="}"#,
            r#"{"bool":true}"#,
            r#"{"null":null}"#,
            r#"{"list":[{"int":"1"},{"list":[]}]}"#,
            r#"{"map":[[{"bool":true},{"int":"1"}],[{"uint":"2"},{"null":null}],[{"string":"int"},{"int":"3"}]]}"#,
            r#"{"timestamp":"2009-02-13T23:31:30.5Z"}"#,
            r#"{"duration":"-1.5s"}"#,
            r#"{"type":"int"}"#,
            r#"{"type":"google.protobuf.Timestamp"}"#,
            r#"{"optional":null}"#,
            r#"{"optional":{"optional":{"int":"1"}}}"#,
            r#"{"ip":"::1"}"#,
            r#"{"cidr":"10.0.0.0/8"}"#,
        ] {
            assert_eq!(there_and_back(text, &Type::Dyn).as_deref(), Ok(text));
        }
    }

    #[test]
    fn plain_json_becomes_what_is_declared() {
        let cases = [
            ("1", Type::Dyn, r#"{"int":"1"}"#),
            ("1", Type::Uint, r#"{"uint":"1"}"#),
            ("1", Type::Double, r#"{"double":1.0}"#),
            ("1.0", Type::Dyn, r#"{"double":1.0}"#),
            ("[1]", Type::list(Type::Double), r#"{"list":[{"double":1.0}]}"#),
            (
                r#"{"a":1,"b":null}"#,
                Type::Dyn,
                r#"{"map":[[{"string":"a"},{"int":"1"}],[{"string":"b"},{"null":null}]]}"#,
            ),
            (r#"{"a":1}"#, Type::map(Type::String, Type::Uint), r#"{"map":[[{"string":"a"},{"uint":"1"}]]}"#),
            (r#""1s""#, Type::Duration, r#"{"duration":"1s"}"#),
            (r#"{"type":"Hostname"}"#, Type::Dyn, r#"{"map":[[{"string":"type"},{"string":"Hostname"}]]}"#),
            (r#""1s""#, Type::Dyn, r#"{"string":"1s"}"#),
        ];
        for (text, ty, want) in cases {
            assert_eq!(there_and_back(text, &ty).as_deref(), Ok(want), "{text} as {ty}");
        }
    }

    #[test]
    fn what_is_no_value_is_named() {
        for (text, part) in [
            (r#"{"int":"x"}"#, "written {\"map\""),
            (r#"{"uint":"-1"}"#, "without a sign"),
            (r#"{"bytes":"?"}"#, "base64"),
            (r#"{"timestamp":"now"}"#, "no timestamp"),
            (r#"{"map":[[1]]}"#, "pairs"),
            (r#"{"map":[[1,1],[1,2]]}"#, "duplicate"),
            (r#"{"string":1}"#, "does not fit"),
            (r#"{"cidr":"10.0.0.0/33"}"#, "prefix"),
            ("18446744073709551615", "too large"),
        ] {
            let error = there_and_back(text, &Type::Dyn).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
