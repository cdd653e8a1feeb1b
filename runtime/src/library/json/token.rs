//! The tokens of JSON (RFC 8259). What a token's text is not allowed to be is refused here, strings down to their UTF-8,
//! escapes and surrogates, numbers down to their range: what passes can be read without a further error.
//!
//! Functions take the document and a place in it, and give the place behind the token, `None` if it is not one: all in
//! registers, because the hot loop of a scan is made of them.

use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_ir::ErrorKind::InvalidArgument;
use celero_matching::json_simd::{BLOCK_BYTES, Baseline, Scanner};

/// Digits that a number may have, and powers of ten that its exponent may add, before it can be beyond a double's range.
const SAFE_DIGITS: usize = 300;

/// A value that is neither object nor array, as written; a string without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar<'j> {
    Null,
    Bool(bool),
    Number(&'j [u8]),
    String(Text<'j>),
}

impl<'j> Scalar<'j> {
    /// The value: an integer is an `int`, else a `uint`, else a `double`, whichever holds it.
    pub(super) fn value<'a>(self, arena: &'a Arena) -> EvalResult<Value<'a>>
    where
        'j: 'a,
    {
        match self {
            Self::Null => Ok(Value::Null),
            Self::Bool(value) => Ok(Value::Bool(value)),
            Self::Number(number) => number_value(number).ok_or(InvalidArgument),
            Self::String(text) => text.read(arena).map(Value::String),
        }
    }
}

fn number_value<'a>(number: &[u8]) -> Option<Value<'a>> {
    let text = std::str::from_utf8(number).ok()?;
    // Those with a fraction or an exponent are no integers to these either.
    if let Ok(int) = text.parse() {
        return Some(Value::Int(int));
    }
    if let Ok(uint) = text.parse() {
        return Some(Value::Uint(uint));
    }
    text.parse().ok().map(Value::Double)
}

/// A string as written, without its quotes: valid UTF-8, valid escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'j>(pub(super) &'j [u8]);

/// A part of a string.
enum Piece<'j> {
    Plain(&'j [u8]),
    Escaped(char),
}

impl<'j> Text<'j> {
    fn is_escaped(self) -> bool {
        memchr::memchr(b'\\', self.0).is_some()
    }

    /// The text: borrowed if it has no escape, else built.
    pub(super) fn read<'a>(self, arena: &'a Arena) -> EvalResult<&'a str>
    where
        'j: 'a,
    {
        if !self.is_escaped() {
            return std::str::from_utf8(self.0).map_err(|_| InvalidArgument);
        }
        let mut text = arena.vec();
        // No escape is shorter than what it stands for.
        text.reserve(self.0.len())?;
        for piece in self.pieces() {
            match piece {
                Piece::Plain(plain) => text.extend(plain)?,
                Piece::Escaped(c) => text.extend(c.encode_utf8(&mut [0; 4]).as_bytes())?,
            }
        }
        std::str::from_utf8(text.finish()).map_err(|_| InvalidArgument)
    }

    /// Whether this is the text.
    #[inline]
    pub(super) fn is(self, text: &str) -> bool {
        // Most texts that differ do so at once.
        if let (Some(&first), Some(&wanted)) = (self.0.first(), text.as_bytes().first())
            && first != wanted
            && first != b'\\'
        {
            return false;
        }
        // An escape is longer than what it stands for.
        match self.0.len().cmp(&text.len()) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => self.0 == text.as_bytes() && !self.is_escaped(),
            std::cmp::Ordering::Greater => self.is_escaped() && self.unescapes_to(text),
        }
    }

    fn unescapes_to(self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        for piece in self.pieces() {
            let stripped = match piece {
                Piece::Plain(plain) => rest.strip_prefix(plain),
                Piece::Escaped(c) => rest.strip_prefix(c.encode_utf8(&mut [0; 4]).as_bytes()),
            };
            match stripped {
                Some(after) => rest = after,
                None => return false,
            }
        }
        rest.is_empty()
    }

    fn pieces(self) -> impl Iterator<Item = Piece<'j>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = self.0.get(at..)?;
            match memchr::memchr(b'\\', rest) {
                _ if rest.is_empty() => None,
                Some(0) => {
                    let (c, end) = escape(self.0, at.wrapping_add(1))?;
                    at = end;
                    Some(Piece::Escaped(c))
                }
                end => {
                    let plain = rest.get(..end.unwrap_or(rest.len()))?;
                    at = at.wrapping_add(plain.len());
                    Some(Piece::Plain(plain))
                }
            }
        })
    }
}

