//! Rebuilds a graph node by node, operands first. Every pass uses this.
//!
//! Most passes change nothing. So nothing is built while nodes are unchanged: the new graph is a
//! prefix of the old one, which is copied when the first node differs.

use crate::constant::{ConstId, Constant};
use crate::error::{ErrorKind, Origin};
use crate::graph::{Graph, NodeId};
use crate::op::Op;
use crate::ty::Ty;
use smallvec::{SmallVec, smallvec};

/// Most nodes of a graph for whose working memory nothing is allocated. Most rules have fewer.
const INLINE_NODES: usize = 32;
/// Most constants, and most functions, of such a graph.
const INLINE_PAYLOADS: usize = 8;

/// How often each node is used, indexed by node.
type Uses = SmallVec<[u32; INLINE_NODES]>;

/// A node that is about to be rebuilt. Its payload and operands already belong to the new graph.
#[derive(Clone, Copy)]
pub(super) struct Draft<'d> {
    pub(super) op: Op,
    pub(super) ty: Ty,
    pub(super) args: &'d [NodeId],
    /// The operands' ids in the old graph.
    pub(super) was: &'d [NodeId],
    /// How often each class of the old graph is used, indexed by its first node.
    pub(super) uses: &'d [u32],
    pub(super) origin: Origin,
}

impl Draft<'_> {
    /// An operand. For a missing one it returns an id that is in no graph.
    pub(super) fn arg(&self, index: usize) -> NodeId {
        self.args.get(index).copied().unwrap_or(NodeId(u32::MAX))
    }
}

/// The new graph, and facts about its nodes.
pub(super) struct Builder<'o> {
    old: &'o Graph,
    /// While the new graph is a prefix of the old one, with all its constants and functions: the number of nodes.
    same: Option<usize>,
    /// The new graph once it is no longer a prefix.
    graph: Graph,
    facts: SmallVec<[Facts; INLINE_NODES]>,
}

#[derive(Clone, Copy)]
struct Facts {
    pure: bool,
    sure: bool,
}

impl<'o> Builder<'o> {
    /// A builder that starts as a prefix of the old graph.
    fn same(old: &'o Graph) -> Self {
        Self { old, same: Some(0), graph: Graph::new(), facts: SmallVec::with_capacity(old.len()) }
    }

    /// A builder that starts empty.
    fn anew(old: &'o Graph) -> Self {
        Self { old, same: None, graph: Graph::sized_like(old), facts: SmallVec::with_capacity(old.len()) }
    }

    /// The new graph as a copy that can be changed.
    fn own(&mut self) -> &mut Graph {
        if let Some(len) = self.same.take() {
            self.graph = self.old.prefix(len);
        }
        &mut self.graph
    }

    pub(super) fn add(&mut self, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        let id = self.place(op, ty, args, origin);
        if id.0 as usize == self.facts.len() {
            let pure = op.is_pure() && args.iter().all(|&arg| self.is_pure(arg));
            let sure = !op.fails_within_budget(ty) && args.iter().all(|&arg| self.is_sure(arg));
            self.facts.push(Facts { pure, sure });
        }
        id
    }

    fn place(&mut self, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        if let Some(len) = &mut self.same {
            let next = NodeId(u32::try_from(*len).unwrap_or(u32::MAX));
            if self.old.is(next, op, ty, args, origin) && self.old.origin(next) == origin {
                *len = len.saturating_add(1);
                return next;
            }
            if let Some(id) = self.old.find(op, ty, args, origin).filter(|id| *id < next) {
                return id;
            }
        }
        self.own().add(op, ty, args, origin)
    }

    /// Keeps the node.
    pub(super) fn keep(&mut self, draft: Draft<'_>) -> NodeId {
        self.add(draft.op, draft.ty, draft.args, draft.origin)
    }

