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
    /// The node of its condition with each occurrence at its place: what is compiled. The same as
    /// `root` if it has no expression twice.
    pub(crate) placed: NodeId,
    /// Its part of [`MergedGraph::origins`].
    origins: (u32, u32),
}

/// The graphs of all rules of a set, merged.
#[derive(Debug, Default)]
pub(crate) struct MergedGraph {
    pub(crate) graph: Graph,
    pub(crate) calls: Calls,
    pub(crate) rules: Vec<MergedRule>,
    /// Places of nodes in the sources of rules, where they differ from those in the graph; rule by
    /// rule, sorted by node.
    origins: Vec<(NodeId, Origin)>,
    /// Working memory: where the nodes of the current rule are.
    places: Places,
    /// Working memory: the places of nodes in the source of the current rule.
    own_origins: Vec<(NodeId, Origin)>,
}

impl MergedGraph {
    /// Places of nodes in the source of a rule, where they differ from those in the graph; sorted.
    pub(crate) fn origins(&self, rule: &MergedRule) -> &[(NodeId, Origin)] {
        let (first, end) = rule.origins;
        self.origins.get(first as usize..end as usize).unwrap_or_default()
    }

    /// The place of a node in the source of a rule.
    pub(crate) fn origin(&self, rule: &MergedRule, node: NodeId) -> Origin {
        let origins = self.origins(rule);
        let found = origins.binary_search_by_key(&node, |(node, _)| *node);
        found.ok().and_then(|at| origins.get(at)).map_or_else(|| self.graph.origin(node), |(_, origin)| *origin)
    }

    /// Adds a rule, and moves its `calls` here. `place` is the span of its whole condition.
    ///
    /// # Errors
    /// The rule can't be merged.
    pub(crate) fn add(&mut self, number: u32, rule: &Graph, calls: &mut Calls, place: Origin) -> Result<(), String> {
        let Some(&root) = rule.roots().first() else { return Err("internal error: a rule without a root".into()) };
        if matches!(rule.ty(root), Ty::Raw | Ty::Maybe | Ty::Seq | Ty::Entry) {
            return Err("internal error: a result that is no value".into());
        }
        self.calls.append(calls);
        let Self { graph, places, own_origins: origins, .. } = self;
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
        let number_of = |length: usize| u32::try_from(length).map_err(|_| "more places than can be numbered");
        let first = number_of(self.origins.len())?;
        let end = number_of(self.origins.len().saturating_add(origins.len()))?;
        self.origins.extend_from_slice(origins);
        self.rules.push(MergedRule { number, root, placed, origins: (first, end) });
        Ok(())
    }
}
