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
        // The selections from the variable to this one, the last one first.
        let mut selections = Vec::new();
        let mut path = Vec::new();
        let mut node = id;
        while let Some((operand, key)) = self.selection(node) {
            let key = match key {
                Key::Field(name) => Value::String(name),
                // The operand comes before the key, whose failure is not the first one.
                Key::Index(index) => self.eval(index).map_err(|_| failure)?,
            };
            path.push(match key {
                Value::String(text) => text.to_owned(),
                Value::Int(number) => number.to_string(),
                Value::Uint(number) => number.to_string(),
                Value::Bool(truth) => truth.to_string(),
                // A number with a fraction is equal to keys of other texts.
                _ => return Err(failure),
            });
            selections.push((node, key));
            node = operand;
        }
        path.reverse();
        let Reference::Variable(index) = *self.checked.reference(node) else { return Err(failure) };
        let variable = self.host.field_around(index, &path, self.cx.arena());
        let variable = variable.map_err(|kind| self.error(node, kind))?;
        let mut value = variable.ok_or_else(|| self.error(node, ErrorKind::NoSuchKey))?;
        for (node, key) in selections.into_iter().skip(1).rev() {
            value = self.select_key(node, value, key)?;
        }
        Ok(value)
    }

    fn select_key(&self, id: NodeId, operand: Value<'a>, key: Value<'a>) -> Outcome<'a> {
        if let Expr::Select { optional: false, .. } = self.checked.ast().expr(id) {
            return self.field(id, operand, key);
        }
        let mut place = Value::Null;
        self.apply(id, &[operand, key], &mut place)?;
        Ok(place)
    }

    /// The operand and the key of a selection from a value.
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
