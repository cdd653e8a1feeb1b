//! Maps: entries sorted by key, or a map of the host that is read in place.

mod builder;

pub use builder::MapBuilder;
pub(crate) use builder::sort_entries;

use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::value::Value;
use crate::value::lookup_cost::{BYTES_PER_STEP, charge_comparisons};
use crate::value::order::Key;
use std::any::Any;
use std::cmp::Ordering;
use std::fmt;

/// Bytes of text that is split at commas for one step: each comma may be one.
const SPLIT_BYTES_PER_STEP: usize = 4;

/// The form in which a [`View`] shows the values of its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewForm {
    /// Unchanged.
    Same,
    /// Lists: of a header, one element for each line.
    Raw,
    /// Text: lines, or the elements of lists, joined with `,`.
    Join,
    /// Lists of the comma-separated members of the text.
    Split,
}

/// A map in another form. The HTTP library makes views and computes their values; the map itself
/// needs to know only that it is a view, because computed values are charged to the budget.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The map that the values come from; never a view itself.
    pub(crate) base: Map<'a>,
    pub(crate) form: ViewForm,
    /// Whether the values of credentials are hidden.
    pub(crate) redacted: bool,
}

/// A map of the host. Implement it for data that rules read without a copy.
pub trait HostMap {
    /// Returns the number of entries. It must stay the same during an evaluation.
    fn len(&self) -> usize;

    /// Returns whether the map has no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value under `key`, `None` if there is no such key. Keys follow CEL's numeric
    /// equality: `1`, `1u` and `1.0` are the same key.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>;

    /// Returns the entry at `index`, `None` out of bounds. The order must stay the same during an evaluation.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>>;

    /// Returns the number of keys among which one is found, without reading values.
    #[doc(hidden)]
    fn key_count(&self) -> usize {
        self.len()
    }

    /// Returns [`key_count`](Self::key_count), and whether values are computed: by a view, or from
    /// several lines of a header. One call for both, because each lookup asks.
    #[doc(hidden)]
    fn lookup_costs(&self) -> (usize, bool) {
        #[cfg(feature = "http")]
        let joins_lines = self.headers().is_some_and(|headers| headers.len() != headers.keys_len());
        #[cfg(not(feature = "http"))]
        let joins_lines = false;
        (self.key_count(), joins_lines || self.view().is_some())
    }

    /// As [`get`](Self::get), charged to the evaluation's budget, with the value in the arena: one
    /// call, without copies on the way. A map that computes no values can do with less.
    #[doc(hidden)]
    fn place<'s>(&'s self, key: &Value<'_>, cx: &Cx<'s>) -> EvalResult<Option<&'s Value<'s>>> {
        charge_host_lookup(self, key, cx)?;
        self.get(key, cx.arena())?.map(|value| cx.arena().alloc(value)).transpose()
    }

    /// Returns the header map behind this map, if there is one.
    #[cfg(feature = "http")]
    #[doc(hidden)]
    fn headers(&self) -> Option<&http::HeaderMap> {
        None
    }

    /// Returns the struct whose fields are the entries, if it borrows nothing.
    #[doc(hidden)]
    fn as_struct(&self) -> Option<&dyn Any> {
        None
    }

    /// Returns the view, if this map is one.
    #[doc(hidden)]
    fn view(&self) -> Option<View<'_>> {
        None
    }

    /// Returns all entries in the order of [`entry`](Self::entry). Override it if
    /// [`entry`](Self::entry) counts from the first entry, so that reading all of them is not
    /// quadratic.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
        let mut entries = arena.vec();
        entries.reserve(self.len())?;
        for index in 0..self.len() {
            if let Some(entry) = self.entry(index, arena)? {
                entries.push(entry)?;
            }
        }
        Ok(entries.finish())
    }
}

/// The entries, as long as they fit into 64 KiB.
impl fmt::Debug for dyn HostMap + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arena = Arena::new(1 << 16);
        let entries = (0..self.len()).map_while(|index| self.entry(index, &arena).ok().flatten());
        f.debug_map().entries(entries).finish()
    }
}

