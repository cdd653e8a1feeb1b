//! The graph: pure, typed and hash-consed, so equal expressions are one node, or one class of nodes if they can fail, across all rules of
//! a set.
//!
//! If an expression that can fail is written twice, each *occurrence* is a node, because its error names its place. Equal expressions
//! at different places have the same *class*: their values are equal, so whatever is about values (sharing, comparing) is about classes.
//!
//! A node's operands always have smaller ids than the node: a loop over ids sees operands first, and no walk recurses.

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
    hasher: foldhash::fast::FixedState,
    /// The first node of each class, by operation and the classes of its operands.
    class_index: HashTable<NodeId>,
    /// The other nodes, by class, operands and origin.
    occurrence_index: HashTable<NodeId>,
    constant_index: HashTable<ConstId>,
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
            class_index: HashTable::with_capacity(nodes),
            constant_index: HashTable::with_capacity(nodes / 4),
            ..Self::default()
        }
    }

    /// Returns the node of this operation on these operands at this place. If an equal node exists, it is returned, with its old
    /// origin, unless the operation can fail at another place; then the new node has its class. Impure operations are always added.
    pub fn add(&mut self, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        let hash = self.class_hash(op, ty, args);
        match self.find_class(hash, op, ty, args) {
            Some(class) => self.add_occurrence(class, op, ty, args, origin),
            None => self.push_class(hash, op, ty, args, origin),
        }
    }

    /// Returns the class of this operation on these operands, wherever it is written. Adds it if it is new.
    pub fn add_class(&mut self, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        let hash = self.class_hash(op, ty, args);
        self.find_class(hash, op, ty, args).unwrap_or_else(|| self.push_class(hash, op, ty, args, origin))
    }

    fn add_occurrence(&mut self, class: NodeId, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        if self.is(class, op, ty, args, origin) { class } else { self.add_apart(class, op, ty, args, origin) }
    }

    /// Returns the node of an occurrence of a class at this place: not the first node of the class, even if that has the same place,
    /// unless places do not matter to it. For the occurrences of a rule in a graph of several, where the first node of a class stands
    /// for its first occurrence in each rule.
    pub fn add_apart(&mut self, class: NodeId, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        if matches!(op, Op::Dispatch { pure: false, .. }) {
            return self.add(op, ty, args, origin);
        }
        if !op.has_place(ty) && self.args(class) == args {
            return class;
        }
        let hash = self.occurrence_hash(class, args, placed(op, ty, origin));
        if let Some(id) = self.find_occurrence(hash, class, op, ty, args, origin) {
            return id;
        }
        let id = self.push(op, ty, args, origin, Some(class));
        self.index_occurrence(hash, id);
        id
    }

    fn push_class(&mut self, hash: u64, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> NodeId {
        let id = self.push(op, ty, args, origin, None);
        self.index_class(hash, id);
        id
    }

    /// Adds a node. Without a class it is the first of its own.
    fn push(&mut self, op: Op, ty: Ty, args: &[NodeId], origin: Origin, class: Option<NodeId>) -> NodeId {
        let id = NodeId(next(self.nodes.len()));
        self.nodes.push(Node { op, ty, args: next(self.pool.len()), arity: next(args.len()) });
        self.origins.push(origin);
        self.classes.push(class.unwrap_or(id));
        self.pool.extend_from_slice(args);
        id
    }

    fn class_hash(&self, op: Op, ty: Ty, args: &[NodeId]) -> u64 {
        class_hash(&self.hasher, &self.classes, op, ty, args)
    }

    fn occurrence_hash(&self, class: NodeId, args: &[NodeId], origin: Origin) -> u64 {
        self.hasher.hash_one((class, args, origin))
    }

    fn index_class(&mut self, hash: u64, id: NodeId) {
        let (nodes, pool, classes, hasher) = (&self.nodes, &self.pool, &self.classes, &self.hasher);
        self.class_index.insert_unique(hash, id, |&id| {
            let node = nodes.get(id.0 as usize).copied().unwrap_or(NOTHING);
            class_hash(hasher, classes, node.op, node.ty, operands(pool, node))
        });
    }

    fn index_occurrence(&mut self, hash: u64, id: NodeId) {
        let (nodes, origins, pool, classes, hasher) =
            (&self.nodes, &self.origins, &self.pool, &self.classes, &self.hasher);
        self.occurrence_index.insert_unique(hash, id, |&id| {
            let node = nodes.get(id.0 as usize).copied().unwrap_or(NOTHING);
            let origin = origins.get(id.0 as usize).copied().unwrap_or_default();
            let class = classes.get(id.0 as usize).copied().unwrap_or(id);
            hasher.hash_one((class, operands(pool, node), placed(node.op, node.ty, origin)))
        });
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
        if matches!(op, Op::Dispatch { pure: false, .. }) {
            return None;
        }
        let same = |&id: &NodeId| {
            let node = self.node(id);
            let operands = self.args(id);
            node.op == op
                && node.ty == ty
                && (operands == args
                    || operands.len() == args.len()
                        && operands.iter().zip(args).all(|(&one, &other)| self.class(one) == self.class(other)))
        };
        self.class_index.find(hash, same).copied()
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
        let same = |&id: &NodeId| self.class(id) == class && self.is(id, op, ty, args, origin);
        self.occurrence_index.find(hash, same).copied()
    }

    /// Whether a node is this operation on these operands, at this place if it can fail.
    pub(crate) fn is(&self, id: NodeId, op: Op, ty: Ty, args: &[NodeId], origin: Origin) -> bool {
        let node = self.node(id);
        let same = node.op == op && node.ty == ty && self.args(id) == args;
        same && (self.origin(id) == origin || !op.has_place(ty))
    }

    /// The class of a node: the first node that was added of those that are equal but for places. Nodes of one class have equal
    /// values, and fail with the same kind of error, but each at its own place.
    #[must_use]
    pub fn class(&self, id: NodeId) -> NodeId {
        self.classes.get(id.0 as usize).copied().unwrap_or(id)
    }

    /// Whether there are nodes of one class, so that classes and nodes differ.
    #[must_use]
    pub fn has_occurrences(&self) -> bool {
        !self.occurrence_index.is_empty()
    }

    /// An empty graph with capacity for as many nodes as another has.
    pub(crate) fn sized_like(other: &Self) -> Self {
        Self {
            nodes: Vec::with_capacity(other.nodes.len()),
            origins: Vec::with_capacity(other.nodes.len()),
            classes: Vec::with_capacity(other.nodes.len()),
            pool: Vec::with_capacity(other.pool.len()),
            constants: Vec::with_capacity(other.constants.len()),
            class_index: HashTable::with_capacity(other.nodes.len()),
            constant_index: HashTable::with_capacity(other.constants.len()),
            ..Self::default()
        }
    }

    /// The graph of the first `len` nodes, with all constants and functions and without roots.
    pub(crate) fn prefix(&self, len: usize) -> Self {
        let mut graph = Self::sized_like(self);
        graph.constants.clone_from(&self.constants);
        graph.constant_index.clone_from(&self.constant_index);
        graph.functions.clone_from(&self.functions);
        for id in self.ids().take(len) {
            let (node, args) = (self.node(id), self.args(id));
            let (class, origin) = (self.class(id), self.origin(id));
            graph.push(node.op, node.ty, args, origin, Some(class));
            if class == id {
                graph.index_class(graph.class_hash(node.op, node.ty, args), id);
            } else {
                graph.index_occurrence(graph.occurrence_hash(class, args, placed(node.op, node.ty, origin)), id);
            }
        }
        graph
    }

    /// Returns the id of a constant, which is added unless an equal one exists.
    pub fn constant(&mut self, constant: Constant) -> ConstId {
        let hash = self.hasher.hash_one(&constant);
        if let Some(&id) = self.constant_index.find(hash, |&id| self.constant_at(id) == Some(&constant)) {
            return id;
        }
        let id = ConstId(next(self.constants.len()));
        self.constants.push(constant);
        let (constants, hasher) = (&self.constants, &self.hasher);
        self.constant_index.insert_unique(hash, id, |&id| {
            constants.get(id.0 as usize).map_or(0, |constant| hasher.hash_one(constant))
        });
        id
    }

    /// The id of a constant, if the graph has it.
    pub(crate) fn find_constant(&self, constant: &Constant) -> Option<ConstId> {
        let hash = self.hasher.hash_one(constant);
        self.constant_index.find(hash, |&id| self.constant_at(id) == Some(constant)).copied()
    }

    /// Returns the index of a function that is called through [`Op::Dispatch`]; its name identifies it.
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

    /// The names of the functions called through [`Op::Dispatch`]; their numbers are their indices.
    #[must_use]
    pub fn functions(&self) -> &[Arc<str>] {
        &self.functions
    }
}

/// Compares structure: the same nodes in the same order, with the same operands, types, origins, constants, functions and roots.
/// The numbers of constants and functions, and unused ones, do not count.
impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        let same_op = |a: Op, b: Op| match (a, b) {
            (Op::Dispatch { function: f, pure: p }, Op::Dispatch { function: g, pure: q }) => {
                p == q && self.functions.get(f as usize) == other.functions.get(g as usize)
            }
            _ => match (a.constant(), b.constant()) {
                (Some(c), Some(d)) => a == b.with_constant(c) && self.constant_at(c) == other.constant_at(d),
                _ => a == b,
            },
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

fn class_hash(hasher: &foldhash::fast::FixedState, classes: &[NodeId], op: Op, ty: Ty, args: &[NodeId]) -> u64 {
    let mut hash = hasher.build_hasher();
    (op, ty, args.len()).hash(&mut hash);
    for arg in args {
        classes.get(arg.0 as usize).unwrap_or(arg).hash(&mut hash);
    }
    hash.finish()
}

fn operands(pool: &[NodeId], node: Node) -> &[NodeId] {
    let start = node.args as usize;
    pool.get(start..start.saturating_add(node.arity as usize)).unwrap_or(&[])
}
