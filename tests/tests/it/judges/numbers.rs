//! Numbers: `i128` and the standard library's doubles.

use super::values::{equal, order};
use super::{Judged, No, value};
use celero_frontend::stdlib::Builtin::{self as B};
use celero_tests::generate::Owned::{self, *};
use std::cmp::Ordering::{self, Greater, Less};

fn int(wide: i128) -> Judged {
    i64::try_from(wide).map(Int).map_err(|_| No::Fails)
}

fn uint(wide: i128) -> Judged {
    u64::try_from(wide).map(Uint).map_err(|_| No::Fails)
}

/// The sum, difference and so on of whole numbers, exactly.
fn exact(b: B, x: i128, y: i128) -> Option<i128> {
    use B::*;
    match b {
        AddInt | AddUint => x.checked_add(y),
        SubInt | SubUint => x.checked_sub(y),
        MulInt | MulUint => x.checked_mul(y),
        DivInt | DivUint => x.checked_div(y),
        // `MIN % -1` overflows as `MIN / -1` does.
        RemInt | RemUint if x == i128::from(i64::MIN) && y == -1 => None,
        RemInt | RemUint => x.checked_rem(y),
        BitAndInt | BitAndUint => Some(x & y),
        BitOrInt | BitOrUint => Some(x | y),
        BitXorInt | BitXorUint => Some(x ^ y),
        _ => None,
    }
}

pub(super) fn judge(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    let name = format!("{b:?}");
    Some(match (b, args) {
        (Not, [Bool(a)]) => value(Bool(!a)),
        (B::Equal, [a, b]) => value(Bool(equal(a, b))),
        (NotEqual, [a, b]) => value(Bool(!equal(a, b))),
        (_, [x, y]) if name.starts_with("LessEqual") => value(Bool(order(x, y).is_some_and(Ordering::is_le))),
        (_, [x, y]) if name.starts_with("GreaterEqual") => value(Bool(order(x, y).is_some_and(Ordering::is_ge))),
        (_, [x, y]) if name.starts_with("Less") => value(Bool(order(x, y) == Some(Less))),
        (_, [x, y]) if name.starts_with("Greater") => value(Bool(order(x, y) == Some(Greater))),
        (AddDouble, [Double(x), Double(y)]) => value(Double(x + y)),
        (SubDouble, [Double(x), Double(y)]) => value(Double(x - y)),
        (MulDouble, [Double(x), Double(y)]) => value(Double(x * y)),
        (DivDouble, [Double(x), Double(y)]) => value(Double(x / y)),
        (NegInt, [Int(x)]) => int(-i128::from(*x)),
        (NegDouble, [Double(x)]) => value(Double(-x)),
        (AddInt | SubInt | MulInt | DivInt | RemInt | BitAndInt | BitOrInt | BitXorInt, [Int(x), Int(y)]) => {
            exact(b, (*x).into(), (*y).into()).map_or(Err(No::Fails), int)
        }
        (AddUint | SubUint | MulUint | DivUint | RemUint | BitAndUint | BitOrUint | BitXorUint, [Uint(x), Uint(y)]) => {
            exact(b, (*x).into(), (*y).into()).map_or(Err(No::Fails), uint)
        }
        _ => return conversion(b, args).or_else(|| math(b, args)),
    })
}

fn conversion(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    let failing = |value: Option<Owned>| value.ok_or(No::Fails);
    let [arg] = args else { return None };
    Some(match (b, arg) {
        (
            BoolFromBool
            | BytesFromBytes
            | DoubleFromDouble
            | DurationFromDuration
            | IntFromInt
            | StringFromString
            | TimestampFromTimestamp
            | UintFromUint
            | ToDyn,
            same,
        ) => value(same.clone()),
        // As Go's `ParseBool`, which the definition follows.
        (BoolFromString, String(s)) => match s.as_str() {
            "1" | "t" | "true" | "TRUE" | "True" => value(Bool(true)),
            "0" | "f" | "false" | "FALSE" | "False" => value(Bool(false)),
            _ => Err(No::Fails),
        },
        (BytesFromString, String(s)) => value(Bytes(s.as_bytes().to_vec())),
        (DoubleFromInt, Int(i)) => value(Double(*i as f64)),
        (DoubleFromUint, Uint(u)) => value(Double(*u as f64)),
        (DoubleFromString, String(s)) => failing(
            s.parse().ok().filter(|d: &f64| !d.is_infinite() || !s.contains(|c: char| c.is_ascii_digit())).map(Double),
        ),
        (IntFromUint, Uint(u)) => int((*u).into()),
        (UintFromInt, Int(i)) => uint((*i).into()),
        // The conformance suite excludes both ends of the range.
        (IntFromDouble, Double(d)) => match *d {
            d if d > -9_223_372_036_854_775_808.0 && d < 9_223_372_036_854_775_808.0 => int(d.trunc() as i128),
            _ => Err(No::Fails),
        },
        (UintFromDouble, Double(d)) => match *d {
            d if (0.0..18_446_744_073_709_551_616.0).contains(&d) => uint(d.trunc() as i128),
            _ => Err(No::Fails),
        },
        (IntFromString, String(s)) => failing(s.parse().ok().map(Int)),
        (UintFromString, String(s)) => failing(s.parse().ok().map(Uint)),
        (StringFromBool, Bool(b)) => value(String(b.to_string())),
        (StringFromInt, Int(i)) => value(String(i.to_string())),
        (StringFromUint, Uint(u)) => value(String(u.to_string())),
        (StringFromDouble, Double(d)) => value(String(double_text(*d))),
        (StringFromBytes, Bytes(b)) => failing(std::string::String::from_utf8(b.clone()).ok().map(String)),
        (TypeOf, value) => {
            let name = match value {
                Null => "null_type",
                Duration(_) => "google.protobuf.Duration",
                Timestamp(..) => "google.protobuf.Timestamp",
                Optional(_) => "optional_type",
                other => other.kind(),
            };
            Ok(Type(name.into()))
        }
        _ => return None,
    })
}

