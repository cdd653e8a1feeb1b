//! Fields of a message, read from its bytes.

use super::bytes::{charge, records, whole};
use super::scalar::scalar_value;
use super::table::Slot;
use super::unset::{enum_value, unset};
use super::well_known::message_value;
use super::{Failure, Form, Message, host};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{List, MAX_DEPTH, Value, map_with_last};
use celero_ir::ErrorKind;
use celero_protobuf::{Cardinality, Descriptors, Field, FieldValue, Found, Kind, Part, Payload, Records};

/// `message.field`
pub(crate) fn select<'a>(cx: &Cx<'a>, message: &Message<'a>, name: &str) -> EvalResult<Value<'a>> {
    field_value(cx, message, field(cx, message, name)?)
}

/// `has(message.field)`: whether it is set; of a list or a map, whether it has elements; of a field
/// without presence, whether it differs from its default (language definition, "Field Selection").
pub(crate) fn has<'a>(cx: &Cx<'a>, message: &Message<'a>, name: &str) -> EvalResult<bool> {
    has_field(cx, message, field(cx, message, name)?)
}

/// `message.?field`
pub(crate) fn select_optional<'a>(cx: &Cx<'a>, message: &Message<'a>, name: &str) -> EvalResult<Option<&'a Value<'a>>> {
    let field = field(cx, message, name)?;
    if !has_field(cx, message, field)? {
        return Ok(None);
    }
    cx.arena().alloc(field_value(cx, message, field)?).map(Some)
}

/// As [`select`]; `number` is that of the field, if the message is of the type that was expected.
pub(crate) fn select_known<'a>(
    cx: &Cx<'a>,
    message: &Message<'a>,
    name: &str,
    number: i64,
) -> EvalResult<&'a Value<'a>> {
    let field = known(cx, message, name, number)?;
    if let (Some(Slot::Set(value)), Form::Bytes { bytes, .. }) = (slot(message, field), message.form) {
        charge_set(cx, bytes, value)?;
        return Ok(value);
    }
    cx.arena().alloc(field_value(cx, message, field)?)
}

/// As [`has`], as [`select_known`] is to [`select`].
pub(crate) fn has_known<'a>(cx: &Cx<'a>, message: &Message<'a>, name: &str, number: i64) -> EvalResult<bool> {
    has_field(cx, message, known(cx, message, name, number)?)
}

/// What the table of a message has for a field, if there is one.
#[inline]
fn slot<'a>(message: &Message<'a>, field: &Field) -> Option<&'a Slot<'a>> {
    match &message.form {
        Form::Bytes { table: Some(table), .. } => table.get(field.number()),
        _ => None,
    }
}

/// A value of a table costs what looking for it would.
fn charge_set(cx: &Cx<'_>, bytes: &[u8], value: &Value<'_>) -> EvalResult<()> {
    charge(cx, bytes)?;
    match value {
        Value::List(elements) => cx.charge(elements.len()),
        _ => Ok(()),
    }
}

fn known<'a>(cx: &Cx<'a>, message: &Message<'a>, name: &str, number: i64) -> EvalResult<&'a Field> {
    let found = u32::try_from(number).ok().and_then(|number| message.ty.by_number(number));
    found.filter(|field| field.name() == name).map_or_else(|| field(cx, message, name), Ok)
}

fn field<'a>(cx: &Cx<'a>, message: &Message<'a>, name: &str) -> EvalResult<&'a Field> {
    cx.charge_bytes(name.len())?;
    message.ty.field(name).ok_or(ErrorKind::NoSuchField)
}

pub(super) fn has_field<'a>(cx: &Cx<'a>, message: &Message<'a>, field: &Field) -> EvalResult<bool> {
    let bytes = match message.form {
        Form::Bytes { bytes, .. } => bytes,
        Form::Host(of_host) => return host::has(cx, message, of_host, field),
    };
    charge(cx, bytes)?;
    if let Some(is_set) = slot(message, field).and_then(|slot| slot.is_set(field)) {
        return Ok(is_set);
    }
    if !field.is_singular() {
        let value_field = message.types.entry_of(field).map(|(_, value)| value);
        let mut any = false;
        message.types.each(field, bytes, |value| {
            any |= match (value, value_field) {
                (FieldValue::Message(entry), Some(value_field)) => !is_unknown(message.types, value_field, entry)?,
                _ => true,
            };
            Ok::<(), Failure>(())
        })?;
        return Ok(any);
    }
    Ok(match message.types.find(message.ty, field, bytes).map_err(Failure::from)? {
        Found::Unset => false,
        Found::Value(value) => field.has_presence() || !is_zero(value),
        Found::Parts(_) => true,
    })
}

/// Whether no field of a message is set, and there is none that is unknown.
pub(crate) fn is_empty<'a>(cx: &Cx<'a>, message: &Message<'a>) -> EvalResult<bool> {
    let is_known = |number| message.ty.by_number(number).is_some();
    let (_, bytes) = message.in_wire_format(cx)?;
    for record in records(bytes) {
        cx.charge(1)?;
        if !is_known(record?.number) {
            return Ok(false);
        }
    }
    Ok(message.set_fields(cx)?.is_empty())
}

