//! What finding a key costs of the evaluation's budget.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::value::Value;

/// Bytes that are compared or copied for one step.
pub(super) const BYTES_PER_STEP: usize = 64;
/// Comparisons of keys for one step.
const COMPARISONS_PER_STEP: usize = 4;

/// Charges the budget for the comparisons that find one key among `count` sorted ones.
#[inline]
pub(crate) fn charge_comparisons(key: &Value<'_>, count: usize, cx: &Cx<'_>) -> EvalResult<()> {
    let comparisons = (count.checked_ilog2().unwrap_or(0) as usize).saturating_add(1);
    let bytes = if let Value::String(text) = key { text.len() } else { 0 };
    let compared = bytes.saturating_mul(comparisons) / BYTES_PER_STEP;
    cx.charge(compared.saturating_add(comparisons / COMPARISONS_PER_STEP))
}
