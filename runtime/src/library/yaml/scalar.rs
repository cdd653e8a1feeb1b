//! What a plain scalar stands for: the core schema of YAML 1.2, and what go-yaml adds to it: `_` in numbers, octal
//! numbers with `0` before them, binary ones, times.

use crate::value::Timestamp;

/// A scalar by its text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    /// A time in RFC 3339.
    Time(String),
    Text,
}

/// Longest text of a time or of a number that is not decimal.
const MAX_SHORT: usize = 100;

/// Returns what the text stands for.
pub(super) fn resolve(text: &str) -> Resolved {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
        "true" | "True" | "TRUE" => return Resolved::Bool(true),
        "false" | "False" | "FALSE" => return Resolved::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Resolved::Double(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Resolved::Double(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Resolved::Double(f64::NEG_INFINITY),
        _ => {}
    }
    let decimal = match text.as_bytes() {
        [b'+' | b'-' | b'0'..=b'9', ..] => true,
        [b'.', b'0'..=b'9', ..] => false,
        _ => return Resolved::Text,
    };
    if decimal && let Some(time) = time(text) {
        return Resolved::Time(time);
    }
    let digits = if text.contains('_') { &*text.replace('_', "") } else { text };
    if decimal && let Some(integer) = integer(digits) {
        return integer;
    }
    match is_float(digits).then(|| digits.parse::<f64>()) {
        // Beyond the range of a double it is a text.
        Some(Ok(number)) if number.is_finite() => Resolved::Double(number),
        _ => Resolved::Text,
    }
}

fn integer(text: &str) -> Option<Resolved> {
    if text.len() > MAX_SHORT {
        return None;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, radix) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (unsigned.get(2..)?, 16),
        [b'0', b'o' | b'O', ..] => (unsigned.get(2..)?, 8),
        [b'0', b'b' | b'B', ..] => (unsigned.get(2..)?, 2),
        [b'0', _, ..] => (unsigned.get(1..)?, 8),
        _ => (unsigned, 10),
    };
    // A second sign is none.
    let value = if digits.starts_with(['+', '-']) { None } else { u64::from_str_radix(digits, radix).ok() }?;
    if text.starts_with('-') {
        return 0_i64.checked_sub_unsigned(value).map(Resolved::Int);
    }
    Some(i64::try_from(value).map_or(Resolved::Uint(value), Resolved::Int))
}

/// Whether a text is a decimal number: digits, perhaps a point, perhaps an exponent.
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    is_digits(whole)
        && is_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|digits| !digits.is_empty() && is_digits(digits))
}

/// The time that a text is, in RFC 3339: a date, with a time of day after a blank in UTC, after a `T` with its zone.
fn time(text: &str) -> Option<String> {
    if text.len() > MAX_SHORT || text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let (year, rest) = text.split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let (day, clock, zone) = match rest.split_once([' ', 'T', 't']) {
        None => (rest, "0:0:0", "Z"),
        Some((day, clock)) if rest.contains(' ') => (day, clock, "Z"),
        Some((day, clock)) => {
            let (clock, zone) = clock.split_at_checked(clock.find(['Z', '+', '-'])?)?;
            (day, clock, zone)
        }
    };
    let (seconds, fraction) = match clock.split_once('.') {
        Some((seconds, digits)) => (seconds, Some(digits)),
        None => (clock, None),
    };
    let mut clock = seconds.split(':').map(two_digits);
    let (Some(hour), Some(minute), Some(second), None) = (clock.next()?, clock.next()?, clock.next()?, clock.next())
    else {
        return None;
    };
    let fraction = match fraction {
        Some(digits) if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) => return None,
        Some(digits) => digits.get(..9).unwrap_or(digits).trim_end_matches('0'),
        None => "",
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let zone = if matches!(zone, "+00:00" | "-00:00") { "Z" } else { zone };
    let (month, day) = (two_digits(month)?, two_digits(day)?);
    let time = format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{point}{fraction}{zone}");
    // The calendar, the year and the zone.
    Timestamp::parse(&time).ok().map(|_| time)
}

/// A number of one or two digits.
fn two_digits(text: &str) -> Option<u8> {
    let is_short = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_short { text.parse().ok() } else { None }
}
