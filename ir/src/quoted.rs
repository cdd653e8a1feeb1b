//! Text and bytes in quotes, as the text form of a graph has them.

use std::fmt::{self, Write};

/// Writes text in double quotes. Control characters and characters that cannot be seen are escaped as `\u{..}`.
pub(crate) fn text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffd}') => {
                write!(f, "\\u{{{:x}}}", u32::from(c))?;
            }
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

/// Writes bytes as text if they are UTF-8, otherwise as bytes.
pub(crate) fn text_or_bytes(f: &mut fmt::Formatter<'_>, either: &[u8]) -> fmt::Result {
    match std::str::from_utf8(either) {
        Ok(valid) => text(f, valid),
        Err(_) => bytes(f, either),
    }
}

/// Writes bytes as `b"..."`; bytes that are not printable ASCII are escaped as `\x..`.
pub(crate) fn bytes(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("b\"")?;
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => write!(f, "\\{}", char::from(byte))?,
            b' '..=b'~' => f.write_char(char::from(byte))?,
            _ => write!(f, "\\x{byte:02x}")?,
        }
    }
    f.write_char('"')
}
