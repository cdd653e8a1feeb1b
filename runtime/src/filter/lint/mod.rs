//! Warnings about a rule in the filter language: one kind of warning a file.

mod case;
mod constant;
mod covered;
mod domain;
mod doubled;
mod fields;
mod guards;
mod headers;
mod networks;

pub(super) use guards::guard_warnings;

use crate::filter::binding::FilterBinding;
use celero_frontend::Diagnostic;
use celero_frontend::filter::FilterTree;
use celero_ir::layout;

/// Returns the warnings about a checked rule, in the order of the source. `fields` are the layouts
/// of the variables. Takes time linear in the rule, with a logarithm for sets.
pub(super) fn lint(tree: &FilterTree, binding: &FilterBinding, fields: &[layout::Field]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    fields::missing_fields(tree, binding, &mut found);
    for node in tree.nodes() {
        constant::constant_conditions(tree, node, &mut found);
        case::other_case(tree, node, &mut found);
        domain::other_values(tree, node, binding, fields, &mut found);
        headers::header_names(tree, node, binding, fields, &mut found);
        networks::networks_as_text(tree, node, binding, fields, &mut found);
        covered::covered_items(node, &mut found);
        doubled::doubled_backslashes(tree, node, &mut found);
    }
    found.sort_by_key(|warning| (warning.span.start, warning.span.end));
    found
}
