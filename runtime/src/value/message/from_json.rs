//! Messages from JSON, for people who write them by hand ("ProtoJSON Format" of protocol buffers).

use super::Message;
use super::well_known::write;
use crate::arena::Arena;
use crate::cx::Cx;
use crate::value::{Duration, MAX_DEPTH, Timestamp, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use celero_frontend::similar;
use celero_protobuf::{
    Cardinality, Descriptors, Field, Kind, MessageType, Payload, Records, Scalar, ScalarValue, Sink, WellKnown,
};
use serde_json::Value as Json;
use std::convert::Infallible;

/// Memory for what stands for one value of `google.protobuf`, in bytes.
const WELL_KNOWN_BYTES: usize = 16 << 20;

impl Message<'_> {
    /// Returns the bytes in the wire format of a message of the type with this full name, which is
    /// written as JSON: fields by their names, as they are in the proto file or in lowerCamelCase;
    /// integers also as text, bytes in base64, values of enums by name or number.
    ///
    /// # Errors
    /// There is no such type or field, or a value is of another type than its field, in words that
    /// begin with the path of the field. Messages in an `Any` are not supported.
    pub fn bytes_of_json(types: &Descriptors, name: &str, json: &Json) -> Result<Vec<u8>, String> {
        let ty = types.message(name).ok_or_else(|| format!("there is no message `{name}`"))?;
        message(types, ty, json, "", MAX_DEPTH)
    }
}

fn message(types: &Descriptors, ty: &MessageType, json: &Json, path: &str, depth: u32) -> Result<Vec<u8>, String> {
    if depth == 0 {
        return Err(at(path, format!("it is more than {MAX_DEPTH} levels deep")));
    }
    if let Some(meaning) = ty.well_known() {
        return well_known(meaning, ty.name(), json, path);
    }
    let Json::Object(members) = json else { return Err(mismatch(path, ty.name(), json)) };
    let mut out = Vec::new();
    let mut seen = Vec::new();
    for (name, value) in members {
        let Some(field) = field_of(ty, name) else {
            let names = ty.fields().iter().map(Field::name);
            let meant = similar(name, names).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            return Err(at(path, format!("`{}` has no field `{name}`{meant}", ty.name())));
        };
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if seen.contains(&field.number()) {
            return Err(at(&path, "the field is there twice".to_owned()));
        }
        seen.push(field.number());
        if !value.is_null() || takes_null(types, field) {
            write_field(types, field, value, &path, depth, &mut out)?;
        }
    }
    Ok(out)
}

/// The field with this name, as the proto file or JSON has it.
fn field_of<'t>(ty: &'t MessageType, name: &str) -> Option<&'t Field> {
    ty.field(name).or_else(|| ty.fields().iter().find(|field| field.json_name() == name))
}

/// Whether null is a value of the field, not its absence.
fn takes_null(types: &Descriptors, field: &Field) -> bool {
    field.cardinality() == Cardinality::Singular
        && types.message_of(field).is_some_and(|ty| ty.well_known() == Some(WellKnown::Value))
}

fn write_field(
    types: &Descriptors,
    field: &Field,
    json: &Json,
    path: &str,
    depth: u32,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    match (field.cardinality(), json) {
        (Cardinality::Singular, json) => {
            let before = out.len();
            one(types, field, field.number(), json, path, depth, out)?;
            let written = out.get(before..).map(Records::new).and_then(|mut records| records.next());
            // As the writers of proto3 do.
            if !field.has_presence() && written.is_some_and(|record| record.is_ok_and(|one| one.payload.is_zero())) {
                out.truncate(before);
            }
            Ok(())
        }
        (Cardinality::Repeated, Json::Array(elements)) => {
            let each =
                |(index, element)| one(types, field, field.number(), element, &format!("{path}[{index}]"), depth, out);
            elements.iter().enumerate().try_for_each(each)
        }
        (Cardinality::Map, Json::Object(members)) => {
            let (key_field, value_field) = types.entry_of(field).ok_or_else(|| mismatch(path, "map", json))?;
            for (key, value) in members {
                let path = format!("{path}[{key:?}]");
                let mut entry = Vec::new();
                one(types, key_field, 1, &key_of(key_field, key), &path, depth, &mut entry)?;
                one(types, value_field, 2, value, &path, depth, &mut entry)?;
                record(out, field.number(), Payload::Bytes(&entry));
            }
            Ok(())
        }
        (Cardinality::Repeated, _) => Err(mismatch(path, "list", json)),
        (Cardinality::Map, _) => Err(mismatch(path, "map", json)),
    }
}

