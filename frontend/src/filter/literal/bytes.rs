//! Byte strings: `"quoted"`, `r#"raw"#` and `68:65:78`.

use super::scanner::{Read, Scanner, fault, fault_with_help, span};
use crate::diagnostic::Diagnostic;
use crate::filter::codes;
use std::sync::Arc;

/// How a byte string is written. The JSON of a tree and its canonical text keep the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BytesForm {
    /// `"text"`
    Quoted,
    /// `r"text"`, `r#"text"#`
    Raw,
    /// `68:65:78`
    Hex,
}

/// A byte string of a rule. Not necessarily UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BytesLiteral {
    /// The bytes.
    pub value: Arc<[u8]>,
    /// How they are written.
    pub form: BytesForm,
}

/// Most hashes around a raw string.
const MAX_HASHES: usize = 255;

impl<'s> Scanner<'s> {
    /// Reads a byte string in any form.
    pub(crate) fn bytes(&mut self) -> Read<BytesLiteral> {
        match self.peek() {
            Some(b'"' | b'r') => self.text_literal(),
            _ => self.hex_bytes(),
        }
    }

    /// Reads a quoted or raw string.
    pub(crate) fn text_literal(&mut self) -> Read<BytesLiteral> {
        let (value, form) = match self.peek() {
            Some(b'"') => (self.quoted()?.into(), BytesForm::Quoted),
            Some(b'r') => (self.raw()?.as_bytes().into(), BytesForm::Raw),
            _ => return self.expected(codes::BYTES, "\" or r"),
        };
        Ok(BytesLiteral { value, form })
    }

    /// Reads a quoted string, from its quote on.
    pub(crate) fn quoted(&mut self) -> Read<Vec<u8>> {
        let start = self.at();
        self.advance(1);
        let mut value = Vec::new();
        loop {
            value.extend_from_slice(self.take_while(|c| !matches!(c, '"' | '\\')).as_bytes());
            match self.peek() {
                Some(b'"') => {
                    self.advance(1);
                    return Ok(value);
                }
                Some(_) => {
                    self.advance(1);
                    match self.peek() {
                        None => return self.unterminated(start),
                        Some(escaped @ (b'"' | b'\\')) => {
                            value.push(escaped);
                            self.advance(1);
                        }
                        Some(b'x') => {
                            self.advance(1);
                            value.push(self.byte(2, 16)?);
                        }
                        Some(b'0'..=b'7') => value.push(self.byte(3, 8)?),
                        Some(_) => return Err(self.wrong_escape()),
                    }
                }
                None => return self.unterminated(start),
            }
        }
    }

    fn wrong_escape(&self) -> Box<Diagnostic> {
        let message = "expected \", xHH or OOO after \\";
        let written = self.here();
        match self.peek() {
            Some(b'n') => fault_with_help(codes::ESCAPE, written, message, "write a line feed as `\\x0A`"),
            Some(b'r') => fault_with_help(codes::ESCAPE, written, message, "write a carriage return as `\\x0D`"),
            Some(b't') => fault_with_help(codes::ESCAPE, written, message, "write a tab as `\\x09`"),
            _ => fault_with_help(
                codes::ESCAPE,
                written,
                message,
                "write a backslash as `\\\\`, or use a raw string: `r\"..\"`",
            ),
        }
    }

    /// Reads a byte of a fixed number of digits.
    fn byte(&mut self, digits: usize, radix: u32) -> Read<u8> {
        let rest = self.rest();
        let end = rest.char_indices().nth(digits).map_or(rest.len(), |(at, _)| at);
        let written = rest.get(..end).unwrap_or("");
        let start = self.at();
        let place = span(start, start.saturating_add(end));
        let count = written.chars().count();
        if count < digits {
            let message = format!("expected {digits} characters, but found {count}");
            return Err(fault(codes::BYTES, place, message));
        }
        let value = u8::from_str_radix(written, radix)
            .map_err(|error| fault(codes::NUMBER, place, format!("{error} while parsing with radix {radix}")))?;
        self.advance(end);
        Ok(value)
    }

    /// Reads a raw string, from its `r` on: it ends at the first quote that is followed by as many
    /// hashes as it begins with.
    pub(crate) fn raw(&mut self) -> Read<&'s str> {
        let start = self.at();
        self.advance(1);
        let hashes = self.take_while(|c| c == '#').len();
        if hashes > MAX_HASHES {
            let message = format!("a raw string has {hashes} hashes; the limit is {MAX_HASHES}");
            return Err(fault(codes::BYTES, self.span_from(start), message));
        }
        if !self.eat("\"") {
            return self.expected(codes::BYTES, "\" or #");
        }
        let inner = self.at();
        loop {
            self.take_while(|c| c != '"');
            let end = self.at();
            if !self.eat("\"") {
                return self.unterminated(start);
            }
            // Further hashes belong to the literal, as in Wirefilter.
            if self.take_while(|c| c == '#').len() >= hashes {
                let closed = end.saturating_add(1).saturating_add(hashes);
                self.go_to(closed);
                return Ok(self.text().get(inner..end).unwrap_or(""));
            }
        }
    }

    /// Reads at least two bytes as hexadecimal digits.
    fn hex_bytes(&mut self) -> Read<BytesLiteral> {
        let start = self.at();
        if self.rest().is_empty() {
            return self.expected(codes::BYTES, "a string: `\"..\"`");
        }
        let written = self.rest();
        let mut value = vec![self.byte(2, 16).map_err(|error| unquoted(error, written))?];
        if !self.byte_separator() {
            self.go_to(start.saturating_add(2));
            return self.expected(codes::BYTES, "byte separator").map_err(|error| unquoted(error, written));
        }
        loop {
            value.push(self.byte(2, 16)?);
            if !self.byte_separator() {
                return Ok(BytesLiteral { value: value.into(), form: BytesForm::Hex });
            }
        }
    }

    fn byte_separator(&mut self) -> bool {
        self.eat(":") || self.eat("-") || self.eat(".")
    }
}

/// Adds a hint where text without quotes was probably meant as a string.
fn unquoted(mut error: Box<Diagnostic>, rest: &str) -> Box<Diagnostic> {
    let word: String = rest.chars().take(32).take_while(|c| c.is_ascii_alphanumeric() || "/_-.".contains(*c)).collect();
    if !word.is_empty() {
        error.help.push(format!("a string is written in quotes: `\"{word}\"`"));
    } else if rest.starts_with('\'') {
        error.help.push("a string is written in double quotes: `\"..\"`".to_owned());
    }
    error
}
