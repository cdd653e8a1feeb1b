//! Escapes that stand for one character.

use super::cursor::Cursor;
use crate::pattern::SyntaxError;

const MAX_CHARACTER: u32 = 0x10_FFFF;
/// Most digits of an octal escape.
const OCTAL_DIGITS: usize = 3;

/// Reads an escape that stands for one character. The cursor is at the backslash. The number may be
/// that of a surrogate, which occurs in no text.
pub(super) fn escape(cursor: &mut Cursor<'_>) -> Result<u32, SyntaxError> {
    let from = cursor.at();
    cursor.eat("\\");
    let Some(next) = cursor.next() else {
        return Err(cursor.error(from, "a backslash at the end: write `\\\\` for the character"));
    };
    let character = match next {
        'a' => '\x07',
        'f' => '\x0C',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0B',
        'x' => return hexadecimal(cursor, from),
        '0' => return Ok(octal(cursor, 0)),
        '1'..='7' if matches!(cursor.peek(), Some('0'..='7')) => {
            return Ok(octal(cursor, next.to_digit(8).unwrap_or_default()));
        }
        other if other.is_ascii() && !other.is_ascii_alphanumeric() => other,
        other => return Err(cursor.error(from, unknown(other, &cursor.shown(from)))),
    };
    Ok(character.into())
}

/// Why an escape is none.
fn unknown(next: char, escape: &str) -> String {
    match next {
        '1'..='9' => format!("`{escape}` refers to a group: RE2 has no backreferences"),
        'Z' => "`\\Z` is no escape of RE2: write `\\z` for the end of the text".to_owned(),
        'u' | 'U' => format!("`{escape}` is no escape of RE2: write `\\x{{..}}` with hexadecimal digits"),
        'C' => "`\\C` is not supported: no match is a part of a character".to_owned(),
        _ => format!("`{escape}` is no escape of RE2"),
    }
}

/// Reads what follows the first digit.
fn octal(cursor: &mut Cursor<'_>, first: u32) -> u32 {
    let mut value = first;
    for _ in 1..OCTAL_DIGITS {
        let Some(digit) = cursor.peek().and_then(|next| next.to_digit(8)) else { break };
        cursor.next();
        value = value.saturating_mul(8).saturating_add(digit);
    }
    value
}

fn hexadecimal(cursor: &mut Cursor<'_>, from: usize) -> Result<u32, SyntaxError> {
    let digits = if cursor.eat("{") {
        cursor.before("}").ok_or_else(|| cursor.error(from, "`\\x{` without `}`"))?
    } else {
        let digits = cursor.at();
        cursor.next();
        cursor.next();
        let digits = cursor.since(digits);
        if digits.len() < 2 { "" } else { digits }
    };
    let mut value = 0_u32;
    for digit in digits.chars() {
        let Some(digit) = digit.to_digit(16) else {
            return Err(
                cursor.error(from, format!("`{}` has other characters than hexadecimal digits", cursor.shown(from)))
            );
        };
        value = value.saturating_mul(16).saturating_add(digit);
    }
    if digits.is_empty() {
        return Err(cursor.error(from, "`\\x` takes two hexadecimal digits, or several in braces"));
    }
    if value > MAX_CHARACTER {
        return Err(
            cursor.error(from, format!("`{}` is larger than the largest character, 10FFFF", cursor.shown(from)))
        );
    }
    Ok(value)
}
