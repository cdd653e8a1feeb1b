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
    /// Whether the failure may be final.
    ends: Vec<bool>,
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
        let room = || Vec::with_capacity(graph.len());
        let mut found = Self { own: room(), whole: room(), ends: room() };
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
            // The error of what a `Let` binds surfaces where the variable is used, unless it is final.
            let absorbed = matches!(op, Op::Let(_)) && args.first().is_some_and(|&init| !found.ends(init));
            let operands = if absorbed { args.get(1..).unwrap_or(&[]) } else { args };
            let ends = own && exhausts(op, fields) || args.iter().any(|&arg| found.ends(arg));
            found.ends.push(ends);
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

    /// Whether evaluating the node, with its operands, can exhaust the budget.
    fn ends(&self, id: NodeId) -> bool {
        self.ends.get(id.0 as usize).copied().unwrap_or(true)
    }

    /// Whether evaluating the node, with its operands, can fail.
    #[must_use]
    pub fn whole(&self, id: NodeId) -> bool {
        self.whole.get(id.0 as usize).copied().unwrap_or(true)
    }
}

/// Whether the failure of an operation that can fail may be final, its operands having values.
fn exhausts(op: Op, fields: &[Field]) -> bool {
    match op {
        Op::Fail(kind) => kind.is_final(),
        Op::Field(field) => fields.get(field as usize).is_none_or(|field| field.access == Access::Get),
        Op::Arith(_) | Op::Neg | Op::Require | Op::Unbox(_) | Op::Local(_) => false,
        _ => true,
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
