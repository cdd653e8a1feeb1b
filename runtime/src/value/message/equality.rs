//! Equality of messages (language definition, "Equality"): the same type, equal fields, equal
//! unknown fields. A field that is not set differs from one that is set to its default, where it
//! has presence.

use super::bytes::records;
use super::read::{field_value, has_field, merged};
use super::well_known::{any_parts, message_value};
use super::{Failure, Message};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{MAX_DEPTH, Value};
use celero_ir::ErrorKind;
use celero_protobuf::{Cardinality, Field, FieldValue, Found, Payload, Record, WellKnown};

/// Compares the values of fields.
type Equal<'a, 'e> = &'e mut dyn FnMut(&Value<'a>, &Value<'a>) -> EvalResult<bool>;

/// Whether two messages are equal; `equal` compares the values of their fields.
///
/// # Errors
/// `invalid_argument` for messages of different descriptors, and for malformed ones; those of `equal`.
pub(crate) fn equal<'a>(a: &Message<'a>, b: &Message<'a>, cx: &Cx<'a>, equal: Equal<'a, '_>) -> EvalResult<bool> {
    if a.name() != b.name() {
        return Ok(false);
    }
    if a.types != b.types {
        return Err(ErrorKind::InvalidArgument);
    }
    let ((a, of_a), (b, of_b)) = (a.in_wire_format(cx)?, b.in_wire_format(cx)?);
    let (one, other) = (by_number(of_a, cx)?, by_number(of_b, cx)?);
    let (mut one, mut other) = (one.chunk_by(same_number).peekable(), other.chunk_by(same_number).peekable());
    loop {
        let numbers = [&mut one, &mut other].map(|groups| groups.peek().and_then(|group| number_of(group)));
        let Some(number) = numbers.iter().flatten().min().copied() else { return Ok(true) };
        let mut group = |at: usize| {
            let groups = if at == 0 { &mut one } else { &mut other };
            groups.next_if(|group| number_of(group) == Some(number)).unwrap_or_default()
        };
        let (records, others) = (group(0), group(1));
        let field = a.ty.by_number(number);
        let same = match field {
            Some(field) if !fields_equal((&a, of_a), (&b, of_b), field, cx, equal)? => false,
            field => unknown_equal(&a, field, records, others, cx)?,
        };
        if !same {
            return Ok(false);
        }
    }
}

/// The records of a message, sorted by number; those of one number stay in order.
fn by_number<'a>(message: &'a [u8], cx: &Cx<'a>) -> EvalResult<&'a [(usize, Record<'a>)]> {
    let mut all = cx.arena().vec();
    for (at, record) in records(message).enumerate() {
        cx.charge(1)?;
        all.push((at, record?))?;
    }
    all.as_mut_slice().sort_unstable_by_key(|(at, record)| (record.number, *at));
    Ok(all.finish())
}

fn same_number(one: &(usize, Record<'_>), other: &(usize, Record<'_>)) -> bool {
    one.1.number == other.1.number
}

fn number_of(group: &[(usize, Record<'_>)]) -> Option<u32> {
    group.first().map(|(_, record)| record.number)
}

fn fields_equal<'a>(
    (a, of_a): (&Message<'a>, &'a [u8]),
    (b, of_b): (&Message<'a>, &'a [u8]),
    field: &'a Field,
    cx: &Cx<'a>,
    equal: Equal<'a, '_>,
) -> EvalResult<bool> {
    let (has, has_other) = (has_field(cx, a, field)?, has_field(cx, b, field)?);
    if !has || !has_other {
        return Ok(has == has_other);
    }
    let is_any = a.types.message_of(field).is_some_and(|ty| ty.well_known() == Some(WellKnown::Any));
    if !is_any || field.cardinality() == Cardinality::Map {
        return equal(&field_value(cx, a, field)?, &field_value(cx, b, field)?);
    }
    let (one, other) = (anys(a, of_a, field, cx)?, anys(b, of_b, field, cx)?);
    if one.len() != other.len() {
        return Ok(false);
    }
    for (one, other) in one.iter().zip(other) {
        if !any_equal(a, one, other, cx, equal)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The bytes of a field that is an `Any` or a list of them.
fn anys<'a>(message: &Message<'a>, bytes: &'a [u8], field: &Field, cx: &Cx<'a>) -> EvalResult<&'a [&'a [u8]]> {
    let mut all = cx.arena().vec();
    if field.is_singular() {
        match message.types.find(message.ty, field, bytes).map_err(Failure::from)? {
            Found::Value(FieldValue::Message(any)) => all.push(any)?,
            Found::Parts(_) => all.push(merged(cx, message, bytes, field)?)?,
            _ => {}
        }
    } else {
        message.types.each(field, bytes, |value| match value {
            FieldValue::Message(any) => {
                cx.charge(1)?;
                Ok::<(), Failure>(all.push(any)?)
            }
            _ => Ok(()),
        })?;
    }
    Ok(all.finish())
}

/// Whether two `Any` hold equal messages; those of an unknown type are compared by their bytes.
fn any_equal<'a>(
    message: &Message<'a>,
    one: &'a [u8],
    other: &'a [u8],
    cx: &Cx<'a>,
    equal: Equal<'a, '_>,
) -> EvalResult<bool> {
    let ((name, bytes), (other_name, other_bytes)) = (any_parts(one)?, any_parts(other)?);
    if name != other_name {
        return Ok(false);
    }
    let Some(ty) = message.types.message(name) else {
        cx.charge_bytes(bytes.len())?;
        return Ok(bytes == other_bytes);
    };
    let value = |bytes| message_value(cx, message.types, ty, bytes, MAX_DEPTH);
    equal(&value(bytes)?, &value(other_bytes)?)
}

/// Whether the records of one number that are no value of its field are the same, in the same
/// order.
fn unknown_equal<'a>(
    message: &Message<'a>,
    field: Option<&Field>,
    one: &[(usize, Record<'a>)],
    other: &[(usize, Record<'a>)],
    cx: &Cx<'a>,
) -> EvalResult<bool> {
    let is_unknown = |payload: Payload<'a>| -> EvalResult<bool> {
        let Some(field) = field else { return Ok(true) };
        let fits = message.types.each_in(field, payload, &mut |_| Ok::<(), Failure>(()))?;
        Ok(!fits)
    };
    let mut unknown = [one, other].map(|records| records.iter().map(|(_, record)| record.payload));
    let [one, other] = &mut unknown;
    let next = |payloads: &mut dyn Iterator<Item = Payload<'a>>| -> EvalResult<Option<Payload<'a>>> {
        for payload in payloads {
            cx.charge(1)?;
            if is_unknown(payload)? {
                return Ok(Some(payload));
            }
        }
        Ok(None)
    };
    loop {
        let (one, other) = match (next(one)?, next(other)?) {
            (None, None) => return Ok(true),
            (Some(one), Some(other)) => (one, other),
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
