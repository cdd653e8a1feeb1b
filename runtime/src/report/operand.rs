//! Operands in messages: values, or the text of the rule that computes them.

use crate::value::Value;
use celero_frontend::{Checked, Expr, Literal, NodeId};

/// Longest value or text in a message, in characters.
const LONGEST: usize = 64;

/// Whether messages may hold text of the context's data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    Shown,
    Hidden,
}

/// An operand: its value, unless that is unknown or must be hidden; else its source text, in backquotes.
pub(super) fn operand(checked: &Checked, node: Option<NodeId>, value: Option<&Value<'_>>, data: Data) -> String {
    if let Some(Expr::Literal(literal)) = node.map(|id| checked.ast().expr(id)) {
        return text_of(&crate::interpret::literal_value(literal));
    }
    let plain = |value: &&Value<'_>| {
        matches!(
            value,
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Type(_)
        )
    };
    match (value.filter(|value| data == Data::Shown || plain(value)), node) {
        (Some(value), _) => text_of(value),
        (None, Some(id)) => source_of(checked, id),
        (None, None) => "a value".into(),
    }
}

/// The source text of a node, in backquotes.
pub(super) fn source_of(checked: &Checked, id: NodeId) -> String {
    let (ast, span) = (checked.ast(), checked.ast().span(id));
    let text = ast.source().get(span.start as usize..span.end as usize).unwrap_or_default();
    format!("`{}`", on_one_line(text, LONGEST))
}

/// A text of a rule on one line, cut after `most` characters.
pub(crate) fn on_one_line(text: &str, most: usize) -> String {
    clip(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// A value as CEL writes it, as far as one line allows.
pub(crate) fn text_of(value: &Value<'_>) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) => value.to_string(),
        Value::Type(_) | Value::Optional(None) => value.to_string(),
        Value::String(text) => Value::String(&clip(text, LONGEST)).to_string(),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::Duration(duration) => duration.to_string(),
        Value::Timestamp(time) => time.to_string(),
        Value::List(list) if list.len() == 1 => "a list of 1 element".into(),
        Value::List(list) => format!("a list of {} elements", list.len()),
        Value::Map(map) if map.len() == 1 => "a map of 1 entry".into(),
        Value::Map(map) => format!("a map of {} entries", map.len()),
        Value::Optional(Some(inner)) => format!("optional.of({})", text_of(inner)),
        Value::Ip(address) => address.to_string(),
        Value::Cidr(address, prefix) => format!("{address}/{prefix}"),
        Value::Message(message) => format!("a message {}", message.name()),
    }
}

/// Text that is cut after `most` characters.
fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into(),
    }
}

/// The text of a string literal.
pub(super) fn literal_text(checked: &Checked, id: NodeId) -> Option<&str> {
    match checked.ast().expr(id) {
        Expr::Literal(Literal::String(text)) => Some(text),
        _ => None,
    }
}
