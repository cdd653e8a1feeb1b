//! Which field of `buf.validate.FieldRules` is for which type of field.

use celero::Type;
use celero::messages::{Descriptors, type_of_message};
use celero_protobuf::{Field, Kind, Scalar};

/// The numbers of `FieldRules` with rules for types.
pub(crate) const REPEATED: u32 = 18;
pub(crate) const MAP: u32 = 19;
pub(crate) const ANY: u32 = 20;
pub(crate) const ENUM: u32 = 16;

/// What a value is of: a field as a whole or an element of its list; the key or the value of a map is a field.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'f> {
    pub(crate) field: &'f Field,
    /// Whether it is one element of a repeated field.
    pub(crate) is_element: bool,
}

impl Subject<'_> {
    pub(crate) fn is_list(self) -> bool {
        !self.is_element && self.field.cardinality() == celero_protobuf::Cardinality::Repeated
    }

    pub(crate) fn is_map(self) -> bool {
        !self.is_element && self.field.cardinality() == celero_protobuf::Cardinality::Map
    }

    /// The full name of the message that it is.
    pub(crate) fn message(self, types: &Descriptors) -> Option<String> {
        if self.is_list() || self.is_map() {
            return None;
        }
        types.message_of(self.field).map(|ty| ty.name().to_owned())
    }

    /// The number of the only rules that it may have; `None` if it may have none.
    pub(crate) fn rules(self, types: &Descriptors) -> Option<u32> {
        if self.is_map() {
            return Some(MAP);
        }
        if self.is_list() {
            return Some(REPEATED);
        }
        Some(match self.field.kind() {
            Kind::Scalar(scalar) => of_scalar(scalar),
            Kind::Enum(_) => ENUM,
            Kind::Message(_) | Kind::Group(_) => match self.message(types)?.strip_prefix("google.protobuf.")? {
                "Any" => ANY,
                "Duration" => 21,
                "Timestamp" => 22,
                "FieldMask" => 28,
                "FloatValue" => 1,
                "DoubleValue" => 2,
                "Int32Value" => 3,
                "Int64Value" => 4,
                "UInt32Value" => 5,
                "UInt64Value" => 6,
                "BoolValue" => 13,
                "StringValue" => 14,
                "BytesValue" => 15,
                _ => return None,
            },
        })
    }

    /// The type of `this`.
    pub(crate) fn ty(self, types: &Descriptors) -> Type {
        if self.is_map()
            && let Some((key, value)) = types.entry_of(self.field)
        {
            let of = |field| Subject { field, is_element: true }.ty(types);
            return Type::map(of(key), of(value));
        }
        let element = match self.field.kind() {
            Kind::Scalar(scalar) => of_value(scalar),
            Kind::Enum(_) => Type::Int,
            Kind::Message(_) | Kind::Group(_) => {
                types.message_of(self.field).map_or(Type::Dyn, |ty| type_of_message(ty.name()))
            }
        };
        if self.is_list() { Type::list(element) } else { element }
    }
}

fn of_value(scalar: Scalar) -> Type {
    match scalar {
        Scalar::Double | Scalar::Float => Type::Double,
        Scalar::Int64 | Scalar::Int32 | Scalar::Sfixed32 | Scalar::Sfixed64 | Scalar::Sint32 | Scalar::Sint64 => {
            Type::Int
        }
        Scalar::Uint64 | Scalar::Uint32 | Scalar::Fixed64 | Scalar::Fixed32 => Type::Uint,
        Scalar::Bool => Type::Bool,
        Scalar::String => Type::String,
        Scalar::Bytes => Type::Bytes,
    }
}

fn of_scalar(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Float => 1,
        Scalar::Double => 2,
        Scalar::Int32 => 3,
        Scalar::Int64 => 4,
        Scalar::Uint32 => 5,
        Scalar::Uint64 => 6,
        Scalar::Sint32 => 7,
        Scalar::Sint64 => 8,
        Scalar::Fixed32 => 9,
        Scalar::Fixed64 => 10,
        Scalar::Sfixed32 => 11,
        Scalar::Sfixed64 => 12,
        Scalar::Bool => 13,
        Scalar::String => 14,
        Scalar::Bytes => 15,
    }
}

/// The number of a field's type in `google.protobuf.FieldDescriptorProto.Type`.
pub(crate) fn type_number(field: &Field) -> u32 {
    match field.kind() {
        Kind::Scalar(scalar) => match scalar {
            Scalar::Double => 1,
            Scalar::Float => 2,
            Scalar::Int64 => 3,
            Scalar::Uint64 => 4,
            Scalar::Int32 => 5,
            Scalar::Fixed64 => 6,
            Scalar::Fixed32 => 7,
            Scalar::Bool => 8,
            Scalar::String => 9,
            Scalar::Bytes => 12,
            Scalar::Uint32 => 13,
            Scalar::Sfixed32 => 15,
            Scalar::Sfixed64 => 16,
            Scalar::Sint32 => 17,
            Scalar::Sint64 => 18,
        },
        Kind::Group(_) => 10,
        Kind::Message(_) => 11,
        Kind::Enum(_) => 14,
    }
}
