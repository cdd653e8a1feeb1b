//! The merged graph of a rule set: equal expressions of all rules are one node, or one class of nodes if they can fail.

use super::calls::Calls;
use celero_ir::{Graph, NodeId, Op, Origin, Places, Ty, merge};

/// A rule of a merged graph.
#[derive(Debug)]
pub(crate) struct MergedRule {
    /// Its number in the set.
    pub(crate) number: u32,
    /// The class of its condition: what it computes.
    pub(crate) root: NodeId,
    /// The node of its condition with each occurrence at its place: what is compiled. The same as `root` if it has no expression twice.
    pub(crate) placed: NodeId,
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
    /// Working memory: where the nodes of the current rule are.
    places: Places,
    /// Working memory: the places of nodes in the source of the current rule.
    origins: Vec<(NodeId, Origin)>,
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
        let Self { graph, places, origins, .. } = self;
        merge(graph, rule, places);
        let Places { classes, occurrences, .. } = &*places;
        let at = |nodes: &[NodeId]| nodes.get(root.0 as usize).copied().unwrap_or(root);
        let mut placed = at(if occurrences.is_empty() { classes } else { occurrences });
        let mut root = at(classes);
        let firsts = rule.ids().zip(classes).filter(|(id, _)| rule.class(*id) == *id);
        let pairs = firsts.map(|(id, &class)| (class, rule.origin(id)));
        // A node without an error of its own may be that of an earlier rule, at another place.
        let placed_pairs = rule.ids().zip(occurrences).map(|(id, &node)| (node, rule.origin(id)));
        let pairs = pairs.chain(placed_pairs);
        origins.clear();
        origins.extend(pairs.filter(|(node, origin)| graph.origin(*node) != *origin));
        // A result that is not a `bool` is an error, but all other errors of the rule come first.
        let steps = match graph.ty(root) {
            Ty::Bool => &[][..],
            Ty::Value => &[(Op::Unbox(Ty::Bool), Ty::Bool)],
            _ => &[(Op::Box, Ty::Value), (Op::Unbox(Ty::Bool), Ty::Bool)],
        };
        for &(op, ty) in steps {
            let same = placed == root;
            root = graph.add_class(op, ty, &[root], place);
            placed = if same { root } else { graph.add_apart(root, op, ty, &[placed], place) };
            origins.retain(|(node, _)| *node != root);
            origins.push((root, place));
        }
        // Of a node that is at several places the first counts.
        origins.sort_by_key(|(node, _)| *node);
        origins.dedup_by_key(|(node, _)| *node);
        let origins = origins.as_slice().into();
        self.rules.push(MergedRule { number, root, placed, origins });
        Ok(())
    }
}
