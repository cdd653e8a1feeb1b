//! What a field has that is not set, and the numbers of enums as values.

use super::scalar::scalar_value;
use super::well_known;
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::Value;
use celero_ir::ErrorKind;
use celero_protobuf::{Default, Descriptors, Field, Kind, Scalar};

/// The value of a field that is not set.
pub(super) fn unset<'a>(cx: &Cx<'a>, types: &'a Descriptors, field: &'a Field) -> EvalResult<Value<'a>> {
    Ok(match (field.default(), field.kind()) {
        (Default::Zero, Kind::Scalar(scalar)) => scalar_value(scalar.zero()),
        (Default::Zero, Kind::Enum(_)) => enum_value(types, field, 0),
        (Default::Zero, Kind::Message(_) | Kind::Group(_)) => {
            let ty = types.message_of(field).ok_or(ErrorKind::NoSuchField)?;
            return well_known::unset(cx, types, ty);
        }
        (Default::Int(value), Kind::Scalar(Scalar::Bool)) => Value::Bool(*value != 0),
        (Default::Int(value), _) => Value::Int(*value),
        (Default::Uint(value), _) => Value::Uint(*value),
        (Default::Double(value), _) => Value::Double(*value),
        (Default::Text(text), _) => Value::String(text),
        (Default::Bytes(bytes), _) => Value::Bytes(bytes),
    })
}

pub(super) fn enum_value<'a>(types: &Descriptors, field: &Field, number: i32) -> Value<'a> {
    if is_null_value(types, field) { Value::Null } else { Value::Int(number.into()) }
}

/// Whether a field is of the enum whose only value is null.
pub(super) fn is_null_value(types: &Descriptors, field: &Field) -> bool {
    types.enum_of(field).is_some_and(|enumeration| enumeration.name() == "google.protobuf.NullValue")
}
