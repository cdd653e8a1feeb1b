//! A header map as a field: `map(string, string)`.
//!
//! Keys are the header names in lower case. Names are compared as HTTP compares them, so a lookup
//! with other case finds the header too. Several lines of one name are one value, joined with `,`;
//! lines of `cookie` with `; ` (RFC 9113, section 8.2.3). Bytes that are not UTF-8 read as U+FFFD.

use super::FieldType;
use super::describe::{item, read_by_call};
use super::field_type::Element;
use crate::accessors::cursor::{ItemAddresses, Iterated, cursor};
use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::library::lossy;
use crate::value::{HostMap, Map, Value};
use celero_frontend::Type;
use celero_ir::layout::{Field as Layout, Items, Path};
use http::header::{AsHeaderName, COOKIE, HeaderMap, HeaderName, HeaderValue, Keys};

/// The value of a header as the bytes on the wire, lines joined with `,`, those of `cookie` with
/// `; `; `None` when there is no such header.
///
/// # Errors
/// `out_of_budget` when the lines do not fit the arena.
#[inline]
pub(crate) fn joined<'s>(
    map: &'s HeaderMap,
    name: impl AsHeaderName,
    arena: &'s Arena,
) -> EvalResult<Option<&'s [u8]>> {
    // As many values as names: no name has two lines, so a simple lookup is enough.
    if map.len() == map.keys_len() {
        return Ok(map.get(name).map(http::HeaderValue::as_bytes));
    }
    lines(map, name, arena)
}

/// [`joined`], charged to the budget where lines may have to be joined: a step for each line, and
/// one for 64 bytes of it.
///
/// # Errors
/// `out_of_budget` if fewer steps are left, or when the lines do not fit the arena.
#[inline(always)]
pub(crate) fn joined_charged<'s>(
    map: &'s HeaderMap,
    name: impl AsHeaderName + Copy,
    cx: &Cx<'s>,
) -> EvalResult<Option<&'s [u8]>> {
    if map.len() == map.keys_len() {
        return Ok(map.get(name).map(http::HeaderValue::as_bytes));
    }
    charged_lines(map, name, cx)
}

#[cold]
fn charged_lines<'s>(map: &'s HeaderMap, name: impl AsHeaderName + Copy, cx: &Cx<'s>) -> EvalResult<Option<&'s [u8]>> {
    map.get_all(name).into_iter().try_for_each(|line| cx.charge((line.len() / 64).saturating_add(1)))?;
    lines(map, name, cx.arena())
}

#[cold]
fn lines<'s>(map: &'s HeaderMap, name: impl AsHeaderName, arena: &'s Arena) -> EvalResult<Option<&'s [u8]>> {
    let mut lines = map.get_all(name).iter();
    let Some(first) = lines.next() else { return Ok(None) };
    let Some(second) = lines.next() else { return Ok(Some(first.as_bytes())) };
    // The name itself can't be read here, but its first line is the one that `cookie` finds, or it is not.
    let is_cookie = map.get(COOKIE).is_some_and(|cookie| std::ptr::eq(cookie, first));
    let separator: &[u8] = if is_cookie { b"; " } else { b"," };
    let mut all = arena.vec();
    all.extend(first.as_bytes())?;
    for line in std::iter::once(second).chain(lines) {
        all.extend(separator)?;
        all.extend(line.as_bytes())?;
    }
    Ok(Some(all.finish()))
}

/// The value of a header as text.
fn line<'s>(map: &'s HeaderMap, name: impl AsHeaderName, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
    match joined(map, name, arena)? {
        Some(bytes) => Ok(Some(Value::String(lossy(bytes, arena)?))),
        None => Ok(None),
    }
}

impl HostMap for HeaderMap {
    fn len(&self) -> usize {
        self.keys_len()
    }

    fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        match key {
            Value::String(name) => line(self, *name, arena),
            _ => Ok(None),
        }
    }

    fn headers(&self) -> Option<&HeaderMap> {
        Some(self)
    }

    fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        let Some(name) = self.keys().nth(index) else { return Ok(None) };
        Ok(line(self, name, arena)?.map(|value| (Value::String(name.as_str()), value)))
    }

    fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
        let mut entries = arena.vec();
        entries.reserve(self.keys_len())?;
        for name in self.keys() {
            if let Some(value) = line(self, name, arena)? {
                entries.push((Value::String(name.as_str()), value))?;
            }
        }
        Ok(entries.finish())
    }
}

impl Iterated for HeaderMap {
    type Iter<'a> = Keys<'a, HeaderValue>;

    fn begin(&self) -> Self::Iter<'_> {
        self.keys()
    }

    fn next<'a>(iter: &mut Self::Iter<'a>) -> Option<ItemAddresses>
    where
        Self: 'a,
    {
        iter.next().map(ItemAddresses::element)
    }
}

/// The layout of a header map or of an option of it. Values are not read in place: they may have to be made.
fn layout(optional: bool) -> Layout {
    let cursor = item(HeaderName::layout()).and_then(|name| cursor::<HeaderMap>(optional, Items::Keys(name)));
    Layout { cursor, ..read_by_call(optional) }
}

// SAFETY: the header map is stored at its own address, from which the cursor goes over the names;
// everything else goes through `value`.
unsafe impl FieldType for HeaderMap {
    fn ty() -> Type {
        Type::map(Type::String, Type::String)
    }

    fn layout() -> Layout {
        Layout { headers: Some(Path(vec![0])), ..layout(false) }
    }

    fn optional_layout() -> Layout {
        layout(true)
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(Value::Map(Map::Host(self))))
    }
}

impl Element for HeaderMap {}
