//! `url_decode`.

/// Decodes `%HH` and `+`; with `unicode` also `%uHHHH`, to UTF-8; with `recursive` until nothing
/// changes. What is not an escape stays.
pub(in crate::filter) fn url_decode(text: &[u8], recursive: bool, unicode: bool) -> Vec<u8> {
    if recursive { until_nothing_changes(text, unicode) } else { once(text, unicode) }
}

/// Decodes in one pass, in linear time: an escape means the same whatever follows it, so each is
/// decoded when it is complete, and its character may complete an earlier one.
fn until_nothing_changes(text: &[u8], unicode: bool) -> Vec<u8> {
    let blank = |byte: &u8| if *byte == b'+' { b' ' } else { *byte };
    let mut decoded = Vec::with_capacity(text.len());
    for byte in text {
        decoded.push(blank(byte));
        while let Some((start, character)) = last_escape(&decoded, unicode) {
            decoded.truncate(start);
            decoded.extend(character.iter().map(blank));
        }
    }
    decoded
}

/// Returns where the escape at the end begins, and the bytes that it stands for.
fn last_escape(text: &[u8], unicode: bool) -> Option<(usize, Vec<u8>)> {
    let starting_at = |length: usize| {
        let start = text.len().checked_sub(length)?;
        Some((start, text.get(start..)?.strip_prefix(b"%")?))
    };
    if let Some((start, digits)) = starting_at(3)
        && let Some((byte, _)) = pair(digits)
    {
        return Some((start, vec![byte]));
    }
    // One escape, or two for a character of two surrogates.
    let lengths = if unicode { &[6, 12][..] } else { &[] };
    lengths.iter().find_map(|length| {
        let (start, escape) = starting_at(*length)?;
        let (c, behind) = escape.strip_prefix(b"u").and_then(character)?;
        behind.is_empty().then(|| (start, c.encode_utf8(&mut [0; 4]).as_bytes().to_vec()))
    })
}

fn once(text: &[u8], unicode: bool) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte == b'+' {
            decoded.push(b' ');
        } else if byte != b'%' {
            decoded.push(byte);
        } else if let Some((byte, behind)) = pair(rest) {
            decoded.push(byte);
            rest = behind;
        } else if let Some((c, behind)) = rest.strip_prefix(b"u").filter(|_| unicode).and_then(character) {
            decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            rest = behind;
        } else {
            decoded.push(b'%');
        }
    }
    decoded
}

/// Two hexadecimal digits.
fn pair(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, behind) = text.split_at_checked(2)?;
    Some((u8::try_from(number(digits)?).ok()?, behind))
}

/// Four hexadecimal digits, or eight with `%u` between for a character of two surrogates.
fn character(text: &[u8]) -> Option<(char, &[u8])> {
    let (digits, behind) = text.split_at_checked(4)?;
    let first = number(digits)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, behind));
    }
    let (digits, behind) = behind.strip_prefix(b"%u")?.split_at_checked(4)?;
    let units = [u16::try_from(first).ok()?, u16::try_from(number(digits)?).ok()?];
    char::decode_utf16(units).next()?.ok().map(|c| (c, behind))
}

fn number(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
