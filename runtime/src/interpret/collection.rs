//! List and map literals. All operands are evaluated before the collection is built, so an operand's error comes before a
//! key's.

use super::{Outcome, Walk};
use crate::error::EvalError;
use crate::library;
use crate::value::Value;
use celero_frontend::NodeId;
use smallvec::SmallVec;

impl<'a> Walk<'a, '_> {
    /// `[a, ?b]`
    pub(super) fn list(&mut self, id: NodeId, elements: &[NodeId], optional: &[bool]) -> Outcome<'a> {
        let values = self.operands(elements)?;
        self.at(id, library::list_of(self.cx, &values, optional))
    }

    /// `{k: v, ?k: v}`
    pub(super) fn map(&mut self, id: NodeId, entries: &[NodeId], optional: &[bool]) -> Outcome<'a> {
        let values = self.operands(entries)?;
        self.at(id, library::map_of(self.cx, &values, optional))
    }

    fn operands(&mut self, nodes: &[NodeId]) -> Result<SmallVec<[Value<'a>; 8]>, EvalError> {
        nodes.iter().map(|&node| self.eval(node)).collect()
    }
}
