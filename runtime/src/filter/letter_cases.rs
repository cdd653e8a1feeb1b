//! What the patterns of a rule take for letter cases.

use crate::lint::sum_of_case_steps;
use celero_frontend::filter::{Comparison, FilterExpr, FilterTree};
use celero_frontend::{Diagnostic, NodeId, Span};
use celero_matching::pattern::byte_folding_steps;
use std::borrow::Cow;

/// Returns the sum of the steps of the patterns of a tree, each distinct one once.
///
/// # Errors
/// It is more than `limit`; at the pattern that exceeds it.
pub(super) fn case_steps(tree: &FilterTree, limit: usize) -> Result<usize, Diagnostic> {
    sum_of_case_steps(patterns(tree), byte_folding_steps, limit)
}

fn patterns(tree: &FilterTree) -> impl Iterator<Item = (Cow<'_, str>, Span)> {
    (0_u32..).map(NodeId).zip(tree.nodes()).filter_map(|(id, node)| {
        let (id, text) = match &node.expr {
            FilterExpr::Compare { comparison: Comparison::Matches(pattern), .. } => (id, &*pattern.text),
            FilterExpr::Call { function, args } => tree.pattern_argument(*function, tree.children(*args))?,
            _ => return None,
        };
        Some((Cow::Borrowed(text), tree.node(id).span))
    })
}