fn is_zero(value: FieldValue<'_>) -> bool {
    match value {
        FieldValue::Scalar(value) => value.is_zero(),
        FieldValue::Enum(number) => number == 0,
        FieldValue::Message(_) => false,
    }
}

pub(super) fn field_value<'a>(cx: &Cx<'a>, message: &Message<'a>, field: &'a Field) -> EvalResult<Value<'a>> {
    let types = message.types;
    let bytes = match message.form {
        Form::Bytes { bytes, .. } => bytes,
        Form::Host(of_host) => return host::value(cx, message, of_host, field),
    };
    match slot(message, field) {
        Some(Slot::Set(value)) => {
            charge_set(cx, bytes, value)?;
            return Ok(*value);
        }
        slot => {
            charge(cx, bytes)?;
            match slot {
                Some(Slot::Meaning(bytes)) => return element(cx, types, field, FieldValue::Message(bytes)),
                Some(Slot::Unset) if field.is_singular() => return unset(cx, types, field),
                Some(Slot::Unset) => return Ok(Value::List(List::Slice(&[]))),
                _ => {}
            }
        }
    }
    match field.cardinality() {
        Cardinality::Singular => match types.find(message.ty, field, bytes).map_err(Failure::from)? {
            Found::Unset => unset(cx, types, field),
            Found::Value(value) => element(cx, types, field, value),
            Found::Parts(_) => {
                let merged = merged(cx, message, bytes, field)?;
                element(cx, types, field, FieldValue::Message(merged))
            }
        },
        Cardinality::Repeated => {
            let mut list = cx.arena().vec();
            // As below, and faster: an element that stands for itself needs no look at its type.
            if let Kind::Message(_) = field.kind()
                && let Some(ty) = types.message_of(field)
                && ty.well_known().is_none()
            {
                let mut records = Records::new(bytes);
                while let Some(payload) = records.next_of(field.number()).map_err(Failure::from)? {
                    let Payload::Bytes(bytes) = payload else { continue };
                    cx.charge(1)?;
                    list.push(Value::Message(cx.arena().alloc(Message::of(types, ty, bytes))?))?;
                }
                return Ok(Value::List(List::Slice(list.finish())));
            }
            types.each(field, bytes, |value| {
                cx.charge(1)?;
                Ok::<(), Failure>(list.push(element(cx, types, field, value)?)?)
            })?;
            Ok(Value::List(List::Slice(list.finish())))
        }
        Cardinality::Map => map(cx, types, field, bytes),
    }
}

/// A message that is written in several parts.
pub(super) fn merged<'a>(cx: &Cx<'a>, message: &Message<'a>, bytes: &'a [u8], field: &Field) -> EvalResult<&'a [u8]> {
    let mut merged = cx.arena().vec();
    message.types.parts(message.ty, field, bytes, |part| {
        match part {
            Part::Unset => merged.truncate(0),
            Part::Bytes(more) => {
                whole(cx, more)?;
                merged.extend(more)?;
            }
        }
        Ok::<(), Failure>(())
    })?;
    Ok(merged.finish())
}

/// One value of a field.
fn element<'a>(cx: &Cx<'a>, types: &'a Descriptors, field: &Field, value: FieldValue<'a>) -> EvalResult<Value<'a>> {
    match value {
        FieldValue::Scalar(value) => Ok(scalar_value(value)),
        FieldValue::Enum(number) => Ok(enum_value(types, field, number)),
        FieldValue::Message(bytes) => {
            let ty = types.message_of(field).ok_or(ErrorKind::NoSuchField)?;
            message_value(cx, types, ty, bytes, MAX_DEPTH)
        }
    }
}

/// Of entries with equal keys the last one counts.
fn map<'a>(cx: &Cx<'a>, types: &'a Descriptors, field: &Field, bytes: &'a [u8]) -> EvalResult<Value<'a>> {
    let entry = types.message_of(field).ok_or(ErrorKind::NoSuchField)?;
    let (key_field, value_field) = types.entry_of(field).ok_or(ErrorKind::NoSuchField)?;
    let mut map = cx.arena().vec();
    types.each(field, bytes, |entry_bytes| {
        let FieldValue::Message(bytes) = entry_bytes else { return Ok::<(), Failure>(()) };
        let message = Message::of(types, entry, bytes);
        if is_unknown(types, value_field, bytes)? {
            return Ok(());
        }
        let key = field_value(cx, &message, key_field)?;
        let value = field_value(cx, &message, value_field)?;
        Ok(map.push((key, value))?)
    })?;
    map_with_last(map, cx)
}

/// Whether the value of an entry is a number that its closed enum does not name: the whole entry is
/// unknown then.
pub(super) fn is_unknown(types: &Descriptors, value_field: &Field, entry: &[u8]) -> EvalResult<bool> {
    if !matches!(value_field.kind(), Kind::Enum(_)) {
        return Ok(false);
    }
    let mut is_unknown = false;
    for record in records(entry) {
        let record = record?;
        if record.number == value_field.number() {
            is_unknown = types.value_of(value_field, record.payload).map_err(Failure::from)?.is_none();
        }
    }
    Ok(is_unknown)
}