    /// Replaces the draft by another operation.
    pub(super) fn put(&mut self, draft: Draft<'_>, op: Op, args: &[NodeId]) -> NodeId {
        self.add(op, draft.ty, args, draft.origin)
    }

    /// Replaces the draft by a constant.
    pub(super) fn put_constant(&mut self, draft: Draft<'_>, constant: Constant) -> NodeId {
        let id = self.intern(constant);
        self.put(draft, Op::Const(id), &[])
    }

    /// Replaces the draft by a failure.
    pub(super) fn put_failure(&mut self, draft: Draft<'_>, kind: ErrorKind) -> NodeId {
        self.put(draft, Op::Fail(kind), &[])
    }

    pub(super) fn intern(&mut self, constant: Constant) -> ConstId {
        if self.same.is_some()
            && let Some(id) = self.old.find_constant(&constant)
        {
            return id;
        }
        self.own().constant(constant)
    }

    /// The new graph. While it is a prefix of the old one, nodes after the prefix are in it too.
    pub(super) fn graph(&self) -> &Graph {
        if self.same.is_some() { self.old } else { &self.graph }
    }

    pub(super) fn op(&self, id: NodeId) -> Op {
        self.graph().op(id)
    }

    /// The class of a node: equal for nodes with equal values.
    pub(super) fn class(&self, id: NodeId) -> NodeId {
        self.graph().class(id)
    }

    /// Whether the old graph uses the value of an operand of the draft, given by its id there, only once.
    pub(super) fn is_used_once(&self, draft: &Draft<'_>, was: NodeId) -> bool {
        draft.uses.get(self.old.class(was).0 as usize) == Some(&1)
    }

    pub(super) fn ty(&self, id: NodeId) -> Ty {
        self.graph().ty(id)
    }

    /// A copy of a node's operands.
    pub(super) fn args(&self, id: NodeId) -> Vec<NodeId> {
        self.graph().args(id).to_vec()
    }

    /// The only or first operand of a node.
    pub(super) fn first(&self, id: NodeId) -> Option<NodeId> {
        self.graph().args(id).first().copied()
    }