/// The shortest digits that give the number, as Go's `FormatFloat(d, 'g', -1, 64)` writes them, and infinities as the
/// function `format` of the strings library does.
fn double_text(d: f64) -> std::string::String {
    if d.is_nan() {
        return "NaN".into();
    }
    if d.is_infinite() {
        return if d > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let scientific = format!("{d:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    if (-4..6).contains(&exponent) {
        return format!("{d}");
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn math(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    let name = format!("{b:?}");
    if name.starts_with("Greatest") || name.starts_with("Least") {
        let numbers = if let [List(numbers)] = args { numbers } else { args };
        let wanted = if name.starts_with("Greatest") { Greater } else { Less };
        // NaN has no order.
        if numbers.iter().any(|number| matches!(number, Double(d) if d.is_nan())) {
            return Some(Err(No::Unjudged));
        }
        let best = numbers.iter().fold(None, |best: Option<&Owned>, number| match best {
            Some(best) if order(number, best) != Some(wanted) => Some(best),
            _ => Some(number),
        });
        return Some(best.cloned().ok_or(No::Fails));
    }
    let sign = |number: &Owned, zero: Owned| order(number, &zero);
    Some(match (b, args) {
        (Ceil, [Double(d)]) => value(Double(d.ceil())),
        (Floor, [Double(d)]) => value(Double(d.floor())),
        (Round, [Double(d)]) => value(Double(d.round())),
        (Trunc, [Double(d)]) => value(Double(d.trunc())),
        (AbsInt, [Int(i)]) => int(i128::from(*i).abs()),
        (AbsUint, [Uint(u)]) => value(Uint(*u)),
        (AbsDouble, [Double(d)]) => value(Double(if d.is_sign_negative() { -d } else { *d })),
        (SignInt, [i]) => value(Int(sign(i, Int(0)).unwrap() as i64)),
        (SignUint, [u]) => value(Uint(sign(u, Int(0)).unwrap() as u64)),
        (SignDouble, [Double(d)]) if d.is_nan() => value(Double(*d)),
        (SignDouble, [d]) => value(Double(f64::from(sign(d, Int(0)).unwrap() as i8))),
        (SqrtDouble, [Double(d)]) => value(Double(d.sqrt())),
        (SqrtInt, [Int(i)]) => value(Double((*i as f64).sqrt())),
        (SqrtUint, [Uint(u)]) => value(Double((*u as f64).sqrt())),
        (IsNan, [Double(d)]) => value(Bool(d.is_nan())),
        (IsInf, [Double(d)]) => value(Bool(d.is_infinite())),
        (IsFinite, [Double(d)]) => value(Bool(!d.is_nan() && !d.is_infinite())),
        (BitNotInt, [Int(i)]) => int(-1 - i128::from(*i)),
        (BitNotUint, [Uint(u)]) => uint(i128::from(u64::MAX) - i128::from(*u)),
        (_, [_, Int(places)]) if name.starts_with("BitShift") && *places < 0 => Err(No::Fails),
        (_, [Int(_), Int(64..)]) if name.starts_with("BitShift") => value(Int(0)),
        (_, [Uint(_), Int(64..)]) if name.starts_with("BitShift") => value(Uint(0)),
        (BitShiftLeftInt, [Int(i), Int(n)]) => value(Int((0..*n).fold(*i, |i, _| i.wrapping_add(i)))),
        (BitShiftLeftUint, [Uint(u), Int(n)]) => value(Uint((0..*n).fold(*u, |u, _| u.wrapping_add(u)))),
        (BitShiftRightInt, [Int(i), Int(n)]) => value(Int((0..*n).fold(*i as u64, |u, _| u / 2) as i64)),
        (BitShiftRightUint, [Uint(u), Int(n)]) => value(Uint((0..*n).fold(*u, |u, _| u / 2))),
        _ => return None,
    })
}
