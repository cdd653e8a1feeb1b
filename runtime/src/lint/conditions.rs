//! Conditions that are constant as written, and comparisons of types that are never the same.

use super::{CONSTANT_CONDITION, Lint, NEVER_EQUAL};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{BinaryOp, Expr, Literal, LogicOp, NodeId, Type};
use std::collections::HashMap;

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
                if *op == LogicOp::Or {
                    self.several_values(id, self.ast.children(*operands));
                }
            }
            _ => {}
        }
    }

    /// Warns about `a != 1 || a != 2`, which everything is.
    fn several_values(&mut self, id: NodeId, operands: &[NodeId]) {
        let mut values: HashMap<&str, NodeId> = HashMap::new();
        for (part, value) in operands.iter().filter_map(|operand| self.excluded_value(*operand)) {
            let (name, shown) = (self.source(part), self.source(value));
            let first = *values.entry(name).or_insert(value);
            if !self.differ(first, value) {
                continue;
            }
            let other = self.source(first);
            let message = format!("this is always true: `{name}` is not both `{other}` and `{shown}`");
            let help = format!("write `!({name} in [{other}, {shown}])`");
            self.warn(CONSTANT_CONDITION, self.ast.span(id), message, &help);
            return;
        }
    }

    /// The name and the literal of an operand such as `a != 1`.
    fn excluded_value(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        let Expr::Binary { op: BinaryOp::Ne, left, right } = *self.ast.expr(id) else { return None };
        let is_literal = |id| matches!(self.ast.expr(id), Expr::Literal(_));
        let (part, value) = if is_literal(left) { (right, left) } else { (left, right) };
        (is_literal(value) && self.is_name(part)).then_some((part, value))
    }

    /// Whether a part is a variable, or what is selected from one by names.
    fn is_name(&self, mut id: NodeId) -> bool {
        loop {
            id = match *self.ast.expr(id) {
                Expr::Ident { .. } => return true,
                Expr::Select { operand, test: false, optional: false, .. } => operand,
                Expr::Index { operand, index, optional: false } if matches!(self.ast.expr(index), Expr::Literal(_)) => {
                    operand
                }
                _ => return false,
            };
        }
    }

    /// Whether two literals are of the same type, and other values.
    fn differ(&self, one: NodeId, other: NodeId) -> bool {
        match (self.ast.expr(one), self.ast.expr(other)) {
            (Expr::Literal(Literal::String(one)), Expr::Literal(Literal::String(other))) => one != other,
            (Expr::Literal(Literal::Int(one)), Expr::Literal(Literal::Int(other))) => one != other,
            (Expr::Literal(Literal::Uint(one)), Expr::Literal(Literal::Uint(other))) => one != other,
            _ => false,
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