/// The key of a map, which JSON has as text.
fn key_of(field: &Field, key: &str) -> Json {
    match (field.kind(), key) {
        (Kind::Scalar(Scalar::Bool), "true") => Json::Bool(true),
        (Kind::Scalar(Scalar::Bool), "false") => Json::Bool(false),
        _ => Json::from(key),
    }
}

/// Writes one value of a field, under this number.
fn one(
    types: &Descriptors,
    field: &Field,
    number: u32,
    json: &Json,
    path: &str,
    depth: u32,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    match field.kind() {
        Kind::Scalar(scalar) => {
            let (mut decoded, wrong) = (Vec::new(), || mismatch(path, &format!("{scalar:?}").to_lowercase(), json));
            let value = scalar_of(scalar, json, &mut decoded).ok_or_else(wrong)?;
            record(out, number, scalar.write(value).ok_or_else(wrong)?);
        }
        Kind::Enum(_) => {
            let declared = types.enum_of(field);
            let name = declared.map_or("enum", |declared| declared.name());
            let value = match json {
                Json::Null => Some(0),
                Json::String(text) => declared.and_then(|declared| declared.number(text)),
                _ => json.as_i64().and_then(|number| i32::try_from(number).ok()),
            };
            let value = value.ok_or_else(|| mismatch(path, name, json))?;
            record(out, number, Payload::Varint(i64::from(value).cast_unsigned()));
        }
        Kind::Message(_) | Kind::Group(_) => {
            let ty = types.message_of(field).ok_or_else(|| mismatch(path, "message", json))?;
            let bytes = message(types, ty, json, path, depth.saturating_sub(1))?;
            let is_group = matches!(field.kind(), Kind::Group(_));
            record(out, number, if is_group { Payload::Group(&bytes) } else { Payload::Bytes(&bytes) });
        }
    }
    Ok(())
}

fn record(out: &mut Vec<u8>, number: u32, payload: Payload<'_>) {
    let Ok(()): Result<(), Infallible> = out.record(number, payload);
}

fn scalar_of<'j>(scalar: Scalar, json: &'j Json, decoded: &'j mut Vec<u8>) -> Option<ScalarValue<'j>> {
    Some(match (scalar.zero(), json) {
        (ScalarValue::Bool(_), Json::Bool(value)) => ScalarValue::Bool(*value),
        (ScalarValue::Int(_), Json::Number(number)) => ScalarValue::Int(number.as_i64()?),
        (ScalarValue::Int(_), Json::String(text)) => ScalarValue::Int(text.parse().ok()?),
        (ScalarValue::Uint(_), Json::Number(number)) => ScalarValue::Uint(number.as_u64()?),
        (ScalarValue::Uint(_), Json::String(text)) => ScalarValue::Uint(text.parse().ok()?),
        (ScalarValue::Double(_), Json::Number(number)) => ScalarValue::Double(number.as_f64()?),
        (ScalarValue::Double(_), Json::String(text)) => ScalarValue::Double(text.parse().ok()?),
        (ScalarValue::Text(_), Json::String(text)) => ScalarValue::Text(text),
        (ScalarValue::Bytes(_), Json::String(text)) => {
            *decoded = BASE64.decode(text).ok()?;
            ScalarValue::Bytes(decoded)
        }
        _ => return None,
    })
}

/// A message of `google.protobuf` with a form of its own.
fn well_known(meaning: WellKnown, name: &str, json: &Json, path: &str) -> Result<Vec<u8>, String> {
    let arena = Arena::new(WELL_KNOWN_BYTES);
    let cx = Cx::new(i64::MAX, &arena);
    let (mut decoded, wrong) = (Vec::new(), || mismatch(path, name, json));
    let value = match (meaning, json) {
        (WellKnown::Any, _) => return Err(at(path, "a message in an `Any` can't be written as JSON here".to_owned())),
        (WellKnown::Timestamp, Json::String(text)) => Value::from(Timestamp::parse(text).map_err(|_| wrong())?),
        (WellKnown::Duration, Json::String(text)) => Value::from(Duration::parse(text).map_err(|_| wrong())?),
        (WellKnown::Wrapper(scalar), json) => {
            super::scalar::scalar_value(scalar_of(scalar, json, &mut decoded).ok_or_else(wrong)?)
        }
        _ => Value::from(json),
    };
    write(&cx, meaning, &value, MAX_DEPTH).map(<[u8]>::to_vec).map_err(|_| wrong())
}

fn mismatch(path: &str, expected: &str, json: &Json) -> String {
    at(path, format!("{json} is no `{expected}`"))
}

fn at(path: &str, what: String) -> String {
    if path.is_empty() { what } else { format!("{path}: {what}") }
}
