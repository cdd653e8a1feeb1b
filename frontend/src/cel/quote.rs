//! Writes literals of strings and bytes canonically: one text for each value, on one line, safe to print.

use crate::cel::lexer::{Lexer, Token};
use crate::render::is_hidden;
use std::fmt::Write;

/// Returns the canonical literal of a string. It is raw if that avoids backslashes, and in `'` only
/// if the text contains `"` but not `'`.
#[must_use]
pub fn quote_string(value: &str) -> String {
    let quote = if value.contains('"') && !value.contains('\'') { '\'' } else { '"' };
    if value.contains('\\') && !value.contains(|c: char| c == quote || is_hidden(c)) {
        return format!("r{quote}{value}{quote}");
    }
    let mut text = String::with_capacity(value.len().saturating_add(2));
    text.push(quote);
    value.chars().for_each(|c| push_escaped(&mut text, c, quote));
    text.push(quote);
    text
}

/// Appends a character of the literal of a string between these quotes.
pub fn push_escaped(text: &mut String, c: char, quote: char) {
    match c {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\\' => text.push_str("\\\\"),
        c if c == quote => text.extend(['\\', c]),
        c if is_hidden(c) => {
            let code = u32::from(c);
            let _ = if code > 0xffff { write!(text, "\\U{code:08x}") } else { write!(text, "\\u{code:04x}") };
        }
        c => text.push(c),
    }
}

/// Returns a bytes literal. All bytes but printable ASCII are escaped.
pub(crate) fn quote_bytes(value: &[u8]) -> String {
    let mut text = String::from("b\"");
    value.iter().for_each(|&byte| push_escaped_byte(&mut text, byte));
    text.push('"');
    text
}

/// Appends a byte of the literal of bytes between `"`.
pub fn push_escaped_byte(text: &mut String, byte: u8) {
    match byte {
        b'\n' | b'\r' | b'\t' | b' '..=b'~' => push_escaped(text, char::from(byte), '"'),
        _ => {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
}

/// Returns whether a field of this name can be written without backquotes.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let lexeme = Lexer::new(name).next();
    matches!(lexeme.token, Token::Ident | Token::Reserved) && lexeme.span.end as usize == name.len() && !name.is_empty()
}
