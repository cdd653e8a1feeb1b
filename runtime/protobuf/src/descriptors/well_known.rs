//! The types of `google.protobuf` that have a meaning of their own ("ProtoJSON Format", and the
//! language definition of CEL, "Dynamic Values").

use super::Scalar;
use super::read::{RawField, RawMessage};

/// A type of `google.protobuf` with a meaning of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WellKnown {
    /// `Timestamp`
    Timestamp,
    /// `Duration`
    Duration,
    /// `Any`: a message of any type with the name of its type.
    Any,
    /// `Struct`: a JSON object.
    Struct,
    /// `Value`: a JSON value.
    Value,
    /// `ListValue`: a JSON array.
    ListValue,
    /// `BoolValue`, `Int32Value`, ..: a value that can be absent.
    Wrapper(Scalar),
}

/// A field: name, number, type (`""` for the scalar), whether it is repeated.
type Row = (&'static str, u32, Result<Scalar, &'static str>, bool);

const SECONDS: &[Row] = &[("seconds", 1, Ok(Scalar::Int64), false), ("nanos", 2, Ok(Scalar::Int32), false)];

const fn wrapper(scalar: Scalar) -> (WellKnown, [Row; 1]) {
    (WellKnown::Wrapper(scalar), [("value", 1, Ok(scalar), false)])
}

const WRAPPERS: [(&str, (WellKnown, [Row; 1])); 9] = [
    ("BoolValue", wrapper(Scalar::Bool)),
    ("BytesValue", wrapper(Scalar::Bytes)),
    ("DoubleValue", wrapper(Scalar::Double)),
    ("FloatValue", wrapper(Scalar::Float)),
    ("Int32Value", wrapper(Scalar::Int32)),
    ("Int64Value", wrapper(Scalar::Int64)),
    ("StringValue", wrapper(Scalar::String)),
    ("UInt32Value", wrapper(Scalar::Uint32)),
    ("UInt64Value", wrapper(Scalar::Uint64)),
];

const OTHERS: [(&str, WellKnown, &[Row]); 6] = [
    ("Timestamp", WellKnown::Timestamp, SECONDS),
    ("Duration", WellKnown::Duration, SECONDS),
    ("Any", WellKnown::Any, &[("type_url", 1, Ok(Scalar::String), false), ("value", 2, Ok(Scalar::Bytes), false)]),
    ("Struct", WellKnown::Struct, &[("fields", 1, Err("google.protobuf.Struct.FieldsEntry"), true)]),
    ("ListValue", WellKnown::ListValue, &[("values", 1, Err("google.protobuf.Value"), true)]),
    (
        "Value",
        WellKnown::Value,
        &[
            // The only value of its enum is 0.
            ("null_value", 1, Ok(Scalar::Int32), false),
            ("number_value", 2, Ok(Scalar::Double), false),
            ("string_value", 3, Ok(Scalar::String), false),
            ("bool_value", 4, Ok(Scalar::Bool), false),
            ("struct_value", 5, Err("google.protobuf.Struct"), false),
            ("list_value", 6, Err("google.protobuf.ListValue"), false),
        ],
    ),
];

const ENTRY: &[Row] = &[("key", 1, Ok(Scalar::String), false), ("value", 2, Err("google.protobuf.Value"), false)];

/// What the type of this full name means.
pub(super) fn meaning(name: &str) -> Option<WellKnown> {
    let name = name.strip_prefix("google.protobuf.")?;
    let wrapper = WRAPPERS.iter().find(|(known, _)| *known == name).map(|(_, (meaning, _))| *meaning);
    wrapper.or_else(|| OTHERS.iter().find(|(known, ..)| *known == name).map(|(_, meaning, _)| *meaning))
}

/// The types, for sets that lack them.
pub(super) fn messages() -> Vec<RawMessage> {
    let message = |name: &str, rows: &[Row], is_map_entry| RawMessage {
        name: format!("google.protobuf.{name}"),
        fields: rows.iter().map(|row| field(row, name == "Value")).collect(),
        is_map_entry,
    };
    let mut all: Vec<_> = WRAPPERS.iter().map(|(name, (_, rows))| message(name, rows, false)).collect();
    all.extend(OTHERS.iter().map(|(name, _, rows)| message(name, rows, false)));
    all.push(message("Struct.FieldsEntry", ENTRY, true));
    all
}

fn field(&(name, number, ty, is_repeated): &Row, in_oneof: bool) -> RawField {
    RawField {
        name: name.to_owned(),
        number,
        is_repeated,
        scalar: ty.ok(),
        type_name: ty.err().unwrap_or_default().to_owned(),
        has_presence: in_oneof || ty.is_err(),
        oneof: in_oneof.then_some(0),
        ..RawField::default()
    }
}
