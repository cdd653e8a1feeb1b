//! The graph: pure, typed and hash-consed, so equal expressions are one node, or one class of nodes if they can fail,
//! across all rules of a set.
//!
//! If an expression that can fail is written twice, each *occurrence* is a node, because its error names its place.
//! These nodes have the same *class*. Analyses of values work on classes; error locations belong to nodes.
//!
//! A loop over ids sees operands before the nodes that use them, and no walk recurses.
//!
//! Invariant: nodes are pure: a pass may share, move or drop them. Calls of functions that are declared impure are the
//! exception. Test: `ir/src/merge.rs::what_is_equal_becomes_one_and_the_impure_stays_apart`.
//!
//! Invariant: the operands of a node have smaller ids than the node. Test:
//! `ir/tests/ir/verify.rs::one_node_can_break_each_requirement`.

use crate::constant::{ConstId, Constant};
use crate::error::Origin;
use crate::op::Op;
use crate::ty::Ty;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

/// Index of a node in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A node: an operation, its type and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The type of its value.
    pub ty: Ty,
    /// Start of its operands in the pool.
    args: u32,
    /// Number of its operands.
    arity: u32,
}

/// A graph. Its roots are the nodes whose values are wanted.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    origins: Vec<Origin>,
    /// The first node of each node's class.
    classes: Vec<NodeId>,
    pool: Vec<NodeId>,
    constants: Vec<Constant>,
    functions: Vec<Arc<str>>,
    roots: Vec<NodeId>,
    /// Its seed is random: authors of rules choose the constants, and could choose ones whose hashes are equal.
    hasher: foldhash::fast::RandomState,
    /// Whether some class has several nodes.
    has_occurrences: bool,
    /// The first node of each class, by operation and the classes of its operands. Empty up to [`UNINDEXED`] nodes.
    class_index: Index<NodeId>,
    /// The other nodes, by class, operands and origin. Empty while there are at most [`UNINDEXED`] nodes.
    occurrence_index: Index<NodeId>,
    /// Empty while there are at most [`UNINDEXED`] constants.
    constant_index: Index<ConstId>,
}

/// Most nodes, and most constants, that are compared one by one: for so few, tables cost more than they save.
const UNINDEXED: usize = 16;

/// Ids by the hashes of what they stand for. The hashes are kept: a table that grows reads nothing else.
#[derive(Clone, Debug)]
struct Index<I>(HashTable<(u64, I)>);

impl<I> Default for Index<I> {
    fn default() -> Self {
        Self(HashTable::new())
    }
}

impl<I: Copy + PartialEq> Index<I> {
    fn find(&self, hash: u64, same: impl Fn(I) -> bool) -> Option<I> {
        self.0.find(hash, |&(other, id)| other == hash && same(id)).map(|&(_, id)| id)
    }

    fn insert(&mut self, hash: u64, id: I) {
        self.0.insert_unique(hash, (hash, id), |&(hash, _)| hash);
    }

    fn remove(&mut self, hash: u64, id: I) {
        if let Ok(entry) = self.0.find_entry(hash, |&(_, other)| other == id) {
            entry.remove();
        }
    }
}

const NOTHING: Node = Node { op: Op::Fail(crate::ErrorKind::Host), ty: Ty::Value, args: 0, arity: 0 };

fn next(len: usize) -> u32 {
    // The limits of the frontend keep every pool far below this.
    u32::try_from(len).unwrap_or(u32::MAX)
}

