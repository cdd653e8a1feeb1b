//! Messages as values that are written as JSON ("ProtoJSON Format" of protocol buffers).

use super::read::{field_value, is_unknown, merged};
use super::token::is_token_type;
use super::unset::{is_null_value, unset};
use super::well_known::{any_fields, is_mask, mask_text, read, text_of};
use super::{Failure, Message};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{List, Map, Value, map_with_last, nested};
use celero_ir::ErrorKind;
use celero_protobuf::{Cardinality, Descriptors, Field, FieldValue, Found, Kind, MessageType, Scalar, WellKnown};

/// What writing a number or a time as text takes.
const FORMAT_STEPS: usize = 4;

impl<'a> Message<'a> {
    /// Returns the message as a map of the fields that are set, by their names in JSON: integers of
    /// 64 bits are text, values of enums their names, messages maps, those of `google.protobuf` what
    /// they stand for.
    ///
    /// # Errors
    /// `invalid_argument` if the message is malformed or a token, or an `Any` in it is of an unknown type;
    /// `overflow` for a duration of more than 64 bits of nanoseconds; `out_of_budget`, also past 512
    /// levels of nesting.
    pub(crate) fn as_json(&self, cx: &Cx<'a>, depth: u32) -> EvalResult<Value<'a>> {
        if is_token_type(self.types) {
            return Err(ErrorKind::InvalidArgument);
        }
        if is_mask(self) {
            return mask_text(cx, self).map(Value::String);
        }
        let (message, bytes) = self.in_wire_format(cx)?;
        let mut members = cx.arena().vec();
        for field in message.set_fields(cx)? {
            let value = field_as_json(cx, &message, bytes, field, depth)?;
            members.push((Value::String(field.json_name()), value))?;
        }
        map_with_last(members, cx)
    }
}

fn field_as_json<'a>(
    cx: &Cx<'a>,
    message: &Message<'a>,
    bytes: &'a [u8],
    field: &'a Field,
    depth: u32,
) -> EvalResult<Value<'a>> {
    let types = message.types;
    match field.cardinality() {
        Cardinality::Singular => match types.find(message.ty, field, bytes).map_err(Failure::from)? {
            Found::Value(value) => element(cx, types, field, value, depth),
            Found::Parts(_) => {
                let value = FieldValue::Message(merged(cx, message, bytes, field)?);
                element(cx, types, field, value, depth)
            }
            // The value of an entry of a map.
            Found::Unset => match field.kind() {
                Kind::Scalar(scalar) => scalar_as_json(cx, scalar, &unset(cx, types, field)?),
                Kind::Enum(_) => element(cx, types, field, FieldValue::Enum(0), depth),
                Kind::Message(_) | Kind::Group(_) => element(cx, types, field, FieldValue::Message(&[]), depth),
            },
        },
        Cardinality::Repeated => {
            let mut list = cx.arena().vec();
            types.each(field, bytes, |value| {
                cx.charge(1)?;
                Ok::<(), Failure>(list.push(element(cx, types, field, value, depth)?)?)
            })?;
            Ok(Value::List(List::Slice(list.finish())))
        }
        Cardinality::Map => {
            let entry = types.message_of(field).ok_or(ErrorKind::NoSuchField)?;
            let (key_field, value_field) = types.entry_of(field).ok_or(ErrorKind::NoSuchField)?;
            let mut map = cx.arena().vec();
            types.each(field, bytes, |value| {
                let FieldValue::Message(bytes) = value else { return Ok::<(), Failure>(()) };
                cx.charge(1)?;
                if is_unknown(types, value_field, bytes)? {
                    return Ok(());
                }
                let message = Message::of(types, entry, bytes);
                let key = field_value(cx, &message, key_field)?;
                Ok(map.push((key, field_as_json(cx, &message, bytes, value_field, depth)?))?)
            })?;
            map_with_last(map, cx)
        }
    }
}

