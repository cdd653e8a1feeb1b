//! Reads values as the suite writes them.

use super::messages;
use super::textproto::{Message, Node};
use crate::generate::Owned;
use celero::values::Arena;

/// Why a `cel.expr.Value` was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is, or holds, an enum with a type of its own.
    StrongEnum,
    /// It is not a value at all.
    Malformed(String),
}

/// Reads a `cel.expr.Value`.
///
/// # Errors
/// Enums with types of their own, and what is no value.
pub fn read(value: &Message) -> Result<Owned, Unread> {
    let Some((name, node)) = value.fields.first() else {
        return Err(Unread::Malformed("empty value".into()));
    };
    let bad = || Unread::Malformed(format!("{name}: {node:?}"));
    match (name.as_str(), node) {
        ("null_value", _) => Ok(Owned::Null),
        ("bool_value", n) => n.bool().map(Owned::Bool).ok_or_else(bad),
        ("int64_value", n) => whole(n).map(Owned::Int).ok_or_else(bad),
        ("uint64_value", n) => whole(n).map(Owned::Uint).ok_or_else(bad),
        ("double_value", n) => n.double().map(Owned::Double).ok_or_else(bad),
        ("string_value", Node::Text(t)) => String::from_utf8(t.clone()).map(Owned::String).map_err(|_| bad()),
        ("bytes_value", Node::Text(t)) => Ok(Owned::Bytes(t.clone())),
        ("type_value", Node::Text(t)) => String::from_utf8(t.clone()).map(Owned::Type).map_err(|_| bad()),
        ("list_value", Node::Message(m)) => {
            let elements = m.all("values").map(|n| read(n.message().ok_or_else(bad)?));
            elements.collect::<Result<_, _>>().map(Owned::List)
        }
        ("map_value", Node::Message(m)) => {
            let entries = m.all("entries").map(|n| {
                let part = |name| n.message().and_then(|e| e.message(name)).ok_or_else(bad);
                Ok((read(part("key")?)?, read(part("value")?)?))
            });
            entries.collect::<Result<_, _>>().map(Owned::Map)
        }
        ("object_value", Node::Message(m)) => read_object(m),
        ("enum_value", _) => Err(Unread::StrongEnum),
        _ => Err(bad()),
    }
}

fn read_object(any: &Message) -> Result<Owned, Unread> {
    let wrong = |text: String| Unread::Malformed(text);
    let Some((url, Node::Message(content))) = any.fields.first() else { return Err(wrong(format!("{any:?}"))) };
    let name = url.rsplit('/').next().unwrap_or_default();
    let bytes = messages::encode(name, content).map_err(wrong)?;
    let arena = Arena::new(1 << 20);
    let value = Owned::Message(name.to_owned(), bytes).in_arena(&arena).and_then(|value| Owned::of(&value, &arena));
    value.map_err(|kind| wrong(kind.to_string()))
}

fn whole<T: TryFrom<i128>>(node: &Node) -> Option<T> {
    match node {
        Node::Int(v) => T::try_from(*v).ok(),
        Node::Float(v) if *v == 0.0 => T::try_from(0).ok(),
        _ => None,
    }
}