impl Graph {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty graph with capacity for this number of nodes.
    #[must_use]
    pub fn with_capacity(nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(nodes),
            origins: Vec::with_capacity(nodes),
            classes: Vec::with_capacity(nodes),
            pool: Vec::with_capacity(nodes),
            constants: Vec::with_capacity(nodes / 4),
            ..Self::default()
        }
    }

    /// Returns the node of this operation on these operands at this place. If an equal node exists, it is returned,
    /// with its old origin, unless the operation can fail at another place. Impure operations are always added.
    pub fn add(&mut self, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        let hash = self.class_hash(op, ty, args);
        match self.find_class(hash, op, ty, args) {
            Some(class) => self.add_occurrence(class, op, ty, args, origin),
            None => self.push(hash, op, ty, args, origin, None),
        }
    }

    /// Returns the class of this operation on these operands, wherever it is written. Adds it if it is new.
    pub fn add_class(&mut self, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        let hash = self.class_hash(op, ty, args);
        self.find_class(hash, op, ty, args).unwrap_or_else(|| self.push(hash, op, ty, args, origin, None))
    }

    fn add_occurrence(&mut self, class: NodeId, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        if self.is(class, op, ty, args, origin) { class } else { self.add_apart(class, op, ty, args, origin) }
    }

    /// Returns the node of an occurrence of a class at this place: not the first node of the class, even if that has
    /// the same place, unless places do not matter to it. For the occurrences of a rule in a graph of several, where
    /// the first node of a class stands for its first occurrence in each rule.
    pub fn add_apart(&mut self, class: NodeId, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        if !op.is_pure() {
            return self.add(op, ty, args, origin);
        }
        if !op.has_place(ty) && self.args(class) == args {
            return class;
        }
        let hash = self.occurrence_hash(class, args, placed(op, ty, origin));
        match self.find_occurrence(hash, class, op, ty, args, origin) {
            Some(id) => id,
            None => self.push(hash, op, ty, args, origin, Some(class)),
        }
    }

    /// Adds a node, with its [hash](Self::class_hash), or that of an [occurrence](Self::occurrence_hash) of a class.
    /// Without a class it is the first of its own.
    fn push(&mut self, hash: u64, op: Op, ty: Ty, args: &[NodeId], origin: Origin, class: Option<NodeId>) -> NodeId {
        let id = NodeId(next(self.nodes.len()));
        self.nodes.push(Node { op, ty, args: next(self.pool.len()), arity: next(args.len()) });
        self.origins.push(origin);
        self.classes.push(class.unwrap_or(id));
        self.pool.extend_from_slice(args);
        self.has_occurrences |= class.is_some();
        match self.nodes.len().checked_sub(UNINDEXED) {
            None | Some(0) => {}
            Some(1) => self.ids().for_each(|id| self.index_node(self.hash_of(id), id)),
            Some(_) => self.index_node(hash, id),
        }
        id
    }

    fn index_node(&mut self, hash: u64, id: NodeId) {
        let index = if self.class(id) == id { &mut self.class_index } else { &mut self.occurrence_index };
        index.insert(hash, id);
    }

    /// The hash by which a node is indexed.
    fn hash_of(&self, id: NodeId) -> u64 {
        let (Node { op, ty, .. }, args, class) = (self.node(id), self.args(id), self.class(id));
        if class == id {
            self.class_hash(op, ty, args)
        } else {
            self.occurrence_hash(class, args, placed(op, ty, self.origin(id)))
        }
    }

    fn is_indexed(&self) -> bool {
        self.nodes.len() > UNINDEXED
    }

    /// The hash of an operation on classes; 0 while nothing is indexed.
    fn class_hash(&self, op: Op, ty: Ty, args: &[NodeId]) -> u64 {
        if !self.is_indexed() {
            return 0;
        }
        let mut hash = self.hasher.build_hasher();
        (op, ty, args.len()).hash(&mut hash);
        for &arg in args {
            self.class(arg).hash(&mut hash);
        }
        hash.finish()
    }

    /// The hash of an occurrence; 0 while nothing is indexed.
    fn occurrence_hash(&self, class: NodeId, args: &[NodeId], origin: Origin) -> u64 {
        if self.is_indexed() { self.hasher.hash_one((class, args, origin)) } else { 0 }
    }

    /// The node of this operation on these operands at this place, if it exists and may be shared.
    pub(crate) fn find(&self, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> Option<NodeId> {
        let class = self.find_class(self.class_hash(op, ty, args), op, ty, args)?;
        if self.is(class, op, ty, args, origin) {
            return Some(class);
        }
        let hash = self.occurrence_hash(class, args, placed(op, ty, origin));
        self.find_occurrence(hash, class, op, ty, args, origin)
    }

    fn find_class(&self, hash: u64, op: Op, ty: Ty, args: &[NodeId]) -> Option<NodeId> {
        if !op.is_pure() {
            return None;
        }
        let same = |id: NodeId| {
            let node = self.node(id);
            let operands = self.args(id);
            node.op == op
                && node.ty == ty
                && (operands == args
                    || operands.len() == args.len()
                        && operands.iter().zip(args).all(|(&one, &other)| self.class(one) == self.class(other)))
        };
        if self.is_indexed() {
            return self.class_index.find(hash, same);
        }
        self.ids().find(|&id| self.class(id) == id && same(id))
    }

    fn find_occurrence(
        &self,
        hash: u64,
        class: NodeId,
        op: Op,
        ty: Ty,
        args: &[NodeId],
        origin: Origin,
    ) -> Option<NodeId> {
        let same = |id: NodeId| self.class(id) == class && self.is(id, op, ty, args, origin);
        if self.is_indexed() {
            return self.occurrence_index.find(hash, same);
        }
        self.ids().find(|&id| id != class && same(id))
    }

    /// Whether a node is this operation on these operands, at this place if it can fail.
    pub(crate) fn is(&self, id: NodeId, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> bool {
        let node = self.node(id);
        let same = node.op == op && node.ty == ty && self.args(id) == args;
        same && (self.origin(id) == origin || !op.has_place(ty))
    }

    /// The class of a node: the first node that was added of those that are equal but for places. Nodes of one class
    /// have equal values, and fail with the same kind of error, but each at its own place.
    #[must_use]
    pub fn class(&self, id: NodeId) -> NodeId {
        self.classes.get(id.0 as usize).copied().unwrap_or(id)
    }

    /// Whether there are nodes of one class, so that classes and nodes differ.
    #[must_use]
    pub fn has_occurrences(&self) -> bool {
        self.has_occurrences
    }

    /// An empty graph with capacity for as many nodes as another has.
    pub(crate) fn sized_like(other: &Self) -> Self {
        Self {
            nodes: Vec::with_capacity(other.nodes.len()),
            origins: Vec::with_capacity(other.nodes.len()),
            classes: Vec::with_capacity(other.nodes.len()),
            pool: Vec::with_capacity(other.pool.len()),
            constants: Vec::with_capacity(other.constants.len()),
            ..Self::default()
        }
    }

    /// The graph of the first `len` nodes, with all constants and functions and without roots.
    pub(crate) fn prefix(&self, len: usize) -> Self {
        // The hashes in the copied index, and those that are pushed, are of this graph's seed.
        let mut graph = Self { hasher: self.hasher.clone(), ..Self::sized_like(self) };
        graph.constants.clone_from(&self.constants);
        graph.constant_index.clone_from(&self.constant_index);
        graph.functions.clone_from(&self.functions);
        graph.nodes.extend(self.nodes.iter().take(len));
        graph.origins.extend(self.origins.iter().take(len));
        graph.classes.extend(self.classes.iter().take(len));
        let operands = self.nodes.get(len).map_or(self.pool.len(), |node| node.args as usize);
        graph.pool.extend(self.pool.iter().take(operands));
        graph.has_occurrences = graph.ids().any(|id| graph.class(id) != id);
        if graph.is_indexed() && len < self.len() / 2 {
            for id in self.ids().take(len) {
                graph.index_node(self.hash_of(id), id);
            }
        } else if graph.is_indexed() {
            graph.class_index.clone_from(&self.class_index);
            graph.occurrence_index.clone_from(&self.occurrence_index);
            for id in self.ids().skip(len) {
                let index = if self.class(id) == id { &mut graph.class_index } else { &mut graph.occurrence_index };
                index.remove(self.hash_of(id), id);
            }
        }
        graph
    }

    /// Returns the id of a constant, which is added unless an equal one exists.
    pub fn constant(&mut self, constant: Constant) -> ConstId {
        let hash = self.constant_hash(&constant);
        if let Some(id) = self.find_hashed(hash, &constant) {
            return id;
        }
        let id = ConstId(next(self.constants.len()));
        self.constants.push(constant);
        match self.constants.len().checked_sub(UNINDEXED) {
            None | Some(0) => {}
            Some(1) => {
                for (id, constant) in (0..).map(ConstId).zip(&self.constants) {
                    self.constant_index.insert(self.hasher.hash_one(constant), id);
                }
            }
            Some(_) => self.constant_index.insert(hash, id),
        }
        id
    }

    /// The hash of a constant; 0 while constants are not indexed.
    fn constant_hash(&self, constant: &Constant) -> u64 {
        if self.constants.len() > UNINDEXED { self.hasher.hash_one(constant) } else { 0 }
    }

    fn find_hashed(&self, hash: u64, constant: &Constant) -> Option<ConstId> {
        if self.constants.len() > UNINDEXED {
            return self.constant_index.find(hash, |id| self.constant_at(id) == Some(constant));
        }
        let place = self.constants.iter().position(|other| other == constant)?;
        Some(ConstId(next(place)))
    }

    /// The id of a constant, if the graph has it.
    pub(crate) fn find_constant(&self, constant: &Constant) -> Option<ConstId> {
        self.find_hashed(self.constant_hash(constant), constant)
    }

    /// Returns the index of a function that [`Op::Dispatch`] or [`Op::Invoke`] calls; its name identifies it.
    pub fn function(&mut self, name: &str) -> u32 {
        let found = self.functions.iter().position(|f| &**f == name);
        next(found.unwrap_or_else(|| {
            self.functions.push(name.into());
            self.functions.len().saturating_sub(1)
        }))
    }

    /// Adds a root. Roots are numbered in the order in which they are added.
    pub fn add_root(&mut self, root: NodeId) {
        self.roots.push(root);
    }

    /// The nodes whose values are wanted, in the order in which they were added.
    #[must_use]
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// The ids of all nodes, in order: operands come before the nodes that use them.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..next(self.nodes.len())).map(NodeId)
    }

    /// How many nodes there are; their ids are `0..len`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node. For an id that is not in the graph it returns a node that fails.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes.get(id.0 as usize).copied().unwrap_or(NOTHING)
    }

    /// A node's operation.
    #[must_use]
    pub fn op(&self, id: NodeId) -> Op {
        self.node(id).op
    }

    /// A node's type.
    #[must_use]
    pub fn ty(&self, id: NodeId) -> Ty {
        self.node(id).ty
    }

    /// A node's operands.
    #[must_use]
    pub fn args(&self, id: NodeId) -> &[NodeId] {
        operands(&self.pool, self.node(id))
    }

    /// The place of a node in the source. A node that cannot fail may occur elsewhere too: then it is the first place.
    #[must_use]
    pub fn origin(&self, id: NodeId) -> Origin {
        self.origins.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// The constant of an id, if there is one.
    #[must_use]
    pub fn constant_at(&self, id: ConstId) -> Option<&Constant> {
        self.constants.get(id.0 as usize)
    }

    /// All constants; their ids are their indices.
    #[must_use]
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// The names of the functions called through [`Op::Dispatch`] and [`Op::Invoke`]; their numbers are their indices.
    #[must_use]
    pub fn functions(&self) -> &[Arc<str>] {
        &self.functions
    }
}

