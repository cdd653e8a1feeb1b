//! Values as text: CEL source that evaluates to the value.

use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::value::message::Message;
use crate::value::nesting::{MAX_DEPTH, nested};
use crate::value::network::network_text;
use crate::value::{List, Map, Value};
use celero_frontend::cel::KEYWORDS;
use celero_frontend::{push_escaped, push_escaped_byte};
use celero_ir::ErrorKind;
use std::fmt::{self, Write};

/// Most bytes of a value that `Display` writes. A rule can make a small value whose text would not
/// fit into any memory: a list that has the same list in it many times, and so on.
const MAX_SHOWN: usize = 16 << 20;

/// Steps for reading the fields of one message: each is looked for in all bytes.
const MESSAGE_STEPS: i64 = 1 << 24;

impl Value<'_> {
    /// Returns the value as CEL source: `[1u, b"\xff", duration("1.5s")]`. What can't be seen in a
    /// text, or changes its direction, is escaped. The text is cut after about `most` bytes: then
    /// it ends in `…`. Takes time for what is returned, not for the rest of a text, of bytes or of
    /// a list.
    ///
    /// The source of a type is its name without parameters, as in `type([1])`, which is `list`.
    ///
    /// ```
    /// use celero::values::List;
    /// use celero::Value;
    ///
    /// let elements = [Value::Uint(1), Value::String("a\n"), Value::Null];
    /// let list = Value::List(List::Slice(&elements));
    /// assert_eq!(list.source_text(usize::MAX), Ok(r#"[1u, "a\n", null]"#.to_owned()));
    /// assert_eq!(list.source_text(4), Ok("[1u,…".to_owned()));
    /// ```
    ///
    /// # Errors
    /// What a list or map of the host fails with; `invalid_argument` for a list with fewer elements
    /// than its length; `out_of_budget` beyond 512 levels of nesting.
    pub fn source_text(&self, most: usize) -> EvalResult<String> {
        let mut text = Text { out: String::new(), most };
        text.write(self, MAX_DEPTH)?;
        if text.is_full() {
            let end = text.out.floor_char_boundary(most);
            text.out.truncate(end);
            text.out.push('…');
        }
        Ok(text.out)
    }
}

impl fmt::Display for Value<'_> {
    /// Writes [`source_text`](Self::source_text) of at most 16 MiB; of a value that can't be read,
    /// the reason in angle brackets: `<value out of range>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.source_text(MAX_SHOWN).unwrap_or_else(|kind| format!("<{kind}>")))
    }
}

struct Text {
    out: String,
    /// Nothing is added beyond this many bytes, but the end of what is being written.
    most: usize,
}

impl Text {
    fn is_full(&self) -> bool {
        self.out.len() > self.most
    }

    fn write(&mut self, value: &Value<'_>, depth: u32) -> EvalResult<()> {
        if self.is_full() {
            return Ok(());
        }
        let out = &mut self.out;
        // Writing to a string can't fail.
        let _ = match *value {
            Value::Null => write!(out, "null"),
            Value::Bool(v) => write!(out, "{v}"),
            Value::Int(v) => write!(out, "{v}"),
            Value::Uint(v) => write!(out, "{v}u"),
            Value::Double(v) if v.is_finite() => write!(out, "{v:?}"),
            Value::Double(v) if v.is_nan() => write!(out, "double(\"NaN\")"),
            Value::Double(v) => write!(out, "double(\"{}Infinity\")", if v < 0.0 { "-" } else { "" }),
            Value::String(v) => {
                self.quoted(v);
                return Ok(());
            }
            Value::Bytes(v) => {
                self.bytes(v);
                return Ok(());
            }
            Value::Duration(v) => write!(out, "duration(\"{v}\")"),
            Value::Timestamp(v) => write!(out, "timestamp(\"{v}\")"),
            Value::Message(message) => return nested(depth, |depth| self.message(message, depth)),
            Value::List(list) => return nested(depth, |depth| self.list(&list, depth)),
            Value::Map(map) => return nested(depth, |depth| self.map(&map, depth)),
            Value::Type(name) => write!(out, "{name}"),
            Value::Optional(None) => write!(out, "optional.none()"),
            Value::Optional(Some(v)) => {
                self.out.push_str("optional.of(");
                nested(depth, |depth| self.write(v, depth))?;
                self.out.push(')');
                return Ok(());
            }
            Value::Ip(ip) => write!(out, "ip(\"{}\")", ip.to_canonical()),
            Value::Cidr(ip, prefix) => network_text(ip, prefix, |text| write!(out, "cidr(\"{text}\")")),
        };
        Ok(())
    }

