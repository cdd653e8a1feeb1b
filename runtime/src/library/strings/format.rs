//! `text.format(list)`: replaces clauses such as `%s` by values. An unknown verb, too few values,
//! or a value of a type that the verb does not accept is `invalid_argument`.

use super::format_clauses::{Clause, Piece, Verb, pieces};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::encoders::hex_encode;
use crate::library::standard::conversions::{FORMAT_STEPS, string_from_bytes, string_from_int, string_from_uint};
use crate::library::standard::time::{duration_text, timestamp_text};
use crate::library::text_builder::TextBuilder;
use crate::value::{List, Map, Value};
use celero_ir::ErrorKind::{InvalidArgument, OutOfBudget};

/// Deepest nesting of lists and maps that `%s` writes.
const MAX_DEPTH: u32 = 64;

/// Replaces the clauses of a text by the values of a list, in order. Unused values are not an error.
pub(crate) fn format<'a>(cx: &Cx<'a>, text: &'a str, args: List<'a>) -> EvalResult<&'a str> {
    cx.charge_bytes(text.len())?;
    let mut out = TextBuilder::new(cx);
    let mut index = 0_usize;
    for piece in pieces(text) {
        cx.charge(1)?;
        let Clause { verb, precision, .. } = match piece.map_err(|_| InvalidArgument)? {
            Piece::Text(text) => {
                out.push(text)?;
                continue;
            }
            Piece::Clause(clause) => clause,
        };
        let value = args.get(index, cx.arena())?.ok_or(InvalidArgument)?;
        index = index.saturating_add(1);
        match verb {
            Verb::Text => write_plain(cx, &mut out, &value, MAX_DEPTH)?,
            Verb::Decimal => decimal(cx, &mut out, &value)?,
            Verb::Fixed => float(cx, &mut out, &value, precision, |d| Ok(format!("{d:.precision$}")))?,
            Verb::Scientific => float(cx, &mut out, &value, precision, |d| scientific(d, precision))?,
            Verb::Binary => match value {
                Value::Bool(b) => out.push(if b { "1" } else { "0" })?,
                _ => integer(cx, &mut out, &value, |n| format!("{n:b}"))?,
            },
            Verb::Octal => integer(cx, &mut out, &value, |n| format!("{n:o}"))?,
            Verb::Hex { upper } => hex(cx, &mut out, &value, upper)?,
        }
    }
    out.finish()
}

/// Returns the text of NaN and the infinities; `None` for other numbers.
fn special(d: f64) -> Option<&'static str> {
    match d {
        d if d.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => None,
    }
}

fn decimal<'a>(cx: &Cx<'a>, out: &mut TextBuilder<'_, 'a>, value: &Value<'a>) -> EvalResult<()> {
    match value {
        Value::Int(n) => out.push(string_from_int(cx, *n)?),
        Value::Uint(n) => out.push(string_from_uint(cx, *n)?),
        Value::Double(d) => double(cx, out, *d),
        _ => Err(InvalidArgument),
    }
}

/// Writes a double with all its digits and without an exponent.
fn double<'a>(cx: &Cx<'a>, out: &mut TextBuilder<'_, 'a>, d: f64) -> EvalResult<()> {
    match special(d) {
        Some(text) => out.push(text),
        None => {
            cx.charge(FORMAT_STEPS)?;
            out.push(cx.arena().format(format_args!("{d}"))?)
        }
    }
}

fn float<'a>(
    cx: &Cx<'a>,
    out: &mut TextBuilder<'_, 'a>,
    value: &Value<'a>,
    precision: usize,
    write: impl FnOnce(f64) -> EvalResult<String>,
) -> EvalResult<()> {
    let number = match value {
        Value::Double(d) => *d,
        Value::Int(n) => *n as f64,
        Value::Uint(n) => *n as f64,
        _ => return Err(InvalidArgument),
    };
    cx.charge(1)?;
    if let Some(text) = special(number) {
        return out.push(text);
    }
    // Each digit beyond those that a double has is worked out with all bits of the number.
    let whole_digits = number.abs().max(1.0).log10() as usize;
    cx.charge(precision.saturating_add(whole_digits))?;
    out.push(&write(number)?)
}

/// Returns one digit, the fraction, and an exponent of at least two digits: `1.052033e+03`.
fn scientific(d: f64, precision: usize) -> EvalResult<String> {
    let text = format!("{d:.precision$e}");
    let (digits, exponent) = text.split_once('e').ok_or(InvalidArgument)?;
    let exponent: i32 = exponent.parse().map_err(|_| InvalidArgument)?;
    Ok(format!("{digits}e{exponent:+03}"))
}

/// Writes an integer: the sign, then the magnitude as `write` formats it.
fn integer<'a>(
    cx: &Cx<'a>,
    out: &mut TextBuilder<'_, 'a>,
    value: &Value<'a>,
    write: impl FnOnce(u64) -> String,
) -> EvalResult<()> {
    let (negative, magnitude) = match value {
        Value::Int(n) => (*n < 0, n.unsigned_abs()),
        Value::Uint(n) => (false, *n),
        _ => return Err(InvalidArgument),
    };
    cx.charge(1)?;
    if negative {
        out.push("-")?;
    }
    out.push(&write(magnitude))
}

fn hex<'a>(cx: &Cx<'a>, out: &mut TextBuilder<'_, 'a>, value: &Value<'a>, upper: bool) -> EvalResult<()> {
    let bytes = match value {
        Value::String(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        _ => return integer(cx, out, value, |n| if upper { format!("{n:X}") } else { format!("{n:x}") }),
    };
    out.push(hex_encode(cx, bytes, upper)?)
}

