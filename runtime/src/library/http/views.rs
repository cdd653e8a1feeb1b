//! Views of maps of text, such as headers: values as lists, joined, split, or without credentials.
//!
//! A view computes a value when a rule reads it, so that reading one header costs nothing for the
//! others. Views do not stack: a view of a view has the new form and the old base. Values that are
//! neither text nor lists do not change.
//!
//! Keys are header names. A view of a header map compares them without regard to case, as the header map does.

use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
#[cfg(feature = "http")]
use crate::library::utf8::lossy;
use crate::value::{HostMap, List, Map, Value, View, ViewForm};

/// Headers that carry credentials.
const CREDENTIALS: [&str; 5] = ["authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key"];

/// The value shown instead of credentials.
const REDACTED: &str = "<redacted>";

/// The header whose lines contain commas that do not separate members (RFC 9110, 5.3).
const SET_COOKIE: &str = "set-cookie";

/// `map.raw()`: each value as a list: the lines of a header, the text as the only element, or the elements of the list.
pub(crate) fn raw<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<Map<'a>> {
    View { form: ViewForm::Raw, ..View::of(map) }.shown(cx)
}

/// `map.join()`: each value as text: the lines of a header, or the elements of a list, joined with `,`.
pub(crate) fn join<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<Map<'a>> {
    let view = View { form: ViewForm::Join, ..View::of(map) };
    // A header map shows joined lines anyway.
    if view.is_of_headers() && !view.redacted { Ok(view.base) } else { view.shown(cx) }
}

/// `map.split()`: each value as the list of its comma-separated members.
pub(crate) fn split<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<Map<'a>> {
    View { form: ViewForm::Split, ..View::of(map) }.shown(cx)
}

/// `map.redacted()`: the map with the values of credentials hidden.
pub(crate) fn redacted<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<Map<'a>> {
    View { redacted: true, ..View::of(map) }.shown(cx)
}

/// Returns the lines of a header as the view [`raw`] shows them; `None` if there are none or the view hides them.
pub(crate) fn header_lines<'a>(cx: &Cx<'a>, map: Map<'a>, name: &str) -> EvalResult<Option<List<'a>>> {
    let view = View { form: ViewForm::Raw, ..View::of(map) };
    Ok(match view.value(name, None, cx.arena())? {
        Some(Value::List(lines)) if !view.redacted => Some(lines),
        _ => None,
    })
}

/// Text without spaces and tabs at its ends (OWS of RFC 9110, 5.6.3).
pub(crate) fn blank(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

impl<'a> View<'a> {
    /// Returns the view behind a map, or an unchanged view of the map.
    fn of(map: Map<'a>) -> Self {
        let view = match map {
            Map::Host(host) => host.view(),
            Map::Sorted(_) => None,
        };
        view.unwrap_or(Self { base: map, form: ViewForm::Same, redacted: false })
    }

    fn shown(self, cx: &Cx<'a>) -> EvalResult<Map<'a>> {
        Ok(Map::Host(cx.arena().alloc(self)?))
    }

    #[cfg(feature = "http")]
    fn headers(&self) -> Option<&'a http::HeaderMap> {
        match self.base {
            Map::Host(host) => host.headers(),
            Map::Sorted(_) => None,
        }
    }

    #[cfg(feature = "http")]
    fn is_of_headers(&self) -> bool {
        self.headers().is_some()
    }

    #[cfg(not(feature = "http"))]
    fn is_of_headers(&self) -> bool {
        false
    }

    /// Returns the lines of a header; `None` if the base is not a header map.
    #[cfg(feature = "http")]
    fn lines(&self, name: &str, arena: &'a Arena) -> Option<EvalResult<&'a [Value<'a>]>> {
        let headers = self.headers()?;
        let lines = || {
            let mut lines = arena.vec();
            for line in headers.get_all(name) {
                lines.push(Value::String(lossy(line.as_bytes(), arena)?))?;
            }
            Ok(lines.finish())
        };
        Some(lines())
    }

    #[cfg(not(feature = "http"))]
    fn lines(&self, _: &str, _: &'a Arena) -> Option<EvalResult<&'a [Value<'a>]>> {
        None
    }

    /// Returns the value shown under a name, computed from the base's value: `known`, or what the
    /// base has under the name. `None` if it has none.
    fn value(&self, name: &str, known: Option<Value<'a>>, arena: &'a Arena) -> EvalResult<Option<Value<'a>>> {
        let is_list = matches!(self.form, ViewForm::Raw | ViewForm::Split);
        let lines = if is_list { self.lines(name, arena).transpose()? } else { None };
        let value = match (lines, known) {
            (Some([]), _) => return Ok(None),
            (Some(lines), _) => Value::List(List::Slice(lines)),
            (None, Some(value)) => value,
            (None, None) => match self.base.get(&Value::String(name), arena)? {
                Some(value) => value,
                None => return Ok(None),
            },
        };
        let is = |other: &&str| name.eq_ignore_ascii_case(other);
        if self.redacted && CREDENTIALS.iter().any(is) {
            let hidden = Value::String(REDACTED);
            let is_list = is_list || self.form == ViewForm::Same && matches!(value, Value::List(_));
            return Ok(Some(if is_list { list_of(&[hidden], arena)? } else { hidden }));
        }
        self.converted(value, is(&SET_COOKIE), arena).map(Some)
    }

    /// Returns a value of the base in the form of the view. A `whole` value is not split at commas.
    fn converted(&self, value: Value<'a>, whole: bool, arena: &'a Arena) -> EvalResult<Value<'a>> {
        Ok(match (self.form, value) {
            (ViewForm::Same, _) | (ViewForm::Raw, Value::List(_)) => value,
            (ViewForm::Raw, _) => list_of(&[value], arena)?,
            (ViewForm::Join, Value::List(list)) => joined(list, arena)?.map_or(value, Value::String),
            (ViewForm::Join, _) => value,
            (ViewForm::Split, Value::List(list)) => {
                let mut all = arena.vec();
                for index in 0..list.len() {
                    match list.get(index, arena)? {
                        Some(Value::String(text)) if !whole => {
                            members(text, |member| all.push(Value::String(member)))?;
                        }
                        Some(other) => all.push(other)?,
                        None => {}
                    }
                }
                Value::List(List::Slice(all.finish()))
            }
            (ViewForm::Split, Value::String(text)) if !whole => {
                let mut all = arena.vec();
                members(text, |member| all.push(Value::String(member)))?;
                Value::List(List::Slice(all.finish()))
            }
            (ViewForm::Split, _) => list_of(&[value], arena)?,
        })
    }
}

fn list_of<'a>(values: &[Value<'a>], arena: &'a Arena) -> EvalResult<Value<'a>> {
    Ok(Value::List(List::Slice(arena.alloc_slice(values)?)))
}

