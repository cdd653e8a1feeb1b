//! Selections from a variable that is not known as a whole: what lies beside its unknown parts is.

use super::{Failure, Outcome, Walk};
use crate::error::ErrorKind;
use crate::value::Value;
use celero_frontend::{Expr, NodeId, Reference};

impl<'a> Walk<'a, '_> {
    /// The value of the operand that a selection reads one key or field of, if that is beside what is
    /// unknown; else the failure of the operand.
    #[cold]
    pub(super) fn beside_unknown(&mut self, id: NodeId, failure: Failure) -> Outcome<'a> {
        let mut path = Vec::new();
        let mut node = id;
        while let Some((operand, key)) = self.selection(node) {
            path.push(match key {
                Key::Field(name) => name.to_owned(),
                Key::Index(index) => match self.eval(index)? {
                    Value::String(text) => text.to_owned(),
                    Value::Int(number) => number.to_string(),
                    Value::Uint(number) => number.to_string(),
                    Value::Bool(truth) => truth.to_string(),
                    // A number with a fraction is equal to keys of other texts.
                    _ => return Err(failure),
                },
            });
            node = operand;
        }
        path.reverse();
        let Some((operand, _)) = self.selection(id) else { return Err(failure) };
        self.around_unknown(operand, &path, failure)
    }

    /// The value of a variable, or of what is selected from it, on the path to what is known.
    fn around_unknown(&mut self, id: NodeId, path: &[String], failure: Failure) -> Outcome<'a> {
        if let Reference::Variable(index) = *self.checked.reference(id) {
            let value = self.host.field_around(index, path, self.cx.arena()).map_err(|kind| self.error(id, kind))?;
            return value.ok_or_else(|| self.error(id, ErrorKind::NoSuchKey));
        }
        let Some((operand, key)) = self.selection(id) else { return Err(failure) };
        let operand = self.around_unknown(operand, path, failure)?;
        let key = match key {
            Key::Field(name) => Value::String(name),
            Key::Index(index) => self.eval(index)?,
        };
        if let Expr::Select { optional: false, .. } = self.checked.ast().expr(id) {
            return self.field(id, operand, key);
        }
        let mut place = Value::Null;
        self.apply(id, &[operand, key], &mut place)?;
        Ok(place)
    }

    /// The operand and the key of a selection.
    fn selection(&self, id: NodeId) -> Option<(NodeId, Key<'a>)> {
        if !matches!(self.checked.reference(id), Reference::None | Reference::Call { .. }) {
            return None;
        }
        let ast = self.checked.ast();
        match ast.expr(id) {
            Expr::Select { operand, field, .. } => Some((*operand, Key::Field(ast.name(*field)))),
            Expr::Index { operand, index, .. } => Some((*operand, Key::Index(*index))),
            _ => None,
        }
    }
}

/// What a selection selects by.
enum Key<'a> {
    Field(&'a str),
    Index(NodeId),
}
