//! List and map literals with optional parts: `[a, ?b]`, `{k: v, ?k: v}`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::{List, MapBuilder, Value};
use celero_ir::ErrorKind;

/// Returns the value of an element: the element itself, or what it holds if it is marked as an optional.
fn held<'a>(value: Value<'a>, marked: bool) -> EvalResult<Option<Value<'a>>> {
    match (marked, value) {
        (false, value) => Ok(Some(value)),
        (true, Value::Optional(inner)) => Ok(inner.copied()),
        (true, _) => Err(ErrorKind::NoSuchOverload),
    }
}

fn is_marked(marks: &[bool], index: usize) -> bool {
    marks.get(index).copied().unwrap_or(false)
}

/// Builds a list. Marked elements are optionals and left out if absent. Elements without a mark are not marked.
pub(crate) fn list_of<'a>(cx: &Cx<'a>, elements: &[Value<'a>], marks: &[bool]) -> EvalResult<Value<'a>> {
    let mut list = cx.arena().vec();
    list.reserve(elements.len())?;
    for (index, &element) in elements.iter().enumerate() {
        if let Some(element) = held(element, is_marked(marks, index))? {
            list.push(element)?;
        }
    }
    Ok(Value::List(List::Slice(list.finish())))
}

/// Builds a map from alternating keys and values. Marks belong to entries; entries with an absent
/// optional are left out.
pub(crate) fn map_of<'a>(cx: &Cx<'a>, entries: &[Value<'a>], marks: &[bool]) -> EvalResult<Value<'a>> {
    let mut map = MapBuilder::new(cx.arena(), entries.len() / 2)?;
    for (index, entry) in entries.chunks_exact(2).enumerate() {
        let &[key, value] = entry else { continue };
        if let Some(value) = held(value, is_marked(marks, index))? {
            map.insert(key, value)?;
        }
    }
    map.finish(cx).map(Value::Map)
}
