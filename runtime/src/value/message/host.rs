//! Messages that a host holds in a form of its own: dynamic ones of a library, or generated structs.

use super::scalar::scalar_value;
use super::unset::{enum_value, unset};
use super::well_known::message_value;
use super::{Form, Message};
use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::value::{List, MAX_DEPTH, Value, map_with_last};
use celero_ir::ErrorKind;
use celero_protobuf::{Cardinality, Descriptors, Field, Kind, ScalarValue};

/// A message of the host, for [`Message::of_host`](super::Message::of_host). Implement it for messages that are decoded
/// already: their fields are read in place.
pub trait HostMessage {
    /// Calls `give` with the value of the field of this number, if it is set; with each element of a repeated field;
    /// with the key and then the value of each entry of a map. What must be built for it is built in the arena, such as
    /// a wrapper of a nested message.
    ///
    /// # Errors
    /// Those of `give` and of the arena, which end the evaluation.
    fn read<'m>(
        &'m self,
        field: u32,
        arena: &'m Arena,
        give: &mut dyn FnMut(HostField<'m>) -> EvalResult<()>,
    ) -> EvalResult<()>;

    /// Returns the message in the wire format. Rules that compare whole messages, put them into literals or return them
    /// need it, and those that read what messages of `google.protobuf` stand for, such as a timestamp.
    fn encode(&self) -> Vec<u8>;
}

/// A value of a field that a host gives: of the kind, and in the range, that the field has by its descriptor. Another
/// one is the error "host".
#[derive(Clone, Copy)]
pub enum HostField<'m> {
    /// Of a `bool`.
    Bool(bool),
    /// Of the signed types, and the number of a value of an enum.
    Int(i64),
    /// Of the unsigned types.
    Uint(u64),
    /// Of `float` and `double`.
    Double(f64),
    /// Of a `string`.
    Text(&'m str),
    /// Of `bytes`.
    Bytes(&'m [u8]),
    /// Of a message or group.
    Message(&'m dyn HostMessage),
}

impl<'m> HostField<'m> {
    fn scalar(self) -> Option<ScalarValue<'m>> {
        Some(match self {
            Self::Bool(value) => ScalarValue::Bool(value),
            Self::Int(value) => ScalarValue::Int(value),
            Self::Uint(value) => ScalarValue::Uint(value),
            Self::Double(value) => ScalarValue::Double(value),
            Self::Text(text) => ScalarValue::Text(text),
            Self::Bytes(bytes) => ScalarValue::Bytes(bytes),
            Self::Message(_) => return None,
        })
    }
}

/// The bytes of a message of the host.
pub(super) fn encoded<'a>(cx: &Cx<'a>, host: &'a dyn HostMessage) -> EvalResult<&'a [u8]> {
    let bytes = host.encode();
    cx.charge_bytes(bytes.len())?;
    cx.arena().alloc_slice(&bytes)
}

/// Whether a field is set; of a field without presence, whether it differs from its default.
pub(super) fn has<'a>(
    cx: &Cx<'a>,
    message: &Message<'a>,
    host: &'a dyn HostMessage,
    field: &Field,
) -> EvalResult<bool> {
    let mut is_set = false;
    each(cx, message.types, host, field, |_, value| {
        let is_zero = || value.scalar().is_some_and(ScalarValue::is_zero);
        // Of several values of a field with one, the last counts.
        is_set = !field.is_singular() || field.has_presence() || !is_zero();
        Ok(())
    })?;
    Ok(is_set)
}

/// The value of a field.
pub(super) fn value<'a>(
    cx: &Cx<'a>,
    message: &Message<'a>,
    host: &'a dyn HostMessage,
    field: &'a Field,
) -> EvalResult<Value<'a>> {
    let types = message.types;
    match field.cardinality() {
        Cardinality::Singular => {
            let mut last = None;
            each(cx, types, host, field, |_, value| {
                last = Some(value);
                Ok(())
            })?;
            match last {
                Some(value) => element(cx, types, field, value),
                None => unset(cx, types, field),
            }
        }
        Cardinality::Repeated => {
            let mut list = cx.arena().vec();
            each(cx, types, host, field, |_, value| list.push(element(cx, types, field, value)?))?;
            Ok(Value::List(List::Slice(list.finish())))
        }
        Cardinality::Map => {
            let (key_field, value_field) = types.entry_of(field).ok_or(ErrorKind::NoSuchField)?;
            let mut map = cx.arena().vec();
            each(cx, types, host, field, |key, value| {
                let key = element(cx, types, key_field, key.ok_or(ErrorKind::Host)?)?;
                map.push((key, element(cx, types, value_field, value)?))
            })?;
            map_with_last(map, cx)
        }
    }
}

/// Calls `with` with every value of a field, for a map with its key. A number that a closed enum does not name is none.
fn each<'a>(
    cx: &Cx<'a>,
    types: &'a Descriptors,
    host: &'a dyn HostMessage,
    field: &Field,
    mut with: impl FnMut(Option<HostField<'a>>, HostField<'a>) -> EvalResult<()>,
) -> EvalResult<()> {
    let entry = types.entry_of(field);
    let enumeration = types.enum_of(entry.map_or(field, |(_, value)| value));
    let is_known = |value| match (value, enumeration) {
        (HostField::Int(number), Some(enumeration)) => i32::try_from(number).is_ok_and(|n| enumeration.accepts(n)),
        _ => true,
    };
    let mut key = None;
    host.read(field.number(), cx.arena(), &mut |value| {
        cx.charge(1)?;
        if entry.is_some() && key.is_none() {
            key = Some(value);
            return Ok(());
        }
        let key = key.take();
        if is_known(value) { with(key, value) } else { Ok(()) }
    })?;
    if key.is_some() { Err(ErrorKind::Host) } else { Ok(()) }
}

/// One value of a field.
fn element<'a>(cx: &Cx<'a>, types: &'a Descriptors, field: &Field, value: HostField<'a>) -> EvalResult<Value<'a>> {
    match (field.kind(), value) {
        // As it would be written and read: in its range, a `float` rounded.
        (Kind::Scalar(scalar), value) => {
            let written = value.scalar().and_then(|value| scalar.write(value)).ok_or(ErrorKind::Host)?;
            scalar.read(written).ok().flatten().map(scalar_value).ok_or(ErrorKind::Host)
        }
        (Kind::Enum(_), HostField::Int(number)) => {
            let number = i32::try_from(number).map_err(|_| ErrorKind::Host)?;
            Ok(enum_value(types, field, number))
        }
        (Kind::Message(_) | Kind::Group(_), HostField::Message(host)) => {
            let ty = types.message_of(field).ok_or(ErrorKind::NoSuchField)?;
            match ty.well_known() {
                None => cx.arena().alloc(Message { types, ty, form: Form::Host(host) }).map(Value::Message),
                Some(_) => message_value(cx, types, ty, encoded(cx, host)?, MAX_DEPTH),
            }
        }
        _ => Err(ErrorKind::Host),
    }
}
