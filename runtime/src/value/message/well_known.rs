//! The messages of `google.protobuf` that stand for values of the language, read and written
//! (language definition, "Dynamic Values", "Timestamps and Durations"; protocol buffers' "ProtoJSON
//! Format").

use super::bytes::{Buffer, records, whole};
use super::scalar::{scalar_of, scalar_value, written};
use super::{Failure, Message};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{Duration, List, Timestamp, Value, map_with_last, nested};
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD as BASE64;
use celero_ir::ErrorKind;
use celero_protobuf::{
    Descriptors, MessageType, Payload, Record, Scalar, ScalarValue, Sink, WellKnown, lower_camel_case,
};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The largest integer that a double holds exactly, with all below it: larger ones are text in
/// JSON.
const MAX_EXACT: i64 = (1 << 53) - 1;

/// The value that a message is: itself, or what it stands for.
pub(super) fn message_value<'a>(
    cx: &Cx<'a>,
    types: &'a Descriptors,
    ty: &'a MessageType,
    bytes: &'a [u8],
    depth: u32,
) -> EvalResult<Value<'a>> {
    match ty.well_known() {
        None => cx.arena().alloc(Message::of(types, ty, bytes)).map(Value::Message),
        Some(meaning) => read(cx, types, meaning, bytes, depth),
    }
}

/// The value of a field that has a message type and is not set: what an empty message stands for,
/// but that wrappers and `Any` are null.
pub(super) fn unset<'a>(cx: &Cx<'a>, types: &'a Descriptors, ty: &'a MessageType) -> EvalResult<Value<'a>> {
    match ty.well_known() {
        Some(WellKnown::Wrapper(_) | WellKnown::Any) => Ok(Value::Null),
        _ => message_value(cx, types, ty, &[], 1),
    }
}

/// What a message stands for.
pub(super) fn read<'a>(
    cx: &Cx<'a>,
    types: &'a Descriptors,
    meaning: WellKnown,
    bytes: &'a [u8],
    depth: u32,
) -> EvalResult<Value<'a>> {
    cx.charge(1)?;
    cx.charge_bytes(bytes.len())?;
    Ok(match meaning {
        WellKnown::Timestamp => {
            let (seconds, nanos) = time(bytes)?;
            if !(0..NANOS_PER_SECOND).contains(&nanos) {
                return Err(ErrorKind::InvalidArgument);
            }
            Value::Timestamp(Timestamp::new(seconds, nanos)?)
        }
        WellKnown::Duration => {
            let (seconds, nanos) = time(bytes)?;
            if nanos.abs() >= NANOS_PER_SECOND || seconds.signum().saturating_mul(nanos.signum()) < 0 {
                return Err(ErrorKind::InvalidArgument);
            }
            let whole = seconds.checked_mul(NANOS_PER_SECOND).and_then(|whole| whole.checked_add(nanos));
            Value::Duration(Duration(whole.ok_or(ErrorKind::Overflow)?))
        }
        WellKnown::Wrapper(scalar) => {
            let mut value = scalar.zero();
            for record in records(bytes) {
                if let Record { number: 1, payload } = record? {
                    value = scalar.read(payload).map_err(Failure::from)?.unwrap_or(value);
                }
            }
            scalar_value(value)
        }
        WellKnown::Any => return nested(depth, |depth| any(cx, types, bytes, depth)),
        WellKnown::Struct => nested(depth, |depth| object(cx, types, bytes, depth))?,
        WellKnown::ListValue => nested(depth, |depth| array(cx, types, bytes, depth))?,
        WellKnown::Value => nested(depth, |depth| json(cx, types, bytes, depth))?,
    })
}

/// The seconds and nanoseconds of a timestamp or a duration.
fn time(bytes: &[u8]) -> EvalResult<(i64, i64)> {
    let (mut seconds, mut nanos) = (0, 0);
    for record in records(bytes) {
        let Record { number, payload } = record?;
        let (place, scalar) = match number {
            1 => (&mut seconds, Scalar::Int64),
            2 => (&mut nanos, Scalar::Int32),
            _ => continue,
        };
        if let Some(ScalarValue::Int(value)) = scalar.read(payload).map_err(Failure::from)? {
            *place = value;
        }
    }
    Ok((seconds, nanos))
}

/// The type and the bytes of the message in an `Any`.
pub(super) fn any_parts(bytes: &[u8]) -> EvalResult<(&str, &[u8])> {
    let (url, value) = any_fields(bytes)?;
    Ok((url.rsplit('/').next().unwrap_or(url), value))
}

