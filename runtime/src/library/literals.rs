//! List and map literals with optional parts: `[a, ?b]`, `{k: v, ?k: v}`.

use crate::arena::EvalResult;
use crate::library::Cx;
use crate::value::{List, MapBuilder, Value};
use celero_ir::ErrorKind;

/// What stands for an element: itself, or, when it is marked, what the optional holds.
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

/// A list of these elements; marked ones are optionals, left out when empty. No marks means that none is marked.
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

/// A map of these keys and values in turn; marks are for entries, as those of a list.
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
