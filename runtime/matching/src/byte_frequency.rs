//! How often bytes are met in the text of requests, roughly: only which literals and which parts of them are looked for depends
//! on it, no answer.

/// How rare a byte is: about the negative binary logarithm of its share.
pub(crate) fn bits(byte: u8) -> i32 {
    match byte {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b'l' | b'.' | b'/' | b' ' | b'0' | b'1' => 4,
        b'j' | b'q' | b'x' | b'z' => 7,
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b';' | b'(' | b')' | b'_' | b'=' | b':' | b',' => 5,
        b'A'..=b'Z' | b'%' | b'&' | b'+' | b'?' => 6,
        0x21..=0x7e => 8,
        _ => RAREST,
    }
}

/// The most that [`bits`] gives.
pub(crate) const RAREST: i32 = 9;