/// Returns the elements joined with `,`; `None` if one is not text.
fn joined<'a>(list: List<'a>, arena: &'a Arena) -> EvalResult<Option<&'a str>> {
    let mut all = arena.vec();
    for index in 0..list.len() {
        let Some(Value::String(text)) = list.get(index, arena)? else { return Ok(None) };
        if index > 0 {
            all.push(b',')?;
        }
        all.extend(text.as_bytes())?;
    }
    Ok(std::str::from_utf8(all.finish()).ok())
}

/// Calls `each` with the members of a list in a header (RFC 9110, 5.6.1): the non-empty texts
/// between commas, trimmed. A comma in a quoted string does not separate members; a quote that is
/// never closed is an ordinary character.
fn members<'a>(text: &'a str, mut each: impl FnMut(&'a str) -> EvalResult<()>) -> EvalResult<()> {
    let bytes = text.as_bytes();
    let (mut from, mut at, mut quotes) = (0_usize, 0_usize, true);
    loop {
        let next = bytes.get(at..).and_then(|rest| memchr::memchr2(b',', b'"', rest));
        let place = next.map_or(bytes.len(), |next| at.saturating_add(next));
        at = place.saturating_add(1);
        if bytes.get(place) == Some(&b'"') {
            match if quotes { closed(bytes, at) } else { None } {
                Some(end) => at = end,
                // No later quote is closed either: it would have closed this one, unless it is escaped for both.
                None => quotes = false,
            }
            continue;
        }
        let member = blank(text.get(from..place).unwrap_or(""));
        if !member.is_empty() {
            each(member)?;
        }
        if next.is_none() {
            return Ok(());
        }
        from = at;
    }
}

/// Returns the end of the quoted string whose opening quote is before `at`; `None` if it is not closed.
fn closed(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let place = at.checked_add(memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?)?;
        at = place.checked_add(1)?;
        if bytes.get(place) == Some(&b'"') {
            return Some(at);
        }
        at = at.checked_add(1)?;
    }
}

impl HostMap for View<'_> {
    fn len(&self) -> usize {
        self.base.len()
    }

    fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let view: View<'s> = *self;
        match key {
            Value::String(name) => view.value(name, None, arena),
            _ => {
                let value = view.base.get(key, arena)?;
                value.map(|value| view.converted(value, false, arena)).transpose()
            }
        }
    }

    fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        let view: View<'s> = *self;
        let entry = view.base.entry(index, arena)?;
        entry.map(|entry| view.pair(entry, arena)).transpose()
    }

    fn view(&self) -> Option<View<'_>> {
        Some(*self)
    }

    fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
        let view: View<'s> = *self;
        let base = view.base.entries(arena)?;
        let mut entries = arena.vec();
        entries.reserve(base.len())?;
        for entry in base {
            entries.push(view.pair(*entry, arena)?)?;
        }
        Ok(entries.finish())
    }
}

impl<'a> View<'a> {
    fn pair(&self, (key, value): (Value<'a>, Value<'a>), arena: &'a Arena) -> EvalResult<(Value<'a>, Value<'a>)> {
        let shown = match key {
            Value::String(name) => self.value(name, Some(value), arena)?.unwrap_or(value),
            _ => self.converted(value, false, arena)?,
        };
        Ok((key, shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_of(text: &str) -> Vec<&str> {
        let mut all = Vec::new();
        members(text, |member| {
            all.push(member);
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn members_are_between_commas_outside_of_quotes() {
        for (text, want) in [
            ("", &[][..]),
            (" , ,,\t", &[]),
            ("a", &["a"]),
            (" a b ,\tc;q=0.5 ,", &["a b", "c;q=0.5"]),
            (r#"a, "b,c" ;x="d,e", f"#, &["a", r#""b,c" ;x="d,e""#, "f"]),
            (r#""a\",b", c"#, &[r#""a\",b""#, "c"]),
            (r#""a\\", b"#, &[r#""a\\""#, "b"]),
            (r#"1.1.1.1", 2.2.2.2, "3"#, &[r#"1.1.1.1", 2.2.2.2, "3"#]),
            (r#"1.1.1.1", 2.2.2.2"#, &[r#"1.1.1.1""#, "2.2.2.2"]),
            (r#"a"\", b\", c"#, &[r#"a"\""#, r#"b\""#, "c"]),
            ("\u{fffd},\u{a0},é", &["\u{fffd}", "\u{a0}", "é"]),
        ] {
            assert_eq!(split_of(text), want, "{text}");
        }
        // In time that is linear, however many quotes stay open.
        let open = r#"\","#.repeat(100_000);
        assert_eq!(split_of(&format!("\"{open}")).len(), 100_000);
    }
}
