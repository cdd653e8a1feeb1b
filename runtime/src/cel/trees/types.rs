//! Types of a tree beside those of an environment.

use super::message::{MessageId, Messages, Value};
use super::names::type_name;
use celero_frontend::{Type, type_of_message};

/// Whether values of a type of a tree can be values of a type of the environment: the two are the same, as far as both
/// say which.
pub(super) fn fits(messages: &Messages, ty: MessageId, own: &Type) -> bool {
    if matches!(own, Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_)) {
        return true;
    }
    let part =
        |of: MessageId, number: u32, own: &Type| messages.part(of, number).is_none_or(|part| fits(messages, part, own));
    match (messages.alternative(ty), own) {
        // Values of a wrapper are those of its type, or null.
        (Some((3 | 4, _)), Type::Wrapper(inner)) => fits(messages, ty, inner),
        (Some((2, _)), own) => *own == Type::Null,
        (Some((3 | 4, Value::Int(number))), own) => primitive(own) == Some(*number),
        (Some((5, Value::Int(2))), own) => *own == Type::Timestamp,
        (Some((5, Value::Int(3))), own) => *own == Type::Duration,
        (Some((6, Value::Message(list))), Type::List(element)) => part(*list, 1, element),
        (Some((7, Value::Message(map))), Type::Map(kv)) => part(*map, 1, &kv.0) && part(*map, 2, &kv.1),
        (Some((6 | 7, _)), _) => false,
        (Some((9, Value::Text(name))), own) => type_of_message(name) == *own || *own == Type::message(name),
        (Some((11, _)), own) => matches!(own, Type::Type(_)),
        (Some((14, Value::Message(named))), own) => {
            let same = type_name(own).is_some_and(|name| name == messages.text(*named, 1));
            let mut params = messages.parts(*named, 2);
            match own {
                Type::Optional(inner) => same && params.next().is_none_or(|param| fits(messages, param, inner)),
                Type::Opaque(_, own) => same && params.zip(&**own).all(|(param, own)| fits(messages, param, own)),
                _ => false,
            }
        }
        // `dyn`, any message, a parameter, an error, a function, or nothing that is known.
        _ => true,
    }
}

/// The number of a type in the enum `PrimitiveType`.
pub(super) fn primitive(ty: &Type) -> Option<i64> {
    Some(match ty {
        Type::Bool => 1,
        Type::Int => 2,
        Type::Uint => 3,
        Type::Double => 4,
        Type::String => 5,
        Type::Bytes => 6,
        _ => return None,
    })
}
