//! The static cost of the nodes of a tree of the filter language.

use super::binding::FilterBinding;
use crate::language::{DEEPEST, PartCost, StaticCost};
use celero_frontend::NodeId;
use celero_frontend::filter::{AccessStep, Comparison, FilterExpr, FilterTree, FilterType};

/// Returns the [static cost](crate::settings::StaticCost) of each node of a tree of the filter
/// language, by its id; each field is one operation. Time and memory are linear in the number of nodes.
#[must_use]
pub fn static_costs(tree: &FilterTree) -> Vec<StaticCost> {
    costs_with(tree, |_| StaticCost::ONE)
}

/// Returns the cost of each node. `field_cost` is that of a field, by its index.
fn costs_with(tree: &FilterTree, field_cost: impl Fn(u32) -> StaticCost) -> Vec<StaticCost> {
    // With each cost, how deep the lists are that `[*]` makes of the value.
    let mut costs: Vec<(StaticCost, usize)> = Vec::with_capacity(tree.nodes().len());
    for node in tree.nodes() {
        let of = |id: NodeId| costs.get(id.0 as usize).copied().unwrap_or_default();
        let one_for_each = |depth: usize| (0..depth.min(DEEPEST)).fold(StaticCost::ONE, |one, _| one.for_each());
        let is_text = |id: NodeId| tree.node(id).ty == FilterType::Bytes;
        let text = |reads: bool| StaticCost { texts: u32::from(reads), ..StaticCost::default() };
        let cost = match &node.expr {
            FilterExpr::Literal(_) => (StaticCost::default(), 0),
            FilterExpr::Field(index) => (field_cost(*index), 0),
            FilterExpr::Access { base, steps } => {
                let (base, depth) = of(*base);
                let more = steps.iter().filter(|step| **step == AccessStep::Each).count();
                (base.and(StaticCost::ONE), depth.saturating_add(more))
            }
            FilterExpr::Call { function, args } => {
                let args = tree.children(*args);
                let depth = args.first().map_or(0, |first| of(*first).1);
                let name = tree.function(*function).map_or("", |function| &function.name);
                let is_bounded = matches!(name, "starts_with" | "ends_with" | "len");
                let reads = !is_bounded && args.iter().any(|arg| is_text(*arg) && !of(*arg).0.is_constant());
                let sum = args.iter().fold(one_for_each(depth), |sum, arg| sum.and(of(*arg).0));
                (sum.and(text(reads)), depth)
            }
            FilterExpr::Compare { value, comparison } => {
                let (cost, depth) = of(*value);
                let reads = match comparison {
                    Comparison::Contains(_)
                    | Comparison::Matches(_)
                    | Comparison::Wildcard(_)
                    | Comparison::StrictWildcard(_) => true,
                    Comparison::InList(_) => is_text(*value),
                    Comparison::Order(..) | Comparison::BitwiseAnd(_) | Comparison::OneOf(_) => false,
                };
                (cost.and(one_for_each(depth)).and(text(reads)), depth)
            }
            // A value as a condition is looked at by whatever needs the condition.
            FilterExpr::Test(operand) => of(*operand),
            FilterExpr::Not(operand) => {
                let (cost, depth) = of(*operand);
                (cost.and(one_for_each(depth)), depth)
            }
            FilterExpr::Quantifier { operand, .. } => {
                let (cost, depth) = of(*operand);
                // Of an array that is no list of conditions, each element is looked at.
                let depth = depth.max(1);
                (cost.and(one_for_each(depth)).and(StaticCost::ONE), 0)
            }
            FilterExpr::Logic { operands, .. } => {
                let operands = tree.children(*operands);
                let depth = operands.iter().map(|id| of(*id).1).max().unwrap_or(0);
                let mut sum = one_for_each(depth);
                for (number, operand) in operands.iter().enumerate() {
                    // Lists of conditions are joined as a whole.
                    let is_needed = number == 0 || depth > 0;
                    sum = if is_needed { sum.and(of(*operand).0) } else { sum.and_perhaps(of(*operand).0) };
                }
                (sum, depth)
            }
        };
        costs.push(cost);
    }
    costs.into_iter().map(|(cost, _)| cost).collect()
}

/// Returns the cost of each part that is no literal, the whole rule last. A field that was given an expression costs
/// what that does.
pub(super) fn part_costs(tree: &FilterTree, binding: &FilterBinding) -> Vec<PartCost> {
    let costs = costs_with(tree, |index| binding.source(index).static_cost()).into_iter();
    let parts = tree.nodes().iter().zip(costs).filter(|(_, cost)| !cost.is_constant());
    parts.map(|(node, cost)| PartCost { span: node.span, cost }).collect()
}