/// Compares structure: the same nodes in the same order, with the same operands, types, origins, constants, functions
/// and roots. The numbers of constants and functions, and unused ones, do not count.
impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        let same_op = |a: Op, b: Op| match (a.function(), b.function(), a.constant(), b.constant()) {
            (Some(f), Some(g), ..) => {
                a == b.with_function(f) && self.functions.get(f as usize) == other.functions.get(g as usize)
            }
            (.., Some(c), Some(d)) => a == b.with_constant(c) && self.constant_at(c) == other.constant_at(d),
            _ => a == b,
        };
        self.len() == other.len()
            && self.roots == other.roots
            && self.origins == other.origins
            && self.ids().all(|id| {
                self.ty(id) == other.ty(id) && self.args(id) == other.args(id) && same_op(self.op(id), other.op(id))
            })
    }
}

/// The origin of an operation that can fail; none for others, which are the same at all places.
fn placed(op: Op, ty: Ty, origin: Origin) -> Origin {
    if op.has_place(ty) { origin } else { Origin::default() }
}

fn operands(pool: &[NodeId], node: Node) -> &[NodeId] {
    let start = node.args as usize;
    pool.get(start..start.saturating_add(node.arity as usize)).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a field, which can fail, at two places, and a number.
    fn add(graph: &mut Graph, n: u32) -> ([NodeId; 3], ConstId) {
        let at = |start| Origin { start, end: start };
        let [first, second] = [1, 2].map(|place| graph.add(Op::Field(n), Ty::Value, &[], at(place)));
        let constant = graph.constant(Constant::Int(n.into()));
        ([first, second, graph.add(Op::Const(constant), Ty::Value, &[], at(3))], constant)
    }

    #[test]
    fn a_prefix_finds_what_it_has() {
        let mut graph = Graph::new();
        let known: Vec<_> = (0..50).map(|n| add(&mut graph, n)).collect();
        for rules in [3_usize, 10, 24, 26, 49, 50] {
            let mut prefix = graph.prefix(3 * rules);
            for (n, ids) in (0..).zip(known.iter().take(rules)) {
                assert_eq!(add(&mut prefix, n), *ids, "{n} of {rules}");
            }
            assert_eq!((prefix.len(), prefix.constants().len()), (3 * rules, graph.constants().len()));
            assert_eq!(prefix.has_occurrences(), graph.has_occurrences());
            // What comes after it is not in it.
            for (n, ids) in (0..).zip(&known).skip(rules) {
                assert_eq!(add(&mut prefix, n), *ids, "{n} after {rules}");
            }
        }
    }
}
