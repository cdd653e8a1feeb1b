//! The static cost of a graph, in units of the budget: an integer comparison is 1.

use crate::graph::{Graph, NodeId};
use crate::op::Op;

/// What evaluating all roots of a graph once costs when nothing fails, each node being evaluated once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// What is always evaluated.
    pub least: u64,
    /// All that is not inside a fold.
    pub most: u64,
    /// All that is inside folds: with `n` turns of folds in total an evaluation costs at most `most + n * per_turn`.
    pub per_turn: u64,
}

impl Cost {
    /// The cost of a graph.
    #[must_use]
    pub fn of(graph: &Graph) -> Self {
        let mut marks = vec![Mark::default(); graph.len()];
        let mut reach = |id: NodeId, mark: Mark| {
            if let Some(known) = marks.get_mut(id.0 as usize) {
                *known = Mark {
                    always: known.always || mark.always,
                    outside: known.outside || mark.outside,
                    turn: known.turn || mark.turn,
                };
            }
            marks.get(id.0 as usize).copied().unwrap_or_default()
        };
        for &root in graph.roots() {
            reach(root, Mark { always: true, outside: true, turn: false });
        }
        let mut cost = Self::default();
        // Users come after their operands, so in reverse order a node's marks are complete when it is reached.
        for id in graph.ids().rev() {
            let mark = reach(id, Mark::default());
            let op = graph.op(id);
            for (index, &arg) in graph.args(id).iter().enumerate() {
                let later = index > 0;
                let turn = later && matches!(op, Op::Fold { .. });
                let skipped = later && matches!(op, Op::And | Op::Or | Op::Cond | Op::Coalesce(_) | Op::Fold { .. });
                reach(
                    arg,
                    Mark {
                        always: mark.always && !skipped,
                        outside: mark.outside && !turn,
                        turn: mark.turn || (turn && mark.outside),
                    },
                );
            }
            let own = u64::from(op.decl().cost);
            let per_turn = mark.turn || (mark.outside && matches!(op, Op::Fold { .. }));
            cost.least = cost.least.saturating_add(if mark.always { own } else { 0 });
            cost.most = cost.most.saturating_add(if mark.outside { own } else { 0 });
            cost.per_turn = cost.per_turn.saturating_add(if per_turn { own } else { 0 });
        }
        cost
    }
}

/// How a node is reached from the roots.
#[derive(Clone, Copy, Default)]
struct Mark {
    always: bool,
    outside: bool,
    turn: bool,
}
