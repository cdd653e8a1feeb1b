//! Conditions that are constant as written, and comparisons of types that are never the same.

use super::{CONSTANT_CONDITION, Lint, NEVER_EQUAL};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{BinaryOp, Expr, Literal, LogicOp, NodeId, Type};

impl Lint<'_> {
    /// A `?:`, `&&` or `||`.
    pub(super) fn conditions(&mut self, id: NodeId) {
        match self.ast.expr(id) {
            Expr::Cond { condition, .. } => {
                if let Some(value) = self.truth(*condition) {
                    let message = format!("the condition is always {value}: one of the branches is never taken");
                    self.warn(CONSTANT_CONDITION, self.ast.span(*condition), message, "");
                }
            }
            Expr::Logic { op, operands } => {
                for &operand in self.ast.children(*operands) {
                    let Some(value) = self.truth(operand) else { continue };
                    let message = match (op, value) {
                        (LogicOp::And, false) => "with this operand, `&&` is always false",
                        (LogicOp::Or, true) => "with this operand, `||` is always true",
                        _ => "this operand changes nothing",
                    };
                    self.warn(CONSTANT_CONDITION, self.ast.span(operand), message.to_owned(), "");
                }
            }
            _ => {}
        }
    }

    /// Warns about `contains("")`, `startsWith("")` and `endsWith("")`.
    pub(super) fn empty_part(&mut self, id: NodeId) {
        let Some((Builtin::Contains | Builtin::StartsWith | Builtin::EndsWith, operands)) = self.call(id) else {
            return;
        };
        let &[_, part] = &*operands else { return };
        if self.text(part).is_some_and(|part| part.is_empty()) {
            let message = "this is always true: the empty text is a part of every text".to_owned();
            self.warn(CONSTANT_CONDITION, self.ast.span(id), message, "");
        }
    }

    fn truth(&self, id: NodeId) -> Option<bool> {
        match self.ast.expr(id) {
            Expr::Literal(Literal::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    /// Warns about `type(x) == int` if `x` is declared with another type. The checker reports other
    /// operands of different types.
    pub(super) fn comparison(&mut self, id: NodeId) {
        let Expr::Binary { op: op @ (BinaryOp::Eq | BinaryOp::Ne), left, right } = *self.ast.expr(id) else { return };
        let (Type::Type(a), Type::Type(b)) = (self.checked.type_of(left), self.checked.type_of(right)) else { return };
        if kind(a).zip(kind(b)).is_some_and(|(a, b)| a != b) {
            let always = if op == BinaryOp::Eq { "false" } else { "true" };
            let message = format!("this is always {always}: the types are `{a}` and `{b}`");
            self.warn(NEVER_EQUAL, self.ast.node(id).focus, message, "");
        }
    }
}

/// What `type(x)` tells apart, of a type whose values all have the same.
fn kind(ty: &Type) -> Option<String> {
    Some(match ty {
        Type::Dyn | Type::Error | Type::Wrapper(_) | Type::Param(_) | Type::Var(_) => return None,
        Type::Type(_) => "type".to_owned(),
        Type::List(_) => "list".to_owned(),
        Type::Map(_) => "map".to_owned(),
        Type::Optional(_) => "optional_type".to_owned(),
        Type::Opaque(name, _) => name.to_string(),
        plain => plain.to_string(),
    })
}
