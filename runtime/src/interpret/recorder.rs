//! [`Recorder`]: the results of the nodes of a tree in one evaluation. Traces need one; evaluations have none.

use crate::error::ErrorKind;
use crate::value::Value;
use celero_frontend::NodeId;
use std::cell::{Cell, RefCell};

/// Most results that are kept of a node: the first ones. A node in a loop has one for each iteration.
const MAX_OF_NODE: usize = 16;

/// Most results that are kept of all nodes but the first of each.
const MAX: usize = 4096;

/// The result of a node: a value, none where it is missing, or an error and the node that failed.
pub(crate) type NodeResult<'a> = Result<Option<Value<'a>>, (ErrorKind, NodeId)>;

/// The results of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded<'a> {
    /// The number of evaluations.
    pub(crate) count: u64,
    /// The first results.
    pub(crate) results: Vec<NodeResult<'a>>,
}

impl<'a> Recorded<'a> {
    /// The value of a node that was evaluated once, and has one.
    pub(crate) fn only_value(&self) -> Option<Value<'a>> {
        match (self.count, self.results.as_slice()) {
            (1, [Ok(value)]) => *value,
            _ => None,
        }
    }
}

/// The results of all nodes.
#[derive(Debug)]
pub(crate) struct Recorder<'a> {
    nodes: RefCell<Vec<Recorded<'a>>>,
    left: Cell<usize>,
}

impl<'a> Recorder<'a> {
    /// A recorder for a tree of this many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { nodes: RefCell::new(vec![Recorded::default(); nodes]), left: Cell::new(MAX) }
    }

    /// Takes the value or the error of a node.
    pub(super) fn record(&self, id: NodeId, result: Result<Value<'a>, (ErrorKind, NodeId)>) {
        self.record_with(id, || Some(result.map(Some)));
    }

    /// Records a result. `result` is called only if the result is kept; it returns `None` if the value is too large.
    pub(crate) fn record_with(&self, id: NodeId, result: impl FnOnce() -> Option<NodeResult<'a>>) {
        let mut nodes = self.nodes.borrow_mut();
        let Some(node) = nodes.get_mut(id.0 as usize) else { return };
        node.count = node.count.saturating_add(1);
        if node.results.len() >= MAX_OF_NODE {
            return;
        }
        if !node.results.is_empty() {
            let Some(left) = self.left.get().checked_sub(1) else { return };
            self.left.set(left);
        }
        node.results.extend(result());
    }

    /// Returns the results, indexed by node.
    pub(crate) fn into_nodes(self) -> Vec<Recorded<'a>> {
        self.nodes.into_inner()
    }
}
