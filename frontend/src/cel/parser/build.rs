//! Writing nodes, child lists and names into the arena, within `max_nodes` and `max_depth`.

use super::code::Code;
use super::{Parse, Parser, Stop};
use crate::ast::{Expr, LogicOp, Name, Node, NodeId, Nodes};
use crate::span::Span;
use std::sync::Arc;

/// Most names that are compared one by one: a rule usually has fewer, and a table costs more than it saves there.
const UNINDEXED_NAMES: usize = 16;

impl Parser<'_> {
    /// Adds a node. `below` is the depth of its deepest child, 0 for a leaf.
    pub(super) fn push(&mut self, expr: Expr, span: Span, focus: Span, below: u32) -> Parse {
        let depth = below.saturating_add(1);
        if depth > self.limits.max_depth {
            return Err(self.too_deep(focus));
        }
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        if id >= self.limits.max_nodes {
            return Err(self.too_many_nodes(focus));
        }
        self.nodes.push(Node { expr, span, focus, depth });
        Ok(NodeId(id))
    }

    pub(super) fn leaf(&mut self, expr: Expr, span: Span) -> Parse {
        self.push(expr, span, span, 0)
    }

    /// Adds a node in place of source that could not be parsed.
    pub(super) fn error_node(&mut self, span: Span) -> Parse {
        self.leaf(Expr::Error, span)
    }

    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    pub(super) fn depth(&self, id: NodeId) -> u32 {
        self.node(id).map_or(0, |n| n.depth)
    }

    /// Moves the scratch entries from `base` on to the child pool. Returns them and the depth of the deepest.
    pub(super) fn children(&mut self, base: usize) -> (Nodes, u32) {
        let below = self.scratch.iter().skip(base).map(|&id| self.depth(id)).max().unwrap_or(0);
        (self.run(base), below)
    }

    /// Moves the scratch entries from `base` on to the child pool.
    pub(super) fn run(&mut self, base: usize) -> Nodes {
        let ids = self.scratch.get(base..).unwrap_or(&[]);
        let start = u32::try_from(self.pool.len()).unwrap_or(u32::MAX);
        let len = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        self.pool.extend_from_slice(ids);
        self.scratch.truncate(base);
        Nodes { start, len }
    }

    /// Adds an operand of a `&&` or `||` chain to the scratch; a chain of the same operator is
    /// merged into it. Returns the depth of the deepest node added.
    pub(super) fn operand(&mut self, op: LogicOp, id: NodeId) -> u32 {
        let depth = self.depth(id);
        match self.node(id).map(|n| &n.expr) {
            Some(&Expr::Logic { op: inner, operands }) if inner == op => {
                // The node and its children are the last elements of their vectors, so removing them leaves no gap.
                let start = operands.start as usize;
                self.scratch.extend_from_slice(self.pool.get(start..).unwrap_or(&[]));
                self.pool.truncate(start);
                self.nodes.truncate(id.0 as usize);
                depth.saturating_sub(1)
            }
            _ => {
                self.scratch.push(id);
                depth
            }
        }
    }

    /// Removes the last node if it is a plain name, and returns it.
    pub(super) fn take_name(&mut self, id: NodeId) -> Option<(Name, Span)> {
        let node = self.nodes.last()?;
        let &Expr::Ident { name, rooted: false, test: false } = &node.expr else { return None };
        if (id.0 as usize).checked_add(1) != Some(self.nodes.len()) {
            return None;
        }
        let span = node.span;
        self.nodes.pop();
        Some((name, span))
    }

    pub(super) fn name(&mut self, text: &str) -> Name {
        let numbered = |place: usize| Name(u32::try_from(place).unwrap_or(u32::MAX));
        let few = self.names.len() <= UNINDEXED_NAMES;
        let known = match few {
            true => self.names.iter().position(|name| **name == *text).map(numbered),
            false => self.interned.get(text).copied(),
        };
        known.unwrap_or_else(|| {
            let name = numbered(self.names.len());
            self.names.push(text.into());
            if self.names.len() > UNINDEXED_NAMES {
                let new = self.names.iter().enumerate().skip(self.interned.len());
                self.interned.extend(new.map(|(place, text)| (Arc::clone(text), numbered(place))));
            }
            name
        })
    }

    pub(super) fn too_deep(&mut self, span: Span) -> Stop {
        let limit = self.limits.max_depth;
        let mut diagnostic =
            Code::TooDeep.at(span, format!("the expression nests deeper than {limit} levels (`max_depth`)"));
        diagnostic
            .help
            .push("each operator of a chain such as `a + b + c` is a level, `&&` and `||` are not".to_owned());
        self.limit(diagnostic)
    }

    fn too_many_nodes(&mut self, span: Span) -> Stop {
        let limit = self.limits.max_nodes;
        self.limit(Code::TooManyNodes.at(span, format!("the expression has more than {limit} nodes (`max_nodes`)")))
    }
}