/// The bytes from one place to another.
#[inline(always)]
pub(super) fn slice(json: &[u8], start: usize, end: usize) -> &[u8] {
    json.get(start..end).unwrap_or(&[])
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The first byte that is no blank, with the place behind it.
#[inline(always)]
pub(super) fn visible(json: &[u8], mut at: usize) -> Option<(u8, usize)> {
    loop {
        let byte = *json.get(at)?;
        at = at.wrapping_add(1);
        if byte > b' ' {
            return Some((byte, at));
        }
        if !is_blank(byte) {
            return None;
        }
    }
}

/// Passes these bytes.
pub(super) fn word(json: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    json.get(at..)?.starts_with(word).then_some(at.wrapping_add(word.len()))
}

/// The chunk of a document that was looked at last. Chunks are looked at in their order, and not where the places of tokens
/// lead: so the processor can look ahead of the tokens.
pub(super) struct Looked<C> {
    chunks: C,
    /// The place behind the chunk.
    end: usize,
    stops: u64,
}

impl<C: Scanner> Looked<C> {
    /// None yet, of the chunks from this place on.
    pub(super) fn nothing(chunks: C, at: usize) -> Self {
        Self { chunks, end: at.wrapping_sub(at % BLOCK_BYTES), stops: 0 }
    }

    /// Looks at the next chunk.
    #[inline(always)]
    fn advance(&mut self, json: &[u8]) {
        self.stops = match json.get(self.end..).and_then(<[u8]>::first_chunk) {
            Some(chunk) => self.chunks.string_stops(chunk),
            None => last(json, self.end),
        };
        self.end = self.end.wrapping_add(BLOCK_BYTES);
    }
}

/// What is left of the document, and then stops.
#[cold]
#[inline(never)]
fn last(json: &[u8], start: usize) -> u64 {
    let mut chunk = [0; BLOCK_BYTES];
    chunk.iter_mut().zip(json.iter().skip(start)).for_each(|(to, from)| *to = *from);
    Baseline.string_stops(&chunk)
}

/// Passes a string whose first quote is behind.
#[inline(always)]
pub(super) fn string(json: &[u8], start: usize, looked: &mut Looked<impl Scanner>) -> Option<usize> {
    while looked.end <= start {
        looked.advance(json);
    }
    let left = looked.stops >> (start % BLOCK_BYTES);
    let end = if left != 0 {
        start.wrapping_add(left.trailing_zeros() as usize)
    } else {
        loop {
            let chunk = looked.end;
            looked.advance(json);
            if looked.stops != 0 {
                break chunk.wrapping_add(looked.stops.trailing_zeros() as usize);
            }
        }
    };
    match json.get(end) {
        Some(b'"') => Some(end.wrapping_add(1)),
        _ => long_string(json, start, end),
    }
}

/// Passes a string with escapes or with more than ASCII. Nothing ends or interrupts it before `at`.
#[cold]
#[inline(never)]
fn long_string(json: &[u8], start: usize, mut at: usize) -> Option<usize> {
    loop {
        // There are three ways to be ended or interrupted; control characters are looked for in what is between.
        let rest = json.get(at..)?;
        let plain = memchr::memchr2(b'"', b'\\', rest)?;
        if rest.get(..plain)?.iter().any(|byte| *byte < 0x20) {
            return None;
        }
        at = at.wrapping_add(plain);
        let special = *json.get(at)?;
        at = at.wrapping_add(1);
        if special == b'"' {
            break;
        }
        (_, at) = escape(json, at)?;
    }
    std::str::from_utf8(slice(json, start, at)).is_ok().then_some(at)
}

/// The character of an escape whose backslash is behind.
fn escape(json: &[u8], at: usize) -> Option<(char, usize)> {
    let end = at.wrapping_add(1);
    let c = match *json.get(at)? {
        c @ (b'"' | b'\\' | b'/') => char::from(c),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let (high, end) = hexadecimal(json, end)?;
            if !(0xd800..0xdc00).contains(&high) {
                // A low surrogate alone is no character.
                return Some((char::from_u32(high.into())?, end));
            }
            let (low, end) = hexadecimal(json, word(json, end, b"\\u")?)?;
            return Some((char::decode_utf16([high, low]).next()?.ok()?, end));
        }
        _ => return None,
    };
    Some((c, end))
}

