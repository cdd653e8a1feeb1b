//! Literals of messages: `package.Message{field: value}` (language definition, "Protocol Buffer
//! Data Conversion").

use super::bytes::{Buffer, whole};
use super::scalar::{scalar_of, written};
use super::unset::is_null_value;
use super::well_known::{bytes_of, message_value};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{MAX_DEPTH, Value};
use celero_ir::ErrorKind;
use celero_protobuf::{Cardinality, Descriptors, Field, Kind, MessageType, Payload, Scalar, Sink, WellKnown};

/// Returns the numbers of the fields of a literal; `None` if there is no such message or field.
pub(crate) fn field_numbers<'f>(
    types: &Descriptors,
    name: &str,
    fields: impl Iterator<Item = &'f str>,
) -> Option<Box<[u32]>> {
    let ty = types.message(name)?;
    fields.map(|field| ty.field(field).map(Field::number)).collect()
}

/// Returns the message of this type with these fields, or what it stands for. A marked field is an
/// optional, and not set if that is empty.
///
/// # Errors
/// `no_such_overload` for a value of another type than the field's, `overflow` for a number that the field can't hold;
/// `out_of_budget`.
pub(crate) fn build<'a>(
    cx: &Cx<'a>,
    types: &'a Descriptors,
    name: &str,
    fields: &[u32],
    values: &[Value<'a>],
    optional: &[bool],
) -> EvalResult<Value<'a>> {
    let ty = types.message(name).ok_or(ErrorKind::NoSuchOverload)?;
    let mut out = Buffer::new(cx);
    for (at, (number, value)) in fields.iter().zip(values).enumerate() {
        let field = ty.by_number(*number).ok_or(ErrorKind::NoSuchField)?;
        let value = match (optional.get(at), value) {
            (Some(true), Value::Optional(None)) => continue,
            (Some(true), Value::Optional(Some(value))) => value,
            (Some(true), _) => return Err(ErrorKind::NoSuchOverload),
            _ => value,
        };
        cx.charge(1)?;
        write_field(cx, types, field, value, &mut out)?;
    }
    message_value(cx, types, ty, out.finish(), MAX_DEPTH)
}

pub(super) fn write_field<'a>(
    cx: &Cx<'a>,
    types: &'a Descriptors,
    field: &Field,
    value: &Value<'a>,
    out: &mut Buffer<'a, '_>,
) -> EvalResult<()> {
    match (field.cardinality(), value) {
        (Cardinality::Singular, Value::Null) if is_unset_by_null(types, field) => Ok(()),
        (Cardinality::Singular, value) => {
            let payload = payload(cx, types, field, value)?;
            let is_default = !field.has_presence() && payload.is_zero();
            if is_default { Ok(()) } else { out.record(field.number(), payload) }
        }
        (Cardinality::Repeated, Value::List(list)) => {
            let mut packed = Buffer::new(cx);
            for index in 0..list.len() {
                cx.charge(1)?;
                let element = list.get(index, cx.arena())?.ok_or(ErrorKind::InvalidArgument)?;
                if matches!(element, Value::Null) && is_unset_by_null(types, field) {
                    continue;
                }
                let payload = payload(cx, types, field, &element)?;
                if field.is_packed() { pack(&mut packed, payload)? } else { out.record(field.number(), payload)? }
            }
            let packed = packed.finish();
            if packed.is_empty() { Ok(()) } else { out.record(field.number(), Payload::Bytes(packed)) }
        }
        (Cardinality::Map, Value::Map(map)) => {
            let (key_field, value_field) = types.entry_of(field).ok_or(ErrorKind::NoSuchField)?;
            for (key, value) in map.all(cx)? {
                cx.charge(1)?;
                if matches!(value, Value::Null) && is_unset_by_null(types, value_field) {
                    continue;
                }
                let mut entry = Buffer::new(cx);
                entry.record(1, payload(cx, types, key_field, key)?)?;
                entry.record(2, payload(cx, types, value_field, value)?)?;
                out.record(field.number(), Payload::Bytes(entry.finish()))?;
            }
            Ok(())
        }
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// Whether null leaves a field unset, or is left out of its list or map: a message, but for those
/// that stand for null or for JSON.
fn is_unset_by_null(types: &Descriptors, field: &Field) -> bool {
    types.message_of(field).is_some_and(|ty: &MessageType| {
        !matches!(ty.well_known(), Some(WellKnown::Value | WellKnown::Any | WellKnown::Struct | WellKnown::ListValue))
    })
}

fn pack(out: &mut Buffer<'_, '_>, payload: Payload<'_>) -> EvalResult<()> {
    match payload {
        Payload::Varint(value) => out.varint(value),
        Payload::Fixed64(value) => out.append(&value.to_le_bytes()),
        Payload::Fixed32(value) => out.append(&value.to_le_bytes()),
        Payload::Bytes(_) | Payload::Group(_) => Err(ErrorKind::NoSuchOverload),
    }
}

/// One value of a field.
fn payload<'a>(cx: &Cx<'a>, types: &'a Descriptors, field: &Field, value: &Value<'a>) -> EvalResult<Payload<'a>> {
    match field.kind() {
        Kind::Scalar(scalar) => written(scalar, scalar_of(value).ok_or(ErrorKind::NoSuchOverload)?),
        // The only value of the enum `NullValue` is null.
        Kind::Enum(_) if matches!(value, Value::Null) && is_null_value(types, field) => Ok(Payload::Varint(0)),
        Kind::Enum(_) => written(Scalar::Int32, scalar_of(value).ok_or(ErrorKind::NoSuchOverload)?),
        Kind::Message(_) | Kind::Group(_) => {
            let ty = types.message_of(field).ok_or(ErrorKind::NoSuchField)?;
            let bytes = bytes_of(cx, ty, value, MAX_DEPTH)?;
            if let Kind::Message(_) = field.kind() {
                return Ok(Payload::Bytes(bytes));
            }
            // A group ends where its bytes say so.
            whole(cx, bytes)?;
            Ok(Payload::Group(bytes))
        }
    }
}
