//! Builds checked trees: how a rule language passes its result to the later stages.

use crate::ast::{Ast, Expr, Name, Node, NodeId, Nodes, each_child};
use crate::checked::{Checked, Reference};
use crate::declarations::Declarations;
use crate::limits::Limits;
use crate::per_node::PerNode;
use crate::span::Span;
use crate::types::Type;
use crate::verify::InvalidTree;
use std::collections::HashMap;
use std::sync::Arc;

/// The place of a node in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text of the whole expression.
    pub span: Span,
    /// Where a diagnostic or an evaluation error points: the operator, the field or the function's name.
    pub focus: Span,
}

impl From<Span> for Place {
    /// A place whose focus is the whole expression.
    fn from(span: Span) -> Self {
        Self { span, focus: span }
    }
}

/// Builds a [`Checked`] tree node by node, children first.
///
/// ```
/// use celero_frontend::{Declarations, Expr, Limits, Literal, Reference, Span, TreeBuilder, Type};
///
/// let mut tree = TreeBuilder::new("yes");
/// let root = tree.add(Expr::Literal(Literal::Bool(true)), Span::new(0, 3), Type::Bool, Reference::None);
/// let checked = tree.finish(root, &Declarations::new(), &Limits::default()).unwrap();
/// assert_eq!(checked.result_type(), &Type::Bool);
/// ```
#[derive(Debug)]
pub struct TreeBuilder {
    source: Arc<str>,
    nodes: Vec<Node>,
    pool: Vec<NodeId>,
    names: Vec<Arc<str>>,
    interned: HashMap<Arc<str>, Name>,
    types: PerNode<Type>,
    references: PerNode<Reference>,
}

impl TreeBuilder {
    /// An empty tree of this source text.
    #[must_use]
    pub fn new(source: &str) -> Self {
        Self::over(source.into())
    }

    pub(crate) fn over(source: Arc<str>) -> Self {
        Self {
            source,
            nodes: Vec::new(),
            pool: Vec::new(),
            names: Vec::new(),
            interned: HashMap::new(),
            types: PerNode::new(),
            references: PerNode::new(),
        }
    }

    /// Interns the name of a variable, field or function. Equal texts give equal names.
    pub fn name(&mut self, text: &str) -> Name {
        if let Some(&name) = self.interned.get(text) {
            return name;
        }
        let name = Name(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = text.into();
        self.names.push(Arc::clone(&text));
        self.interned.insert(text, name);
        name
    }

    /// Stores a list of children for an expression such as [`Expr::Logic`] or [`Expr::Call`].
    pub fn children(&mut self, ids: &[NodeId]) -> Nodes {
        let start = u32::try_from(self.pool.len()).unwrap_or(u32::MAX);
        self.pool.extend_from_slice(ids);
        Nodes { start, len: u32::try_from(ids.len()).unwrap_or(u32::MAX) }
    }

    /// Adds a node with its place, its type and what it refers to, and returns its id. Its children were added before.
    pub fn add(&mut self, expr: Expr, place: impl Into<Place>, ty: Type, reference: Reference) -> NodeId {
        let Place { span, focus } = place.into();
        let depth = self.depth(&expr);
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { expr, span, focus, depth });
        self.types.push(ty);
        self.references.push(reference);
        id
    }

    /// Returns the tree below `root`, which keeps the invariants that [`Checked`] lists.
    ///
    /// Takes time linear in the number of nodes.
    ///
    /// # Errors
    ///
    /// The first invariant that does not hold, and the node where it does not.
    pub fn finish(
        self,
        root: NodeId,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Checked, Box<InvalidTree>> {
        let checked = self.finish_unverified(root);
        checked.verify(declarations, limits)?;
        Ok(checked)
    }

    /// Returns the tree below `root` without types and references, for [`check`](crate::check): what [`add`](Self::add)
    /// was given of these is left out. Its structure is verified.
    ///
    /// # Errors
    ///
    /// The first invariant on structure that does not hold, and the node where it does not.
    pub fn finish_ast(self, root: NodeId, limits: &Limits) -> Result<Ast, Box<InvalidTree>> {
        let untyped = PerNode::filled(self.nodes.len(), Type::Dyn);
        let checked = Self { types: untyped, ..self }.finish_unverified(root);
        checked.verify_structure(limits)?;
        Ok(checked.into_ast())
    }

    /// As [`finish`](Self::finish), of a tree copied from ones that were verified.
    pub(crate) fn finish_unverified(self, root: NodeId) -> Checked {
        let Self { source, nodes, pool, names, types, references, .. } = self;
        Checked::new_unverified(Ast::new(source, nodes, pool, names, root), types, references)
    }

    /// The depth that a node of this expression has.
    pub(crate) fn depth(&self, expr: &Expr) -> u32 {
        let mut below = 0;
        each_child(expr, &self.pool, |child| {
            below = below.max(self.nodes.get(child.0 as usize).map_or(0, |node| node.depth));
        });
        below.saturating_add(1)
    }

    /// The expression and the reference of a node added before.
    pub(crate) fn node(&self, id: NodeId) -> Option<(&Expr, &Reference)> {
        let node = self.nodes.get(id.0 as usize)?;
        Some((&node.expr, self.references.get(id)?))
    }

    /// The type of a node added before.
    pub(crate) fn type_of(&self, id: NodeId) -> Type {
        self.types.get(id).cloned().unwrap_or(Type::Error)
    }
}
