//! Writes values as CEL source.

use celero::{Arena, EvalResult, Value};
use std::fmt::Write;

/// The text of a value. The arena is for what lists and maps of the host must build.
///
/// # Errors
/// What the host's lists and maps fail with.
pub fn from_value<'a>(value: &Value<'a>, arena: &'a Arena) -> EvalResult<String> {
    let mut text = Text { out: String::new(), most: usize::MAX };
    text.write(value, arena)?;
    Ok(text.out)
}

/// Returns the text of a value, cut after about `most` bytes: then it ends in `…`. Takes time for
/// what is returned, not for the rest of a text, of bytes or of a list.
///
/// # Errors
/// What the host's lists and maps fail with.
pub fn abbreviated<'a>(value: &Value<'a>, arena: &'a Arena, most: usize) -> EvalResult<String> {
    let mut text = Text { out: String::new(), most };
    text.write(value, arena)?;
    if text.is_full() {
        let end = text.out.floor_char_boundary(most);
        text.out.truncate(end);
        text.out.push('…');
    }
    Ok(text.out)
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

    fn write<'a>(&mut self, value: &Value<'a>, arena: &'a Arena) -> EvalResult<()> {
        if self.is_full() {
            return Ok(());
        }
        let most = self.most;
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
                Ok(())
            }
            Value::Bytes(v) => {
                out.push_str("b\"");
                for byte in v {
                    if out.len() > most {
                        break;
                    }
                    match byte {
                        b'"' | b'\\' => {
                            out.push('\\');
                            out.push(char::from(*byte));
                        }
                        0x20..=0x7e => out.push(char::from(*byte)),
                        _ => {
                            let _ = write!(out, "\\x{byte:02x}");
                        }
                    }
                }
                out.push('"');
                Ok(())
            }
            Value::Duration(v) => write!(out, "duration(\"{v}\")"),
            Value::Timestamp(v) => write!(out, "timestamp(\"{v}\")"),
            Value::List(list) => {
                self.out.push('[');
                for index in 0..list.len() {
                    if self.is_full() {
                        break;
                    }
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    if let Some(element) = list.get(index, arena)? {
                        self.write(&element, arena)?;
                    }
                }
                self.out.push(']');
                Ok(())
            }
            Value::Map(map) => {
                self.out.push('{');
                for (index, (key, value)) in map.entries(arena)?.iter().enumerate() {
                    if self.is_full() {
                        break;
                    }
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.write(key, arena)?;
                    self.out.push_str(": ");
                    self.write(value, arena)?;
                }
                self.out.push('}');
                Ok(())
            }
            Value::Type(name) => write!(out, "{name}"),
            Value::Optional(None) => write!(out, "optional.none()"),
            Value::Optional(Some(v)) => {
                self.out.push_str("optional.of(");
                self.write(v, arena)?;
                self.out.push(')');
                Ok(())
            }
            Value::Ip(ip) => write!(out, "ip(\"{ip}\")"),
            Value::Cidr(ip, prefix) => write!(out, "cidr(\"{ip}/{prefix}\")"),
        };
        Ok(())
    }

    /// A string literal; what can't be seen, or changes the direction of text, is escaped.
    fn quoted(&mut self, text: &str) {
        let out = &mut self.out;
        out.push('"');
        for c in text.chars() {
            if out.len() > self.most {
                break;
            }
            match c {
                '"' | '\\' => {
                    out.push('\\');
                    out.push(c);
                }
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
                c if c.is_control() => {
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero::{Duration, List};

    #[test]
    fn values_read_as_they_are_written() {
        let arena = Arena::new(1 << 16);
        let elements = [Value::Uint(1), Value::Double(1.0), Value::Bytes(b"a\"\xff"), Value::Null];
        let inner = Value::Duration(Duration(1_500_000_000));
        for (value, text) in [
            (Value::String("a\"\n\u{202e}\u{7}é"), "\"a\\\"\\n\\u202e\\u0007é\""),
            (Value::List(List::Slice(&elements)), "[1u, 1.0, b\"a\\\"\\xff\", null]"),
            (Value::Optional(Some(&inner)), "optional.of(duration(\"1.5s\"))"),
            (Value::Double(f64::NEG_INFINITY), "double(\"-Infinity\")"),
            (Value::Type("int"), "int"),
        ] {
            assert_eq!(from_value(&value, &arena).unwrap(), text);
        }
    }

    #[test]
    fn long_values_are_cut() {
        let arena = Arena::new(1 << 16);
        let elements = [Value::String("ééé"); 1000];
        let long = abbreviated(&Value::List(List::Slice(&elements)), &arena, 10).unwrap();
        assert_eq!(long, "[\"ééé\",…");
        assert_eq!(abbreviated(&Value::Bytes(&[0; 1000]), &arena, 5).unwrap(), "b\"\\x0…");
        assert_eq!(abbreviated(&Value::String("abc"), &arena, 5).unwrap(), "\"abc\"");
    }
}
