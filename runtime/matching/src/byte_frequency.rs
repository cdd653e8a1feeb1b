//! Estimated frequency of bytes in request text. It decides which literals, and which bytes of
//! them, are searched for; no result depends on it.

/// Rarity of a byte in bits: about the negative binary logarithm of its frequency.
pub(crate) fn rarity_bits(byte: u8) -> i32 {
    match byte {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b'l' | b'.' | b'/' | b' ' | b'0' | b'1' => 4,
        b'j' | b'q' | b'x' | b'z' => 7,
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b';' | b'(' | b')' | b'_' | b'=' | b':' | b',' => 5,
        b'A'..=b'Z' | b'%' | b'&' | b'+' | b'?' => 6,
        0x21..=0x7e => 8,
        _ => MAX_RARITY_BITS,
    }
}

/// Largest result of [`rarity_bits`].
pub(crate) const MAX_RARITY_BITS: i32 = 9;