    /// The constant of a node, if it is one.
    pub(super) fn constant(&self, id: NodeId) -> Option<&Constant> {
        match self.graph().op(id) {
            Op::Const(constant) => self.graph().constant_at(constant),
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

    /// Whether the node always has a value, if the budget suffices.
    pub(super) fn is_sure(&self, id: NodeId) -> bool {
        self.facts.get(id.0 as usize).is_some_and(|facts| facts.sure)
    }

    /// Whether dropping a node has no visible effect.
    pub(super) fn can_drop(&self, id: NodeId) -> bool {
        self.is_pure(id) && self.is_sure(id)
    }
}

/// Rebuilds the nodes that the roots use; `node` returns the replacement of each. Returns `None` if nothing changes.
pub(super) fn rebuild(old: &Graph, node: impl FnMut(&mut Builder<'_>, Draft<'_>) -> NodeId) -> Option<Graph> {
    let uses = uses(old);
    let builder = if uses.contains(&0) { Builder::anew(old) } else { Builder::same(old) };
    rebuild_with(builder, &uses, node)
}

/// Removes nodes, constants and functions that no root uses. Returns `None` if there are none.
pub(super) fn compact(old: &Graph) -> Option<Graph> {
    let uses = uses(old);
    if !uses.contains(&0) && uses_all_payloads(old) {
        return None;
    }
    rebuild_with(Builder::anew(old), &uses, |builder, draft| builder.keep(draft))
}

fn rebuild_with(
    mut builder: Builder<'_>,
    uses: &[u32],
    mut node: impl FnMut(&mut Builder<'_>, Draft<'_>) -> NodeId,
) -> Option<Graph> {
    let old = builder.old;
    let of_classes = class_uses(old, uses);
    let class_uses = of_classes.as_deref().unwrap_or(uses);
    // A prefix keeps the numbers of constants and functions.
    let renumber = builder.same.is_none();
    let mut places: SmallVec<[NodeId; INLINE_NODES]> = SmallVec::with_capacity(old.len());
    let mut constants: SmallVec<[Option<ConstId>; INLINE_PAYLOADS]> =
        smallvec![None; if renumber { old.constants().len() } else { 0 }];
    let mut args: SmallVec<[NodeId; INLINE_PAYLOADS]> = SmallVec::new();
    for id in old.ids() {
        if uses.get(id.0 as usize).is_none_or(|count| *count == 0) {
            places.push(NodeId(u32::MAX));
            continue;
        }
        let mut op = old.op(id);
        if renumber {
            op = renumbered(&mut builder, &mut constants, op);
        }
        args.clear();
        args.extend(old.args(id).iter().filter_map(|arg| places.get(arg.0 as usize).copied()));
        let draft =
            Draft { op, ty: old.ty(id), args: &args, was: old.args(id), uses: class_uses, origin: old.origin(id) };
        places.push(node(&mut builder, draft));
    }
    let roots = || old.roots().iter().filter_map(|root| places.get(root.0 as usize).copied());
    if builder.same == Some(old.len()) && roots().eq(old.roots().iter().copied()) {
        return None;
    }
    builder.own();
    let mut graph = builder.graph;
    roots().for_each(|root| graph.add_root(root));
    Some(graph)
}

/// An operation of the old graph with the numbers of its constant or function in the new one.
fn renumbered(builder: &mut Builder<'_>, constants: &mut [Option<ConstId>], op: Op) -> Op {
    let old = builder.old;
    if let Some(function) = op.function() {
        let name = old.functions().get(function as usize).map_or("", |name| name);
        return op.with_function(builder.own().function(name));
    }
    match op.constant() {
        Some(constant)
            if let (Some(slot), Some(value)) = (constants.get_mut(constant.0 as usize), old.constant_at(constant)) =>
        {
            op.with_constant(*slot.get_or_insert_with(|| builder.intern(value.clone())))
        }
        _ => op,
    }
}

/// Whether nodes use all constants and functions.
fn uses_all_payloads(graph: &Graph) -> bool {
    let mut constants: SmallVec<[bool; INLINE_PAYLOADS]> = smallvec![false; graph.constants().len()];
    let mut functions: SmallVec<[bool; INLINE_PAYLOADS]> = smallvec![false; graph.functions().len()];
    for id in graph.ids() {
        let op = graph.op(id);
        if let Some(used) = op.constant().and_then(|constant| constants.get_mut(constant.0 as usize)) {
            *used = true;
        }
        if let Some(function) = op.function()
            && let Some(used) = functions.get_mut(function as usize)
        {
            *used = true;
        }
    }
    constants.into_iter().chain(functions).all(|used| used)
}

/// How often each node is used by a root or a node that is used.
fn uses(graph: &Graph) -> Uses {
    let mut counts: Uses = smallvec![0; graph.len()];
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

/// How often each class is used by a root or by a class that is used, indexed by its first node.
/// `None` if each class is one node, so that `uses` says it.
fn class_uses(graph: &Graph, uses: &[u32]) -> Option<Vec<u32>> {
    if !graph.has_occurrences() {
        return None;
    }
    let mut counts = vec![0u32; graph.len()];
    let mut seen = vec![false; graph.len()];
    let mut count = |id: NodeId| {
        if let Some(count) = counts.get_mut(graph.class(id).0 as usize) {
            *count = count.saturating_add(1);
        }
    };
    graph.roots().iter().copied().for_each(&mut count);
    for id in graph.ids().filter(|id| uses.get(id.0 as usize).is_some_and(|count| *count > 0)) {
        if let Some(seen) = seen.get_mut(graph.class(id).0 as usize)
            && !std::mem::replace(seen, true)
        {
            graph.args(id).iter().copied().for_each(&mut count);
        }
    }
    Some(counts)
}
