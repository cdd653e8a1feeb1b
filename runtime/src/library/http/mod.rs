//! The HTTP library: header maps in other forms, cookies, and parameters of queries.

mod views;

pub(super) use self::views::{join, raw, redacted, split};

use self::views::{blank, header_lines};
use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::encoders::decoded_component;
use crate::value::{List, Map, Value};
use celero_ir::ErrorKind;

/// `headers.cookie(name)`: the value of the first cookie with the name (RFC 6265, 4.2).
///
/// # Errors
/// `no_such_key` if there is no such cookie.
pub(crate) fn cookie<'a>(cx: &Cx<'a>, map: Map<'a>, name: &str) -> EvalResult<&'a str> {
    map.charge_lookup(&Value::String("cookie"), cx)?;
    let lines = header_lines(cx, map, "cookie")?.ok_or(ErrorKind::NoSuchKey)?;
    for index in 0..lines.len() {
        let Some(Value::String(line)) = lines.get(index, cx.arena())? else { return Err(ErrorKind::NoSuchOverload) };
        cx.charge_each_byte(line.len().saturating_mul(2))?;
        let pairs = line.split(';').filter_map(|pair| pair.split_once('='));
        let found = pairs.map(|(key, value)| (blank(key), blank(value))).find(|(key, _)| *key == name);
        if let Some((_, value)) = found {
            return Ok(value);
        }
    }
    Err(ErrorKind::NoSuchKey)
}

/// `query(text, name)`: the values of a parameter, in order. The text is a query, or a URI that has
/// one; a URI starts with `/`, `?`, or a scheme and `://`.
pub(crate) fn query<'a>(cx: &Cx<'a>, text: &'a str, name: &str) -> EvalResult<List<'a>> {
    cx.charge_each_byte(text.len())?;
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
        if decoded_component(cx, key)? == name {
            values.push(Value::String(decoded_component(cx, value)?))?;
        }
    }
    Ok(List::Slice(values.finish()))
}

/// Returns whether text is a URI rather than a query.
fn is_uri(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.starts_with(['/', '?'])
        || scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(in_scheme)
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
}
