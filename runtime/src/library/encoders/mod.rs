//! The encoders library (cel-go's `ext.Encoders`, extended): base64 in both alphabets, hexadecimal,
//! percent-encoding, and forms. Malformed text is `invalid_argument`.

mod urlencoded;

pub(crate) use self::urlencoded::{decode as form_decode, decoded_component, encode as form_encode};

use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::display::Base64Display;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use celero_ir::ErrorKind::InvalidArgument;

/// Encodes with padding; decodes with and without padding, if [`padding_is_whole`].
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// The standard alphabet (RFC 4648, 4).
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);

/// The URL-safe alphabet (RFC 4648, 5).
pub(crate) const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// The URL-safe alphabet without padding, as in JSON Web Tokens (RFC 7515, 2).
pub(crate) const BASE64_TOKEN: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// Returns whether text in base64 has no padding or all of it: the decoders accept a part of it too.
pub(crate) fn padding_is_whole(text: &[u8]) -> bool {
    !text.ends_with(b"=") || text.len().is_multiple_of(4)
}

pub(crate) fn base64_encode<'a>(cx: &Cx<'a>, engine: &GeneralPurpose, bytes: &[u8]) -> EvalResult<&'a str> {
    cx.charge_bytes(bytes.len().saturating_mul(2))?;
    cx.charge(1)?;
    cx.arena().format(format_args!("{}", Base64Display::new(bytes, engine)))
}

pub(crate) fn base64_decode<'a>(cx: &Cx<'a>, engine: &GeneralPurpose, text: &str) -> EvalResult<&'a [u8]> {
    cx.charge_bytes(text.len().saturating_mul(2))?;
    cx.charge(1)?;
    let mut bytes = cx.arena().vec();
    bytes.extend(text.as_bytes())?;
    if !padding_is_whole(text.as_bytes()) {
        return Err(InvalidArgument);
    }
    let length = engine.decode_slice(text, bytes.as_mut_slice()).map_err(|_| InvalidArgument)?;
    bytes.finish().get(..length).ok_or(InvalidArgument)
}

/// Returns the hexadecimal digit of a number below 16.
fn digit(n: u8, digits: &[u8; 16]) -> u8 {
    digits.get(usize::from(n)).copied().unwrap_or(b'0')
}

pub(crate) fn hex_encode<'a>(cx: &Cx<'a>, bytes: &[u8], upper: bool) -> EvalResult<&'a str> {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    cx.charge_each_byte(bytes.len())?;
    let mut text = cx.arena().vec();
    text.reserve(bytes.len().saturating_mul(2))?;
    for byte in bytes {
        text.extend(&[digit(byte >> 4, digits), digit(byte & 15, digits)])?;
    }
    std::str::from_utf8(text.finish()).map_err(|_| InvalidArgument)
}

/// Parses two hexadecimal digits.
pub(crate) fn pair(digits: &[u8]) -> EvalResult<u8> {
    let value = |digit: &u8| char::from(*digit).to_digit(16).and_then(|n| u8::try_from(n).ok());
    match digits {
        [high, low] => value(high).zip(value(low)).map(|(high, low)| (high << 4) | low).ok_or(InvalidArgument),
        _ => Err(InvalidArgument),
    }
}

pub(crate) fn hex_decode<'a>(cx: &Cx<'a>, text: &str) -> EvalResult<&'a [u8]> {
    cx.charge_each_byte(text.len())?;
    let mut bytes = cx.arena().vec();
    bytes.reserve(text.len() / 2)?;
    for digits in text.as_bytes().chunks(2) {
        bytes.push(pair(digits)?)?;
    }
    Ok(bytes.finish())
}

/// Appends `%` and two hexadecimal digits.
pub(crate) fn percent_encode(out: &mut ArenaVec<'_, u8>, byte: u8) -> EvalResult<()> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend(&[b'%', digit(byte >> 4, DIGITS), digit(byte & 15, DIGITS)])
}

/// `url.encode(text)`: percent-encodes all but the unreserved characters of RFC 3986.
pub(crate) fn url_encode<'a>(cx: &Cx<'a>, text: &str) -> EvalResult<&'a str> {
    cx.charge_each_byte(text.len())?;
    let mut encoded = cx.arena().vec();
    for byte in text.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => encoded.push(byte)?,
            byte if byte.is_ascii_alphanumeric() => encoded.push(byte)?,
            byte => percent_encode(&mut encoded, byte)?,
        }
    }
    std::str::from_utf8(encoded.finish()).map_err(|_| InvalidArgument)
}

/// `url.decode(text)`. A `+` stays a `+`. The decoded bytes must be UTF-8.
pub(crate) fn url_decode<'a>(cx: &Cx<'a>, text: &str) -> EvalResult<&'a str> {
    cx.charge_each_byte(text.len())?;
    let mut decoded = cx.arena().vec();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let (digits, after) = after.split_at_checked(2).ok_or(InvalidArgument)?;
            decoded.push(pair(digits)?)?;
            rest = after;
        } else {
            decoded.push(first)?;
            rest = after;
        }
    }
    std::str::from_utf8(decoded.finish()).map_err(|_| InvalidArgument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    fn with(test: impl for<'a> FnOnce(&Cx<'a>)) {
        let arena = Arena::new(1 << 20);
        test(&Cx::new(1_000_000, &arena));
    }

    #[test]
    fn base64() {
        with(|cx| {
            for (bytes, text) in [(&b""[..], ""), (b"h", "aA=="), (b"hello", "aGVsbG8="), (b"\xff\xfe\xfd", "//79")] {
                assert_eq!(base64_encode(cx, &BASE64, bytes), Ok(text));
                assert_eq!(base64_decode(cx, &BASE64, text), Ok(bytes));
                assert_eq!(base64_decode(cx, &BASE64, text.trim_end_matches('=')), Ok(bytes));
            }
            for bad in ["a", "a===", "aGVsbG8=x", "a b", "__79"] {
                assert_eq!(base64_decode(cx, &BASE64, bad), Err(InvalidArgument), "{bad}");
            }
            assert_eq!(base64_encode(cx, &BASE64_URL, b"\xfb\xff\xfe\xfd"), Ok("-__-_Q=="));
            for text in ["-__-_Q==", "-__-_Q"] {
                assert_eq!(base64_decode(cx, &BASE64_URL, text), Ok(&b"\xfb\xff\xfe\xfd"[..]));
            }
            assert_eq!(base64_decode(cx, &BASE64_URL, "//79"), Err(InvalidArgument));
        });
    }

    #[test]
    fn hexadecimal_and_percent() {
        with(|cx| {
            assert_eq!(hex_encode(cx, b"\x00\xffk", false), Ok("00ff6b"));
            assert_eq!(hex_decode(cx, "00Ff6b"), Ok(&b"\x00\xffk"[..]));
            assert_eq!([hex_decode(cx, "0"), hex_decode(cx, "0g"), hex_decode(cx, "é")], [Err(InvalidArgument); 3]);
            assert_eq!(url_encode(cx, "a-b._~ /é+"), Ok("a-b._~%20%2F%C3%A9%2B"));
            assert_eq!(url_decode(cx, "a%20%c3%A9+"), Ok("a é+"));
            assert_eq!([url_decode(cx, "%"), url_decode(cx, "%0"), url_decode(cx, "%ff")], [Err(InvalidArgument); 3]);
        });
    }
}
