//! Writes values as JSON text. Types that JSON lacks are written as in the JSON mapping of protocol buffers.

use super::super::encoders::{BASE64, base64_encode};
use super::super::network::{cidr_text, ip_text};
use super::super::standard::conversions::{FORMAT_STEPS, string_from_int, string_from_uint};
use super::super::standard::time::{duration_text, timestamp_text};
use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::value::{MAX_DEPTH, Map, Value, nested};
use celero_ir::ErrorKind::{DuplicateKey, InvalidArgument, NoSuchOverload};

/// What JSON a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapping {
    /// That of `toJson`.
    Whole,
    /// That of `json.encode`, which is cel-go's: what JSON can't hold, or readers that know only
    /// doubles, is an error or text, and the text can stand in HTML.
    Interoperable,
}

/// The largest integer that a double holds exactly, with all below it.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// Returns a value as JSON without blanks, with the keys of objects sorted.
///
/// | value | JSON |
/// |---|---|
/// | `int`, `uint` | a number with all its digits |
/// | `double` | the shortest number that reads as the same `double`; `"NaN"`, `"Infinity"`, `"-Infinity"` |
/// | `bytes` | text in base64, with padding |
/// | timestamp, duration | `"2026-01-02T03:04:05.5Z"`, `"1.5s"` |
/// | map | an object; keys that are numbers or bools as text |
/// | optional | what it holds, or `null` |
/// | type, address, network | its name or text |
/// | message | an object, see [`Message::as_json`](crate::value::message::Message) |
///
/// [`Mapping::Interoperable`] differs: integers beyond 2^53 - 1 are text, doubles without a fraction
/// are written without one, `<`, `>` and `&` in text are escaped; infinite numbers and those that are
/// none, an empty optional, types, addresses and networks are errors.
///
/// # Errors
/// `invalid_argument` for what the mapping has not, for a token and for a malformed message; `overflow`
/// for a duration in a message that CEL has not; `duplicate_key` for a map with two keys of the same
/// text (`1` and `"1"`); `out_of_budget` when the evaluation's budget is spent, or past 512 levels of
/// nesting.
pub(super) fn write<'a>(cx: &Cx<'a>, value: &Value<'a>, mapping: Mapping) -> EvalResult<&'a str> {
    let mut writer = Writer { cx, mapping, out: cx.arena().vec() };
    writer.value(value, MAX_DEPTH)?;
    std::str::from_utf8(writer.out.finish()).map_err(|_| InvalidArgument)
}

struct Writer<'c, 'a> {
    cx: &'c Cx<'a>,
    mapping: Mapping,
    out: ArenaVec<'a, u8>,
}

