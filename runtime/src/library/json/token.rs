//! The tokens of JSON (RFC 8259). Tokens are validated completely: strings with their UTF-8,
//! escapes and surrogates, numbers with their range. Converting a valid token to a value therefore
//! fails only if there is no memory.
//!
//! Functions take the document and an offset, and return the offset after the token, `None` if
//! there is no valid token. They are the hot loop of a scan, so they pass everything in registers.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::standard::conversions::charge_number;
use crate::value::Value;
use celero_ir::ErrorKind::InvalidArgument;
use celero_matching::json_simd::{BLOCK_BYTES, Baseline, Scanner};
use std::cmp::Ordering;

/// A number whose digits before the point and exponent together are at most this is within a double's range.
const SAFE_DIGITS: usize = 300;

/// A value that is neither object nor array, as source text; a string without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar<'j> {
    Null,
    Bool(bool),
    Number(&'j [u8]),
    String(Text<'j>),
}

/// What the numbers of a document are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// The first of `int`, `uint` and `double` that can represent the number.
    Exact,
    /// Doubles.
    Doubles,
}

impl<'j> Scalar<'j> {
    /// Converts the token. A number is the first of `int`, `uint` and `double` that can represent it.
    pub(super) fn value<'a>(self, cx: &Cx<'a>) -> EvalResult<Value<'a>>
    where
        'j: 'a,
    {
        self.value_with(cx, Numbers::Exact)
    }

    /// Converts the token; `numbers` says what a number is.
    pub(super) fn value_with<'a>(self, cx: &Cx<'a>, numbers: Numbers) -> EvalResult<Value<'a>>
    where
        'j: 'a,
    {
        match self {
            Self::Null => Ok(Value::Null),
            Self::Bool(value) => Ok(Value::Bool(value)),
            Self::Number(number) => {
                charge_number(cx, number.len())?;
                match numbers {
                    Numbers::Exact => number_value(number),
                    Numbers::Doubles => {
                        std::str::from_utf8(number).ok().and_then(|text| text.parse().ok()).map(Value::Double)
                    }
                }
                .ok_or(InvalidArgument)
            }
            Self::String(text) => text.read(cx).map(Value::String),
        }
    }
}

fn number_value<'a>(number: &[u8]) -> Option<Value<'a>> {
    let text = std::str::from_utf8(number).ok()?;
    // Rust's integer parsers refuse a fraction or an exponent, too.
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

    /// Returns the text: borrowed if it has no escape, else decoded into the arena.
    pub(super) fn read<'a>(self, cx: &Cx<'a>) -> EvalResult<&'a str>
    where
        'j: 'a,
    {
        if !self.is_escaped() {
            return std::str::from_utf8(self.0).map_err(|_| InvalidArgument);
        }
        cx.charge_each_byte(self.0.len())?;
        let mut text = cx.arena().vec();
        // No escape is shorter than its character.
        text.reserve(self.0.len())?;
        for piece in self.pieces() {
            match piece {
                Piece::Plain(plain) => text.extend(plain)?,
                Piece::Escaped(c) => text.extend(c.encode_utf8(&mut [0; 4]).as_bytes())?,
            }
        }
        std::str::from_utf8(text.finish()).map_err(|_| InvalidArgument)
    }

    /// Whether the decoded string equals `text`.
    #[inline]
    pub(super) fn is(self, text: &str) -> bool {
        // Most keys that differ do so in their first byte.
        if let (Some(&first), Some(&expected)) = (self.0.first(), text.as_bytes().first())
            && first != expected
            && first != b'\\'
        {
            return false;
        }
        // An escape is longer than its character.
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

/// Returns the bytes from `start` to `end`.
#[inline(always)]
pub(super) fn slice(json: &[u8], start: usize, end: usize) -> &[u8] {
    json.get(start..end).unwrap_or(&[])
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the first byte that is not blank, and the offset after it.
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

/// Returns the offset after `word` if it is at `at`.
pub(super) fn word(json: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    json.get(at..)?.starts_with(word).then_some(at.wrapping_add(word.len()))
}

/// The bytes in the current block of a document at which the scan of a string must stop.
///
/// Blocks are scanned one after another, wherever tokens are in them. The address of the next block
/// does not depend on a token, so the processor can load blocks ahead.
pub(super) struct StringStops<C> {
    scanner: C,
    /// The offset after the current block.
    end: usize,
    /// Result of [`Scanner::string_stops`] for the current block.
    stops: u64,
}

impl<C: Scanner> StringStops<C> {
    /// Starts before the block that contains `at`.
    pub(super) fn from(scanner: C, at: usize) -> Self {
        Self { scanner, end: at.wrapping_sub(at % BLOCK_BYTES), stops: 0 }
    }

    /// Scans the next block.
    #[inline(always)]
    fn advance(&mut self, json: &[u8]) {
        self.stops = match json.get(self.end..).and_then(<[u8]>::first_chunk) {
            Some(block) => self.scanner.string_stops(block),
            None => last_block(json, self.end),
        };
        self.end = self.end.wrapping_add(BLOCK_BYTES);
    }
}

/// Scans the bytes after the last full block, padded with zeros, which are stops.
#[cold]
#[inline(never)]
fn last_block(json: &[u8], start: usize) -> u64 {
    let mut block = [0; BLOCK_BYTES];
    block.iter_mut().zip(json.iter().skip(start)).for_each(|(to, from)| *to = *from);
    Baseline.string_stops(&block)
}

/// Returns the offset after the string whose opening quote is before `start`.
#[inline(always)]
pub(super) fn string(json: &[u8], start: usize, stops: &mut StringStops<impl Scanner>) -> Option<usize> {
    while stops.end <= start {
        stops.advance(json);
    }
    let remaining = stops.stops >> (start % BLOCK_BYTES);
    let end = if remaining != 0 {
        start.wrapping_add(remaining.trailing_zeros() as usize)
    } else {
        loop {
            let block = stops.end;
            stops.advance(json);
            if stops.stops != 0 {
                break block.wrapping_add(stops.stops.trailing_zeros() as usize);
            }
        }
    };
    match json.get(end) {
        Some(b'"') => Some(end.wrapping_add(1)),
        _ => long_string(json, start, end),
    }
}

/// Like [`string`], for a string with escapes or characters beyond ASCII. It is valid up to `at`.
#[cold]
#[inline(never)]
fn long_string(json: &[u8], start: usize, mut at: usize) -> Option<usize> {
    loop {
        // Searches the next quote or backslash, then control characters before it.
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

/// Decodes the escape whose backslash is before `at`. Returns the character and the offset after it.
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
                // `from_u32` refuses a low surrogate without a high one before it.
                return Some((char::from_u32(high.into())?, end));
            }
            let (low, end) = hexadecimal(json, word(json, end, b"\\u")?)?;
            return Some((char::decode_utf16([high, low]).next()?.ok()?, end));
        }
        _ => return None,
    };
    Some((c, end))
}

