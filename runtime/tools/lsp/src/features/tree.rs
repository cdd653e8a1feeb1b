//! The node of a checked expression at a place.

use celero::filter::{FilterExpr, FilterOptions, FilterTree, Scheme, check_filter, check_value};
use celero::language::{Ast, Checked, Expr, NodeId, Reference};
use std::sync::Arc;

/// Returns the node that a place is about: the qualified name around it, else the node whose
/// operator or name is there, else the smallest node.
pub(crate) fn node_at(checked: &Checked, at: usize) -> Option<NodeId> {
    let at = u32::try_from(at).ok()?;
    let ast = checked.ast();
    let ids = || (0..u32::try_from(ast.nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
    let around = |id: &NodeId| (ast.span(*id).start..=ast.span(*id).end).contains(&at);
    let is_focused = |id: &NodeId| (ast.node(*id).focus.start..=ast.node(*id).focus.end).contains(&at);
    let size = |id: &NodeId| ast.span(*id).end.saturating_sub(ast.span(*id).start);
    let is_name = |id: &NodeId| {
        checked.reference(*id).is_name() && matches!(ast.expr(*id), Expr::Select { .. } | Expr::Ident { .. })
    };
    // `has(a.b)` is a selection whose span holds more than the name.
    let is_test = |id: &NodeId| ast.expr(*id).is_test();
    let names = ids().filter(|id| is_name(id) && around(id) && !is_test(id));
    let focused = ids().filter(|id| around(id) && is_focused(id));
    names.min_by_key(size).or_else(|| focused.min_by_key(size)).or_else(|| ids().filter(around).min_by_key(size))
}

/// Returns the checked tree of a rule in the filter language, a condition or a value; `None` of one with errors.
pub(crate) fn filter_tree(source: &str, scheme: &Arc<Scheme>) -> Option<FilterTree> {
    let options = FilterOptions::default();
    let checked = check_filter(source, scheme, &options).or_else(|_| check_value(source, scheme, &options));
    checked.ok().map(|(tree, _)| tree)
}

/// Returns the node of a tree of the filter language whose operator is at a place.
pub(crate) fn filter_node_at(tree: &FilterTree, at: usize) -> Option<NodeId> {
    let at = u32::try_from(at).ok()?;
    let focused = (0_u32..).zip(tree.nodes()).filter(|(_, node)| {
        let is_operator = !matches!(node.expr, FilterExpr::Literal(_) | FilterExpr::Field(_));
        is_operator && (node.focus.start..=node.focus.end).contains(&at)
    });
    focused.min_by_key(|(_, node)| node.span.end.saturating_sub(node.span.start)).map(|(id, _)| NodeId(id))
}

/// Returns whether an expression reads nothing: no variable of the host and no variable of a macro around it.
pub(crate) fn is_constant(checked: &Checked, id: NodeId) -> bool {
    let (mut open, mut constant) = (vec![id], true);
    while let Some(id) = open.pop() {
        constant &= match checked.reference(id) {
            Reference::Variable(_)
            | Reference::Local(_)
            | Reference::InList(_)
            | Reference::ListValue { .. }
            | Reference::Undeclared
            | Reference::Guard(_) => false,
            Reference::None
            | Reference::Type(_)
            | Reference::Constant(_)
            | Reference::Message(_)
            | Reference::Call { .. } => true,
        };
        checked.ast().each_child(id, |child| open.push(child));
    }
    constant
}

/// Returns whether a node is a literal, or a list or map, which show their value themselves.
pub(crate) fn shows_itself(ast: &Ast, id: NodeId) -> bool {
    matches!(ast.expr(id), Expr::Literal(_) | Expr::List { .. } | Expr::Map { .. })
}
