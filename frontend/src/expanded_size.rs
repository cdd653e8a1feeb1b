//! The size of an expression with the bodies of the definitions that it uses in their places.

use crate::diagnostic::{TOO_DEEP, TOO_MANY_NODES};
use crate::limits::Limits;

/// The size of an expression with the bodies of the definitions that it uses in their places. An
/// upper bound: an argument that turns out to be a literal needs no binding.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpandedSize {
    pub(crate) nodes: usize,
    pub(crate) depth: u32,
    /// Most bodies that are inside one another.
    pub(crate) calls: u32,
}

impl ExpandedSize {
    /// The size of an expression with a further node around it.
    pub(crate) fn wrapped(self) -> Self {
        Self { nodes: self.nodes.saturating_add(1), depth: self.depth.saturating_add(1), ..self }
    }

    /// The levels of a recursion that writes the expression.
    pub(crate) fn levels(self) -> u32 {
        self.depth.saturating_add(self.calls)
    }

    /// Adds an expression below, with this many nodes between.
    pub(crate) fn add(&mut self, below: Self, between: u32) {
        self.nodes = self.nodes.saturating_add(below.nodes);
        self.depth = self.depth.max(below.depth.saturating_add(between));
        self.calls = self.calls.max(below.calls);
    }

    /// Returns the limit that is exceeded: its code, and what the expression does.
    pub(crate) fn excess(self, limits: &Limits) -> Option<(&'static str, String)> {
        let Limits { max_depth, max_nodes, .. } = *limits;
        if self.depth > max_depth {
            Some((TOO_DEEP, format!("nests deeper than {max_depth} levels (`max_depth`)")))
        } else if self.calls > max_depth {
            Some((
                TOO_DEEP,
                format!("uses definitions that use one another more than {max_depth} levels deep (`max_depth`)"),
            ))
        } else if self.nodes > max_nodes as usize {
            Some((TOO_MANY_NODES, format!("has more than {max_nodes} nodes (`max_nodes`)")))
        } else {
            None
        }
    }
}
