//! Which nodes can fail.

use crate::graph::{Graph, NodeId};
use crate::layout::{Access, Field};
use crate::op::Op;
use crate::table::Fails;
use crate::ty::Ty;
use std::collections::HashSet;

/// Which nodes of a graph can fail, [`OutOfBudget`](crate::ErrorKind::OutOfBudget) included. Never says that a node can't fail when it can.
#[derive(Clone, Debug)]
pub struct Fallible {
    own: Vec<bool>,
    whole: Vec<bool>,
}

impl Fallible {
    /// Looks at a graph over a host with these fields.
    #[must_use]
    pub fn new(graph: &Graph, fields: &[Field]) -> Self {
        // Levels that a `Let` binds to what may fail. Whether it may can hang on other levels, so this repeats while the set
        // grows; after some rounds all levels of a `Let` are taken to be in it.
        const ROUNDS: usize = 8;
        let mut failing: HashSet<u32> = HashSet::new();
        let mut round: usize = 0;
        loop {
            let found = Self::given(graph, fields, &failing);
            let before = failing.len();
            failing.extend(graph.ids().filter_map(|id| match (graph.op(id), graph.args(id).first()) {
                (Op::Let(level), Some(&init)) if round >= ROUNDS || found.whole(init) => Some(level),
                _ => None,
            }));
            if failing.len() == before {
                return found;
            }
            round = round.saturating_add(1);
        }
    }

    fn given(graph: &Graph, fields: &[Field], failing: &HashSet<u32>) -> Self {
        let mut found = Self { own: Vec::with_capacity(graph.len()), whole: Vec::with_capacity(graph.len()) };
        for id in graph.ids() {
            let (op, args) = (graph.op(id), graph.args(id));
            let own = match op.decl().fails {
                Fails::Never => false,
                Fails::OnBudget | Fails::Maybe => true,
                Fails::UnlessDouble => graph.ty(id) != Ty::Double,
                Fails::WhenAbsent => match op {
                    Op::Field(field) => {
                        fields.get(field as usize).is_none_or(|field| field.optional || field.access == Access::Get)
                    }
                    _ => true,
                },
                Fails::WhenBoundToError => matches!(op, Op::Local(level) if failing.contains(&level)),
            };
            // The error of what a `Let` binds surfaces where the variable is used.
            let operands = if matches!(op, Op::Let(_)) { args.get(1..).unwrap_or(&[]) } else { args };
            let whole = own || operands.iter().any(|&arg| found.whole(arg));
            found.own.push(own);
            found.whole.push(whole);
        }
        found
    }

    /// Whether the node's own operation can fail when its operands have values.
    #[must_use]
    pub fn own(&self, id: NodeId) -> bool {
        self.own.get(id.0 as usize).copied().unwrap_or(true)
    }

    /// Whether evaluating the node, with its operands, can fail.
    #[must_use]
    pub fn whole(&self, id: NodeId) -> bool {
        self.whole.get(id.0 as usize).copied().unwrap_or(true)
    }
}

/// Whether an operation of this type can fail with anything but [`OutOfBudget`](crate::ErrorKind::OutOfBudget), its operands having values and
/// nothing being known of the host.
pub(crate) fn fails_within_budget(op: Op, ty: Ty) -> bool {
    match op.decl().fails {
        Fails::Never | Fails::OnBudget => false,
        Fails::UnlessDouble => ty != Ty::Double,
        Fails::Maybe | Fails::WhenAbsent | Fails::WhenBoundToError => true,
    }
}
