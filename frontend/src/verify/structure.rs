//! Verifies the structure of a tree, node by node: limits, order, spans, parts of expressions, bounds on types.

use super::{Invariant, Verified, broken};
use crate::ast::{Ast, Expr, FallbackKind, FoldKind, Name, NodeId, Nodes};
use crate::checked::Checked;
use crate::limits::{Limits, SOURCE_BYTES};
use crate::span::Span;

pub(super) fn verify(checked: &Checked, limits: &Limits) -> Verified {
    let ast = checked.ast();
    let too_much = |message: String| Err(broken(Invariant::Size, None, message));
    let bytes = limits.max_source_bytes.min(SOURCE_BYTES) as usize;
    if ast.source().len() > bytes {
        return too_much(format!("the source has {} bytes, the limit is {bytes}", ast.source().len()));
    }
    if ast.nodes().len() > limits.max_nodes as usize {
        return too_much(format!("the tree has {} nodes, the limit is {}", ast.nodes().len(), limits.max_nodes));
    }
    let root = ast.root();
    if root.0 as usize >= ast.nodes().len() {
        return Err(broken(Invariant::Order, root, "the root is no node of the tree"));
    }
    (0u32..).map(NodeId).take(ast.nodes().len()).try_for_each(|id| node(checked, limits, id))
}

fn node(checked: &Checked, limits: &Limits, id: NodeId) -> Verified {
    let ast = checked.ast();
    let node = ast.node(id);
    lists(ast, id)?;
    let mut later = None;
    let mut below = 0;
    ast.each_child(id, |child| {
        if child >= id {
            later = Some(child);
        } else {
            below = below.max(ast.node(child).depth);
        }
    });
    if let Some(NodeId(child)) = later {
        return Err(broken(Invariant::Order, id, format!("its child {child} was not added before it")));
    }
    if node.depth != below.saturating_add(1) {
        return Err(broken(Invariant::Size, id, format!("its depth is not {}", below.saturating_add(1))));
    }
    if node.depth > limits.max_depth {
        return Err(broken(Invariant::Size, id, format!("it is deeper than {} levels", limits.max_depth)));
    }
    for Span { start, end } in [node.span, node.focus] {
        if ast.source().get(start as usize..end as usize).is_none() {
            return Err(broken(Invariant::Span, id, format!("{start}..{end} is no part of the source")));
        }
    }
    if let Some(reason) = misshaped(ast, id) {
        return Err(broken(Invariant::Shape, id, reason));
    }
    let ty = checked.type_of(id);
    if !ty.is_concrete() {
        return Err(broken(
            Invariant::Type,
            id,
            "its type is an error, or holds parameters or variables, or is too large",
        ));
    }
    Ok(())
}

/// Tests that lists of children and names are the tree's own.
fn lists(ast: &Ast, id: NodeId) -> Verified {
    let foreign = |what: &str| Err(broken(Invariant::Order, id, format!("{what} of another tree")));
    let names = |names: &[Name]| names.iter().all(|name| ast.has_name(*name));
    let (nodes, named) = match ast.expr(id) {
        Expr::Error
        | Expr::Literal(_)
        | Expr::Index { .. }
        | Expr::Unary { .. }
        | Expr::Binary { .. }
        | Expr::Cond { .. } => (None, true),
        Expr::Ident { name, .. } | Expr::Select { field: name, .. } => (None, names(&[*name])),
        Expr::Bind { var, .. } | Expr::OptMap { var, .. } => (None, names(&[*var])),
        Expr::Fold { var, var2, .. } => (None, names(&[*var]) && var2.is_none_or(|var2| names(&[var2]))),
        Expr::Call { function, args, .. } => (Some(*args), names(&[*function])),
        Expr::Message { name, fields, values, .. } => (Some(*values), names(&[*name]) && names(fields)),
        Expr::Logic { operands: nodes, .. }
        | Expr::Fallback { operands: nodes, .. }
        | Expr::List { elements: nodes, .. }
        | Expr::Map { entries: nodes, .. } => (Some(*nodes), true),
    };
    match (nodes, named) {
        (_, false) => foreign("a name is"),
        (Some(nodes), _) if !ast.has_children(nodes) => foreign("its children are"),
        _ => Ok(()),
    }
}

/// Returns which part of an expression is missing or surplus for its kind.
fn misshaped(ast: &Ast, id: NodeId) -> Option<&'static str> {
    let count = |nodes: &Nodes| nodes.len as usize;
    let marks = |optional: &[bool], entries: usize| optional.is_empty() || optional.len() == entries;
    let reason = match ast.expr(id) {
        Expr::Error => "it is an error",
        Expr::Select { test: true, optional: true, .. } => "a test for presence is of a plain selection",
        Expr::Logic { operands, .. } if count(operands) < 2 => "a chain has at least two operands",
        Expr::List { elements, optional } if !marks(optional, count(elements)) => {
            "there is a mark for each element, or none"
        }
        Expr::Map { entries, .. } if !count(entries).is_multiple_of(2) => "a map has keys and values in turn",
        Expr::Map { entries, optional } if !marks(optional, count(entries) / 2) => {
            "there is a mark for each entry, or none"
        }
        Expr::Message { fields, values, optional, .. }
            if fields.len() != count(values) || !marks(optional, fields.len()) =>
        {
            "there is a value for each field"
        }
        Expr::Fallback { kind: FallbackKind::Default, operands } if count(operands) != 2 => {
            "`default` has two operands"
        }
        Expr::Fallback { operands, .. } if count(operands) == 0 => "`coalesce` has at least one operand",
        Expr::Fold { kind, var2, filter, transform, .. } => {
            return misfolded(*kind, var2.is_some(), filter.is_some(), transform.is_some());
        }
        _ => return None,
    };
    Some(reason)
}

/// Returns which variable, predicate or transform of a fold is missing or surplus for its kind.
fn misfolded(kind: FoldKind, second: bool, filter: bool, transform: bool) -> Option<&'static str> {
    let (variables, predicate, transformed) = match kind {
        FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne => (None, Some(true), false),
        FoldKind::Filter => (Some(false), Some(true), false),
        FoldKind::Map => (Some(false), None, true),
        FoldKind::TransformList | FoldKind::TransformMap | FoldKind::TransformMapEntry => (Some(true), None, true),
        FoldKind::MapValues => (Some(true), Some(false), true),
        FoldKind::FilterKeys => (Some(true), Some(true), true),
    };
    let differs = |wanted: Option<bool>, given: bool| wanted.is_some_and(|wanted| wanted != given);
    if differs(variables, second) {
        Some("the kind of fold has another number of variables")
    } else if differs(predicate, filter) {
        Some("the kind of fold needs a predicate, or has none")
    } else if transformed != transform {
        Some("the kind of fold needs a transform, or has none")
    } else {
        None
    }
}
