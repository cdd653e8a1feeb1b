//! Rebuilding a graph, node by node from its roots' operands upwards: what every pass is made of.

use crate::constant::{ConstId, Constant};
use crate::error::{ErrorKind, Origin};
use crate::fallible::fails_within_budget;
use crate::graph::{Graph, NodeId};
use crate::op::Op;
use crate::ty::Ty;

/// A node about to be rebuilt: its payload and operands are already of the new graph.
#[derive(Clone, Copy)]
pub(super) struct Draft<'d> {
    pub(super) op: Op,
    pub(super) ty: Ty,
    pub(super) args: &'d [NodeId],
    /// The operands' ids in the old graph.
    pub(super) was: &'d [NodeId],
    pub(super) origin: Origin,
}

impl Draft<'_> {
    /// An operand. One that is not there gives an id of no graph, which nothing is known of.
    pub(super) fn arg(&self, index: usize) -> NodeId {
        self.args.get(index).copied().unwrap_or(NodeId(u32::MAX))
    }
}

/// The new graph, and what is known of its nodes.
#[derive(Default)]
pub(super) struct Builder {
    graph: Graph,
    facts: Vec<Facts>,
}

#[derive(Clone, Copy)]
struct Facts {
    pure: bool,
    sure: bool,
}

impl Builder {
    pub(super) fn add(&mut self, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        let id = self.graph.add(op, ty, args, origin);
        if id.0 as usize == self.facts.len() {
            let pure = op.is_pure() && args.iter().all(|&arg| self.is_pure(arg));
            let sure = !fails_within_budget(op, ty) && args.iter().all(|&arg| self.is_sure(arg));
            self.facts.push(Facts { pure, sure });
        }
        id
    }

    /// The node as it is.
    pub(super) fn keep(&mut self, draft: Draft<'_>) -> NodeId {
        self.add(draft.op, draft.ty, draft.args, draft.origin)
    }

    /// Another operation in the draft's place.
    pub(super) fn put(&mut self, draft: Draft<'_>, op: Op, args: &[NodeId]) -> NodeId {
        self.add(op, draft.ty, args, draft.origin)
    }

    /// A constant in the draft's place.
    pub(super) fn put_constant(&mut self, draft: Draft<'_>, constant: Constant) -> NodeId {
        let id = self.graph.constant(constant);
        self.put(draft, Op::Const(id), &[])
    }

    /// A failure in the draft's place.
    pub(super) fn put_failure(&mut self, draft: Draft<'_>, kind: ErrorKind) -> NodeId {
        self.put(draft, Op::Fail(kind), &[])
    }

    pub(super) fn intern(&mut self, constant: Constant) -> ConstId {
        self.graph.constant(constant)
    }

    pub(super) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(super) fn op(&self, id: NodeId) -> Op {
        self.graph.op(id)
    }

    pub(super) fn ty(&self, id: NodeId) -> Ty {
        self.graph.ty(id)
    }

    /// A copy of a node's operands.
    pub(super) fn args(&self, id: NodeId) -> Vec<NodeId> {
        self.graph.args(id).to_vec()
    }

    /// The only or first operand of a node.
    pub(super) fn first(&self, id: NodeId) -> Option<NodeId> {
        self.graph.args(id).first().copied()
    }

    /// The constant that a node is.
    pub(super) fn constant(&self, id: NodeId) -> Option<&Constant> {
        match self.graph.op(id) {
            Op::Const(constant) => self.graph.constant_at(constant),
            _ => None,
        }
    }

    pub(super) fn bool_constant(&self, id: NodeId) -> Option<bool> {
        match self.constant(id) {
            Some(Constant::Bool(value)) if self.ty(id) == Ty::Bool => Some(*value),
            _ => None,
        }
    }

    /// Whether equal evaluations of the node give equal results.
    pub(super) fn is_pure(&self, id: NodeId) -> bool {
        self.facts.get(id.0 as usize).is_some_and(|facts| facts.pure)
    }

    /// Whether the node has a value always, budget given.
    pub(super) fn is_sure(&self, id: NodeId) -> bool {
        self.facts.get(id.0 as usize).is_some_and(|facts| facts.sure)
    }

    /// Whether a node's evaluation can be left out without anybody seeing.
    pub(super) fn can_drop(&self, id: NodeId) -> bool {
        self.is_pure(id) && self.is_sure(id)
    }
}

/// Rebuilds what the roots of a graph use: `node` gives each node its place in the new graph.
pub(super) fn rebuild(old: &Graph, mut node: impl FnMut(&mut Builder, Draft<'_>) -> NodeId) -> Graph {
    let counts = uses(old);
    let mut builder = Builder::default();
    let mut places: Vec<NodeId> = Vec::with_capacity(old.len());
    let mut constants: Vec<Option<ConstId>> = vec![None; old.constants().len()];
    let mut args: Vec<NodeId> = Vec::new();
    for id in old.ids() {
        if counts.get(id.0 as usize).is_none_or(|count| *count == 0) {
            places.push(NodeId(u32::MAX));
            continue;
        }
        let mut op = old.op(id);
        if let Op::Dispatch { function, pure } = op {
            let name = old.functions().get(function as usize).map_or("", |name| name);
            op = Op::Dispatch { function: builder.graph.function(name), pure };
        }
        if let Some(constant) = op.constant()
            && let Some(slot) = constants.get_mut(constant.0 as usize)
            && let Some(value) = old.constant_at(constant)
        {
            op = op.with_constant(*slot.get_or_insert_with(|| builder.graph.constant(value.clone())));
        }
        args.clear();
        args.extend(old.args(id).iter().filter_map(|arg| places.get(arg.0 as usize).copied()));
        let draft = Draft { op, ty: old.ty(id), args: &args, was: old.args(id), origin: old.origin(id) };
        places.push(node(&mut builder, draft));
    }
    for root in old.roots() {
        if let Some(&place) = places.get(root.0 as usize) {
            builder.graph.add_root(place);
        }
    }
    builder.graph
}

/// How often each node is used by a root or a node that is used.
pub(super) fn uses(graph: &Graph) -> Vec<u32> {
    let mut counts = vec![0u32; graph.len()];
    let mut count = |id: NodeId| {
        if let Some(count) = counts.get_mut(id.0 as usize) {
            *count = count.saturating_add(1);
        }
    };
    graph.roots().iter().copied().for_each(&mut count);
    for id in graph.ids().rev() {
        if counts.get(id.0 as usize).is_some_and(|count| *count > 0) {
            for &arg in graph.args(id) {
                if let Some(count) = counts.get_mut(arg.0 as usize) {
                    *count = count.saturating_add(1);
                }
            }
        }
    }
    counts
}