/// The fields of an `Any`: the URL of the type, and the bytes of the message.
pub(super) fn any_fields(bytes: &[u8]) -> EvalResult<(&str, &[u8])> {
    let (mut url, mut value): (&str, &[u8]) = ("", &[]);
    for record in records(bytes) {
        match record? {
            Record { number: 1, payload: Payload::Bytes(text) } => {
                url = std::str::from_utf8(text).map_err(|_| ErrorKind::InvalidArgument)?;
            }
            Record { number: 2, payload: Payload::Bytes(bytes) } => value = bytes,
            _ => {}
        }
    }
    Ok((url, value))
}

/// The message in an `Any`. One of an unknown type can't be read.
fn any<'a>(cx: &Cx<'a>, types: &'a Descriptors, bytes: &'a [u8], depth: u32) -> EvalResult<Value<'a>> {
    let (name, value) = any_parts(bytes)?;
    let ty = types.message(name).ok_or(ErrorKind::InvalidArgument)?;
    message_value(cx, types, ty, value, depth)
}

fn object<'a>(cx: &Cx<'a>, types: &'a Descriptors, bytes: &'a [u8], depth: u32) -> EvalResult<Value<'a>> {
    let mut map = cx.arena().vec();
    for record in records(bytes) {
        let Record { number: 1, payload: Payload::Bytes(entry) } = record? else { continue };
        let (mut key, mut value): (&str, Option<&[u8]>) = ("", None);
        for record in records(entry) {
            match record? {
                Record { number: 1, payload: Payload::Bytes(text) } => {
                    key = std::str::from_utf8(text).map_err(|_| ErrorKind::InvalidArgument)?;
                }
                Record { number: 2, payload: Payload::Bytes(bytes) } => value = Some(joined(cx, value, bytes)?),
                _ => {}
            }
        }
        let value = value.map_or(Ok(Value::Null), |bytes| read(cx, types, WellKnown::Value, bytes, depth))?;
        map.push((Value::String(key), value))?;
    }
    map_with_last(map, cx)
}

fn array<'a>(cx: &Cx<'a>, types: &'a Descriptors, bytes: &'a [u8], depth: u32) -> EvalResult<Value<'a>> {
    let mut list = cx.arena().vec();
    for record in records(bytes) {
        if let Record { number: 1, payload: Payload::Bytes(bytes) } = record? {
            list.push(read(cx, types, WellKnown::Value, bytes, depth)?)?;
        }
    }
    Ok(Value::List(List::Slice(list.finish())))
}

/// A message of two parts, or of one.
fn joined<'a>(cx: &Cx<'a>, first: Option<&'a [u8]>, second: &'a [u8]) -> EvalResult<&'a [u8]> {
    let Some(first) = first else { return Ok(second) };
    whole(cx, first)?;
    whole(cx, second)?;
    let mut bytes = cx.arena().vec();
    bytes.extend(first)?;
    bytes.extend(second)?;
    Ok(bytes.finish())
}

fn json<'a>(cx: &Cx<'a>, types: &'a Descriptors, bytes: &'a [u8], depth: u32) -> EvalResult<Value<'a>> {
    let mut value = Value::Null;
    // The object or array that was set last, which further parts are added to.
    let mut container: Option<(u32, &'a [u8])> = None;
    for record in records(bytes) {
        let Record { number, payload } = record?;
        let scalar = |scalar: Scalar| scalar.read(payload).map_err(|error| ErrorKind::from(Failure::from(error)));
        let set = match (number, payload) {
            (1, Payload::Varint(_)) => Some(Value::Null),
            (2, _) => scalar(Scalar::Double)?.map(scalar_value),
            (3, _) => scalar(Scalar::String)?.map(scalar_value),
            (4, _) => scalar(Scalar::Bool)?.map(scalar_value),
            (5 | 6, Payload::Bytes(bytes)) => {
                let first = container.filter(|(other, _)| *other == number).map(|(_, first)| first);
                container = Some((number, joined(cx, first, bytes)?));
                continue;
            }
            _ => None,
        };
        if let Some(set) = set {
            (value, container) = (set, None);
        }
    }
    match container {
        Some((5, bytes)) => read(cx, types, WellKnown::Struct, bytes, depth),
        Some((_, bytes)) => read(cx, types, WellKnown::ListValue, bytes, depth),
        None => Ok(value),
    }
}

