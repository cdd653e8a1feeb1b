//! What the search for access paths works on.

use super::attribute::{AttributeSource, Attributes};
use super::keys::{AccessPathId, KeyId, Keys};
use crate::function::NamedLists;
use crate::lower::Calls;
use crate::lower::merge::MergedGraph;
use celero_ir::layout::Field;
use celero_ir::{Graph, NodeId};
use celero_matching::pattern::Dialect;
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// The access paths of a graph's nodes, with the keys and attributes that they are about.
pub(super) struct AccessPaths {
    pub(super) attributes: Attributes,
    pub(super) keys: Keys,
    /// Indexed by node: its access path, if it was examined.
    pub(super) found: Vec<Option<Option<AccessPathId>>>,
    /// Working memory: numbers of keys.
    pub(super) numbers: Vec<KeyId>,
    /// Indexed by node: its header. Rules share nodes, so the name is parsed only once.
    pub(super) headers: HashMap<NodeId, Option<AttributeSource>, FixedState>,
    /// How patterns on text are read.
    pub(super) dialect: Dialect,
}

impl AccessPaths {
    /// Without access paths, with capacity for those of this number of rules.
    pub(super) fn with_capacity(rules: usize, dialect: Dialect) -> Self {
        Self {
            attributes: Attributes::default(),
            keys: Keys::with_capacity(rules),
            found: Vec::new(),
            numbers: Vec::new(),
            headers: HashMap::default(),
            dialect,
        }
    }
}

/// Finds the access paths of the nodes of a merged graph, to which rules may be added later. A node
/// that rules share is examined once.
pub(super) struct Finder<'f> {
    pub(super) graph: &'f Graph,
    pub(super) calls: &'f Calls,
    pub(super) fields: &'f [Field],
    /// The named lists that rules may ask.
    pub(super) lists: Option<&'f NamedLists>,
    pub(super) paths: &'f mut AccessPaths,
}

impl<'f> Finder<'f> {
    /// Adds to `paths` those that are asked for. They are of this graph, or of what it was before
    /// rules were added to it.
    pub(super) fn new(
        merged: &'f MergedGraph,
        fields: &'f [Field],
        lists: Option<&'f NamedLists>,
        paths: &'f mut AccessPaths,
    ) -> Self {
        let MergedGraph { graph, calls, .. } = merged;
        paths.found.resize(graph.len(), None);
        Self { graph, calls, fields, lists, paths }
    }
}
