//! Lists and maps of values that are made one after the other, in the memory of an evaluation.

use crate::arena::{Arena, EvalResult};
use crate::value::map::sort_entries;
use crate::value::{List, Map, Value};

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
