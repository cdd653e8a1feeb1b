//! The merged graph of a rule set: equal expressions of all rules are one node.

use super::calls::Calls;
use celero_ir::{Graph, NodeId, Op, Origin, Ty, merge};

/// A rule of a merged graph.
#[derive(Debug)]
pub(crate) struct MergedRule {
    /// Its number in the set.
    pub(crate) number: u32,
    /// The node of its condition.
    pub(crate) root: NodeId,
    /// Places of nodes in its source, where they differ from those in the graph; sorted.
    pub(crate) origins: Box<[(NodeId, Origin)]>,
}

impl MergedRule {
    /// The place of a node in the rule's source.
    pub(crate) fn origin(&self, graph: &Graph, node: NodeId) -> Origin {
        let found = self.origins.binary_search_by_key(&node, |(node, _)| *node);
        found.ok().and_then(|at| self.origins.get(at)).map_or_else(|| graph.origin(node), |(_, origin)| *origin)
    }
}

/// The graphs of all rules of a set, merged.
#[derive(Debug, Default)]
pub(crate) struct MergedGraph {
    pub(crate) graph: Graph,
    pub(crate) calls: Calls,
    pub(crate) rules: Vec<MergedRule>,
}

impl MergedGraph {
    /// Adds a rule. `place` is the span of its whole condition.
    ///
    /// # Errors
    /// The rule can't be merged.
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
        // A result that is not a `bool` is an error, but all other errors of the rule come first.
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
        self.rules.push(MergedRule { number, root, origins: origins.into() });
        Ok(())
    }
}
