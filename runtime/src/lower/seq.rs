//! Lists of the host whose elements are read in place. Where an expression is one, its size, its elements and searches in it need no boxed
//! value of the list or of an element.

use super::Lowering;
use celero_frontend::{Expr, NodeId as AstId, Overload, Reference, stdlib::Builtin};
use celero_ir::{NodeId, Op, Ty};

impl Lowering<'_> {
    /// The elements of an expression that is a list of the host, and their type, if they can be read in place.
    pub(super) fn sequence(&mut self, list: AstId) -> Option<(NodeId, Ty)> {
        let Reference::Variable(field) = *self.checked.reference(list) else { return None };
        if matches!(self.ast.expr(list), Expr::Select { test: true, .. }) {
            return None;
        }
        let ty = self.field(field)?.elements.as_ref()?.ty;
        Some((self.add(Op::Elements(field), Ty::Seq, &[], list), ty))
    }

    /// `size(list)`
    pub(super) fn sequence_size(&mut self, id: AstId, list: AstId) -> Option<NodeId> {
        if !self.calls_only(id, Builtin::SizeList) {
            return None;
        }
        let (items, _) = self.sequence(list)?;
        Some(self.add(Op::SeqSize, Ty::Int, &[items], id))
    }

    /// `list[index]` with an index that is an integer. Another one is the library's to judge.
    pub(super) fn sequence_at(&mut self, id: AstId, list: AstId, index: NodeId) -> Option<NodeId> {
        if !self.calls_only(id, Builtin::IndexList) || self.graph.ty(index) != Ty::Int {
            return None;
        }
        let (items, ty) = self.sequence(list)?;
        Some(self.add(Op::SeqAt, ty, &[items, index], id))
    }

    /// `value in list` with a value of the elements' type. The library compares values of different types.
    pub(super) fn sequence_has(&mut self, id: AstId, value: NodeId, list: AstId) -> Option<NodeId> {
        if !self.calls_only(id, Builtin::InList) {
            return None;
        }
        let (items, ty) = self.sequence(list)?;
        (self.graph.ty(value) == ty && ty != Ty::Value).then(|| self.add(Op::SeqHas, Ty::Bool, &[value, items], id))
    }

    /// Whether the checker resolved a call to this function and no other.
    fn calls_only(&self, id: AstId, builtin: Builtin) -> bool {
        matches!(self.checked.reference(id), Reference::Call { overloads, .. } if **overloads == [Overload::Builtin(builtin)])
    }
}
