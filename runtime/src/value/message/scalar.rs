//! Scalars of messages as values, and values as scalars.

use crate::arena::EvalResult;
use crate::value::Value;
use celero_ir::ErrorKind;
use celero_protobuf::{Payload, Scalar, ScalarValue};

/// The value of a scalar.
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

/// The scalar that a value is.
pub(super) fn scalar_of<'v>(value: &Value<'v>) -> Option<ScalarValue<'v>> {
    Some(match *value {
        Value::Bool(value) => ScalarValue::Bool(value),
        Value::Int(value) => ScalarValue::Int(value),
        Value::Uint(value) => ScalarValue::Uint(value),
        Value::Double(value) => ScalarValue::Double(value),
        Value::String(text) => ScalarValue::Text(text),
        Value::Bytes(bytes) => ScalarValue::Bytes(bytes),
        _ => return None,
    })
}

/// The record of a scalar. `overflow` if the number does not fit, `no_such_overload` if it is of
/// another type.
pub(super) fn written(scalar: Scalar, value: ScalarValue<'_>) -> EvalResult<Payload<'_>> {
    let same = std::mem::discriminant(&scalar.zero()) == std::mem::discriminant(&value);
    scalar.write(value).ok_or(if same { ErrorKind::Overflow } else { ErrorKind::NoSuchOverload })
}
