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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    /// Native code leaves out charges that this bound shows to be possible.
    #[test]
    fn no_lookup_takes_more_than_the_layout_says() {
        let arena = Arena::new(0);
        for bytes in [0_u32, 1, 63, 64, 65, 1000, 65_536] {
            let text = "k".repeat(bytes as usize);
            let most = celero_ir::layout::Entries::most_steps(bytes);
            for count in [0, 1, 2, 3, 1 << 20, usize::MAX - 1] {
                for (key, most) in
                    [(Value::String(&text), most), (Value::Int(7), celero_ir::layout::Entries::most_steps(0))]
                {
                    let cx = Cx::new(most, &arena);
                    assert_eq!(charge_comparisons(&key, count, &cx), Ok(()), "{bytes} bytes among {count}");
                }
            }
        }
    }
}