/// A map.
#[derive(Clone, Copy, Debug)]
pub enum Map<'a> {
    /// Entries with distinct keys, sorted: bools, then numbers by value whatever their type, then strings. Built by
    /// [`MapBuilder`].
    Sorted(&'a [(Value<'a>, Value<'a>)]),
    /// A map of the host.
    Host(&'a dyn HostMap),
}

impl<'a> Map<'a> {
    /// Returns the number of entries.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Sorted(entries) => entries.len(),
            Self::Host(host) => host.len(),
        }
    }

    /// Returns whether the map has no entries.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value under `key`, `None` if there is no such key or `key` is of a type that no key has.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit; otherwise only what a map of the host fails with.
    #[inline]
    pub fn get(&self, key: &Value<'_>, arena: &'a Arena) -> EvalResult<Option<Value<'a>>> {
        match self {
            Self::Sorted(entries) => Ok(in_sorted(entries, key).copied()),
            Self::Host(host) => host.get(key, arena),
        }
    }

    /// As [`get`](Self::get), charged to the evaluation's budget. The library reads maps with this function only.
    #[inline]
    pub(crate) fn find(&self, key: &Value<'_>, cx: &Cx<'a>) -> EvalResult<Option<Value<'a>>> {
        self.charge_lookup(key, cx)?;
        self.get(key, cx.arena())
    }

    /// As [`find`](Self::find), without a copy of a value that is there. One that the host makes is
    /// put into the arena.
    #[inline]
    pub(crate) fn place(&self, key: &Value<'_>, cx: &Cx<'a>) -> EvalResult<Option<&'a Value<'a>>> {
        match self {
            Self::Sorted(entries) => {
                charge_comparisons(key, entries.len(), cx)?;
                Ok(in_sorted(entries, key))
            }
            Self::Host(host) => host.place(key, cx),
        }
    }

    /// Charges the budget for finding a key and computing its value.
    #[inline]
    pub(crate) fn charge_lookup(&self, key: &Value<'_>, cx: &Cx<'a>) -> EvalResult<()> {
        match self {
            Self::Host(host) => charge_host_lookup(*host, key, cx),
            Self::Sorted(entries) => charge_comparisons(key, entries.len(), cx),
        }
    }

    /// As [`entries`](Self::entries); values that are computed are charged to the evaluation's budget.
    pub(crate) fn all(&self, cx: &Cx<'a>) -> EvalResult<&'a [(Value<'a>, Value<'a>)]> {
        if let Self::Host(host) = self
            && host.lookup_costs().1
        {
            charge_pieces(*host, None, cx)?;
        }
        self.entries(cx.arena())
    }

    /// Returns the entry at `index`, in the order of the keys or that of the host's map; `None` out of bounds.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    #[inline]
    pub fn entry(&self, index: usize, arena: &'a Arena) -> EvalResult<Option<(Value<'a>, Value<'a>)>> {
        match self {
            Self::Sorted(entries) => Ok(entries.get(index).copied()),
            Self::Host(host) => host.entry(index, arena),
        }
    }

    /// Returns all entries in the order of [`entry`](Self::entry).
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    pub fn entries(&self, arena: &'a Arena) -> EvalResult<&'a [(Value<'a>, Value<'a>)]> {
        match self {
            Self::Sorted(entries) => Ok(entries),
            Self::Host(host) => host.entries(arena),
        }
    }

    /// Returns all entries sorted by key. Those of a map of the host are copied.
    ///
    /// # Errors
    /// Those of [`MapBuilder::finish`].
    pub(crate) fn sorted(&self, cx: &Cx<'a>) -> EvalResult<&'a [(Value<'a>, Value<'a>)]> {
        if let Self::Sorted(entries) = self {
            return Ok(entries);
        }
        let mut builder = MapBuilder::new(cx.arena(), 0)?;
        builder.merge(self, cx)?;
        builder.finish(cx)?.entries(cx.arena())
    }
}

/// The value under a key, in entries that are sorted by their keys.
#[inline]
fn in_sorted<'a>(entries: &'a [(Value<'a>, Value<'a>)], key: &Value<'_>) -> Option<&'a Value<'a>> {
    let found = if let Value::String(text) = key {
        // Texts come after all other keys.
        entries.binary_search_by(|(known, _)| match known {
            Value::String(known) => (**known).cmp(*text),
            _ => Ordering::Less,
        })
    } else {
        let key = Key::lookup(key)?;
        entries.binary_search_by(|(known, _)| Key::entry(known).cmp(&Some(key)))
    };
    found.ok().and_then(|index| entries.get(index)).map(|(_, value)| value)
}

/// Charges the budget for finding a key of a host's map and computing its value.
#[inline]
fn charge_host_lookup<'a, H: HostMap + ?Sized>(host: &'a H, key: &Value<'_>, cx: &Cx<'a>) -> EvalResult<()> {
    let (keys, is_computed) = host.lookup_costs();
    charge_comparisons(key, keys, cx)?;
    if is_computed { charge_pieces(host, Some(key), cx) } else { Ok(()) }
}

