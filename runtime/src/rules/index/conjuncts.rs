//! The conjuncts of a rule: the conditions that must all be true for the rule to be true.

use crate::lower::merge::MergedGraph;
use celero_ir::{NodeId, Op};

/// Most conjuncts of a rule for which keys are looked for.
pub(super) const MAX_CONJUNCTS: usize = 64;

/// The conjuncts of the rule with this root; the root itself if it is not an `&&`.
pub(super) fn conjuncts<'m>(merged: &'m MergedGraph, root: &'m NodeId) -> &'m [NodeId] {
    if merged.graph.op(*root) == Op::And { merged.graph.args(*root) } else { std::slice::from_ref(root) }
}
