//! What is known of a failure: the node, and the operands on which it failed.

use crate::interpret::Seen;
use crate::value::Value;
use celero_frontend::NodeId;

/// A limit of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spent {
    Steps,
    Memory,
}

/// A failure.
pub(super) struct Failed<'a> {
    /// The node that failed; `None` if the failure belongs to none.
    pub(super) id: Option<NodeId>,
    /// The values of its operands; empty if they are unknown.
    pub(super) operands: Vec<Value<'a>>,
    /// What was needed instead of the only operand.
    pub(super) needed: Option<&'static str>,
    /// What the host's function says.
    pub(super) message: Option<Box<str>>,
    /// Which limit was spent, if it is known.
    pub(super) spent: Option<Spent>,
    /// The value of the whole expression, which is not a `bool`.
    pub(super) not_bool: Option<Value<'a>>,
}

impl<'a> Failed<'a> {
    pub(super) fn at(id: Option<NodeId>) -> Self {
        Self { id, operands: Vec::new(), needed: None, message: None, spent: None, not_bool: None }
    }

    pub(super) fn seen(seen: Seen<'a>) -> Self {
        let Seen { id, operands, needed, message, .. } = seen;
        Self { id: Some(id), operands: operands.to_vec(), needed, message, spent: None, not_bool: None }
    }
}