impl<'a> Writer<'_, 'a> {
    fn value(&mut self, value: &Value<'a>, depth: u32) -> EvalResult<()> {
        let cx = self.cx;
        cx.charge(1)?;
        if self.mapping == Mapping::Interoperable {
            match value {
                Value::Optional(None) | Value::Type(_) | Value::Ip(_) | Value::Cidr(..) => return Err(InvalidArgument),
                Value::Int(value) if value.unsigned_abs() > MAX_EXACT => {
                    return self.text(string_from_int(cx, *value)?);
                }
                Value::Uint(value) if *value > MAX_EXACT => return self.text(string_from_uint(cx, *value)?),
                _ => {}
            }
        }
        match value {
            Value::Null | Value::Optional(None) => self.plain("null"),
            Value::Bool(value) => self.plain(if *value { "true" } else { "false" }),
            Value::Int(value) => self.plain(string_from_int(cx, *value)?),
            Value::Uint(value) => self.plain(string_from_uint(cx, *value)?),
            Value::Double(value) => self.double(*value),
            Value::String(text) | Value::Type(text) => self.text(text),
            Value::Bytes(bytes) => self.text(base64_encode(cx, &BASE64, bytes)?),
            Value::Duration(value) => self.text(duration_text(cx, *value)?),
            Value::Timestamp(value) => self.text(timestamp_text(cx, *value)?),
            Value::Ip(address) => self.text(ip_text(cx, *address)?),
            Value::Cidr(address, prefix) => self.text(cidr_text(cx, *address, *prefix)?),
            Value::Optional(Some(inner)) => nested(depth, |depth| self.value(inner, depth)),
            Value::List(list) => nested(depth, |depth| {
                self.plain("[")?;
                for index in 0..list.len() {
                    if index > 0 {
                        self.plain(",")?;
                    }
                    let element = list.get(index, cx.arena())?.unwrap_or(Value::Null);
                    self.value(&element, depth)?;
                }
                self.plain("]")
            }),
            Value::Map(map) => nested(depth, |depth| self.object(map, depth)),
            Value::Message(message) => self.value(&message.as_json(cx, depth)?, depth),
        }
    }

    fn plain(&mut self, text: &str) -> EvalResult<()> {
        self.out.extend(text.as_bytes())
    }

    fn double(&mut self, value: f64) -> EvalResult<()> {
        if self.mapping == Mapping::Interoperable {
            if !value.is_finite() {
                return Err(InvalidArgument);
            }
            return self.plain(number_text(self.cx, value)?);
        }
        match value {
            f64::INFINITY => self.plain("\"Infinity\""),
            f64::NEG_INFINITY => self.plain("\"-Infinity\""),
            value if value.is_nan() => self.plain("\"NaN\""),
            // `{:?}` always writes a fraction or an exponent, so the text is read as a double again.
            value => {
                self.cx.charge(FORMAT_STEPS)?;
                self.plain(self.cx.arena().format(format_args!("{value:?}"))?)
            }
        }
    }

    fn text(&mut self, text: &str) -> EvalResult<()> {
        self.cx.charge_each_byte(text.len())?;
        self.plain("\"")?;
        let for_html = self.mapping == Mapping::Interoperable;
        let is_special = |byte: u8| match byte {
            b'"' | b'\\' | 0..=0x1f => true,
            // The first byte of U+2028 and U+2029, which end a line of JavaScript.
            b'<' | b'>' | b'&' | 0xe2 => for_html,
            _ => false,
        };
        let mut rest = text;
        while let Some(at) = rest.bytes().position(is_special) {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let Some((&special, _)) = from.as_bytes().split_first() else { break };
            if special == 0xe2 {
                let mut after = from.chars();
                let c = after.next().unwrap_or_default();
                self.plain(before)?;
                match c {
                    '\u{2028}' => self.plain("\\u2028")?,
                    '\u{2029}' => self.plain("\\u2029")?,
                    c => self.plain(c.encode_utf8(&mut [0; 4]))?,
                }
                rest = after.as_str();
                continue;
            }
            self.plain(before)?;
            match special {
                b'"' => self.plain("\\\"")?,
                b'\\' => self.plain("\\\\")?,
                b'\n' => self.plain("\\n")?,
                b'\r' => self.plain("\\r")?,
                b'\t' => self.plain("\\t")?,
                0x08 => self.plain("\\b")?,
                0x0c => self.plain("\\f")?,
                control => self.plain(self.cx.arena().format(format_args!("\\u{control:04x}"))?)?,
            }
            rest = from.get(1..).unwrap_or("");
        }
        self.plain(rest)?;
        self.plain("\"")
    }

    fn object(&mut self, map: &Map<'a>, depth: u32) -> EvalResult<()> {
        let cx = self.cx;
        cx.charge(map.len())?;
        let mut members = cx.arena().vec();
        members.reserve(map.len())?;
        let mut key_bytes = 0_usize;
        for (key, value) in map.all(cx)? {
            let key = match *key {
                Value::String(text) => text,
                Value::Int(number) => string_from_int(cx, number)?,
                Value::Uint(number) => string_from_uint(cx, number)?,
                Value::Bool(value) => {
                    if value {
                        "true"
                    } else {
                        "false"
                    }
                }
                _ => return Err(NoSuchOverload),
            };
            key_bytes = key_bytes.saturating_add(key.len());
            members.push((key, *value))?;
        }
        let comparisons = map.len().checked_ilog2().unwrap_or(0) as usize;
        cx.charge_bytes(key_bytes.saturating_mul(comparisons.saturating_add(1)))?;
        members.as_mut_slice().sort_unstable_by_key(|(key, _)| *key);
        let mut last = None;
        self.plain("{")?;
        for (key, value) in members.finish() {
            if last == Some(*key) {
                return Err(DuplicateKey);
            }
            if last.is_some() {
                self.plain(",")?;
            }
            self.text(key)?;
            self.plain(":")?;
            self.value(value, depth)?;
            last = Some(*key);
        }
        self.plain("}")
    }
}

/// A finite number as JavaScript writes it, the shortest text that reads as the same double.
pub(in crate::library) fn number_text<'a>(cx: &Cx<'a>, value: f64) -> EvalResult<&'a str> {
    cx.charge(FORMAT_STEPS)?;
    if value == 0.0 || (1e-6..1e21).contains(&value.abs()) {
        return cx.arena().format(format_args!("{value}"));
    }
    let text = cx.arena().format(format_args!("{value:e}"))?;
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => {
            cx.arena().format(format_args!("{digits}e+{exponent}"))
        }
        _ => Ok(text),
    }
}
