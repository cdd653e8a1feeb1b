//! Conversions between types. Malformed text is `invalid_argument`, a number outside the range of
//! the target `overflow`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::Timestamp;
use celero_ir::ErrorKind::{InvalidArgument, Overflow};
use std::num::{IntErrorKind, ParseIntError};

/// Charges the budget for a scan of the whole text and returns the text.
#[inline]
pub(crate) fn scanned<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<&'a str> {
    cx.charge_bytes(text.len()).map(|()| text)
}

pub(crate) fn bool_from_string(text: &str) -> EvalResult<bool> {
    match text {
        "1" | "t" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(InvalidArgument),
    }
}

pub(crate) fn int_from_uint(n: u64) -> EvalResult<i64> {
    i64::try_from(n).map_err(|_| Overflow)
}

/// Rounds toward zero. Both ends of the range are excluded, because their doubles are also the
/// nearest ones to numbers outside.
pub(crate) fn int_from_double(d: f64) -> EvalResult<i64> {
    let end = 9_223_372_036_854_775_808.0;
    if d > -end && d < end { Ok(d as i64) } else { Err(Overflow) }
}

pub(crate) fn int_from_string(text: &str) -> EvalResult<i64> {
    text.parse().map_err(|e| not_integer(&e))
}

pub(crate) fn uint_from_int(n: i64) -> EvalResult<u64> {
    u64::try_from(n).map_err(|_| Overflow)
}

/// Rounds toward zero; negative numbers are `overflow`.
pub(crate) fn uint_from_double(d: f64) -> EvalResult<u64> {
    if (0.0..18_446_744_073_709_551_616.0).contains(&d) { Ok(d as u64) } else { Err(Overflow) }
}

pub(crate) fn uint_from_string(text: &str) -> EvalResult<u64> {
    if text.starts_with('+') {
        return Err(InvalidArgument);
    }
    text.parse().map_err(|e| not_integer(&e))
}

fn not_integer(error: &ParseIntError) -> celero_ir::ErrorKind {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Overflow,
        _ => InvalidArgument,
    }
}

/// Steps charged for writing a value whose text is worked out.
pub(crate) const FORMAT_STEPS: usize = 4;

/// Digits of a number that are parsed in one step each. With more, a number beside the middle of
/// two doubles takes arithmetic on all digits.
const PLAIN_DIGITS: usize = 18;
/// Digits of a number beyond which parsing takes no longer.
const MAX_DIGITS: usize = 800;

/// Charges the budget for parsing a number with these digits.
#[inline]
pub(crate) fn charge_number(cx: &Cx<'_>, length: usize) -> EvalResult<()> {
    if length <= PLAIN_DIGITS { Ok(()) } else { cx.charge(length.min(MAX_DIGITS).saturating_mul(4)) }
}

/// Parses decimal notation, or `inf`, `infinity` and `nan` in any letter case.
pub(crate) fn double_from_string(text: &str) -> EvalResult<f64> {
    let number: f64 = text.parse().map_err(|_| InvalidArgument)?;
    let finite = text.bytes().any(|b| b.is_ascii_digit());
    if number.is_infinite() && finite { Err(Overflow) } else { Ok(number) }
}

pub(crate) fn string_from_int<'a>(cx: &Cx<'a>, n: i64) -> EvalResult<&'a str> {
    cx.charge(1)?;
    cx.arena().format(format_args!("{n}"))
}

pub(crate) fn string_from_uint<'a>(cx: &Cx<'a>, n: u64) -> EvalResult<&'a str> {
    cx.charge(1)?;
    cx.arena().format(format_args!("{n}"))
}

/// Returns the shortest text that parses as the same double: without exponent from 0.0001 to below
/// 1,000,000, else with an exponent of at least two digits (`1e+06`, `1.5e-07`).
pub(crate) fn string_from_double<'a>(cx: &Cx<'a>, d: f64) -> EvalResult<&'a str> {
    if d.is_infinite() {
        return Ok(if d > 0.0 { "Infinity" } else { "-Infinity" });
    }
    cx.charge(FORMAT_STEPS)?;
    let size = d.abs();
    if d.is_nan() || d == 0.0 || (1e-4..1e6).contains(&size) {
        return cx.arena().format(format_args!("{d}"));
    }
    let text = cx.arena().format(format_args!("{d:e}"))?;
    let (digits, exponent) = text.split_once('e').ok_or(InvalidArgument)?;
    let exponent: i32 = exponent.parse().map_err(|_| InvalidArgument)?;
    cx.arena().format(format_args!("{digits}e{exponent:+03}"))
}

pub(crate) fn string_from_bytes<'a>(cx: &Cx<'a>, bytes: &'a [u8]) -> EvalResult<&'a str> {
    cx.charge_bytes(bytes.len())?;
    std::str::from_utf8(bytes).map_err(|_| InvalidArgument)
}

pub(crate) fn timestamp_from_int(seconds: i64) -> EvalResult<Timestamp> {
    Timestamp::new(seconds, 0)
}
