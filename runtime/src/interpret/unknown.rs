//! Selections from a variable that is not known as a whole: what lies beside its unknown parts is.

use super::{Failure, Outcome, Walk, literal_value};
use crate::value::Value;
use celero_frontend::{Expr, NodeId, Reference};

impl<'a> Walk<'a, '_> {
    /// The value of the operand that a selection reads one key or field of, if that is beside what is
    /// unknown; else the failure of the operand. Keys must be constants: others could differ from one
    /// evaluation to the next.
    #[cold]
    pub(super) fn beside_unknown(&mut self, id: NodeId, failure: Failure) -> Outcome<'a> {
        // The selections from the variable to this one, the last one first.
        let mut selections = Vec::new();
        let mut path = Vec::new();
        let mut node = id;
        while let Some((operand, key)) = self.selection(node) {
            path.push(match key {
                // A name with a dot may be several parts of a name of what is unknown.
                Value::String(text) if !text.contains('.') => text.to_owned(),
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
        // What is around an unknown part may come with it.
        let Ok(Some(mut value)) = self.host.field_around(index, &path, self.cx.arena()) else { return Err(failure) };
        for (node, key) in selections.into_iter().skip(1).rev() {
            value = match self.select_key(node, value, key) {
                Err(error) if !error.kind.is_final() => return Err(failure),
                value => value?,
            };
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

    /// The operand and the key of a selection from a value; `None` if the key is not written down.
    fn selection(&self, id: NodeId) -> Option<(NodeId, Value<'a>)> {
        if !matches!(self.checked.reference(id), Reference::None | Reference::Call { .. }) {
            return None;
        }
        let ast = self.checked.ast();
        match ast.expr(id) {
            Expr::Select { operand, field, .. } => Some((*operand, Value::String(ast.name(*field)))),
            Expr::Index { operand, index, .. } => match ast.expr(*index) {
                Expr::Literal(literal) => Some((*operand, literal_value(literal))),
                _ => None,
            },
            _ => None,
        }
    }
}
