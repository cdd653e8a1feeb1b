//! Messages of the suite, written from the text format to the wire format.

use super::textproto::{Message as Text, Node};
use crate::messages::types;
use celero_protobuf::{Field, Kind, MessageType, Payload, Scalar, ScalarValue, Sink};

/// A message in the wire format.
///
/// # Errors
/// A field that the type does not have, a value of another type.
pub fn encode(name: &str, text: &Text) -> Result<Vec<u8>, String> {
    let ty = types().types.message(name).ok_or_else(|| format!("no message `{name}`"))?;
    message(ty, text)
}

fn message(ty: &MessageType, text: &Text) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for (name, node) in &text.fields {
        if let (true, Node::Message(content)) = (name.contains('/'), node) {
            // An expanded `Any`.
            let inner = name.rsplit('/').next().unwrap_or_default();
            let Ok(()) = out.record(1, Payload::Bytes(name.as_bytes()));
            let Ok(()) = out.record(2, Payload::Bytes(&encode(inner, content)?));
            continue;
        }
        // A group has the name of its type.
        let field = ty.field(name).or_else(|| ty.field(&name.to_lowercase()));
        let field = field.ok_or_else(|| format!("`{}` has no field `{name}`", ty.name()))?;
        value(field, node, &mut out)?;
    }
    Ok(out)
}

fn value(field: &Field, node: &Node, out: &mut Vec<u8>) -> Result<(), String> {
    let wrong = || format!("`{}` can't be {node:?}", field.name());
    let payload = match (field.kind(), node) {
        (Kind::Message(_) | Kind::Group(_), Node::Message(content)) => {
            let ty = types().types.message_of(field).ok_or_else(wrong)?;
            let bytes = message(ty, content)?;
            let payload = match field.kind() {
                Kind::Group(_) => Payload::Group(&bytes),
                _ => Payload::Bytes(&bytes),
            };
            let Ok(()) = out.record(field.number(), payload);
            return Ok(());
        }
        (Kind::Enum(_), Node::Word(word)) => {
            let number = types().types.enum_of(field).and_then(|e| e.number(word)).ok_or_else(wrong)?;
            Scalar::Int32.write(ScalarValue::Int(number.into()))
        }
        (Kind::Enum(_), node) => Scalar::Int32.write(ScalarValue::Int(whole(node).ok_or_else(wrong)?)),
        (Kind::Scalar(scalar), node) => {
            let value = match scalar.zero() {
                ScalarValue::Bool(_) => node.bool().map(ScalarValue::Bool),
                ScalarValue::Int(_) => whole(node).map(ScalarValue::Int),
                ScalarValue::Uint(_) => whole(node).map(ScalarValue::Uint),
                ScalarValue::Double(_) => node.double().map(ScalarValue::Double),
                ScalarValue::Text(_) => match node {
                    Node::Text(text) => std::str::from_utf8(text).ok().map(ScalarValue::Text),
                    _ => None,
                },
                ScalarValue::Bytes(_) => match node {
                    Node::Text(bytes) => Some(ScalarValue::Bytes(bytes)),
                    _ => None,
                },
            };
            scalar.write(value.ok_or_else(wrong)?)
        }
        _ => None,
    };
    let Ok(()) = out.record(field.number(), payload.ok_or_else(wrong)?);
    Ok(())
}

fn whole<T: TryFrom<i128>>(node: &Node) -> Option<T> {
    match node {
        Node::Int(value) => T::try_from(*value).ok(),
        _ => None,
    }
}
