//! Checked conversion of ASCII bytes to `str`.

/// Returns `bytes` as text if all of them are ASCII.
///
/// Use it before [`str::from_utf8`] on text that is nearly always ASCII, such as request targets and header values: the
/// check reads eight bytes at a time or more, which is several times as fast as validating UTF-8.
///
/// ```
/// assert_eq!(celero_matching::ascii_str(b"text/html"), Some("text/html"));
/// assert_eq!(celero_matching::ascii_str("caf\u{e9}".as_bytes()), None);
/// ```
#[must_use]
#[inline]
pub fn ascii_str(bytes: &[u8]) -> Option<&str> {
    const NOT_ASCII: u64 = 0x8080_8080_8080_8080;
    let word = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    // Most header values fit into two words.
    let is_ascii = match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) if bytes.len() <= 16 => (word(first) | word(last)) & NOT_ASCII == 0,
        _ => bytes.is_ascii(),
    };
    // SAFETY: ASCII is valid UTF-8.
    is_ascii.then(|| unsafe { std::str::from_utf8_unchecked(bytes) })
}

#[cfg(test)]
mod tests {
    use super::ascii_str;

    #[test]
    fn agrees_with_the_standard_library_at_every_length() {
        for length in 0..40 {
            let text = vec![b'a'; length];
            assert_eq!(ascii_str(&text).map(str::len), Some(length));
            for place in 0..length {
                let mut other = text.clone();
                other[place] = 0x80;
                assert_eq!(ascii_str(&other), None, "{other:?}");
            }
        }
    }
}
