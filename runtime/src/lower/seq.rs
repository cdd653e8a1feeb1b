//! Lists of the host whose elements are read in place. Where an expression is one, its size, its
//! elements and searches in it need no boxed value of the list or of an element.

use super::Lowering;
use celero_frontend::{Expr, NodeId as AstId, Reference, stdlib::Builtin};
use celero_ir::layout::value::tag_of;
use celero_ir::layout::{Field, Items};
use celero_ir::{Cmp, Constant, NodeId, Op, Ty};
use celero_jit::MAX_LOOPS;

/// A variable that is an element of a list of structs.
pub(super) struct Record {
    /// Its level.
    level: u32,
    /// The field that is the list.
    list: u32,
    members: Vec<(String, Field)>,
}

/// Maximum number of elements of a list that are compared one by one.
const MAX_ELEMENTS: usize = 8;

impl<'c> Lowering<'c> {
    /// The field that an expression is, and the type of its elements, if it is a list of the host
    /// whose elements can be read in place.
    pub(super) fn host_list(&self, list: AstId) -> Option<(u32, Ty)> {
        let Reference::Variable(field) = *self.checked.reference(list) else { return None };
        if self.ast.expr(list).is_test() {
            return None;
        }
        Some((field, self.field(field)?.elements.as_ref()?.ty))
    }

    /// The field that an expression is, and what a cursor goes over, if there is one.
    pub(super) fn host_cursor(&self, range: AstId) -> Option<(u32, &Items)> {
        let Reference::Variable(field) = *self.checked.reference(range) else { return None };
        if self.ast.expr(range).is_test() {
            return None;
        }
        Some((field, &self.field(field)?.cursor.as_ref()?.items))
    }

    /// `size(list)` or `size(map)`
    pub(super) fn sequence_size(&mut self, id: AstId, list: AstId) -> Option<NodeId> {
        if !self.is_builtin(id, &[Builtin::SizeList, Builtin::SizeMap]) {
            return None;
        }
        if let Some(count) =
            self.count(list).or_else(|| self.joint_size(id, list)).or_else(|| self.parts(id, list, None))
        {
            return Some(count);
        }
        let items = if let Some((field, _)) = self.host_list(list) {
            self.add(Op::Elements(field), Ty::Seq, &[], list)
        } else {
            let (field, _) = self.host_cursor(list)?;
            self.add(Op::Cursor(field), Ty::Cursor, &[], list)
        };
        Some(self.add(Op::SeqSize, Ty::Int, &[items], id))
    }

    /// `list[index]` with an index that is an integer. Another one is the library's to judge.
    pub(super) fn sequence_at(&mut self, id: AstId, list: AstId, index: NodeId) -> Option<NodeId> {
        if !self.is_builtin(id, &[Builtin::IndexList]) || self.graph.ty(index) != Ty::Int {
            return None;
        }
        let Some((field, ty)) = self.host_list(list) else { return self.view_at(id, list, index) };
        if ty == Ty::Record {
            return None;
        }
        let items = self.add(Op::Elements(field), Ty::Seq, &[], list);
        Some(self.add(Op::SeqAt, ty, &[items, index], id))
    }

    /// `value in list` with a value of the elements' type. The library compares values of different types.
    pub(super) fn sequence_has(&mut self, id: AstId, value: NodeId, list: AstId) -> Option<NodeId> {
        if !self.is_builtin(id, &[Builtin::InList]) {
            return None;
        }
        let (field, ty) = self.host_list(list).filter(|(_, ty)| ty.is_compared_in_place())?;
        if self.graph.ty(value) != ty {
            return None;
        }
        let items = self.add(Op::Elements(field), Ty::Seq, &[], list);
        Some(self.add(Op::SeqHas, Ty::Bool, &[value, items], id))
    }

