//! Which searches for literals are made together: those in one text of the host, if several of them are usually needed.
//!
//! The rule that needs one of them first pays for the call, which costs its budget what one search
//! costs. A literal that the call leaves open is searched for by itself, where it is needed.

use super::pool::Pool;
use celero_ir::layout::literals;
use celero_ir::{Constant, Graph, NodeId, Op};
use celero_jit::LiteralBatch;
use celero_matching::FewLiterals;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Fewest searches in one text that are usually needed for which one call replaces them: it costs as much as two.
const MIN: usize = 3;
/// Shortest literal of a batch: shorter ones have searches of their own there.
const SHORTEST: usize = 3;

/// The batches of a function.
#[derive(Debug, Default)]
pub(super) struct LiteralBatches(Vec<(Vec<(NodeId, u32)>, usize)>);

impl LiteralBatches {
    /// Prepares batches for a function of these roots, of which `used` are all nodes. The pool owns
    /// the sets of literals.
    pub(super) fn new(graph: &Graph, roots: &[NodeId], used: &[NodeId], pool: &mut Pool) -> Self {
        // By text, then by class, so that the result does not depend on the order of nodes.
        let mut texts: BTreeMap<NodeId, BTreeMap<NodeId, Arc<[u8]>>> = BTreeMap::new();
        for &id in used {
            if let Op::ContainsConst(constant) = graph.op(id)
                && let Some(Constant::Searcher(needle)) = graph.constant_at(constant)
                && needle.len() >= SHORTEST
                && let Some(text) = graph.args(id).first().and_then(|&text| host_text(graph, text))
            {
                texts.entry(text).or_default().insert(graph.class(id), needle.clone());
            }
        }
        texts.retain(|_, searches| searches.len() >= MIN);
        let mut batches = Vec::new();
        if texts.is_empty() {
            return Self(batches);
        }
        let usual = usually_needed(graph, roots);
        for searches in texts.into_values() {
            if searches.keys().filter(|search| usual.contains(search)).count() < MIN {
                continue;
            }
            let searches: Vec<(NodeId, Arc<[u8]>)> = searches.into_iter().collect();
            for searches in searches.chunks(literals::MAX).filter(|searches| searches.len() >= MIN) {
                let needles: Vec<&[u8]> = searches.iter().map(|(_, needle)| &**needle).collect();
                let Some(set) = FewLiterals::new(&needles).filter(FewLiterals::is_one_pass) else { continue };
                let bits = searches.iter().map(|(search, _)| *search).zip(0..).collect();
                batches.push((bits, pool.add_literals(set)));
            }
        }
        Self(batches)
    }

    /// The batches as the compiler takes them.
    pub(super) fn as_unit(&self) -> Vec<LiteralBatch<'_>> {
        self.0.iter().map(|(searches, set)| LiteralBatch { searches, set: *set }).collect()
    }
}

/// The class of a text that the host has, whatever the form in which it is searched.
fn host_text(graph: &Graph, text: NodeId) -> Option<NodeId> {
    let arg = || graph.args(text).first().copied();
    match graph.op(text) {
        Op::Field(_) => Some(graph.class(text)),
        Op::Require if matches!(graph.op(arg()?), Op::Header { .. }) => Some(graph.class(text)),
        Op::Unbox(_) if matches!(graph.op(arg()?), Op::Field(_)) => Some(graph.class(text)),
        Op::AsBytes => host_text(graph, arg()?),
        _ => None,
    }
}

/// The classes of the searches that are made where no search finds anything: of an `and`, those of
/// the first operand alone.
fn usually_needed(graph: &Graph, roots: &[NodeId]) -> BTreeSet<NodeId> {
    let (mut pending, mut seen, mut found) = (roots.to_vec(), BTreeSet::new(), BTreeSet::new());
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        match graph.op(id) {
            Op::ContainsConst(_) => {
                found.insert(graph.class(id));
            }
            Op::And => pending.extend(graph.args(id).first()),
            _ => pending.extend_from_slice(graph.args(id)),
        }
    }
    found
}
