//! Literals: parses the values of number, string and bytes tokens.

use super::code::Code;
use super::{Parse, Parser};
use crate::ast::{Expr, Literal};
use crate::cel::lexer::{StringForm, Token};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::sync::Arc;

impl Parser<'_> {
    /// Parses a number. `sign` is the span of its `-`, if it has one.
    pub(super) fn number(&mut self, sign: Option<Span>) -> Parse {
        let text = self.text(self.span);
        let span = sign.unwrap_or(self.span).to(self.span);
        let negative = sign.is_some();
        let value = match self.token {
            Token::Double => double(text, negative),
            Token::Uint => magnitude(text.trim_end_matches(['u', 'U'])).map(Literal::Uint),
            _ => magnitude(text).and_then(|m| {
                let zero = 0i64;
                if negative { zero.checked_sub_unsigned(m) } else { zero.checked_add_unsigned(m) }.map(Literal::Int)
            }),
        };
        let expr = match value {
            Some(literal) => Expr::Literal(literal),
            None => {
                let (kind, range) = match self.token {
                    Token::Double => ("double", "up to 1.7976931348623157e308"),
                    Token::Uint => ("uint", "0u to 18446744073709551615u"),
                    _ => ("int", "-9223372036854775808 to 9223372036854775807"),
                };
                let mut diagnostic =
                    Code::NumberOutOfRange.at(span, format!("the literal is out of the range of `{kind}`, {range}"));
                if self.token == Token::Int && !negative && magnitude(text).is_some() {
                    diagnostic.help.push("write the suffix `u` for an unsigned number".to_owned());
                }
                self.report(diagnostic)?;
                Expr::Error
            }
        };
        self.advance()?;
        self.leaf(expr, span)
    }

    /// Parses a string or bytes literal.
    pub(super) fn string(&mut self, form: StringForm) -> Parse {
        let span = self.span;
        let text = self.text(span);
        let prefix = usize::from(form.bytes).saturating_add(usize::from(form.raw));
        let quote = prefix.saturating_add(if form.triple { 3 } else { 1 });
        let end = text.len().saturating_sub(quote.saturating_sub(prefix));
        let body = text.get(quote..end).unwrap_or("");
        let start = span.start.saturating_add(u32::try_from(quote).unwrap_or(0));
        let literal = if !form.escapes {
            Ok(if form.bytes { Literal::Bytes(body.as_bytes().into()) } else { Literal::String(body.into()) })
        } else if form.bytes {
            unescape(body, start, true, |value: &mut Vec<u8>, item| match item {
                Item::Verbatim(c) => value.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Item::Byte(b) => value.push(b),
            })
            .map(|bytes| Literal::Bytes(bytes.into()))
        } else {
            unescape(body, start, false, |value: &mut String, item| match item {
                Item::Verbatim(c) => value.push(c),
                Item::Byte(b) => value.push(char::from(b)),
            })
            .map(|text| Literal::String(Arc::from(text)))
        };
        self.advance()?;
        match literal {
            Ok(literal) => self.leaf(Expr::Literal(literal), span),
            Err(diagnostic) => {
                self.report(diagnostic)?;
                self.error_node(span)
            }
        }
    }
}

fn magnitude(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn double(text: &str, negative: bool) -> Option<Literal> {
    let value: f64 = text.parse().ok()?;
    value.is_finite().then_some(Literal::Double(if negative { -value } else { value }))
}

/// A unit of a literal's text after resolving escapes.
enum Item {
    Verbatim(char),
    /// `\x` and octal: a byte of bytes, a code point of a string.
    Byte(u8),
}

/// Resolves the escapes of `body`, which starts at offset `start` of the source.
fn unescape<T: Default>(
    body: &str,
    start: u32,
    bytes: bool,
    mut add: impl FnMut(&mut T, Item),
) -> Result<T, Diagnostic> {
    let mut value = T::default();
    let mut rest = body.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            add(&mut value, Item::Verbatim(c));
            continue;
        }
        // The backslash is one byte.
        let at = body.len().saturating_sub(rest.as_str().len()).saturating_sub(1);
        let item = escape(&mut rest, bytes);
        match item {
            Ok(item) => add(&mut value, item),
            Err(reason) => {
                let end = body.len().saturating_sub(rest.as_str().len());
                let place = |offset: usize| start.saturating_add(u32::try_from(offset).unwrap_or(0));
                let sequence = super::report::quote(body.get(at..end).unwrap_or("\\"));
                let mut diagnostic = Code::InvalidEscape
                    .at(Span::new(place(at), place(end)), format!("{sequence} is not an escape sequence: {reason}"));
                if reason == UNKNOWN {
                    diagnostic.help.push("write `\\\\` for a backslash, or a raw string r'..'".to_owned());
                }
                return Err(diagnostic);
            }
        }
    }
    Ok(value)
}

const UNKNOWN: &str = "no escape starts like this";

/// Parses an escape after its backslash.
fn escape(rest: &mut std::str::Chars<'_>, bytes: bool) -> Result<Item, &'static str> {
    let Some(kind) = rest.next() else { return Err("nothing follows the backslash") };
    let plain = match kind {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' | '?' | '"' | '\'' | '`' => kind,
        'x' | 'X' => {
            let value = digits(rest, 2, 16).ok_or("two hexadecimal digits must follow")?;
            return u8::try_from(value).map(Item::Byte).map_err(|_| "it is out of range");
        }
        'u' | 'U' if bytes => return Err("bytes have no code points"),
        'u' | 'U' => {
            let (count, missing) = if kind == 'u' {
                (4, "four hexadecimal digits must follow")
            } else {
                (8, "eight hexadecimal digits must follow")
            };
            let value = digits(rest, count, 16).ok_or(missing)?;
            char::from_u32(value).ok_or("this is a surrogate or beyond U+10FFFF")?
        }
        '0'..='3' => {
            let high = kind.to_digit(8).unwrap_or(0).saturating_mul(64);
            let low = digits(rest, 2, 8).ok_or("octal escapes have three digits")?;
            return u8::try_from(high.saturating_add(low)).map(Item::Byte).map_err(|_| "it is out of range");
        }
        '4'..='9' => return Err("octal escapes are \\000 to \\377"),
        _ => return Err(UNKNOWN),
    };
    Ok(Item::Verbatim(plain))
}

fn digits(rest: &mut std::str::Chars<'_>, count: u32, radix: u32) -> Option<u32> {
    let mut value: u32 = 0;
    for _ in 0..count {
        let mut ahead = rest.clone();
        let digit = ahead.next()?.to_digit(radix)?;
        *rest = ahead;
        value = value.checked_mul(radix)?.checked_add(digit)?;
    }
    Some(value)
}