/// Four digits.
fn hexadecimal(json: &[u8], at: usize) -> Option<(u16, usize)> {
    let digits = json.get(at..)?.first_chunk::<4>()?;
    let unit = digits.iter().try_fold(0_u16, |unit, digit| {
        let digit = u16::try_from(char::from(*digit).to_digit(16)?).ok()?;
        Some((unit << 4) | digit)
    })?;
    Some((unit, at.wrapping_add(digits.len())))
}

/// Passes digits.
fn digits(json: &[u8], mut at: usize) -> usize {
    while json.get(at).is_some_and(u8::is_ascii_digit) {
        at = at.wrapping_add(1);
    }
    at
}

/// Passes a number.
pub(super) fn number(json: &[u8], start: usize) -> Option<usize> {
    let first = if json.get(start) == Some(&b'-') { start.wrapping_add(1) } else { start };
    let mut at = match json.get(first)? {
        b'0' => first.wrapping_add(1),
        b'1'..=b'9' => digits(json, first),
        _ => return None,
    };
    let mut magnitude = at.saturating_sub(first);
    if json.get(at) == Some(&b'.') {
        let from = at.wrapping_add(1);
        at = digits(json, from);
        if at == from {
            return None;
        }
    }
    if matches!(json.get(at), Some(b'e' | b'E')) {
        let sign = json.get(at.wrapping_add(1));
        let from = at.wrapping_add(if matches!(sign, Some(b'-' | b'+')) { 2 } else { 1 });
        at = digits(json, from);
        if at == from {
            return None;
        }
        if sign != Some(&b'-') {
            let exponent = slice(json, from, at).iter().fold(0_usize, |sum, digit| {
                sum.saturating_mul(10).saturating_add(usize::from(digit.wrapping_sub(b'0')))
            });
            magnitude = magnitude.saturating_add(exponent);
        }
    }
    if magnitude > SAFE_DIGITS
        && let Value::Double(value) = number_value(slice(json, start, at))?
        && value.is_infinite()
    {
        return None;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero_matching::json_simd::{ScanTask, run};

    struct First<'j>(&'j [u8]);

    impl ScanTask for First<'_> {
        type Output = Option<usize>;

        #[inline(always)]
        fn run_with<C: Scanner>(self, chunks: C) -> Option<usize> {
            string(self.0, 0, &mut Looked::nothing(chunks, 0))
        }
    }

    #[test]
    fn strings_end_where_they_should() {
        for length in 0..70 {
            for rest in ["\"", "\"rest of it that is long\"", "é\"", "\\n\"", "é\\u00e9\\\"\" é é é é é é é é é"]
            {
                let text = format!("{}{rest}", "x".repeat(length));
                let quote = text.rfind("\"\"").or(text.find('"')).unwrap();
                let end = if rest.contains("\"\"") { quote + 2 } else { quote + 1 };
                assert_eq!(run(First(text.as_bytes())), Some(end), "{text}");
            }
            for bad in ["", "\\", "\\\"", "\u{1f}\"", "\n xxxxxxxxxxxxxxxxxxxxx\"", "\\x\"", "\\u12\"", "\\udc00\""] {
                let text = format!("{}{bad}", "x".repeat(length));
                assert_eq!(run(First(text.as_bytes())), None, "{text}");
            }
            let mut bytes = vec![b'x'; length];
            bytes.extend(b"\xc3\"xxxxxxxxxxxxxxxxxxxxxxxx");
            assert_eq!(run(First(&bytes)), None);
        }
    }

    #[test]
    fn texts_are_compared_unescaped() {
        let is = |raw: &str, text: &str| Text(raw.as_bytes()).is(text);
        assert!(is("a", "a") && is("\\u0061", "a") && is("\\\\", "\\") && is("", "") && is("x\\né", "x\né"));
        assert!(!is("a\\n", "a\\n") && !is("a", "b") && !is("ab", "a") && !is("\\u0061b", "a") && !is("\\u0061", "ab"));
    }
}
