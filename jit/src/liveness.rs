//! Estimates how many values a function keeps alive at once: the register allocator's time grows
//! with the square of that number.
//!
//! A value is taken to live from its definition to its last use in layout order. Emission is
//! structured, so the estimate is too low only for values that are defined before a loop and used
//! in it.

use cranelift_codegen::ir::Function;

/// Whether more values than `limit` are alive between two instructions.
pub(crate) fn exceeds(func: &Function, limit: usize) -> bool {
    // Most functions have fewer values than that in total.
    func.dfg.num_values() > limit && widest(func) > limit
}

/// The largest number of values alive between two instructions.
fn widest(func: &Function) -> usize {
    let dfg = &func.dfg;
    let mut last = vec![0_usize; dfg.num_values()];
    let mut order = 0_usize;
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            order = order.saturating_add(1);
            for value in dfg.inst_values(inst) {
                if let Some(end) = last.get_mut(value.as_u32() as usize) {
                    *end = order;
                }
            }
        }
    }
    // Each value used after its definition begins once and ends once.
    let mut ends = vec![0_usize; order.saturating_add(1)];
    let (mut alive, mut most) = (0_usize, 0_usize);
    let mut now = 0_usize;
    for block in func.layout.blocks() {
        let begin = |values: &[cranelift_codegen::ir::Value], now: usize, ends: &mut Vec<usize>| {
            let mut begun = 0_usize;
            for value in values {
                let end = last.get(value.as_u32() as usize).copied().unwrap_or(0);
                if let (true, Some(count)) = (end > now, ends.get_mut(end)) {
                    *count = count.saturating_add(1);
                    begun = begun.saturating_add(1);
                }
            }
            begun
        };
        alive = alive.saturating_add(begin(dfg.block_params(block), now, &mut ends));
        for inst in func.layout.block_insts(block) {
            now = now.saturating_add(1);
            alive = alive.saturating_sub(ends.get(now).copied().unwrap_or(0));
            alive = alive.saturating_add(begin(dfg.inst_results(inst), now, &mut ends));
            most = most.max(alive);
        }
    }
    most
}
