//! Reads the JSON form of trees. Unknown fields are errors, as in other implementations of the format.

use super::error::TreeError;
use super::message::{Bounds, Fields, JSON_FACTOR, MessageId, Messages, Value};
use super::schema::{Field, Kind, Label, Shape};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use celero_frontend::with_stack;
use std::borrow::Cow;

/// Reads a message.
pub(super) fn read(messages: &mut Messages, shape: Shape, json: &str, bounds: &Bounds) -> Result<MessageId, TreeError> {
    Bounds::refuse_bytes(json.len(), bounds.bytes.saturating_mul(JSON_FACTOR))?;
    let mut reader = Reader { messages, bounds, text: json, at: 0 };
    with_stack(bounds.depth, || {
        let root = reader.message(shape, 1)?;
        if reader.peek().is_some() {
            return Err(reader.expected("the end"));
        }
        Ok(root)
    })
}

struct Reader<'r> {
    messages: &'r mut Messages,
    bounds: &'r Bounds,
    text: &'r str,
    at: usize,
}

impl<'r> Reader<'r> {
    fn rest(&self) -> &'r str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The first character of the next token.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let next = rest.trim_start_matches([' ', '\n', '\r', '\t']);
        self.at = self.at.saturating_add(rest.len().saturating_sub(next.len()));
        next.chars().next()
    }

    fn error(&self, message: &str) -> TreeError {
        TreeError::new(format!("{message} at byte {}", self.at))
    }

    fn expected(&self, what: &str) -> TreeError {
        self.error(&format!("the JSON is malformed: expected {what}"))
    }

    fn eat(&mut self, token: &str) -> bool {
        self.peek();
        let found = self.rest().starts_with(token);
        if found {
            self.at = self.at.saturating_add(token.len());
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), TreeError> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// After an element: whether another one follows.
    fn more(&mut self, closer: &str) -> Result<bool, TreeError> {
        if self.eat(",") {
            return Ok(true);
        }
        self.expect(closer)?;
        Ok(false)
    }

    fn message(&mut self, shape: Shape, depth: u32) -> Result<MessageId, TreeError> {
        self.bounds.refuse(self.messages, depth)?;
        self.expect("{")?;
        let mut fields = Fields::new(shape);
        let mut more = !self.eat("}");
        while more {
            let name = self.string()?;
            self.expect(":")?;
            let field = shape.field_named(&name).ok_or_else(|| {
                let shown: String = name.chars().take(40).collect();
                self.error(&format!("the field `{}` is not known", shown.escape_debug()))
            })?;
            self.field(&mut fields, field, depth)?;
            more = self.more("}")?;
        }
        Ok(fields.finish(self.messages))
    }

    fn field(&mut self, fields: &mut Fields, field: &Field, depth: u32) -> Result<(), TreeError> {
        // `null` stands for a field that is not set, except where it is the value.
        if field.kind != Kind::Null && self.eat("null") {
            return Ok(());
        }
        match field.label {
            Label::One | Label::Alternative => {
                let value = self.value(field.kind, depth)?;
                fields.push(field, value)
            }
            Label::Many => {
                fields.refuse_second(field)?;
                self.expect("[")?;
                let mut more = !self.eat("]");
                while more {
                    let value = self.value(field.kind, depth)?;
                    fields.push(field, value)?;
                    more = self.more("]")?;
                }
                Ok(())
            }
            Label::Map => {
                fields.refuse_second(field)?;
                self.expect("{")?;
                let mut more = !self.eat("}");
                while more {
                    let entry = self.entry(field, depth.saturating_add(1))?;
                    fields.push(field, Value::Message(entry))?;
                    more = self.more("}")?;
                }
                Ok(())
            }
        }
    }

    fn entry(&mut self, field: &Field, depth: u32) -> Result<MessageId, TreeError> {
        self.bounds.refuse(self.messages, depth)?;
        let Kind::Message(shape) = field.kind else { return Err(self.expected("an entry")) };
        let (Some(key), Some(value)) = (shape.field(1), shape.field(2)) else {
            return Err(self.expected("an entry"));
        };
        let mut fields = Fields::new(shape);
        let id = self.string()?;
        let id = id.parse().map_err(|_| self.expected("a whole number as the key"))?;
        fields.push(key, Value::Int(id))?;
        self.expect(":")?;
        let read = self.value(value.kind, depth)?;
        fields.push(value, read)?;
        Ok(fields.finish(self.messages))
    }

    fn value(&mut self, kind: Kind, depth: u32) -> Result<Value, TreeError> {
        Ok(match kind {
            Kind::Message(shape) => Value::Message(self.message(shape, depth.saturating_add(1))?),
            Kind::Bool => match (self.eat("true"), self.eat("false")) {
                (true, _) => Value::Bool(true),
                (_, true) => Value::Bool(false),
                _ => return Err(self.expected("`true` or `false`")),
            },
            Kind::Null if self.eat("null") => Value::Int(0),
            Kind::Null => match &*self.string()? {
                "NULL_VALUE" => Value::Int(0),
                _ => return Err(self.expected("`null`")),
            },
            Kind::Text => Value::Text(self.string()?.into()),
            Kind::Bytes => Value::Bytes(self.bytes()?.into()),
            Kind::Enum(names) if self.peek() == Some('"') => {
                let name = self.string()?;
                let number = (0..).zip(names).find(|(_, own)| **own == name);
                Value::Int(number.ok_or_else(|| self.expected("the name of a value of the enum"))?.0)
            }
            Kind::Int32 | Kind::Enum(_) => {
                let number: i32 = self.whole()?.try_into().map_err(|_| self.expected("a whole number of 32 bits"))?;
                Value::Int(number.into())
            }
            Kind::Int64 => {
                Value::Int(self.whole()?.try_into().map_err(|_| self.expected("a whole number of 64 bits"))?)
            }
            Kind::Uint64 => {
                let number = self.whole()?.try_into();
                Value::Uint(number.map_err(|_| self.expected("a whole number of 64 bits without sign"))?)
            }
            Kind::Double => Value::Double(self.double()?),
        })
    }

    /// The text of a number, which may stand in quotes.
    fn number(&mut self) -> Result<Cow<'r, str>, TreeError> {
        let number = match self.peek() {
            Some('"') => self.string()?,
            _ => {
                let rest = self.rest();
                let after =
                    rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'));
                let number = rest.get(..rest.len().saturating_sub(after.len())).unwrap_or("");
                self.at = self.at.saturating_add(number.len());
                Cow::Borrowed(number)
            }
        };
        Ok(number)
    }

    fn whole(&mut self) -> Result<i128, TreeError> {
        let number = self.number()?;
        if !is_number(&number) {
            return Err(self.expected("a number"));
        }
        if let Ok(whole) = number.parse() {
            return Ok(whole);
        }
        // `1.0` and `1e3` are whole numbers too; those that a double has exactly.
        let double: f64 = number.parse().map_err(|_| self.expected("a number"))?;
        if double.fract() == 0.0 && double.abs() < 9e15 {
            return format!("{double:.0}").parse().map_err(|_| self.expected("a number"));
        }
        Err(self.expected("a whole number"))
    }

    fn double(&mut self) -> Result<f64, TreeError> {
        let quoted = self.peek() == Some('"');
        let number = self.number()?;
        match &*number {
            "NaN" if quoted => return Ok(f64::NAN),
            "Infinity" if quoted => return Ok(f64::INFINITY),
            "-Infinity" if quoted => return Ok(f64::NEG_INFINITY),
            _ => {}
        }
        let double = number.parse().ok().filter(|double: &f64| is_number(&number) && double.is_finite());
        double.ok_or_else(|| self.expected("a number that a double can be"))
    }

    fn bytes(&mut self) -> Result<Vec<u8>, TreeError> {
        let text = self.string()?;
        let any = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let alphabet = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
        let decoded = GeneralPurpose::new(alphabet, any).decode(text.as_bytes());
        decoded.map_err(|_| self.expected("bytes in base64"))
    }

    fn string(&mut self) -> Result<Cow<'r, str>, TreeError> {
        self.expect("\"")?;
        let rest = self.rest();
        let end = rest.find(['"', '\\']).unwrap_or(rest.len());
        let plain = rest.get(..end).unwrap_or("");
        if plain.contains(|c: char| c < ' ') {
            return Err(self.expected("no control character in a text"));
        }
        self.at = self.at.saturating_add(end);
        if self.rest().starts_with('"') {
            self.at = self.at.saturating_add(1);
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = plain.to_owned();
        loop {
            let c = self.next().ok_or_else(|| self.expected("the end of a text"))?;
            match c {
                '"' => return Ok(Cow::Owned(text)),
                '\\' => text.push(self.escaped()?),
                c if c < ' ' => return Err(self.expected("no control character in a text")),
                c => text.push(c),
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at = self.at.saturating_add(c.len_utf8());
        Some(c)
    }

    fn escaped(&mut self) -> Result<char, TreeError> {
        let Some(c) = self.next() else { return Err(self.expected("an escape")) };
        Ok(match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit()?;
                let mut units = vec![first];
                if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
                    self.at = self.at.saturating_add(2);
                    units.push(self.unit()?);
                }
                match char::decode_utf16(units).collect::<Result<Vec<_>, _>>().as_deref() {
                    Ok(&[c]) => c,
                    _ => return Err(self.expected("a character")),
                }
            }
            _ => return Err(self.expected("an escape")),
        })
    }

    /// The four hexadecimal digits of a code unit.
    fn unit(&mut self) -> Result<u16, TreeError> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        self.at = self.at.saturating_add(4);
        unit.ok_or_else(|| self.expected("four hexadecimal digits"))
    }
}

/// Whether a text is a number of JSON.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}
