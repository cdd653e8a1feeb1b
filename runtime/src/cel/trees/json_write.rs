//! The JSON form of trees (protocol buffers' "ProtoJSON Format"), written on one line.

use super::message::{MessageId, Messages, Value};
use super::schema::{Field, Kind, Label};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use celero_frontend::with_stack;
use std::fmt::Write;

/// Writes a message.
pub(super) fn write(messages: &Messages, root: MessageId) -> String {
    let mut out = String::new();
    with_stack(messages.depth(root), || message(messages, root, &mut out));
    out
}

fn message(messages: &Messages, id: MessageId, out: &mut String) {
    let shape = messages.shape(id);
    out.push('{');
    let mut separator = "";
    for field in shape.fields() {
        let mut values = messages.values(id, field.number).peekable();
        let Some(first) = values.peek() else { continue };
        if field.label == Label::One && first.is_zero() {
            continue;
        }
        out.push_str(separator);
        separator = ",";
        text(field.json, out);
        out.push(':');
        match field.label {
            Label::One | Label::Alternative => {
                if let Some(value) = values.next() {
                    one(messages, field.kind, value, out);
                }
            }
            Label::Many => list(messages, field, values, out),
            Label::Map => map(messages, values, out),
        }
    }
    out.push('}');
}

fn list<'v>(messages: &Messages, field: &Field, values: impl Iterator<Item = &'v Value>, out: &mut String) {
    out.push('[');
    for (at, value) in values.enumerate() {
        if at > 0 {
            out.push(',');
        }
        one(messages, field.kind, value, out);
    }
    out.push(']');
}

/// Writes the entries of a map.
fn map<'v>(messages: &Messages, entries: impl Iterator<Item = &'v Value>, out: &mut String) {
    out.push('{');
    let mut separator = "";
    for entry in entries {
        let Value::Message(entry) = entry else { continue };
        let Some(field) = messages.shape(*entry).field(2) else { continue };
        let _ = write!(out, "{separator}\"{}\":", messages.int(*entry, 1));
        separator = ",";
        match messages.values(*entry, 2).next() {
            Some(value) => one(messages, field.kind, value, out),
            None => out.push_str(if matches!(field.kind, Kind::Message(_)) { "{}" } else { "0" }),
        }
    }
    out.push('}');
}

fn one(messages: &Messages, kind: Kind, value: &Value, out: &mut String) {
    let _ = match (kind, value) {
        (Kind::Null, _) => out.write_str("null"),
        (Kind::Enum(names), Value::Int(number)) => match usize::try_from(*number).ok().and_then(|at| names.get(at)) {
            Some(name) => write!(out, "\"{name}\""),
            None => write!(out, "{number}"),
        },
        (Kind::Int32, Value::Int(number)) => write!(out, "{number}"),
        (_, Value::Int(number)) => write!(out, "\"{number}\""),
        (_, Value::Uint(number)) => write!(out, "\"{number}\""),
        (_, Value::Bool(value)) => write!(out, "{value}"),
        (_, Value::Double(number)) if number.is_nan() => out.write_str("\"NaN\""),
        (_, Value::Double(number)) if number.is_infinite() => {
            out.write_str(if *number > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" })
        }
        (_, Value::Double(number)) => write!(out, "{number:?}"),
        (_, Value::Text(value)) => {
            text(value, out);
            Ok(())
        }
        (_, Value::Bytes(bytes)) => write!(out, "\"{}\"", BASE64_STANDARD.encode(bytes)),
        (_, Value::Message(part)) => {
            message(messages, *part, out);
            Ok(())
        }
    };
}

fn text(value: &str, out: &mut String) {
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