/// Charges the budget for what the values of a host's map are computed from: the lines of a header,
/// the value that a view shows in another form. `key`: only the value under this key.
#[cold]
#[inline(never)]
fn charge_pieces<'a, H: HostMap + ?Sized>(host: &'a H, key: Option<&Value<'_>>, cx: &Cx<'a>) -> EvalResult<()> {
    let view = host.view();
    let base = view.map(|view| view.base);
    let scanned = match view.map(|view| view.form) {
        Some(ViewForm::Split) => SPLIT_BYTES_PER_STEP,
        _ => BYTES_PER_STEP,
    };
    cx.charge(1)?;
    let piece = |bytes: usize| cx.charge(bytes.checked_div(scanned).unwrap_or(0).saturating_add(1));
    #[cfg(feature = "http")]
    if let Some(headers) = match base {
        Some(Map::Host(base)) => base.headers(),
        Some(Map::Sorted(_)) => None,
        None => host.headers(),
    } {
        return match key {
            Some(Value::String(name)) => headers.get_all(*name).into_iter().try_for_each(|line| piece(line.len())),
            Some(_) => Ok(()),
            None => headers.values().try_for_each(|line| piece(line.len())),
        };
    }
    let value = |value: &Value<'a>| match value {
        Value::List(list) => (0..list.len()).try_for_each(|index| match list.get(index, cx.arena())? {
            Some(Value::String(text)) => piece(text.len()),
            _ => piece(0),
        }),
        Value::String(text) => piece(text.len()),
        _ => piece(0),
    };
    match key {
        Some(key) => {
            let found = base.map_or_else(|| host.get(key, cx.arena()), |base| base.get(key, cx.arena()))?;
            found.map_or(Ok(()), |found| value(&found))
        }
        None => {
            let entries = base.map_or_else(|| host.entries(cx.arena()), |base| base.entries(cx.arena()))?;
            entries.iter().try_for_each(|(_, found)| value(found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero_ir::ErrorKind;

    fn build<'a>(arena: &'a Arena, entries: &[(Value<'a>, Value<'a>)]) -> EvalResult<Map<'a>> {
        let mut builder = MapBuilder::new(arena, entries.len())?;
        for (key, value) in entries {
            builder.insert(*key, *value)?;
        }
        builder.finish(&Cx::new(1_000_000, arena))
    }

    fn int(map: &Map<'_>, key: Value<'_>) -> Option<i64> {
        let arena = Arena::new(1 << 16);
        let mut found = None;
        for index in 0..map.len() {
            let (k, v) = map.entry(index, &arena).unwrap().unwrap();
            if Key::lookup(&k) == Key::lookup(&key) {
                found = Some(v);
            }
        }
        let got = map.get(&key, &arena).unwrap();
        match (got, found) {
            (None, _) => None,
            (Some(Value::Int(a)), Some(Value::Int(b))) if a == b => Some(a),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn finds_keys_of_all_types() {
        let arena = Arena::new(1 << 16);
        let map = build(
            &arena,
            &[
                (Value::String("b"), Value::Int(5)),
                (Value::Uint(5), Value::Int(3)),
                (Value::Bool(true), Value::Int(1)),
                (Value::String(""), Value::Int(4)),
                (Value::Int(2), Value::Int(2)),
            ],
        )
        .unwrap();
        assert_eq!(map.len(), 5);
        let cases = [
            (Value::Bool(true), Some(1)),
            (Value::Bool(false), None),
            (Value::Int(2), Some(2)),
            (Value::Uint(2), Some(2)),
            (Value::Double(2.0), Some(2)),
            (Value::Double(2.5), None),
            (Value::Int(5), Some(3)),
            (Value::Int(3), None),
            (Value::String(""), Some(4)),
            (Value::String("b"), Some(5)),
            (Value::String("c"), None),
        ];
        for (key, want) in cases {
            assert_eq!(int(&map, key), want, "{key:?}");
        }
        for key in [Value::Bytes(b"b"), Value::Null, Value::Double(f64::NAN)] {
            assert!(map.get(&key, &arena).unwrap().is_none(), "{key:?}");
        }
    }

    #[test]
    fn refuses_keys() {
        let arena = Arena::new(1 << 16);
        let build = |a, b| build(&arena, &[(a, Value::Null), (b, Value::Null)]).err();
        assert_eq!(build(Value::Int(0), Value::Uint(0)), Some(ErrorKind::DuplicateKey));
        assert_eq!(build(Value::Bool(true), Value::Bool(true)), Some(ErrorKind::DuplicateKey));
        assert_eq!(build(Value::String("a"), Value::String("a")), Some(ErrorKind::DuplicateKey));
        assert_eq!(build(Value::Double(3.3), Value::Double(1.0)), Some(ErrorKind::NoSuchOverload));
        assert_eq!(build(Value::Int(0), Value::Null), Some(ErrorKind::NoSuchOverload));
        assert_eq!(build(Value::Int(0), Value::Bool(false)), None);
    }

    #[test]
    fn long_keys_are_charged() {
        let arena = Arena::new(1 << 16);
        let long = "x".repeat(6400);
        let same = [(Value::String(&long), Value::Null); 8];
        let mut builder = MapBuilder::new(&arena, 8).unwrap();
        for (key, value) in same {
            builder.insert(key, value).unwrap();
        }
        let cx = Cx::new(3199, &arena);
        assert_eq!(builder.finish(&cx).err(), Some(ErrorKind::OutOfBudget));
        let map = Map::Sorted(&same[..1]);
        let cx = Cx::new(199, &arena);
        assert!(map.find(&same[0].0, &cx).unwrap().is_some());
        assert_eq!(map.find(&same[0].0, &cx).err(), Some(ErrorKind::OutOfBudget));
    }

    #[cfg(feature = "http")]
    #[test]
    fn several_lines_and_views_are_charged() {
        let arena = Arena::new(1 << 16);
        let mut headers = http::HeaderMap::new();
        headers.insert("a", http::HeaderValue::from_static("1"));
        let once = headers.clone();
        headers.append("a", http::HeaderValue::from_static("2"));
        let raw = View { base: Map::Host(&once), form: ViewForm::Raw, redacted: false };
        for (map, steps) in [(Map::Host(&once), 0), (Map::Host(&headers), 3), (Map::Host(&raw), 2)] {
            let finds = |steps: &i64| map.find(&Value::String("a"), &Cx::new(*steps, &arena)).is_ok();
            let reads = |steps: &i64| map.all(&Cx::new(*steps, &arena)).is_ok();
            assert_eq!(((0..9).find(finds), (0..9).find(reads)), (Some(steps), Some(steps)), "{map:?}");
        }
    }

    #[test]
    fn stops_at_the_arena_limit() {
        let arena = Arena::new(4096);
        let mut builder = MapBuilder::new(&arena, 0).unwrap();
        let end = (0..1000).find_map(|i| builder.insert(Value::Int(i), Value::Null).err());
        assert_eq!(end, Some(ErrorKind::OutOfBudget));
    }
}