/// Writes the message that stands for a value. `no_such_overload` if none of this type does;
/// `overflow` for a number that does not fit.
pub(super) fn write<'a>(cx: &Cx<'a>, meaning: WellKnown, value: &Value<'a>, depth: u32) -> EvalResult<&'a [u8]> {
    cx.charge(1)?;
    let mut out = Buffer::new(cx);
    match (meaning, value) {
        (WellKnown::Timestamp, Value::Timestamp(time)) => write_time(&mut out, time.seconds, time.nanos)?,
        (WellKnown::Duration, Value::Duration(Duration(nanos))) => {
            let (seconds, nanos) = (nanos.wrapping_div(NANOS_PER_SECOND), nanos.wrapping_rem(NANOS_PER_SECOND));
            write_time(&mut out, seconds, nanos)?;
        }
        (WellKnown::Wrapper(scalar), value) => {
            let value = scalar_of(value).ok_or(ErrorKind::NoSuchOverload)?;
            let payload = written(scalar, value)?;
            if !payload.is_zero() {
                out.record(1, payload)?;
            }
        }
        (WellKnown::Any, value) => return nested(depth, |depth| pack(cx, value, depth)),
        (WellKnown::Struct, Value::Map(map)) => nested(depth, |depth| {
            for (key, value) in map.all(cx)? {
                let Value::String(key) = key else { return Err(ErrorKind::NoSuchOverload) };
                let mut entry = Buffer::new(cx);
                entry.record(1, Payload::Bytes(key.as_bytes()))?;
                entry.record(2, Payload::Bytes(write(cx, WellKnown::Value, value, depth)?))?;
                out.record(1, Payload::Bytes(entry.finish()))?;
            }
            Ok(())
        })?,
        (WellKnown::ListValue, Value::List(list)) => nested(depth, |depth| {
            for index in 0..list.len() {
                let value = list.get(index, cx.arena())?.ok_or(ErrorKind::InvalidArgument)?;
                out.record(1, Payload::Bytes(write(cx, WellKnown::Value, &value, depth)?))?;
            }
            Ok(())
        })?,
        (WellKnown::Value, value) => write_json(cx, &mut out, value, depth)?,
        _ => return Err(ErrorKind::NoSuchOverload),
    }
    Ok(out.finish())
}

fn write_time(out: &mut Buffer<'_, '_>, seconds: i64, nanos: i64) -> EvalResult<()> {
    for (number, value) in [(1, seconds), (2, nanos)] {
        if value != 0 {
            out.record(number, Payload::Varint(value.cast_unsigned()))?;
        }
    }
    Ok(())
}

