//! Patterns with two backslashes where one was probably meant.

use crate::lint::doubled_backslash;
use celero_frontend::Diagnostic;
use celero_frontend::filter::{Comparison, FilterExpr, FilterNode, FilterTree, raw_string};

/// Warns of the pattern of a comparison or call.
pub(super) fn doubled_backslashes(tree: &FilterTree, node: &FilterNode, found: &mut Vec<Diagnostic>) {
    let (span, pattern) = match &node.expr {
        FilterExpr::Compare { comparison: Comparison::Matches(pattern), .. } => (node.span, &*pattern.text),
        FilterExpr::Call { function, args } => match tree.pattern_argument(*function, tree.children(*args)) {
            Some((id, text)) => (tree.node(id).span, text),
            None => return,
        },
        _ => return,
    };
    found.extend(doubled_backslash(span, pattern, raw_string));
}