    fn list(&mut self, list: &List<'_>, depth: u32) -> EvalResult<()> {
        self.out.push('[');
        for index in 0..list.len() {
            if self.is_full() {
                break;
            }
            if index > 0 {
                self.out.push_str(", ");
            }
            // What the host makes of one element is not kept while the next ones are written.
            let made = Arena::new(usize::MAX);
            let element = list.get(index, &made)?.ok_or(ErrorKind::InvalidArgument)?;
            self.write(&element, depth)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn fields<'m>(&mut self, message: &Message<'m>, cx: &Cx<'m>, depth: u32) -> EvalResult<()> {
        for (at, field) in message.set_fields(cx)?.into_iter().enumerate() {
            if self.is_full() {
                break;
            }
            // An extension has a full name.
            let quote = if field.name().contains('.') || KEYWORDS.contains(&field.name()) { "`" } else { "" };
            let comma = if at > 0 { ", " } else { "" };
            self.out.push_str(&format!("{comma}{quote}{}{quote}: ", field.name()));
            self.write(&message.value_of(cx, field)?, depth)?;
        }
        Ok(())
    }

    /// The literal of a message: `package.Message{field: value}`, without unknown fields.
    fn message(&mut self, message: &Message<'_>, depth: u32) -> EvalResult<()> {
        self.out.push_str(message.name());
        self.out.push('{');
        let made = Arena::new(MAX_SHOWN);
        let cx = Cx::new(MESSAGE_STEPS, &made);
        match self.fields(message, &cx, depth) {
            // The rest is too much to be shown.
            Err(ErrorKind::OutOfBudget) => self.out.push('…'),
            result => result?,
        }
        self.out.push('}');
        Ok(())
    }

    fn map(&mut self, map: &Map<'_>, depth: u32) -> EvalResult<()> {
        self.out.push('{');
        let made = Arena::new(usize::MAX);
        for (index, (key, value)) in map.entries(&made)?.iter().enumerate() {
            if self.is_full() {
                break;
            }
            if index > 0 {
                self.out.push_str(", ");
            }
            self.write(key, depth)?;
            self.out.push_str(": ");
            self.write(value, depth)?;
        }
        self.out.push('}');
        Ok(())
    }

    /// A literal of bytes.
    fn bytes(&mut self, bytes: &[u8]) {
        self.out.push_str("b\"");
        for byte in bytes {
            if self.is_full() {
                break;
            }
            push_escaped_byte(&mut self.out, *byte);
        }
        self.out.push('"');
    }

    /// A string literal; what can't be seen, or changes the direction of text, is escaped.
    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            if self.is_full() {
                break;
            }
            push_escaped(&mut self.out, c, '"');
        }
        self.out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Duration;

    #[test]
    fn values_read_as_they_are_written() {
        let elements = [Value::Uint(1), Value::Double(1.0), Value::Bytes(b"a\"\xff"), Value::Null];
        let inner = Value::Duration(Duration(1_500_000_000));
        for (value, text) in [
            (Value::String("a\"\n\u{202e}\u{7}é"), "\"a\\\"\\n\\u202e\\u0007é\""),
            (Value::List(List::Slice(&elements)), "[1u, 1.0, b\"a\\\"\\xff\", null]"),
            (Value::Optional(Some(&inner)), "optional.of(duration(\"1.5s\"))"),
            (Value::Double(f64::NEG_INFINITY), "double(\"-Infinity\")"),
            (Value::Type("int"), "int"),
        ] {
            assert_eq!(value.source_text(usize::MAX).unwrap(), text);
        }
    }
}
