//! What is compiled: a graph, and the addresses of all it refers to.
//!
//! The compiler believes these addresses: whoever runs the code vouches for them (see [`Entry::call`](crate::Entry::call)).

use celero_ir::layout::Field;
use celero_ir::{ConstId, Constant, Graph, Helper, NodeId, Op, Origin, Ty};

/// Where a constant lies, in two forms; a form that no node asks for may be 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstantAddress {
    /// Address of the prepared object (searcher, set, network, header name, address), or of the bytes of text.
    pub data: usize,
    /// Length of the text in bytes.
    pub len: usize,
    /// Address of the constant as a value (32 bytes), for nodes of type [`Ty::Value`].
    pub value: usize,
}

/// One compilation: a function for each root of the graph.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The expressions.
    pub graph: &'a Graph,
    /// The host's fields, by the number in [`Op::Field`].
    pub fields: &'a [Field],
    /// The graph's constants, by their ids.
    pub constants: &'a [ConstantAddress],
    /// Addresses of the helpers, by their place in the table.
    pub helpers: &'a [usize],
    /// The budget of every evaluation, if all have the same. A function that can spend nothing but the turns of one loop
    /// then compares with this and leaves the budget in the frame alone.
    pub steps: Option<i64>,
}

/// One of the rules of a function that evaluates several.
#[derive(Clone, Copy, Debug)]
pub struct GroupedRule<'a> {
    /// What must be true: a node of type `bool`.
    pub root: NodeId,
    /// Where nodes came from in this rule's source, if not from where the graph says: a node that rules share has the origin
    /// of the first of them there. Sorted by node.
    pub origins: &'a [(NodeId, Origin)],
}

/// Headers that a function looks up together, as soon as it needs one of them.
#[derive(Clone, Copy, Debug)]
pub struct HeaderBatch<'a> {
    /// The lookups, [`Op::Header`] in one and the same field, in the table's order.
    pub lookups: &'a [NodeId],
    /// Address of the table of their names.
    pub names: usize,
}

impl<'a> Unit<'a> {
    pub(crate) fn field(&self, index: u32) -> Option<&'a Field> {
        self.fields.get(index as usize)
    }

    pub(crate) fn address(&self, id: ConstId) -> Option<ConstantAddress> {
        self.constants.get(id.0 as usize).copied()
    }

    pub(crate) fn helper(&self, helper: Helper) -> Option<usize> {
        self.helpers.get(helper as usize).copied()
    }

    /// The bytes of a node that is constant text, and its constant.
    pub(crate) fn text(&self, node: NodeId) -> Option<(&'a [u8], ConstId)> {
        let graph: &'a Graph = self.graph;
        match graph.op(node) {
            Op::Const(id) if graph.ty(node) != Ty::Value => match graph.constant_at(id)? {
                Constant::Str(text) => Some((text.as_bytes(), id)),
                Constant::Bytes(bytes) => Some((bytes, id)),
                _ => None,
            },
            _ => None,
        }
    }
}
