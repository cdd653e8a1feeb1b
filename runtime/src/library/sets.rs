//! The sets library (cel-go's `ext.Sets`): lists as sets.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::standard::containers::in_list;
use crate::value::List;

/// `sets.contains(list, others)`: whether `list` has an element equal to each of `others`.
pub(super) fn contains_all<'a>(cx: &Cx<'a>, list: List<'a>, others: List<'a>) -> EvalResult<bool> {
    for index in 0..others.len() {
        cx.charge(1)?;
        if let Some(other) = others.get(index, cx.arena())?
            && !in_list(cx, other, list)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `sets.equivalent(a, b)`
pub(super) fn equivalent<'a>(cx: &Cx<'a>, a: List<'a>, b: List<'a>) -> EvalResult<bool> {
    Ok(contains_all(cx, a, b)? && contains_all(cx, b, a)?)
}

/// `sets.intersects(a, b)`
pub(super) fn intersects<'a>(cx: &Cx<'a>, a: List<'a>, b: List<'a>) -> EvalResult<bool> {
    for index in 0..b.len() {
        cx.charge(1)?;
        if let Some(element) = b.get(index, cx.arena())?
            && in_list(cx, element, a)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
