//! Warnings about a rule in the filter language. One kind of warning a file.

mod case;
mod constant;
mod covered;
mod fields;
mod guards;

pub(crate) use guards::filter_guard_warnings;

use super::doubled::doubled_backslashes;
use crate::env::FilterBinding;
use celero_frontend::Diagnostic;
use celero_frontend::filter::FilterTree;

/// Returns the warnings about a checked rule, in the order of the source. Takes time linear in the rule, with a logarithm for sets.
pub(crate) fn lint_filter(tree: &FilterTree, binding: &FilterBinding) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    fields::missing_fields(tree, binding, &mut found);
    for node in tree.nodes() {
        constant::constant_conditions(tree, node, &mut found);
        case::other_case(tree, node, &mut found);
        covered::covered_items(node, &mut found);
        doubled_backslashes(tree, node, &mut found);
    }
    found.sort_by_key(|warning| (warning.span.start, warning.span.end));
    found
}
