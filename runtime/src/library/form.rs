//! `application/x-www-form-urlencoded` (the URL Standard, 5): bodies of forms, and queries.

use crate::arena::{ArenaVec, EvalResult};
use crate::library::Cx;
use crate::library::convert::{string_from_double, string_from_int, string_from_uint};
use crate::library::encoders::{pair, percent_encode};
use crate::library::gateway::sorted;
use crate::library::strings::text_decode;
use crate::value::{List, Map, MapBuilder, Value};
use celero_ir::ErrorKind::{InvalidArgument, NoSuchOverload};

/// A map as text, in the order of its keys. The elements of a list repeat the key, nulls are left out. Other values must be
/// text, numbers or bools.
pub(super) fn encode<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<&'a str> {
    let mut out = cx.arena().vec();
    for (key, value) in sorted(cx, map)? {
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

/// Adds one value, if it is not null.
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

fn component<'a>(cx: &Cx<'a>, out: &mut ArenaVec<'a, u8>, text: &str) -> EvalResult<()> {
    cx.charge_bytes(text.len().saturating_mul(3))?;
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

/// Text as a map: of each key its value, or the list of its values if there are several. As the standard has it, any text
/// can be read: a `%` that no two digits follow stands for itself, and what is not UTF-8 for U+FFFD.
pub(super) fn decode<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<Map<'a>> {
    cx.charge_bytes(text.len().saturating_mul(3))?;
    let mut pairs = cx.arena().vec();
    for (position, part) in text.split('&').enumerate() {
        cx.charge(1)?;
        if !part.is_empty() {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            pairs.push((decoded(cx, key)?, position, decoded(cx, value)?))?;
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

/// The values of a parameter in the query of a URI, or in text that is a query itself, in order. A URI starts with `/`, `?`, or
/// a scheme and `://`.
pub(super) fn query<'a>(cx: &Cx<'a>, text: &'a str, name: &str) -> EvalResult<List<'a>> {
    cx.charge_bytes(text.len().saturating_mul(2))?;
    let query = if is_uri(text) {
        let before_fragment = text.split_once('#').map_or(text, |(before, _)| before);
        before_fragment.split_once('?').map_or("", |(_, query)| query)
    } else {
        text
    };
    let mut values = cx.arena().vec();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        cx.charge(1)?;
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if decoded(cx, key)? == name {
            values.push(Value::String(decoded(cx, value)?))?;
        }
    }
    Ok(List::Slice(values.finish()))
}

fn is_uri(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.starts_with(['/', '?']) || !scheme.is_empty() && scheme.bytes().all(in_scheme)
}

fn decoded<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<&'a str> {
    if !text.bytes().any(|b| matches!(b, b'+' | b'%')) {
        return Ok(text);
    }
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
    fn parameters_are_found() {
        for (text, want) in [
            ("", &[][..]),
            ("a=1&b=2&a=%41+b&%61", &["1", "A b", ""]),
            ("/p?b=2&a=1#a=3", &["1"]),
            ("/x&a=1", &[]),
            ("?a=1?a=2", &["1?a=2"]),
            ("https://h/p?a=http://x?a=1", &["http://x?a=1"]),
            ("https://h/p&a=1", &[]),
            ("b=x://y&a=1", &["1"]),
            ("a=%ff&a=%", &["\u{fffd}", "%"]),
            ("*", &[]),
            ("h.example:443", &[]),
        ] {
            with(|cx| {
                let List::Slice(values) = query(cx, text, "a").unwrap() else { panic!("{text}") };
                let values = values.iter().map(|value| if let Value::String(text) = value { *text } else { "?" });
                assert!(values.eq(want.iter().copied()), "{text}");
            });
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
