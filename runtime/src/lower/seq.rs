//! Lists of the host whose elements are read in place. Where an expression is one, its size, its
//! elements and searches in it need no boxed value of the list or of an element.

use super::Lowering;
use celero_frontend::{Expr, NodeId as AstId, Reference, stdlib::Builtin};
use celero_ir::layout::value::tag_of;
use celero_ir::layout::{self, Field};
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

/// A member of such a variable.
struct Member {
    level: u32,
    list: u32,
    number: u32,
    ty: Ty,
}

/// Maximum number of elements of a list that are compared one by one.
const MAX_ELEMENTS: usize = 8;

impl<'c> Lowering<'c> {
    /// The field that an expression is, and the type of its elements, if it is a list of the host
    /// whose elements can be read in place.
    pub(super) fn host_list(&self, list: AstId) -> Option<(u32, Ty)> {
        let Reference::Variable(field) = *self.checked.reference(list) else { return None };
        if matches!(self.ast.expr(list), Expr::Select { test: true, .. }) {
            return None;
        }
        Some((field, self.field(field)?.elements.as_ref()?.ty))
    }

    /// The field that an expression is, and the cursor that goes over it, if there is one.
    pub(super) fn host_cursor(&self, range: AstId) -> Option<(u32, &layout::Cursor)> {
        let Reference::Variable(field) = *self.checked.reference(range) else { return None };
        if matches!(self.ast.expr(range), Expr::Select { test: true, .. }) {
            return None;
        }
        Some((field, self.field(field)?.cursor.as_ref()?))
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
            (Expr::Select { test: true, .. }, _) => false,
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

    /// `element.member`, or whether there is one, for an element that is a struct of the host.
    pub(super) fn member(&mut self, id: AstId) -> Option<NodeId> {
        if self.records.is_empty() {
            return None;
        }
        let member = self.member_of(id, &self.records)?;
        if let Expr::Select { test: true, .. } = self.ast.expr(id) {
            return Some(self.constant(Constant::Bool(true), Ty::Bool, id));
        }
        let record = self.add(Op::Local(member.level.saturating_add(self.outer)), Ty::Record, &[], id);
        Some(self.add(Op::Member { field: member.list, member: member.number }, member.ty, &[record], id))
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
        let level = record.level;
        let records = [record];
        let mut pending = parts.to_vec();
        while let Some(id) = pending.pop() {
            if matches!(self.checked.reference(id), Reference::Local(used) if *used == level) {
                return false;
            }
            if self.member_of(id, &records).is_none() {
                self.ast.each_child(id, |child| pending.push(child));
            }
        }
        true
    }

    /// The member of one of these variables that an expression selects, if it is never absent and read in place.
    fn member_of(&self, id: AstId, records: &[Record]) -> Option<Member> {
        let mut names = Vec::new();
        let mut at = id;
        let level = loop {
            if let Reference::Local(level) = self.checked.reference(at) {
                break *level;
            }
            match self.ast.expr(at) {
                Expr::Select { operand, field, test, optional: false } if !test || at == id => {
                    let name = self.ast.name(*field);
                    // A quoted name is one key, not a path.
                    if name.contains('.') {
                        return None;
                    }
                    names.push(name);
                    at = *operand;
                }
                _ => return None,
            }
        };
        let Record { list, members, .. } = records.iter().find(|record| record.level == level)?;
        let mut path = String::new();
        let mut found = None;
        while let Some(name) = names.pop() {
            // What is selected from a variable is no member of the struct.
            if found.is_some() {
                return None;
            }
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            found = (0..).zip(members).find(|(_, (known, _))| *known == path);
        }
        let (number, (_, field)) = found?;
        field.is_in_place().then_some(Member { level, list: *list, number, ty: field.ty })
    }
}
