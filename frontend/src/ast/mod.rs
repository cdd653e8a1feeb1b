//! The syntax tree: one arena, built children first, with a span on every node.
//!
//! Nodes refer to each other by index, so dropping a tree, cloning it or walking all of it never
//! recurses. A node's children always have smaller ids than the node, and the tree's depth is at
//! most [`Limits::max_depth`], which the parser enforces: a walk that does recurse (the checker,
//! the interpreter) does so inside [`with_stack`].
//!
//! Macros are expanded while parsing, into nodes of their own ([`Expr::Fold`], [`Expr::Bind`], [`Expr::OptMap`],
//! [`Expr::Fallback`], and [`Expr::Select`] with `test`): later stages can tell them from other expressions.
//!
//! [`Limits::max_depth`]: crate::Limits::max_depth
//! [`with_stack`]: crate::with_stack

mod expr;

use crate::span::Span;
pub use expr::{BinaryOp, Expr, FallbackKind, FoldKind, Literal, LogicOp, UnaryOp};
use std::sync::Arc;

/// Index of a node in its [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index of an interned name (identifier, field, function) in its [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name(pub u32);

/// A run of node ids in [`Ast::children`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// First index into the child pool.
    pub start: u32,
    /// How many.
    pub len: u32,
}

/// A node with its place in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The expression.
    pub expr: Expr,
    /// The source text of the whole expression, parentheses around it excluded.
    pub span: Span,
    /// Where to point when this node fails: the operator, the field or the function's name.
    pub focus: Span,
    /// 1 for a leaf, else one more than the deepest child.
    pub depth: u32,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Ast {
    source: Arc<str>,
    nodes: Vec<Node>,
    pool: Vec<NodeId>,
    names: Vec<Arc<str>>,
    root: NodeId,
}

static ERROR: Node =
    Node { expr: Expr::Error, span: Span { start: 0, end: 0 }, focus: Span { start: 0, end: 0 }, depth: 1 };

impl Ast {
    /// Assembles a tree from what the parser built.
    pub(crate) fn new(
        source: Arc<str>,
        nodes: Vec<Node>,
        pool: Vec<NodeId>,
        names: Vec<Arc<str>>,
        root: NodeId,
    ) -> Self {
        Self { source, nodes, pool, names, root }
    }

    /// The text the tree was parsed from.
    #[must_use]
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The node of the whole expression.
    #[inline]
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The node behind an id. An id of another tree gives an [`Expr::Error`] or some node of this one.
    #[inline]
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id.0 as usize).unwrap_or(&ERROR)
    }

    /// The expression behind an id.
    #[inline]
    #[must_use]
    pub fn expr(&self, id: NodeId) -> &Expr {
        &self.node(id).expr
    }

    /// The span of a node.
    #[inline]
    #[must_use]
    pub fn span(&self, id: NodeId) -> Span {
        self.node(id).span
    }

    /// The ids of a run of children.
    #[inline]
    #[must_use]
    pub fn children(&self, nodes: Nodes) -> &[NodeId] {
        let start = nodes.start as usize;
        self.pool.get(start..start.saturating_add(nodes.len as usize)).unwrap_or(&[])
    }

    /// The text of a name.
    #[inline]
    #[must_use]
    pub fn name(&self, name: Name) -> &str {
        self.names.get(name.0 as usize).map_or("", |n| n)
    }

    /// Whether a run of children is inside the child pool.
    pub(crate) fn has_children(&self, nodes: Nodes) -> bool {
        (nodes.start as usize).checked_add(nodes.len as usize).is_some_and(|end| end <= self.pool.len())
    }

    /// Whether a name is one of the tree's.
    pub(crate) fn has_name(&self, name: Name) -> bool {
        (name.0 as usize) < self.names.len()
    }

    /// Visits the children of a node in the order written.
    pub fn each_child(&self, id: NodeId, visit: impl FnMut(NodeId)) {
        each_child(self.expr(id), &self.pool, visit);
    }

    /// The name of a text, if it occurs in the tree.
    pub(crate) fn find_name(&self, text: &str) -> Option<Name> {
        let index = self.names.iter().position(|name| **name == *text)?;
        Some(Name(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// All nodes, children before parents.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Depth of the tree: 1 for a single leaf.
    #[inline]
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.node(self.root).depth
    }
}

/// Visits the children of an expression in the order written; `pool` is the tree's child pool.
pub(crate) fn each_child(expr: &Expr, pool: &[NodeId], mut visit: impl FnMut(NodeId)) {
    let run = |nodes: &Nodes| {
        let start = nodes.start as usize;
        pool.get(start..start.saturating_add(nodes.len as usize)).unwrap_or(&[])
    };
    match expr {
        Expr::Error | Expr::Literal(_) | Expr::Ident { .. } => {}
        Expr::Select { operand, .. } | Expr::Unary { operand, .. } => visit(*operand),
        Expr::Index { operand: a, index: b, .. }
        | Expr::Binary { left: a, right: b, .. }
        | Expr::Bind { init: a, body: b, .. }
        | Expr::OptMap { target: a, body: b, .. } => [*a, *b].into_iter().for_each(visit),
        Expr::Cond { condition, then, otherwise } => [*condition, *then, *otherwise].into_iter().for_each(visit),
        Expr::Call { target, args, .. } => target.iter().chain(run(args)).copied().for_each(visit),
        Expr::Logic { operands: nodes, .. }
        | Expr::Fallback { operands: nodes, .. }
        | Expr::List { elements: nodes, .. }
        | Expr::Map { entries: nodes, .. }
        | Expr::Message { values: nodes, .. } => run(nodes).iter().copied().for_each(visit),
        Expr::Fold { range, filter, transform, .. } => {
            [Some(*range), *filter, *transform].into_iter().flatten().for_each(visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Limits, parse};

    #[test]
    fn long_literals_leave_no_room_for_nodes() {
        let source = format!("path == '{}'", "a".repeat(1000));
        let tree = parse(&source, &Limits::default()).unwrap();
        let (kept, used) = (tree.nodes.capacity(), tree.nodes.len());
        assert!(kept <= 8, "{kept} for {used}");
    }
}
