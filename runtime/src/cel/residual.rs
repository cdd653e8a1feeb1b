//! What is left of an expression that was evaluated while some variables were not known: its source
//! without the parts that are decided, with known values in the places of what they come from.

use crate::interpret::Recorded;
use crate::value::Value;
use celero_frontend::{Checked, Expr, LogicOp, NodeId, Span, Type};

/// Longest text of a value that takes the place of what it comes from, in bytes.
const MAX_VALUE: usize = 256;

/// An evaluated tree.
pub(super) struct Residual<'t, 'a> {
    pub(super) tree: &'t Checked,
    /// Indexed by node.
    pub(super) results: &'t [Recorded<'a>],
}

impl Residual<'_, '_> {
    /// Writes what is left of the whole expression.
    pub(super) fn write(&self, out: &mut String) {
        self.write_node(self.tree.ast().root(), true, out);
    }

    /// Writes what is left of a node; `enclosed` is whether nothing around it can bind to a part of
    /// it. Recurses as deep as the tree is.
    fn write_node(&self, id: NodeId, enclosed: bool, out: &mut String) {
        let ast = self.tree.ast();
        if let Some(value) = self.value(id) {
            return out.push_str(&value);
        }
        match ast.expr(id) {
            Expr::Logic { op, operands } => self.write_logic(id, *op, ast.children(*operands), enclosed, out),
            // A part that reads the variable of a macro differs from one evaluation to the next.
            Expr::Fold { range: outside, .. }
            | Expr::Bind { init: outside, .. }
            | Expr::OptMap { target: outside, .. } => {
                self.write_around(id, &[*outside], out);
            }
            _ if self.tree.reference(id).is_name() => self.write_around(id, &[], out),
            // The other branch of `?:` stays: the type of a branch may follow from it.
            _ => {
                let mut parts = Vec::new();
                ast.each_child(id, |child| parts.push(child));
                self.write_around(id, &parts, out);
            }
        }
    }

    /// Writes the operands that don't decide: where none does, those that are known can't.
    fn write_logic(&self, id: NodeId, op: LogicOp, operands: &[NodeId], enclosed: bool, out: &mut String) {
        let left: Vec<NodeId> = operands.iter().copied().filter(|operand| self.truth(*operand).is_none()).collect();
        if left.is_empty() || !self.are_inside(id, operands) {
            return self.write_around(id, &[], out);
        }
        if !enclosed {
            out.push('(');
        }
        let (word, neutral) = if op == LogicOp::And { (" && ", "true") } else { (" || ", "false") };
        match left.as_slice() {
            &[only] if *self.tree.type_of(only) == Type::Bool => self.write_node(only, true, out),
            // That it is a `bool` is checked by the operator.
            &[only] => {
                out.push_str(neutral);
                out.push_str(word);
                self.write_in_parentheses(only, out);
            }
            left => {
                for (at, &operand) in left.iter().enumerate() {
                    if at > 0 {
                        out.push_str(word);
                    }
                    self.write_in_parentheses(operand, out);
                }
            }
        }
        if !enclosed {
            out.push(')');
        }
    }

    fn write_in_parentheses(&self, id: NodeId, out: &mut String) {
        out.push('(');
        self.write_node(id, true, out);
        out.push(')');
    }

    /// Writes the source of a node with what is left of these parts of it.
    fn write_around(&self, id: NodeId, parts: &[NodeId], out: &mut String) {
        let ast = self.tree.ast();
        let source = ast.source();
        let Span { start, end } = ast.span(id);
        let mut written = start as usize;
        if self.are_inside(id, parts) {
            for &part in parts {
                let Span { start, end } = ast.span(part);
                out.push_str(source.get(written..start as usize).unwrap_or_default());
                self.write_node(part, false, out);
                written = end as usize;
            }
        }
        out.push_str(source.get(written..end as usize).unwrap_or_default());
    }

    /// Whether parts stand in the source of a node one after the other. Of a definition, whose body
    /// has the place of the call, only the arguments do.
    fn are_inside(&self, id: NodeId, parts: &[NodeId]) -> bool {
        let ast = self.tree.ast();
        let whole = ast.span(id);
        let mut last = whole.start;
        parts.iter().all(|&part| {
            let Span { start, end } = ast.span(part);
            let inside = last <= start && start < end && end <= whole.end && (start, end) != (whole.start, whole.end);
            last = end;
            inside
        })
    }

    fn result(&self, id: NodeId) -> Option<Value<'_>> {
        self.results.get(id.0 as usize)?.only_value()
    }

    fn truth(&self, id: NodeId) -> Option<bool> {
        match self.result(id)? {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// The source of a node's value, if it is short and stands for the same value everywhere. Where
    /// the static type of the node is another one, that of the text is not to be known either.
    fn value(&self, id: NodeId) -> Option<String> {
        if matches!(self.tree.ast().expr(id), Expr::Literal(_)) {
            return None;
        }
        let value = self.result(id)?;
        let ty = match value {
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Double(_) => Type::Double,
            Value::String(text) if text.len() <= MAX_VALUE => Type::String,
            Value::Bytes(bytes) if bytes.len() <= MAX_VALUE => Type::Bytes,
            _ => return None,
        };
        let text = value.source_text(usize::MAX).ok()?;
        Some(match (*self.tree.type_of(id) == ty, ty) {
            (false, _) => format!("dyn({text})"),
            (true, Type::String | Type::Bytes | Type::Bool) => text,
            (true, _) => format!("({text})"),
        })
    }
}