/// A value as JSON. Integers that a double does not hold are text, as are times; bytes are base64.
fn write_json<'a>(cx: &Cx<'a>, out: &mut Buffer<'a, '_>, value: &Value<'a>, depth: u32) -> EvalResult<()> {
    let number = |value: f64| Payload::Fixed64(value.to_bits());
    match value {
        Value::Null => out.record(1, Payload::Varint(0)),
        #[expect(clippy::cast_precision_loss, reason = "both ends of the range are exact")]
        Value::Int(value) if (-MAX_EXACT..=MAX_EXACT).contains(value) => out.record(2, number(*value as f64)),
        #[expect(clippy::cast_precision_loss, reason = "the end of the range is exact")]
        Value::Uint(value) if *value <= MAX_EXACT.cast_unsigned() => out.record(2, number(*value as f64)),
        Value::Double(value) => out.record(2, number(*value)),
        Value::String(text) => out.record(3, Payload::Bytes(text.as_bytes())),
        Value::Bool(value) => out.record(4, Payload::Varint((*value).into())),
        Value::Map(_) => {
            let bytes = write(cx, WellKnown::Struct, value, depth)?;
            out.record(5, Payload::Bytes(bytes))
        }
        Value::List(_) => {
            let bytes = write(cx, WellKnown::ListValue, value, depth)?;
            out.record(6, Payload::Bytes(bytes))
        }
        Value::Int(_) | Value::Uint(_) | Value::Bytes(_) | Value::Duration(_) | Value::Timestamp(_) => {
            out.record(3, Payload::Bytes(text_of(cx, value)?.as_bytes()))
        }
        Value::Message(message) => write_message_json(cx, out, message),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// The text that stands for an integer that no double holds, for bytes or for a time.
pub(super) fn text_of<'a>(cx: &Cx<'a>, value: &Value<'a>) -> EvalResult<&'a str> {
    let arena = cx.arena();
    match value {
        Value::Int(value) => arena.format(format_args!("{value}")),
        Value::Uint(value) => arena.format(format_args!("{value}")),
        Value::Bytes(bytes) => {
            cx.charge_each_byte(bytes.len())?;
            arena.format(format_args!("{}", Base64Display::new(bytes, &BASE64)))
        }
        Value::Duration(value) => arena.format(format_args!("{value}")),
        Value::Timestamp(value) => arena.format(format_args!("{value}")),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

/// A message as JSON. Only masks of fields, which are text, and messages without fields.
fn write_message_json<'a>(cx: &Cx<'a>, out: &mut Buffer<'a, '_>, message: &Message<'a>) -> EvalResult<()> {
    if is_mask(message) {
        return out.record(3, Payload::Bytes(mask_text(cx, message)?.as_bytes()));
    }
    if message.has_fields() { Err(ErrorKind::NoSuchOverload) } else { out.record(5, Payload::Bytes(&[])) }
}

/// Whether it is a mask of fields, which is text in JSON.
pub(super) fn is_mask(message: &Message<'_>) -> bool {
    message.name() == "google.protobuf.FieldMask"
}

/// The text of a mask of fields: its paths with names as JSON has them.
pub(super) fn mask_text<'a>(cx: &Cx<'a>, mask: &Message<'a>) -> EvalResult<&'a str> {
    let mut text = String::new();
    let (_, bytes) = mask.in_wire_format(cx)?;
    for record in records(bytes) {
        let Record { number: 1, payload: Payload::Bytes(path) } = record? else { continue };
        let path = std::str::from_utf8(path).map_err(|_| ErrorKind::InvalidArgument)?;
        cx.charge_each_byte(path.len())?;
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&lower_camel_case(path));
    }
    cx.arena().alloc_str(&text)
}

/// The name of the message that stands for a value in an `Any`.
fn packed_as(value: &Value<'_>) -> Option<(&'static str, WellKnown)> {
    Some(match value {
        Value::Null => ("Value", WellKnown::Value),
        Value::Bool(_) => ("BoolValue", WellKnown::Wrapper(Scalar::Bool)),
        Value::Int(_) => ("Int64Value", WellKnown::Wrapper(Scalar::Int64)),
        Value::Uint(_) => ("UInt64Value", WellKnown::Wrapper(Scalar::Uint64)),
        Value::Double(_) => ("DoubleValue", WellKnown::Wrapper(Scalar::Double)),
        Value::String(_) => ("StringValue", WellKnown::Wrapper(Scalar::String)),
        Value::Bytes(_) => ("BytesValue", WellKnown::Wrapper(Scalar::Bytes)),
        Value::Duration(_) => ("Duration", WellKnown::Duration),
        Value::Timestamp(_) => ("Timestamp", WellKnown::Timestamp),
        Value::List(_) => ("ListValue", WellKnown::ListValue),
        Value::Map(_) => ("Struct", WellKnown::Struct),
        _ => return None,
    })
}

/// The `Any` that holds a value.
fn pack<'a>(cx: &Cx<'a>, value: &Value<'a>, depth: u32) -> EvalResult<&'a [u8]> {
    let (package, name, bytes) = match value {
        Value::Message(message) => ("", message.name(), message.in_wire_format(cx)?.1),
        value => {
            let (name, meaning) = packed_as(value).ok_or(ErrorKind::NoSuchOverload)?;
            ("google.protobuf.", name, write(cx, meaning, value, depth)?)
        }
    };
    let url = cx.arena().format(format_args!("type.googleapis.com/{package}{name}"))?;
    let mut out = Buffer::new(cx);
    out.record(1, Payload::Bytes(url.as_bytes()))?;
    if !bytes.is_empty() {
        out.record(2, Payload::Bytes(bytes))?;
    }
    Ok(out.finish())
}

/// The bytes of the message that a value is, of this type.
pub(super) fn bytes_of<'a>(cx: &Cx<'a>, ty: &MessageType, value: &Value<'a>, depth: u32) -> EvalResult<&'a [u8]> {
    match (ty.well_known(), value) {
        (Some(meaning), value) => write(cx, meaning, value, depth),
        (None, Value::Message(message)) if same_type(message, ty) => Ok(message.in_wire_format(cx)?.1),
        _ => Err(ErrorKind::NoSuchOverload),
    }
}

fn same_type(message: &Message<'_>, ty: &MessageType) -> bool {
    message.name() == ty.name()
}
