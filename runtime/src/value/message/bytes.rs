//! The bytes of messages: what reading them costs, and the values of scalars.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::Value;
use celero_ir::ErrorKind;
use celero_protobuf::{Payload, Record, Records, ScalarValue};

/// Bytes of a message that are read for one step: of records with a number of one byte, eight.
const BYTES_PER_STEP: usize = 16;

/// A field is looked for in all bytes of a message.
pub(super) fn charge(cx: &Cx<'_>, bytes: &[u8]) -> EvalResult<()> {
    cx.charge((bytes.len() / BYTES_PER_STEP).saturating_add(1))
}

/// Tests that bytes are a message to their end. Only then may others follow them, or stand around
/// them.
pub(super) fn whole(cx: &Cx<'_>, bytes: &[u8]) -> EvalResult<()> {
    charge(cx, bytes)?;
    records(bytes).try_for_each(|record| record.map(|_| ()))
}

/// The records of a message, as long as it is not malformed.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = EvalResult<Record<'_>>> {
    Records::new(bytes).map(|record| record.map_err(|_| ErrorKind::InvalidArgument))
}

pub(super) fn scalar_value(value: ScalarValue<'_>) -> Value<'_> {
    match value {
        ScalarValue::Bool(value) => Value::Bool(value),
        ScalarValue::Int(value) => Value::Int(value),
        ScalarValue::Uint(value) => Value::Uint(value),
        ScalarValue::Double(value) => Value::Double(value),
        ScalarValue::Text(text) => Value::String(text),
        ScalarValue::Bytes(bytes) => Value::Bytes(bytes),
    }
}

/// Whether this is the record of a field that is not set, if it has no presence.
pub(super) fn is_zero(payload: Payload<'_>) -> bool {
    match payload {
        Payload::Varint(value) | Payload::Fixed64(value) => value == 0,
        Payload::Fixed32(value) => value == 0,
        Payload::Bytes(bytes) => bytes.is_empty(),
        Payload::Group(_) => false,
    }
}
