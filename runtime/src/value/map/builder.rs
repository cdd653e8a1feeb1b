//! Builds maps inside an arena, sorted by their keys.

use super::Map;
use crate::arena::{Arena, ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::value::Value;
use crate::value::lookup_cost::charge_comparisons;
use crate::value::order::{Key, key_order};
use celero_ir::ErrorKind;

/// Sorts entries into the order of [`Map::Sorted`].
///
/// # Errors
/// `no_such_overload` for a key that is not `bool`, `int`, `uint` or `string`; `duplicate_key` for equal keys.
pub(crate) fn sort_entries(entries: &mut [(Value<'_>, Value<'_>)]) -> EvalResult<()> {
    if entries.iter().any(|(key, _)| Key::entry(key).is_none()) {
        return Err(ErrorKind::NoSuchOverload);
    }
    entries.sort_unstable_by(|(a, _), (b, _)| key_order(a, b));
    let mut rest = entries.iter();
    let mut last = rest.next();
    for entry in rest {
        if last.is_some_and(|(key, _)| key_order(key, &entry.0).is_eq()) {
            return Err(ErrorKind::DuplicateKey);
        }
        last = Some(entry);
    }
    Ok(())
}

/// Builds a [`Map`] inside an arena.
#[derive(Debug)]
pub struct MapBuilder<'a> {
    entries: ArenaVec<'a, (Value<'a>, Value<'a>)>,
}

impl<'a> MapBuilder<'a> {
    /// Returns a builder with capacity for `capacity` entries.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    pub fn new(arena: &'a Arena, capacity: usize) -> EvalResult<Self> {
        let mut entries = arena.vec();
        entries.reserve(capacity)?;
        Ok(Self { entries })
    }

    /// Adds an entry. The key is checked by [`finish`](Self::finish), so that an error in a later
    /// entry is reported before a wrong key.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    #[inline]
    pub fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> EvalResult<()> {
        self.entries.push((key, value))
    }

    /// Adds all entries of a map.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert); `out_of_budget` when the evaluation's budget is spent.
    pub fn merge(&mut self, map: &Map<'a>, cx: &Cx<'a>) -> EvalResult<()> {
        cx.charge(map.len())?;
        self.entries.reserve(map.len())?;
        map.all(cx)?.iter().try_for_each(|(key, value)| self.insert(*key, *value))
    }

    /// Sorts the entries and returns the map.
    ///
    /// # Errors
    /// `no_such_overload` for a key that is not `bool`, `int`, `uint` or `string`; `duplicate_key` for equal keys;
    /// `out_of_budget` when the evaluation's budget is spent.
    pub fn finish(mut self, cx: &Cx<'a>) -> EvalResult<Map<'a>> {
        let count = self.entries.as_mut_slice().len();
        self.entries.as_mut_slice().iter().try_for_each(|(key, _)| charge_comparisons(key, count, cx))?;
        sort_entries(self.entries.as_mut_slice())?;
        Ok(Map::Sorted(self.entries.finish()))
    }
}
