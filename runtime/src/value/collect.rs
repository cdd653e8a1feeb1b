//! Lists and maps of values that are made one after the other, in the memory of an evaluation.

use crate::arena::{Arena, ArenaVec, EvalResult};
use crate::cx::Cx;
use crate::value::lookup_cost::charge_comparisons;
use crate::value::map::sort_entries;
use crate::value::order::{Key, key_order};
use crate::value::{List, Map, Value};
use celero_ir::ErrorKind;

/// Returns the list of these elements.
///
/// # Errors
/// The first error of an element; `out_of_budget` when the arena is full.
pub(crate) fn collect_list<'v>(
    elements: impl ExactSizeIterator<Item = EvalResult<Value<'v>>>,
    arena: &'v Arena,
) -> EvalResult<Value<'v>> {
    let mut list = arena.vec();
    list.reserve(elements.len())?;
    for element in elements {
        list.push(element?)?;
    }
    Ok(Value::List(List::Slice(list.finish())))
}

/// Returns the map of these keys and values.
///
/// # Errors
/// The first error of an entry; `no_such_overload` for a key that is not `bool`, `int`, `uint` or `string`,
/// `duplicate_key` for equal keys; `out_of_budget` when the arena is full.
pub(crate) fn collect_map<'v>(
    entries: impl ExactSizeIterator<Item = EvalResult<(Value<'v>, Value<'v>)>>,
    arena: &'v Arena,
) -> EvalResult<Value<'v>> {
    let mut map = arena.vec();
    map.reserve(entries.len())?;
    for entry in entries {
        map.push(entry?)?;
    }
    sort_entries(map.as_mut_slice())?;
    Ok(Value::Map(Map::Sorted(map.finish())))
}

/// Returns the map of these entries; of equal keys the last one counts.
///
/// # Errors
/// `out_of_budget`; `no_such_overload` for a key that is not `bool`, `int`, `uint` or `string`.
pub(crate) fn map_with_last<'v>(
    mut entries: ArenaVec<'v, (Value<'v>, Value<'v>)>,
    cx: &Cx<'v>,
) -> EvalResult<Value<'v>> {
    let all = entries.as_mut_slice();
    all.iter().try_for_each(|(key, _)| charge_comparisons(key, all.len(), cx))?;
    if all.iter().any(|(key, _)| Key::entry(key).is_none()) {
        return Err(ErrorKind::NoSuchOverload);
    }
    // Stable: equal keys stay in order.
    all.sort_by(|(a, _), (b, _)| key_order(a, b));
    let mut kept = cx.arena().vec();
    for (at, entry) in all.iter().enumerate() {
        let next = all.get(at.saturating_add(1));
        if next.is_none_or(|(key, _)| !key_order(key, &entry.0).is_eq()) {
            kept.push(*entry)?;
        }
    }
    Ok(Value::Map(Map::Sorted(kept.finish())))
}
