//! The shapes of the parts of a rule in the filter language, for [`necessary`](crate::language::necessary).

use super::binding::{FilterBinding, Source};
use crate::language::{KnownNames, RuleTree, Shape, Shapes};
use crate::lower::is_pure;
use celero_frontend::filter::{Connective, FilterExpr, FilterTree};
use celero_frontend::{NodeId, Reference, Span};

/// A rule.
pub(super) struct FilterShapes<'t> {
    rule: &'t dyn RuleTree,
    tree: &'t FilterTree,
    /// For each node, whether it reads only what is known.
    known: Vec<bool>,
}

impl<'t> FilterShapes<'t> {
    pub(super) fn new(
        rule: &'t dyn RuleTree,
        tree: &'t FilterTree,
        binding: &FilterBinding,
        names: KnownNames<'_>,
    ) -> Self {
        let mut parts = Vec::new();
        let mut known = vec![false; tree.nodes().len()];
        for index in 0..known.len() {
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            let is_own = match tree.expr(id) {
                FilterExpr::Field(field) => is_known(binding.source(*field), names),
                FilterExpr::Call { function, .. } => is_pure_function(binding, *function, names),
                _ => true,
            };
            // Children have smaller ids.
            parts.clear();
            rule.add_parts(id, &mut parts);
            let are_parts = parts.iter().all(|part| known.get(part.0 as usize) == Some(&true));
            if let Some(place) = known.get_mut(index) {
                *place = is_own && are_parts;
            }
        }
        Self { rule, tree, known }
    }
}

fn is_pure_function(binding: &FilterBinding, function: u32, names: KnownNames<'_>) -> bool {
    binding.host_function(function).is_none_or(|(index, _)| names.functions.is_pure(index))
}

/// Whether the value of a field follows from what is known.
fn is_known(source: &Source, names: KnownNames<'_>) -> bool {
    match source {
        Source::Missing => true,
        Source::Variable(variable, _) | Source::Header { map: variable, .. } => names.has(*variable),
        Source::Derived(_, base) => is_known(base, names),
        Source::Expression(expression) => {
            let tree = expression.checked();
            let ids = (0..u32::try_from(tree.ast().nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
            ids.map(|id| tree.reference(id)).all(|reference| match reference {
                Reference::Variable(variable) => names.has(*variable),
                Reference::Call { overloads, .. } => overloads.iter().all(|called| is_pure(called, names.functions)),
                Reference::Undeclared => false,
                _ => true,
            })
        }
    }
}

impl Shapes for FilterShapes<'_> {
    type Part = NodeId;

    const AND: &'static str = "and";
    const OR: &'static str = "or";
    const NOT: &'static str = "not ";

    fn shape(&mut self, id: NodeId) -> Shape<NodeId> {
        if self.known.get(id.0 as usize) == Some(&true) {
            let Span { start, end } = self.rule.span(id);
            return Shape::Known(self.rule.source().get(start as usize..end as usize).unwrap_or_default().to_owned());
        }
        let tree = self.tree;
        match tree.expr(id) {
            FilterExpr::Logic { op: Connective::And, operands } => Shape::And(tree.children(*operands).to_vec()),
            FilterExpr::Logic { op: Connective::Or, operands } => Shape::Or(tree.children(*operands).to_vec()),
            FilterExpr::Not(operand) => Shape::Not(*operand),
            _ => Shape::Unknown,
        }
    }
}