/// Writes a value for people to read. The entries of a map are sorted by the text of their keys.
fn write_plain<'a>(cx: &Cx<'a>, out: &mut TextBuilder<'_, 'a>, value: &Value<'a>, depth: u32) -> EvalResult<()> {
    cx.charge(1)?;
    let depth = depth.checked_sub(1).ok_or(OutOfBudget)?;
    match value {
        Value::Null => out.push("null"),
        Value::Bool(b) => out.push(if *b { "true" } else { "false" }),
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => decimal(cx, out, value),
        Value::String(text) => out.push(text),
        Value::Bytes(bytes) => out.push(string_from_bytes(cx, bytes)?),
        Value::Duration(duration) => out.push(duration_text(cx, *duration)?),
        Value::Timestamp(time) => out.push(timestamp_text(cx, *time)?),
        Value::Type(name) => out.push(name),
        Value::List(list) => {
            out.push("[")?;
            for index in 0..list.len() {
                if index > 0 {
                    out.push(", ")?;
                }
                if let Some(element) = list.get(index, cx.arena())? {
                    write_plain(cx, out, &element, depth)?;
                }
            }
            out.push("]")
        }
        Value::Map(map) => write_map(cx, out, map, depth),
        Value::Optional(_) | Value::Ip(_) | Value::Cidr(..) | Value::Message(_) => Err(InvalidArgument),
    }
}

fn write_map<'a>(cx: &Cx<'a>, out: &mut TextBuilder<'_, 'a>, map: &Map<'a>, depth: u32) -> EvalResult<()> {
    cx.charge(map.len())?;
    let mut entries = cx.arena().vec();
    let mut key_bytes = 0_usize;
    for (key, value) in map.all(cx)? {
        let mut text = TextBuilder::new(cx);
        write_plain(cx, &mut text, key, depth)?;
        let key = text.finish()?;
        key_bytes = key_bytes.saturating_add(key.len());
        entries.push((key, *value))?;
    }
    let comparisons = map.len().checked_ilog2().unwrap_or(0) as usize;
    cx.charge_bytes(key_bytes.saturating_mul(comparisons.saturating_add(1)))?;
    entries.as_mut_slice().sort_by_key(|(key, _)| *key);
    out.push("{")?;
    for (index, (key, value)) in entries.finish().iter().enumerate() {
        if index > 0 {
            out.push(", ")?;
        }
        out.push(key)?;
        out.push(": ")?;
        write_plain(cx, out, value, depth)?;
    }
    out.push("}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    fn check(text: &'static str, args: &[Value<'_>], want: EvalResult<&str>) {
        let arena = Arena::new(1 << 20);
        let cx = Cx::new(1_000_000, &arena);
        let args = List::Slice(arena.alloc_slice(args).unwrap());
        assert_eq!(format(&cx, text, args), want, "{text}");
    }

    #[test]
    fn verbs() {
        use Value::{Bool, Bytes, Double, Int, Null, String, Uint};
        check("a%%b%s", &[String("x")], Ok("a%bx"));
        check("%d %d %d", &[Int(-7), Uint(7), Double(1.5)], Ok("-7 7 1.5"));
        check("%b %b %b %o", &[Int(-5), Uint(5), Bool(true), Int(11)], Ok("-101 101 1 13"));
        check("%x %X %x %X", &[Int(-26), Uint(26), String("é"), Bytes(b"\xff\x01")], Ok("-1a 1A c3a9 FF01"));
        check("%x", &[Int(i64::MIN)], Ok("-8000000000000000"));
        check(
            "%f %.0f %.3f %f",
            &[Double(1.0), Double(2.5), Double(-0.0005), Int(3)],
            Ok("1.000000 2 -0.001 3.000000"),
        );
        check(
            "%e %.2e %.0e",
            &[Double(1_052.032_911_275), Double(-1e-7), Uint(15)],
            Ok("1.052033e+03 -1.00e-07 2e+01"),
        );
        check(
            "%f %e %d",
            &[Double(f64::NAN), Double(f64::INFINITY), Double(f64::NEG_INFINITY)],
            Ok("NaN Infinity -Infinity"),
        );
        check("%s %s %s", &[Null, Double(1e21), Double(1e-7)], Ok("null 1000000000000000000000 0.0000001"));
        check("left over", &[Int(1)], Ok("left over"));
    }

    #[test]
    fn what_can_not_be_formatted() {
        use Value::{Bool, Bytes, Double, Int, Null, Optional, String};
        let cases: &[(&'static str, Value<'_>)] = &[
            ("%", Int(1)),
            ("%.", Int(1)),
            ("%.f", Double(1.0)),
            ("%.1001f", Double(1.0)),
            ("%.99999999999999999999f", Double(1.0)),
            ("%a", Int(1)),
            ("%d %d", Int(1)),
            ("%d", String("1")),
            ("%d", Null),
            ("%f", Bool(true)),
            ("%e", String("1")),
            ("%b", Double(1.0)),
            ("%o", Bool(true)),
            ("%x", Double(1.0)),
            ("%s", Optional(None)),
            ("%s", Bytes(b"\xff")),
        ];
        for (text, value) in cases {
            check(text, &[*value], Err(InvalidArgument));
        }
    }

    #[test]
    fn deep_values_end() {
        let arena = Arena::new(1 << 20);
        let cx = Cx::new(1_000_000, &arena);
        let mut value = Value::Null;
        for _ in 0..100 {
            value = Value::List(List::Slice(arena.alloc_slice(&[value]).unwrap()));
        }
        let args = List::Slice(arena.alloc_slice(&[value]).unwrap());
        assert_eq!(format(&cx, "%s", args), Err(OutOfBudget));
    }
}
