//! Equality of messages (language definition, "Equality"): the same type, equal fields, equal unknown fields. Fields that
//! are not set differ from those that are set to their default, where a field has presence.

use super::Message;
use super::read::{field_value, has_field, records};
use super::well_known::any_parts;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::Value;
use celero_protobuf::{Cardinality, Field, Found, Payload, WellKnown};
use std::collections::BTreeSet;

/// Whether two messages are equal; `equal` compares the values of their fields.
pub(crate) fn equal<'a>(
    a: &Message<'a>,
    b: &Message<'a>,
    cx: &Cx<'a>,
    equal: &mut dyn FnMut(&Value<'a>, &Value<'a>) -> EvalResult<bool>,
) -> EvalResult<bool> {
    if a.name() != b.name() {
        return Ok(false);
    }
    let mut numbers = BTreeSet::new();
    for record in records(a.bytes).chain(records(b.bytes)) {
        cx.charge(1)?;
        numbers.insert(record?.number);
    }
    for number in numbers {
        cx.charge(1)?;
        let same = match a.ty.by_number(number) {
            Some(field) => fields_equal(a, b, field, cx, equal)?,
            None => unknown_equal(a, b, number, cx)?,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn fields_equal<'a>(
    a: &Message<'a>,
    b: &Message<'a>,
    field: &'a Field,
    cx: &Cx<'a>,
    equal: &mut dyn FnMut(&Value<'a>, &Value<'a>) -> EvalResult<bool>,
) -> EvalResult<bool> {
    let (has, has_other) = (has_field(cx, a, field)?, has_field(cx, b, field)?);
    if !has || !has_other {
        return Ok(has == has_other);
    }
    if is_any(a, field)
        && let (Some(one), Some(other)) = (unreadable(a, field)?, unreadable(b, field)?)
    {
        return Ok(one == other);
    }
    equal(&field_value(cx, a, field)?, &field_value(cx, b, field)?)
}

fn is_any(message: &Message<'_>, field: &Field) -> bool {
    field.cardinality() == Cardinality::Singular
        && message.types.message_of(field).is_some_and(|ty| ty.well_known() == Some(WellKnown::Any))
}

/// The parts of an `Any` whose type is unknown: it equals one with the same bytes.
fn unreadable<'a>(message: &Message<'a>, field: &Field) -> EvalResult<Option<(&'a str, &'a [u8])>> {
    let found = message.types.find(message.ty, field, message.bytes).map_err(super::Failure::from)?;
    let Found::Value(celero_protobuf::FieldValue::Message(bytes)) = found else { return Ok(None) };
    let parts = any_parts(bytes)?;
    Ok(if message.types.message(parts.0).is_none() { Some(parts) } else { None })
}

/// Whether two messages have the same unknown records of a number, in the same order.
fn unknown_equal(a: &Message<'_>, b: &Message<'_>, number: u32, cx: &Cx<'_>) -> EvalResult<bool> {
    let mut unknown = [a, b].map(|message| {
        records(message.bytes).filter(move |record| record.as_ref().map_or(true, |record| record.number == number))
    });
    let [one, other] = &mut unknown;
    loop {
        let (one, other) = match (one.next(), other.next()) {
            (None, None) => return Ok(true),
            (Some(one), Some(other)) => (one?.payload, other?.payload),
            _ => return Ok(false),
        };
        if let Payload::Bytes(bytes) | Payload::Group(bytes) = one {
            cx.charge_bytes(bytes.len())?;
        }
        if one != other {
            return Ok(false);
        }
    }
}
