//! Selections of fields, and `has(..)`.

use super::{Failure, Outcome, Walk};
use crate::error::ErrorKind;
use crate::library;
use crate::value::Value;
use crate::value::message;
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Name, NodeId, Reference};

impl<'a> Walk<'a, '_> {
    /// `operand.field`, `has(operand.field)` with `test`, `operand.?field` with `optional`; or a qualified name.
    pub(super) fn select(
        &mut self,
        id: NodeId,
        operand: NodeId,
        field: Name,
        test: bool,
        optional: bool,
        place: &mut Value<'a>,
    ) -> Result<(), Failure> {
        let checked = self.checked;
        if test && let Some(present) = self.presence(id)? {
            *place = Value::Bool(present);
            return Ok(());
        }
        if self.name(id, place)? {
            return Ok(());
        }
        if let Some(access) = checked.list_access(id) {
            return self.list_value(id, access, place);
        }
        let operand = match self.eval(operand) {
            Err(failure) if failure.kind == ErrorKind::Unknown => self.beside_unknown(id, failure)?,
            operand => operand?,
        };
        let field = Value::String(checked.ast().name(field));
        if optional {
            return self.apply(id, &[operand, field], place);
        }
        *place = if test { self.has(id, operand, field)? } else { self.field(id, operand, field)? };
        Ok(())
    }

    /// Whether the variable that a `has(..)` is about is present; `None` if it is about no variable.
    pub(super) fn presence(&self, id: NodeId) -> Result<Option<bool>, Failure> {
        let Reference::Variable(index) = self.checked.reference(id) else { return Ok(None) };
        match self.host.field(*index, self.cx.arena()) {
            Err(ErrorKind::Unknown) => Err(self.error(id, ErrorKind::Unknown)),
            // A field that exists but cannot be read is present.
            field => Ok(Some(!matches!(field, Ok(None)))),
        }
    }

    pub(super) fn field(&self, id: NodeId, operand: Value<'a>, field: Value<'a>) -> Outcome<'a> {
        let result = match operand {
            Value::Map(_) => library::invoke(self.cx, Builtin::IndexMap, &[operand, field]),
            Value::Optional(_) => library::invoke(self.cx, Builtin::OptionalSelectOptional, &[operand, field]),
            Value::Message(message) => match field {
                Value::String(field) => message::select(self.cx, message, field),
                _ => Err(ErrorKind::NoSuchField),
            },
            _ => Err(ErrorKind::NoSuchField),
        };
        result.map_err(|kind| self.failed(id, kind, &[operand, field]))
    }

    fn has(&self, id: NodeId, operand: Value<'a>, field: Value<'a>) -> Outcome<'a> {
        match operand {
            Value::Map(_) => self.at(id, library::invoke(self.cx, Builtin::InMap, &[field, operand])),
            Value::Optional(_) => {
                let found = self.field(id, operand, field)?;
                Ok(Value::Bool(matches!(found, Value::Optional(Some(_)))))
            }
            Value::Message(message) if let Value::String(name) = field => {
                let found = message::has(self.cx, message, name).map(Value::Bool);
                found.map_err(|kind| self.failed(id, kind, &[operand, field]))
            }
            _ => Err(self.failed(id, ErrorKind::NoSuchField, &[operand, field])),
        }
    }
}
