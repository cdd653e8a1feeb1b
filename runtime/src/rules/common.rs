//! The rules of a set as one graph, in which equal expressions of all rules are one node.

use crate::lower::Calls;
use celero_ir::{Graph, NodeId, Op, Origin, Ty, merge};

/// A rule in the common graph.
#[derive(Debug)]
pub(crate) struct Placed {
    /// Its number in the set.
    pub(crate) number: u32,
    /// What must be true.
    pub(crate) root: NodeId,
    /// Where nodes came from in its source, if not from where the graph says; sorted.
    pub(crate) origins: Box<[(NodeId, Origin)]>,
}

impl Placed {
    /// Where a node came from in the rule's source.
    pub(crate) fn origin(&self, graph: &Graph, node: NodeId) -> Origin {
        let found = self.origins.binary_search_by_key(&node, |(node, _)| *node);
        found.ok().and_then(|at| self.origins.get(at)).map_or_else(|| graph.origin(node), |(_, origin)| *origin)
    }
}

/// Rules in the order of the set.
#[derive(Debug, Default)]
pub(crate) struct Common {
    pub(crate) graph: Graph,
    pub(crate) calls: Calls,
    pub(crate) rules: Vec<Placed>,
}

impl Common {
    /// Adds a rule; `place` is where its whole source lies.
    ///
    /// # Errors
    /// Why it can't be one of them.
    pub(crate) fn add(&mut self, number: u32, rule: &Graph, calls: Calls, place: Origin) -> Result<(), String> {
        let Some(&root) = rule.roots().first() else { return Err("internal error: a rule without a root".into()) };
        if matches!(rule.ty(root), Ty::Raw | Ty::Maybe | Ty::Seq) {
            return Err("internal error: a result that is no value".into());
        }
        self.calls.extend(calls);
        let places = merge(&mut self.graph, rule);
        let mut root = places.get(root.0 as usize).copied().unwrap_or(root);
        let pairs = rule.ids().zip(&places).map(|(id, &place)| (place, rule.origin(id)));
        let mut origins: Vec<_> = pairs.filter(|(place, origin)| self.graph.origin(*place) != *origin).collect();
        // What is no truth value fails, after all errors on the way to it.
        let steps = match self.graph.ty(root) {
            Ty::Bool => &[][..],
            Ty::Value => &[(Op::Unbox(Ty::Bool), Ty::Bool)],
            _ => &[(Op::Box, Ty::Value), (Op::Unbox(Ty::Bool), Ty::Bool)],
        };
        for &(op, ty) in steps {
            root = self.graph.add(op, ty, &[root], place);
            origins.retain(|(node, _)| *node != root);
            origins.push((root, place));
        }
        origins.sort_unstable_by_key(|(node, _)| *node);
        self.rules.push(Placed { number, root, origins: origins.into() });
        Ok(())
    }
}
