//! Verifies the invariants of checked trees, on which later stages rely.

mod meaning;
mod structure;

use crate::ast::NodeId;
use crate::checked::Checked;
use crate::declarations::Declarations;
use crate::limits::Limits;
use std::fmt;

/// What a checked tree must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Invariant {
    /// The source and the tree keep the limits on bytes, nodes and depth; a node's depth is one
    /// more than the deepest child's.
    Size,
    /// The children of a node have smaller ids than the node; ids, names and lists of children are the tree's own.
    Order,
    /// Spans are inside the source, at character boundaries.
    Span,
    /// An expression has the parts that its kind needs.
    Shape,
    /// A node's type is bounded, has no parameters, inference variables or errors, and suits the expression.
    Type,
    /// A name or a call refers to something that is declared, and a call to functions that its operands may fit.
    Reference,
    /// A reference to a macro's variable is in the scope of that variable.
    Scope,
    /// An evaluated node has one parent, except names and literals.
    Sharing,
}

/// A checked tree that is not valid: a fault of the rule language that built it, not of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidTree {
    /// The node, where the fault is one node's.
    pub node: Option<NodeId>,
    /// What does not hold.
    pub invariant: Invariant,
    /// The message: lower-case, one line, without a period.
    pub message: String,
}

impl fmt::Display for InvalidTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Some(NodeId(id)) => write!(f, "node {id}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for InvalidTree {}

type Verified = Result<(), Box<InvalidTree>>;

fn broken(invariant: Invariant, node: impl Into<Option<NodeId>>, message: impl Into<String>) -> Box<InvalidTree> {
    Box::new(InvalidTree { node: node.into(), invariant, message: message.into() })
}

impl Checked {
    /// Tests the invariants of the tree against the declarations and limits that it was made for.
    ///
    /// [`TreeBuilder::finish`](crate::TreeBuilder::finish) does. Takes time linear in the number of nodes.
    ///
    /// # Errors
    ///
    /// The first invariant that does not hold, and the node where it does not.
    pub fn verify(&self, declarations: &Declarations, limits: &Limits) -> Verified {
        self.verify_structure(limits)?;
        meaning::verify(self, declarations)
    }

    /// Tests the invariants that say nothing about types and references.
    pub(crate) fn verify_structure(&self, limits: &Limits) -> Verified {
        structure::verify(self, limits)
    }
}
