//! The format `application/x-www-form-urlencoded` (URL Standard, section 5): bodies of forms, and queries.

use super::{pair, percent_encode};
use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::library::standard::conversions::{string_from_double, string_from_int, string_from_uint};
use crate::library::standard::text::text_decode;
use crate::value::{List, Map, MapBuilder, Value};
use celero_ir::ErrorKind::{InvalidArgument, NoSuchOverload};

/// `form.encode(map)`: the entries of a map in the order of the keys. A list gives one pair for
/// each element, null gives none. Other values must be text, numbers or bools.
pub(crate) fn encode<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<&'a str> {
    let mut out = cx.arena().vec();
    for (key, value) in map.sorted(cx)? {
        cx.charge(1)?;
        let Value::String(key) = key else { return Err(NoSuchOverload) };
        let Value::List(list) = value else {
            add(cx, &mut out, key, value)?;
            continue;
        };
        for index in 0..list.len() {
            cx.charge(1)?;
            if let Some(element) = list.get(index, cx.arena())? {
                add(cx, &mut out, key, &element)?;
            }
        }
    }
    std::str::from_utf8(out.finish()).map_err(|_| InvalidArgument)
}

/// Appends a pair, unless the value is null.
fn add<'a>(cx: &Cx<'a>, out: &mut ArenaVec<'a, u8>, key: &str, value: &Value<'a>) -> EvalResult<()> {
    let value = match value {
        Value::Null => return Ok(()),
        Value::String(text) => text,
        Value::Bool(b) => {
            if *b {
                "true"
            } else {
                "false"
            }
        }
        Value::Int(n) => string_from_int(cx, *n)?,
        Value::Uint(n) => string_from_uint(cx, *n)?,
        Value::Double(d) => string_from_double(cx, *d)?,
        _ => return Err(NoSuchOverload),
    };
    if !out.as_mut_slice().is_empty() {
        out.push(b'&')?;
    }
    component(cx, out, key)?;
    out.push(b'=')?;
    component(cx, out, value)
}

/// Appends an encoded key or value.
fn component<'a>(cx: &Cx<'a>, out: &mut ArenaVec<'a, u8>, text: &str) -> EvalResult<()> {
    cx.charge_each_byte(text.len())?;
    for byte in text.bytes() {
        match byte {
            b' ' => out.push(b'+')?,
            b'*' | b'-' | b'.' | b'_' => out.push(byte)?,
            byte if byte.is_ascii_alphanumeric() => out.push(byte)?,
            byte => percent_encode(out, byte)?,
        }
    }
    Ok(())
}

/// `form.decode(text)`: a map from each key to its value, or to the list of its values if there are
/// several. Every text can be decoded, as the URL Standard requires: a `%` without two digits stays
/// a `%`, and bytes that are not UTF-8 become U+FFFD.
pub(crate) fn decode<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<Map<'a>> {
    cx.charge_each_byte(text.len())?;
    let mut pairs = cx.arena().vec();
    for (position, part) in text.split('&').enumerate() {
        cx.charge(1)?;
        if !part.is_empty() {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            pairs.push((decoded_component(cx, key)?, position, decoded_component(cx, value)?))?;
        }
    }
    let compares = usize::try_from(pairs.as_mut_slice().len().checked_ilog2().unwrap_or(0)).unwrap_or(0);
    for (key, ..) in pairs.as_mut_slice().iter() {
        cx.charge(compares)?;
        cx.charge_bytes(key.len().saturating_mul(compares))?;
    }
    pairs.as_mut_slice().sort_unstable_by_key(|(key, position, _)| (*key, *position));
    let mut map = MapBuilder::new(cx.arena(), 0)?;
    for same in pairs.finish().chunk_by(|(a, ..), (b, ..)| a == b) {
        match same {
            [(key, _, value)] => map.insert(Value::String(key), Value::String(value))?,
            [(key, ..), ..] => {
                let mut values = cx.arena().vec();
                values.reserve(same.len())?;
                same.iter().try_for_each(|(_, _, value)| values.push(Value::String(value)))?;
                map.insert(Value::String(key), Value::List(List::Slice(values.finish())))?;
            }
            [] => {}
        }
    }
    map.finish(cx)
}

/// Decodes a key or a value: `+` is a space, `%` with two digits a byte. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn decoded_component<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<&'a str> {
    if !text.bytes().any(|b| matches!(b, b'+' | b'%')) {
        return Ok(text);
    }
    cx.charge_each_byte(text.len())?;
    let mut bytes = cx.arena().vec();
    bytes.reserve(text.len())?;
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = after.split_at_checked(2).filter(|_| first == b'%');
        let escaped = escaped.and_then(|(digits, after)| Some((pair(digits).ok()?, after)));
        let (byte, after) = escaped.unwrap_or((if first == b'+' { b' ' } else { first }, after));
        bytes.push(byte)?;
        rest = after;
    }
    text_decode(cx, bytes.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    fn with(test: impl for<'a> FnOnce(&Cx<'a>)) {
        let arena = Arena::new(1 << 20);
        test(&Cx::new(1_000_000, &arena));
    }

    fn read(text: &'static str) -> String {
        let mut shown = String::new();
        with(|cx| {
            for (key, value) in decode(cx, text).unwrap().entries(cx.arena()).unwrap() {
                let Value::String(key) = key else { panic!("{key:?}") };
                match value {
                    Value::String(value) => shown += &format!("{key}:{value};"),
                    Value::List(List::Slice(values)) => shown += &format!("{key}:{values:?};"),
                    other => panic!("{other:?}"),
                }
            }
        });
        shown
    }

    #[test]
    fn reads_any_text() {
        for (text, want) in [
            ("", ""),
            ("&&", ""),
            ("b=2&a=1", "a:1;b:2;"),
            ("a", "a:;"),
            ("=", ":;"),
            ("a=b=c", "a:b=c;"),
            ("a=1&b=3&a=2&a", "a:[String(\"1\"), String(\"2\"), String(\"\")];b:3;"),
            ("a+b=%C3%a9+%2B&%61+b=", "a b:[String(\"é +\"), String(\"\")];"),
            ("a=%&b=%4&c=%zz&d=%%41", "a:%;b:%4;c:%zz;d:%A;"),
            ("a=%ff%C3", "a:\u{fffd}\u{fffd};"),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }

    #[test]
    fn writes_what_it_reads() {
        with(|cx| {
            for text in ["", "a=1&a=2&b=x+y&c=%C3%A9%26%3D%25*-._%7E", "=", "a+b="] {
                let map = decode(cx, text).unwrap();
                assert_eq!(encode(cx, map), Ok(text));
            }
        });
    }
}
