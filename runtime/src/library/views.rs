//! Maps of text in another form: values as lists, joined, split, or without credentials.
//!
//! A view computes a value when it is asked for it, so that reading one header costs nothing for the others. Forms are not put on
//! top of each other: the last one that was asked for counts. Values that are neither text nor lists stay as they are.
//!
//! Keys are the names of headers. Those of a header map of the host are compared as HTTP compares names, as without a view.

use crate::arena::{Arena, EvalResult};
use crate::library::Cx;
#[cfg(feature = "http")]
use crate::library::lossy;
use crate::value::{HostMap, List, Map, Value};
use celero_ir::ErrorKind;

/// What values are shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// What they are.
    Same,
    /// Lists: of headers, one element for each line.
    Raw,
    /// Text: lines, or the elements of lists, with `,` in between.
    Join,
    /// Lists of the members that text has between commas.
    Split,
}

/// A map in another form.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// No view itself.
    base: Map<'a>,
    form: Form,
    /// Whether values of [`CREDENTIALS`] are hidden.
    redacted: bool,
}

/// Headers that say who somebody is, and prove it.
const CREDENTIALS: [&str; 5] = ["authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key"];

/// What is shown in the place of these.
const REDACTED: &str = "<redacted>";

/// The header with commas in its lines that separate nothing (RFC 9110, 5.3).
const SET_COOKIE: &str = "set-cookie";

/// Each value as a list: of headers, the lines; of text, itself; of a list, its elements.
pub(super) fn raw<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<Map<'a>> {
    View { form: Form::Raw, ..View::of(map) }.shown(cx)
}

/// Each value as text: the lines of a header, or the elements of a list, joined with `,`.
pub(super) fn join<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<Map<'a>> {
    let view = View { form: Form::Join, ..View::of(map) };
    // Which is what headers are.
    if view.is_of_headers() && !view.redacted { Ok(view.base) } else { view.shown(cx) }
}

/// Each value as the list of its members.
pub(super) fn split<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<Map<'a>> {
    View { form: Form::Split, ..View::of(map) }.shown(cx)
}

/// The map with the values of headers that are credentials hidden.
pub(super) fn redacted<'a>(cx: &Cx<'a>, map: Map<'a>) -> EvalResult<Map<'a>> {
    View { redacted: true, ..View::of(map) }.shown(cx)
}

/// The value of a cookie (RFC 6265, 4.2): of several with the name, the first.
///
/// # Errors
/// `no_such_key` if there is none.
pub(super) fn cookie<'a>(cx: &Cx<'a>, map: Map<'a>, name: &str) -> EvalResult<&'a str> {
    let view = View { form: Form::Raw, ..View::of(map) };
    let lines = match view.value("cookie", None, cx.arena())? {
        Some(Value::List(List::Slice(lines))) if !view.redacted => lines,
        _ => return Err(ErrorKind::NoSuchKey),
    };
    for line in lines {
        let Value::String(line) = *line else { return Err(ErrorKind::NoSuchOverload) };
        cx.charge_bytes(line.len())?;
        let pairs = line.split(';').filter_map(|pair| pair.split_once('='));
        let found = pairs.map(|(key, value)| (blank(key), blank(value))).find(|(key, _)| *key == name);
        if let Some((_, value)) = found {
            return Ok(value);
        }
    }
    Err(ErrorKind::NoSuchKey)
}

/// Text without the blanks at its ends that HTTP knows.
fn blank(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

impl<'a> View<'a> {
    /// The view that a map is, or one of it as it is.
    fn of(map: Map<'a>) -> Self {
        let view = match map {
            Map::Host(host) => host.view(),
            Map::Sorted(_) => None,
        };
        view.unwrap_or(Self { base: map, form: Form::Same, redacted: false })
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

    /// The lines of a header of the host; `None` if the map is none of headers.
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

    /// What is shown under a name: of the base's value if that is known, else of what it has there; `None` if it has nothing.
    fn value(&self, name: &str, known: Option<Value<'a>>, arena: &'a Arena) -> EvalResult<Option<Value<'a>>> {
        let is_list = matches!(self.form, Form::Raw | Form::Split);
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
            let is_list = is_list || self.form == Form::Same && matches!(value, Value::List(_));
            return Ok(Some(if is_list { list_of(&[hidden], arena)? } else { hidden }));
        }
        self.converted(value, is(&SET_COOKIE), arena).map(Some)
    }

    /// A value of the base in the form of the view.
    fn converted(&self, value: Value<'a>, whole: bool, arena: &'a Arena) -> EvalResult<Value<'a>> {
        Ok(match (self.form, value) {
            (Form::Same, _) | (Form::Raw, Value::List(_)) => value,
            (Form::Raw, _) => list_of(&[value], arena)?,
            (Form::Join, Value::List(list)) => joined(list, arena)?.map_or(value, Value::String),
            (Form::Join, _) => value,
            (Form::Split, Value::List(list)) => {
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
            (Form::Split, Value::String(text)) if !whole => {
                let mut all = arena.vec();
                members(text, |member| all.push(Value::String(member)))?;
                Value::List(List::Slice(all.finish()))
            }
            (Form::Split, _) => list_of(&[value], arena)?,
        })
    }
}

fn list_of<'a>(values: &[Value<'a>], arena: &'a Arena) -> EvalResult<Value<'a>> {
    Ok(Value::List(List::Slice(arena.alloc_slice(values)?)))
}

/// The elements with `,` in between; `None` if not all are text.
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

/// The members of a list in a header (RFC 9110, 5.6.1): what is between commas, without the blanks around it and without empty
/// ones. A comma in a quoted string separates nothing; a quote that is never closed is a character as any other.
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
                // Nor is any later one closed: it would have closed this one, unless it is escaped for both.
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

/// Where the quoted string that starts before `at` is over.
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
