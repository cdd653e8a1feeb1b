//! Recursion over nested values: bounded, and with enough stack.

use crate::arena::EvalResult;
use celero_ir::ErrorKind;

/// Deepest nesting of values that is compared, copied or written: more than the deepest list or map
/// literal around the deepest JSON document.
pub(crate) const MAX_DEPTH: u32 = 512;

/// Free stack in bytes below which a recursion continues on a new stack segment: threads of
/// proxies may have small stacks.
const STACK_RESERVE: usize = 32 * 1024;
/// Size of a new stack segment in bytes.
const STACK_STEP: usize = 512 * 1024;

/// Calls `inner` one level deeper, on a new stack segment if the current one is nearly used up.
///
/// # Errors
/// `out_of_budget` if `depth`, the number of levels that are left, is 0; those of `inner`.
pub(crate) fn nested<R>(depth: u32, inner: impl FnOnce(u32) -> EvalResult<R>) -> EvalResult<R> {
    let depth = depth.checked_sub(1).ok_or(ErrorKind::OutOfBudget)?;
    stacker::maybe_grow(STACK_RESERVE, STACK_STEP, || inner(depth))
}