fn element<'a>(
    cx: &Cx<'a>,
    types: &'a Descriptors,
    field: &Field,
    value: FieldValue<'a>,
    depth: u32,
) -> EvalResult<Value<'a>> {
    match (value, field.kind()) {
        (FieldValue::Scalar(value), Kind::Scalar(scalar)) => {
            scalar_as_json(cx, scalar, &super::scalar::scalar_value(value))
        }
        (FieldValue::Scalar(_), _) => Err(ErrorKind::InvalidArgument),
        (FieldValue::Enum(_), _) if is_null_value(types, field) => Ok(Value::Null),
        (FieldValue::Enum(number), _) => {
            let values = types.enum_of(field).map_or(&[][..], |enumeration| enumeration.values());
            cx.charge_bytes(values.len())?;
            let name = values.iter().find(|(_, value)| *value == number);
            Ok(name.map_or(Value::Int(number.into()), |(name, _)| Value::String(name)))
        }
        (FieldValue::Message(bytes), _) => {
            let ty = types.message_of(field).ok_or(ErrorKind::NoSuchField)?;
            nested(depth, |depth| message_as_json(cx, types, ty, bytes, depth))
        }
    }
}

fn message_as_json<'a>(
    cx: &Cx<'a>,
    types: &'a Descriptors,
    ty: &'a MessageType,
    bytes: &'a [u8],
    depth: u32,
) -> EvalResult<Value<'a>> {
    let Some(meaning) = ty.well_known() else { return Message::of(types, ty, bytes).as_json(cx, depth) };
    if meaning == WellKnown::Any {
        return any_as_json(cx, types, bytes, depth);
    }
    let value = read(cx, types, meaning, bytes, depth)?;
    match meaning {
        WellKnown::Timestamp | WellKnown::Duration => time_as_json(cx, &value),
        WellKnown::Wrapper(scalar) => scalar_as_json(cx, scalar, &value),
        WellKnown::Any | WellKnown::Struct | WellKnown::ListValue | WellKnown::Value => Ok(value),
    }
}

/// The members of the message with its type, or what it stands for as the member `value`.
fn any_as_json<'a>(cx: &Cx<'a>, types: &'a Descriptors, bytes: &'a [u8], depth: u32) -> EvalResult<Value<'a>> {
    let (url, bytes) = any_fields(bytes)?;
    let mut members = cx.arena().vec();
    if url.is_empty() && bytes.is_empty() {
        return map_with_last(members, cx);
    }
    let name = url.rsplit('/').next().unwrap_or(url);
    let ty = types.message(name).ok_or(ErrorKind::InvalidArgument)?;
    let value = nested(depth, |depth| message_as_json(cx, types, ty, bytes, depth))?;
    match value {
        Value::Map(Map::Sorted(of_message)) if ty.well_known().is_none() && ty.name() != "google.protobuf.Empty" => {
            cx.charge(of_message.len())?;
            members.extend(of_message)?;
        }
        value => members.push((Value::String("value"), value))?,
    }
    members.push((Value::String("@type"), Value::String(url)))?;
    map_with_last(members, cx)
}

/// Integers of 64 bits and numbers that JSON has not are text; a `float` is the shortest number that reads as it.
fn scalar_as_json<'a>(cx: &Cx<'a>, scalar: Scalar, value: &Value<'a>) -> EvalResult<Value<'a>> {
    use Scalar::{Fixed64, Float, Int64, Sfixed64, Sint64, Uint64};
    match (scalar, value) {
        (Int64 | Sint64 | Sfixed64 | Uint64 | Fixed64, value) => {
            cx.charge(FORMAT_STEPS)?;
            text_of(cx, value).map(Value::String)
        }
        (_, Value::Double(number)) if number.is_nan() => Ok(Value::String("NaN")),
        (_, Value::Double(f64::INFINITY)) => Ok(Value::String("Infinity")),
        (_, Value::Double(f64::NEG_INFINITY)) => Ok(Value::String("-Infinity")),
        (Float, Value::Double(number)) => {
            cx.charge(FORMAT_STEPS)?;
            let text = cx.arena().format(format_args!("{:e}", *number as f32))?;
            text.parse().map(Value::Double).map_err(|_| ErrorKind::InvalidArgument)
        }
        (_, value) => Ok(*value),
    }
}

/// The text of a timestamp or a duration, with no, 3, 6 or 9 digits of a fraction.
fn time_as_json<'a>(cx: &Cx<'a>, value: &Value<'a>) -> EvalResult<Value<'a>> {
    cx.charge(FORMAT_STEPS)?;
    let text = text_of(cx, value)?;
    let Some((whole, fraction)) = text.split_once('.') else { return Ok(Value::String(text)) };
    let digits = fraction.trim_end_matches(['Z', 's']);
    let unit = fraction.get(digits.len()..).unwrap_or_default();
    let width = digits.len().next_multiple_of(3);
    cx.arena().format(format_args!("{whole}.{digits:0<width$}{unit}")).map(Value::String)
}
