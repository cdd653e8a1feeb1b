//! The lists library (cel-go's `ext.Lists`).

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::optionals;
use crate::value::{List, Value};
use celero_ir::ErrorKind::{InvalidArgument, OutOfBudget};
use std::cmp::Ordering;

/// Deepest nesting that `flatten` accepts.
const MAX_DEPTH: u32 = 512;

/// `list.slice(start, end)`; `invalid_argument` if a position is outside the list or `start` is after `end`.
pub(super) fn slice<'a>(cx: &Cx<'a>, list: List<'a>, start: i64, end: i64) -> EvalResult<List<'a>> {
    let position = |at: i64| usize::try_from(at).ok().filter(|at| *at <= list.len()).ok_or(InvalidArgument);
    let (start, end) = (position(start)?, position(end)?);
    if start > end {
        return Err(InvalidArgument);
    }
    if let List::Slice(values) = list {
        return values.get(start..end).map(List::Slice).ok_or(InvalidArgument);
    }
    collect(cx, list, start..end)
}

/// Returns a new list of the elements at some positions.
fn collect<'a>(cx: &Cx<'a>, list: List<'a>, positions: impl Iterator<Item = usize>) -> EvalResult<List<'a>> {
    let mut elements = cx.arena().vec();
    for index in positions {
        cx.charge(1)?;
        if let Some(element) = list.get(index, cx.arena())? {
            elements.push(element)?;
        }
    }
    Ok(List::Slice(elements.finish()))
}

/// `list.flatten(levels)`: replaces inner lists by their elements, down to `levels`. A negative
/// number is `invalid_argument`.
pub(super) fn flatten<'a>(cx: &Cx<'a>, list: List<'a>, levels: i64) -> EvalResult<List<'a>> {
    let levels = u64::try_from(levels).map_err(|_| InvalidArgument)?;
    let mut flat = cx.arena().vec();
    flatten_into(cx, list, levels, MAX_DEPTH, &mut |element| flat.push(element))?;
    Ok(List::Slice(flat.finish()))
}

fn flatten_into<'a>(
    cx: &Cx<'a>,
    list: List<'a>,
    levels: u64,
    depth: u32,
    add: &mut dyn FnMut(Value<'a>) -> EvalResult<()>,
) -> EvalResult<()> {
    let depth = depth.checked_sub(1).ok_or(OutOfBudget)?;
    for index in 0..list.len() {
        cx.charge(1)?;
        match (list.get(index, cx.arena())?, levels.checked_sub(1)) {
            (Some(Value::List(inner)), Some(levels)) => flatten_into(cx, inner, levels, depth, add)?,
            (Some(element), _) => add(element)?,
            (None, _) => {}
        }
    }
    Ok(())
}

/// Compares two keys of the same ordered type; `invalid_argument` for others and for NaN.
fn compare(a: &Value<'_>, b: &Value<'_>) -> EvalResult<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Ok(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).ok_or(InvalidArgument),
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Ok(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Ok(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Ok(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        _ => Err(InvalidArgument),
    }
}

/// Sorts elements by their keys. Elements with equal keys keep their order.
pub(super) fn sort<'a>(cx: &Cx<'a>, list: List<'a>, keys: List<'a>) -> EvalResult<List<'a>> {
    if list.len() != keys.len() {
        return Err(InvalidArgument);
    }
    let compares = usize::try_from(list.len().checked_ilog2().unwrap_or(0)).unwrap_or(0).saturating_add(1);
    let mut sorted = cx.arena().vec();
    sorted.reserve(list.len())?;
    for index in 0..list.len() {
        let (key, element) = (keys.get(index, cx.arena())?, list.get(index, cx.arena())?);
        let (Some(key), Some(element)) = (key, element) else { return Err(InvalidArgument) };
        cx.charge(compares)?;
        match key {
            Value::String(text) => cx.charge_bytes(text.len().saturating_mul(compares))?,
            Value::Bytes(bytes) => cx.charge_bytes(bytes.len().saturating_mul(compares))?,
            _ => {}
        }
        let (first, _, _) = sorted.as_mut_slice().first().copied().unwrap_or((key, index, element));
        // All keys are comparable with the first, and so with each other.
        compare(&first, &key)?;
        sorted.push((key, index, element))?;
    }
    // With the position as the last part of the key the order is total, so an unstable sort, which
    // does not allocate, is enough.
    sorted
        .as_mut_slice()
        .sort_unstable_by(|(a, i, _), (b, j, _)| compare(a, b).unwrap_or(Ordering::Equal).then(i.cmp(j)));
    let mut elements = cx.arena().vec();
    elements.reserve(list.len())?;
    sorted.finish().iter().try_for_each(|(_, _, element)| elements.push(*element))?;
    Ok(List::Slice(elements.finish()))
}

/// `list.distinct()`: the elements that are not equal to an earlier one.
pub(super) fn distinct<'a>(cx: &Cx<'a>, list: List<'a>) -> EvalResult<List<'a>> {
    let mut kept = cx.arena().vec();
    for index in 0..list.len() {
        cx.charge(1)?;
        let Some(element) = list.get(index, cx.arena())? else { continue };
        let mut seen = false;
        for earlier in kept.as_mut_slice().iter() {
            cx.charge(1)?;
            seen = element.equals(earlier, cx)?;
            if seen {
                break;
            }
        }
        if !seen {
            kept.push(element)?;
        }
    }
    Ok(List::Slice(kept.finish()))
}

/// `lists.range(end)`: the numbers from 0 to below `end`. A negative end is `invalid_argument`.
pub(super) fn range<'a>(cx: &Cx<'a>, end: i64) -> EvalResult<List<'a>> {
    let count = usize::try_from(end).map_err(|_| InvalidArgument)?;
    cx.charge(count)?;
    let mut numbers = cx.arena().vec();
    numbers.reserve(count)?;
    (0..end).try_for_each(|n| numbers.push(Value::Int(n)))?;
    Ok(List::Slice(numbers.finish()))
}

/// `list.reverse()`
pub(super) fn reverse<'a>(cx: &Cx<'a>, list: List<'a>) -> EvalResult<List<'a>> {
    collect(cx, list, (0..list.len()).rev())
}

/// Returns the element at a position as an optional.
pub(super) fn element<'a>(cx: &Cx<'a>, list: List<'a>, index: usize) -> EvalResult<Option<&'a Value<'a>>> {
    match list.get(index, cx.arena())? {
        Some(element) => optionals::of(cx, element),
        None => Ok(None),
    }
}
