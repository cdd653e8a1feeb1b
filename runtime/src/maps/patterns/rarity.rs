//! How often bytes are met in the text of requests, roughly: only which literals are looked for depends on it, no answer.

/// How rare a byte is: about the negative binary logarithm of its share.
pub(super) fn bits(byte: u8, folded: bool) -> i32 {
    match byte {
        b'a' | b'e' | b'i' | b'n' | b'o' | b'r' | b's' | b't' => 4,
        b'j' | b'q' | b'x' | b'z' => 7,
        b'a'..=b'z' => 5,
        b'A'..=b'Z' if folded => bits(byte.to_ascii_lowercase(), false),
        b'A'..=b'Z' => 7,
        b'/' | b'.' | b'-' | b' ' | b'=' | b'%' | b'0'..=b'9' => 5,
        b'_' | b'&' | b'+' | b',' | b';' | b':' | b'(' | b')' => 6,
        0x80.. => 9,
        _ => 8,
    }
}

/// The chance of meeting a literal at one place of a text, not below a bound: no literal costs nothing.
pub(super) fn chance(literal: &[u8], folded: bool) -> f64 {
    /// Among literals rarer than this, having fewer of them is better.
    const RAREST: i32 = 36;
    let total = literal.iter().fold(0_i32, |total, &byte| total.saturating_add(bits(byte, folded)));
    f64::from(total.min(RAREST).saturating_neg()).exp2()
}