/// Parses four hexadecimal digits. Returns their value and the offset after them.
fn hexadecimal(json: &[u8], at: usize) -> Option<(u16, usize)> {
    let digits = json.get(at..)?.first_chunk::<4>()?;
    let unit = digits.iter().try_fold(0_u16, |unit, digit| {
        let digit = u16::try_from(char::from(*digit).to_digit(16)?).ok()?;
        Some((unit << 4) | digit)
    })?;
    Some((unit, at.wrapping_add(digits.len())))
}

/// Returns the offset after the decimal digits at `at`, if any.
fn digits(json: &[u8], mut at: usize) -> usize {
    while json.get(at).is_some_and(u8::is_ascii_digit) {
        at = at.wrapping_add(1);
    }
    at
}

/// Returns the offset after the number at `start`.
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
    if magnitude > SAFE_DIGITS && is_beyond_double(slice(json, first, at)) {
        return None;
    }
    Some(at)
}

/// Number of digits before the point of the least number that rounds to infinity.
const INFINITE_DIGITS: i64 = 309;

/// The digits of that number, without the zeros at its end: the middle between the largest double and 2^1024.
const INFINITE: &[u8] =
    b"1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070\
    9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447\
    5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904\
    174497792";

/// Whether a valid number without a sign rounds to infinity. In time that is linear in its length:
/// parsing it may take much longer.
#[cold]
#[inline(never)]
fn is_beyond_double(number: &[u8]) -> bool {
    let mantissa = number.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
    let exponent = number.get(mantissa.len()..).and_then(|rest| rest.split_first()).map_or(0, |(_, text)| {
        let magnitude = text
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0'))));
        if text.first() == Some(&b'-') { magnitude.saturating_neg() } else { magnitude }
    });
    let whole = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
    let digits = mantissa.iter().filter(|byte| **byte != b'.');
    let zeros = digits.clone().take_while(|digit| **digit == b'0').count();
    let significant = digits.skip(zeros);
    if significant.clone().next().is_none() {
        return false;
    }
    let places = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let before_point = places(whole).saturating_sub(places(zeros)).saturating_add(exponent);
    match before_point.cmp(&INFINITE_DIGITS) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => significant.cmp(INFINITE).is_ge(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero_matching::json_simd::{ScanTask, run};

    struct First<'j>(&'j [u8]);

    impl ScanTask for First<'_> {
        type Output = Option<usize>;

        #[inline(always)]
        fn run_with<C: Scanner>(self, scanner: C) -> Option<usize> {
            string(self.0, 0, &mut StringStops::from(scanner, 0))
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
    fn numbers_beyond_a_double_are_found() {
        let last = std::str::from_utf8(INFINITE).unwrap();
        let (most, (first, rest)) = (last.split_at(308).0, last.split_at(209));
        let smaller = format!("{most}1");
        let mut texts: Vec<String> = vec![
            last.to_owned(),
            format!("{last}.000"),
            format!("{last}.0001"),
            format!("0.{last}e309"),
            format!("0.000{last}0e312"),
            format!("{first}.{rest}e100"),
            smaller.clone(),
            format!("{smaller}.999"),
            format!("{smaller}999e-3"),
            format!("{last}e-1"),
            format!("{last}e1"),
            "1e308".into(),
            "1e309".into(),
            "1.7976931348623157e308".into(),
            "1.7976931348623158e308".into(),
            "1.7976931348623159e308".into(),
            "0e999999999999999999999".into(),
            "0.0e400".into(),
            "1e-999999999999999999999".into(),
            format!("0.{}1e310", "0".repeat(309)),
            format!("1{}e-310", "0".repeat(700)),
            "9".repeat(308),
            "9".repeat(309),
        ];
        texts.extend((0..400).map(|n| format!("1.79769313486231{n:03}e308")));
        for text in texts {
            let value: f64 = text.parse().unwrap();
            assert_eq!(is_beyond_double(text.as_bytes()), value.is_infinite(), "{text}");
        }
    }

    #[test]
    fn texts_are_compared_unescaped() {
        let is = |raw: &str, text: &str| Text(raw.as_bytes()).is(text);
        assert!(is("a", "a") && is("\\u0061", "a") && is("\\\\", "\\") && is("", "") && is("x\\né", "x\né"));
        assert!(!is("a\\n", "a\\n") && !is("a", "b") && !is("ab", "a") && !is("\\u0061b", "a") && !is("\\u0061", "ab"));
    }
}
