//! `url_decode`.

/// Most rounds of recursive decoding. Each round makes the text shorter, so this bounds the time only.
const MOST_ROUNDS: usize = 32;

/// Decodes `%HH` and `+`; with `unicode` also `%uHHHH`, to UTF-8; with `recursive` until nothing changes. What is not an escape
/// stays.
pub(in crate::filter) fn url_decode(text: &[u8], recursive: bool, unicode: bool) -> Vec<u8> {
    let mut decoded = once(text, unicode);
    if recursive {
        for _ in 0..MOST_ROUNDS {
            let next = once(&decoded, unicode);
            if next == decoded {
                break;
            }
            decoded = next;
        }
    }
    decoded
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
