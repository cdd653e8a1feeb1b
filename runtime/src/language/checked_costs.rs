//! The static cost of the nodes of a checked tree, as CEL's are.

use super::static_cost::{PartCost, StaticCost};
use celero_frontend::{BinaryOp, Checked, Expr, FoldKind, NodeId, Reference, Type};
use std::collections::HashSet;

/// Returns the [static cost](StaticCost) of each node of a checked tree, by its id. A call of a
/// definition that the tree does not have the body of is one operation. Time and memory are linear
/// in the number of nodes.
#[must_use]
pub fn static_costs(tree: &Checked) -> Vec<StaticCost> {
    let mut costs: Vec<StaticCost> = Vec::with_capacity(tree.ast().nodes().len());
    // Children have smaller ids.
    for id in (0..u32::try_from(tree.ast().nodes().len()).unwrap_or(u32::MAX)).map(NodeId) {
        costs.push(of_node(tree, id, &costs));
    }
    costs
}

fn of_node(tree: &Checked, id: NodeId, costs: &[StaticCost]) -> StaticCost {
    let ast = tree.ast();
    let cost = |id: NodeId| costs.get(id.0 as usize).copied().unwrap_or_default();
    let one = StaticCost::ONE;
    let first_decides = |operands: &[NodeId]| match operands {
        [first, others @ ..] => others.iter().fold(one.and(cost(*first)), |sum, other| sum.and_perhaps(cost(*other))),
        [] => one,
    };
    match ast.expr(id) {
        Expr::Literal(_) | Expr::Error => StaticCost::default(),
        Expr::List { .. } | Expr::Map { .. } | Expr::Message { .. } => {
            let parts = evaluated_children(tree, id).into_iter().map(cost).fold(StaticCost::default(), StaticCost::and);
            if parts.is_constant() { parts } else { parts.and(one) }
        }
        Expr::Logic { operands, .. } | Expr::Fallback { operands, .. } => first_decides(ast.children(*operands)),
        Expr::Cond { condition, then, otherwise } => one.and(cost(*condition)).and(cost(*then).or(cost(*otherwise))),
        Expr::Bind { init, body, .. } => one.and(cost(*body)).and_perhaps(cost(*init)),
        Expr::OptMap { target, body, .. } => one.and(cost(*target)).and_perhaps(cost(*body)),
        Expr::Fold { kind, range, filter, transform, .. } => {
            let nothing = StaticCost::default();
            let filtered = filter.map_or(nothing, cost);
            let each = match (filter, transform.map_or(nothing, cost)) {
                (Some(_), transform) => filtered.and_perhaps(transform),
                (None, transform) => transform,
            };
            let all = match ast.expr(*range) {
                Expr::List { elements, optional } if !optional.contains(&true) => {
                    let elements = u64::from(elements.len);
                    let ends_early = matches!(kind, FoldKind::All | FoldKind::Exists);
                    each.times(if ends_early { elements.min(1) } else { elements }, elements)
                }
                _ => each.for_each(),
            };
            one.and(cost(*range)).and(all)
        }
        Expr::Ident { .. }
        | Expr::Select { .. }
        | Expr::Index { .. }
        | Expr::Unary { .. }
        | Expr::Binary { .. }
        | Expr::Call { .. } => {
            let own = StaticCost { texts: u32::from(reads_text(tree, id, &cost)), ..one };
            evaluated_children(tree, id).into_iter().map(cost).fold(own, StaticCost::and)
        }
    }
}

/// Returns the parts of a node that are evaluated: not the beginning of a name with points.
fn evaluated_children(tree: &Checked, id: NodeId) -> Vec<NodeId> {
    let mut children = Vec::new();
    match (tree.reference(id), tree.ast().expr(id)) {
        (reference, _) if reference.is_name() => {}
        (Reference::Call { receiver: false, .. }, Expr::Call { args, .. }) => {
            children.extend_from_slice(tree.ast().children(*args));
        }
        _ => tree.ast().each_child(id, |child| children.push(child)),
    }
    children
}

/// Whether the time of an operation grows with the length of a text: a comparison with a literal
/// reads no more than that.
fn reads_text(tree: &Checked, id: NodeId, cost: &dyn Fn(NodeId) -> StaticCost) -> bool {
    let is_bounded = match tree.ast().expr(id) {
        Expr::Binary { op, .. } => *op != BinaryOp::Add,
        Expr::Call { function, .. } => matches!(tree.ast().name(*function), "startsWith" | "endsWith"),
        _ => return false,
    };
    let operands = evaluated_children(tree, id);
    let is_text = |id: &NodeId| matches!(tree.type_of(*id), Type::String | Type::Bytes);
    let is_literal = |id: &NodeId| cost(*id).is_constant();
    operands.iter().any(|id| is_text(id) && !is_literal(id)) && !(is_bounded && operands.iter().any(is_literal))
}

/// Returns the cost of each part that is evaluated and is no literal, the whole rule last. Of parts in the same place,
/// such as those of the body of a definition, the outermost.
pub(crate) fn part_costs(tree: &Checked) -> Vec<PartCost> {
    let costs = static_costs(tree);
    let (mut evaluated, mut places) = (HashSet::from([tree.ast().root()]), HashSet::new());
    let mut parts = Vec::new();
    for (id, cost) in (0..u32::try_from(costs.len()).unwrap_or(u32::MAX)).map(NodeId).zip(costs).rev() {
        if !evaluated.contains(&id) {
            continue;
        }
        evaluated.extend(evaluated_children(tree, id));
        let span = tree.ast().span(id);
        if !cost.is_constant() && places.insert((span.start, span.end)) {
            parts.push(PartCost { span, cost });
        }
    }
    parts.reverse();
    parts
}
