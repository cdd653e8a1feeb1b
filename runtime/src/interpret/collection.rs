//! List and map literals. All operands are evaluated before the collection is built, so an
//! operand's error comes before a key's.

use super::{Failure, Outcome, Walk, literal_value};
use crate::error::ErrorKind;
use crate::library;
use crate::value::message;
use crate::value::{List, Value};
use celero_frontend::{Expr, Literal, Name, NodeId, Reference};
use smallvec::SmallVec;

impl<'a> Walk<'a, '_> {
    /// Evaluates `[a, ?b]`.
    pub(super) fn list(&mut self, id: NodeId, elements: &[NodeId], optional: &[bool]) -> Outcome<'a> {
        if optional.is_empty() && elements.iter().all(|&element| self.literal(element).is_some()) {
            // Literals cannot fail, so they are written to the list directly.
            let element =
                |index| elements.get(index).and_then(|&id| self.literal(id)).map_or(Value::Null, literal_value);
            let values = self.at(id, self.cx.arena().alloc_slice_with(elements.len(), element))?;
            return Ok(Value::List(List::Slice(values)));
        }
        let values = self.operands(elements)?;
        library::list_of(self.cx, &values, optional).map_err(|kind| self.failed(id, kind, &values))
    }

    /// Evaluates `{k: v, ?k: v}`.
    pub(super) fn map(&mut self, id: NodeId, entries: &[NodeId], optional: &[bool]) -> Outcome<'a> {
        let values = self.operands(entries)?;
        library::map_of(self.cx, &values, optional).map_err(|kind| self.failed(id, kind, &values))
    }

    /// Evaluates `package.Message{field: value, ?field: value}`.
    pub(super) fn message(&mut self, id: NodeId, fields: &[Name], values: &[NodeId], optional: &[bool]) -> Outcome<'a> {
        let Reference::Message(name) = self.checked.reference(id) else {
            return Err(self.error(id, ErrorKind::NoSuchOverload));
        };
        let values = self.operands(values)?;
        let built = self.functions.messages().ok_or(ErrorKind::Host).and_then(|types| {
            let names = fields.iter().map(|field| self.checked.ast().name(*field));
            let numbers = message::field_numbers(types, name, names).ok_or(ErrorKind::NoSuchOverload)?;
            message::build(self.cx, types, name, &numbers, &values, optional)
        });
        built.map_err(|kind| self.failed(id, kind, &values))
    }

    fn literal(&self, id: NodeId) -> Option<&'a Literal> {
        match self.checked.ast().expr(id) {
            Expr::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    fn operands(&mut self, nodes: &[NodeId]) -> Result<SmallVec<[Value<'a>; 8]>, Failure> {
        nodes.iter().map(|&node| self.eval(node)).collect()
    }
}
