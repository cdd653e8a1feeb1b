//! What descriptors declare, as types of expressions.

use celero_frontend::{MessageTypes, Type, type_of_message};
use celero_protobuf::{Cardinality, Descriptors, Field, Kind, Scalar};

/// The types of all messages, of their fields, and the values of all enums.
pub(crate) fn declared_types(descriptors: &Descriptors) -> MessageTypes {
    let mut types = MessageTypes::default();
    for message in descriptors.messages() {
        let fields = message.fields().iter().map(|field| (field.name().into(), type_of(descriptors, field)));
        types.add_message(message.name(), fields);
    }
    for enumeration in descriptors.enums() {
        for (name, number) in enumeration.values() {
            types.add_constant(&format!("{}.{name}", enumeration.name()), (*number).into());
        }
    }
    types
}

fn type_of(descriptors: &Descriptors, field: &Field) -> Type {
    match field.cardinality() {
        Cardinality::Singular => element_type(descriptors, field),
        Cardinality::Repeated => Type::list(element_type(descriptors, field)),
        Cardinality::Map => match descriptors.entry_of(field) {
            Some((key, value)) => Type::map(element_type(descriptors, key), element_type(descriptors, value)),
            None => Type::Dyn,
        },
    }
}

fn element_type(descriptors: &Descriptors, field: &Field) -> Type {
    match field.kind() {
        Kind::Scalar(scalar) => match scalar {
            Scalar::Bool => Type::Bool,
            Scalar::String => Type::String,
            Scalar::Bytes => Type::Bytes,
            Scalar::Double | Scalar::Float => Type::Double,
            Scalar::Uint32 | Scalar::Uint64 | Scalar::Fixed32 | Scalar::Fixed64 => Type::Uint,
            _ => Type::Int,
        },
        Kind::Enum(_) => match descriptors.enum_of(field) {
            // Read as null, and set by null or by the only value of the enum.
            Some(enumeration) if enumeration.name() == "google.protobuf.NullValue" => Type::Dyn,
            _ => Type::Int,
        },
        Kind::Message(_) | Kind::Group(_) => {
            descriptors.message_of(field).map_or(Type::Dyn, |message| type_of_message(message.name()))
        }
    }
}