    /// `value in [element, ..]` with few elements of the value's type that can't fail: comparisons,
    /// which all fail as the value does.
    pub(super) fn in_elements(&mut self, id: AstId, value: NodeId, list: AstId) -> Option<NodeId> {
        let elements = self.plain_elements(list).filter(|elements| self.literals(elements).is_none())?;
        let ty = self.graph.ty(value);
        let read_once = matches!(self.graph.op(value), Op::Field(_) | Op::Local(_) | Op::Member { .. } | Op::SeqAt);
        if !self.is_builtin(id, &[Builtin::InList]) || !read_once {
            return None;
        }
        let elements = self.sure_elements(elements, ty)?;
        Some(
            self.tests(Op::Or, id, &elements, |this, element| {
                this.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[value, element], id)
            }),
        )
    }

    /// The elements of a list that is written down, without optional ones.
    pub(super) fn plain_elements(&self, list: AstId) -> Option<&'c [AstId]> {
        match self.ast.expr(list) {
            Expr::List { elements, optional } if optional.is_empty() => Some(self.ast.children(*elements)),
            _ => None,
        }
    }

    /// The nodes of a few elements if all are scalars of this type and none can fail: literals, and
    /// fields that are never absent.
    pub(super) fn sure_elements(&mut self, elements: &[AstId], ty: Ty) -> Option<Vec<NodeId>> {
        let is_sure = |&id: &AstId| match (self.ast.expr(id), self.checked.reference(id)) {
            (Expr::Literal(_), _) => true,
            (expr, _) if expr.is_test() => false,
            (_, Reference::Variable(field)) => self.field(*field).is_some_and(Field::is_sure),
            _ => false,
        };
        if tag_of(ty).is_none() || !(1..=MAX_ELEMENTS).contains(&elements.len()) || !elements.iter().all(is_sure) {
            return None;
        }
        let nodes: Vec<NodeId> = elements.iter().map(|&element| self.expr(element)).collect();
        nodes.iter().all(|&node| self.graph.ty(node) == ty).then_some(nodes)
    }

    /// Whether the test of one of these nodes holds, or with [`Op::And`] that of each.
    pub(super) fn tests(
        &mut self,
        op: Op,
        id: AstId,
        of: &[NodeId],
        mut test: impl FnMut(&mut Self, NodeId) -> NodeId,
    ) -> NodeId {
        let tests: Vec<NodeId> = of.iter().map(|&node| test(self, node)).collect();
        match tests.as_slice() {
            &[only] => only,
            tests => self.add(op, Ty::Bool, tests, id),
        }
    }

    /// `list == list` or `list != list` with elements of one type. The library compares values of different types.
    pub(super) fn sequences_equal(&mut self, id: AstId, left: AstId, right: AstId) -> Option<NodeId> {
        let equal = self.is_builtin(id, &[Builtin::Equal]);
        if !equal && !self.is_builtin(id, &[Builtin::NotEqual]) {
            return None;
        }
        let (a, ty) = self.host_list(left).filter(|(_, ty)| ty.is_compared_in_place())?;
        let (b, _) = self.host_list(right).filter(|(_, other)| *other == ty)?;
        let items = [(a, left), (b, right)].map(|(field, at)| self.add(Op::Elements(field), Ty::Seq, &[], at));
        let same = self.add(Op::SeqEqual, Ty::Bool, &items, id);
        Some(if equal { same } else { self.add(Op::Not, Ty::Bool, &[same], id) })
    }

    /// `element.member` for an element of a list of structs of the host: a variable, for which it may
    /// be a test as well, or the element at an index.
    pub(super) fn member(&mut self, id: AstId) -> Option<NodeId> {
        let (base, selects) = self.selects(id)?;
        let is_test = self.ast.expr(id).is_test();
        if let Reference::Local(level) = *self.checked.reference(base) {
            let Record { list, members, .. } = self.records.iter().find(|record| record.level == level)?;
            let (list, (member, ty)) = (*list, self.member_of(members, &selects)?);
            if is_test {
                return Some(self.constant(Constant::Bool(true), Ty::Bool, id));
            }
            let record = self.add(Op::Local(level.saturating_add(self.outer)), Ty::Record, &[], id);
            return Some(self.add(Op::Member { field: list, member }, ty, &[record], id));
        }
        let Expr::Index { operand, index, .. } = *self.ast.expr(base) else { return None };
        if is_test || !self.is_builtin(base, &[Builtin::IndexList]) {
            return None;
        }
        let (list, _) = self.host_list(operand)?;
        let members = self.field(list)?.elements.as_ref()?.members?.0();
        let (member, ty) = self.member_of(&members, &selects)?;
        let index = self.expr(index);
        if self.graph.ty(index) == Ty::Int {
            let items = self.add(Op::Elements(list), Ty::Seq, &[], operand);
            let record = self.add(Op::SeqAt, Ty::Record, &[items, index], base);
            return Some(self.add(Op::Member { field: list, member }, ty, &[record], id));
        }
        // The index is not lowered again, which would double what indexes in indexes cost.
        let operand = self.expr(operand);
        let element = self.call(base, &[operand, index]);
        let select = |element, &(id, name): &(AstId, &str)| self.select_from(id, element, name, false);
        Some(selects.iter().rev().fold(element, select))
    }

    /// The next variable, or the one after an index, as an element of this list.
    pub(super) fn record(&self, list: u32, after_index: bool) -> Option<Record> {
        let members = self.field(list)?.elements.as_ref()?.members?.0();
        Some(Record { level: self.inner_level().saturating_add(u32::from(after_index)), list, members })
    }

    /// Whether expressions use the next variable, an element of this list, for members only that
    /// are read in place; with `pairs` the variable after the next. An element that is used as a
    /// whole is the map that the library makes of it.
    pub(super) fn needs_members_only(&self, list: u32, pairs: bool, parts: &[AstId]) -> bool {
        // Native code has no deeper loops, and each loop looks through those inside of it.
        let inside = self.inner_level() < MAX_LOOPS;
        let Some(record) = self.record(list, pairs).filter(|_| inside) else { return false };
        let Record { level, members, .. } = record;
        let mut pending = parts.to_vec();
        while let Some(id) = pending.pop() {
            if matches!(self.checked.reference(id), Reference::Local(used) if *used == level) {
                return false;
            }
            let is_member = self.selects(id).is_some_and(|(base, selects)| {
                matches!(self.checked.reference(base), Reference::Local(used) if *used == level)
                    && self.member_of(&members, &selects).is_some()
            });
            if !is_member {
                self.ast.each_child(id, |child| pending.push(child));
            }
        }
        true
    }

    /// The variable or the index from which an expression selects, and what it selects, the last one first.
    fn selects(&self, id: AstId) -> Option<(AstId, Vec<(AstId, &'c str)>)> {
        let mut selects = Vec::new();
        let mut at = id;
        while !matches!(self.checked.reference(at), Reference::Local(_)) {
            match self.ast.expr(at) {
                Expr::Select { operand, field, test, optional: false } if !test || at == id => {
                    selects.push((at, self.ast.name(*field)));
                    at = *operand;
                }
                Expr::Index { .. } if at != id => break,
                _ => return None,
            }
        }
        Some((at, selects))
    }

    /// The number and the type of the member that is selected, if it is never absent and read in place.
    fn member_of(&self, members: &[(String, Field)], selects: &[(AstId, &str)]) -> Option<(u32, Ty)> {
        let mut path = String::new();
        let mut found = None;
        for (_, name) in selects.iter().rev() {
            // What is selected from a member is no member of the struct. A quoted name is one key, not a path.
            if found.is_some() || name.contains('.') {
                return None;
            }
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            found = (0..).zip(members).find(|(_, (known, _))| *known == path);
        }
        let (number, (_, field)) = found?;
        field.is_in_place().then_some((number, field.ty))
    }
}
