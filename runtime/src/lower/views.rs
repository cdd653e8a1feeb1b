//! Lists and optionals that are never built, because what is asked of them is in a list, a map or
//! a text of the host: `list.reverse()[0]`, `list.first().value()`, `map[?key].orValue("")`,
//! `sets.contains(list, [1, 2])`, `text.split("/")[1]`.
//!
//! Each reads what the list or the optional would have been made of, in the same order, so that it
//! fails where that would have failed.

use super::Lowering;
use celero_frontend::{Expr, NodeId as AstId, Reference, stdlib::Builtin};
use celero_ir::{Arith, Catch, Cmp, Constant, ErrorKind, Helper, NodeId, Op, Ty};

/// An optional that is not built.
struct View {
    /// Whether it holds a value.
    present: NodeId,
    /// The value, which is read only if there is one.
    value: NodeId,
}

impl<'c> Lowering<'c> {
    /// `list.reverse()[index]` and `list.slice(start, end)[index]` with an index that is an integer.
    pub(super) fn view_at(&mut self, id: AstId, list: AstId, index: NodeId) -> Option<NodeId> {
        if let Some(part) = self.parts(id, list, Some(index)) {
            return Some(part);
        }
        let (target, args) = self.method(list)?;
        let (field, ty) = self.host_list(target).filter(|(_, ty)| *ty != Ty::Record)?;
        if self.is_builtin(list, &[Builtin::ReverseList]) {
            let items = self.add(Op::Elements(field), Ty::Seq, &[], target);
            let last = self.last(items, list);
            let flipped = self.add(Op::Arith(Arith::Sub), Ty::Int, &[last, index], id);
            // A negative index stays one: the difference may not be an integer.
            let is_negative = self.compare(Cmp::Lt, index, 0, id);
            let index = self.add(Op::Cond, Ty::Int, &[is_negative, index, flipped], id);
            return Some(self.add(Op::SeqAt, ty, &[items, index], id));
        }
        if self.is_builtin(list, &[Builtin::Slice]) {
            let &[start, end] = self.sure_elements(args, Ty::Int)?.as_slice() else { return None };
            let items = self.add(Op::Elements(field), Ty::Seq, &[], target);
            let size = self.add(Op::SeqSize, Ty::Int, &[items], list);
            let tests = [
                self.add(Op::Cmp(Cmp::Le), Ty::Bool, &[end, size], list),
                self.add(Op::Cmp(Cmp::Le), Ty::Bool, &[start, end], list),
                self.compare(Cmp::Ge, start, 0, list),
            ];
            let is_slice = self.all_of(&tests, list);
            let length = self.add(Op::Arith(Arith::Sub), Ty::Int, &[end, start], id);
            let tests =
                [self.add(Op::Cmp(Cmp::Lt), Ty::Bool, &[index, length], id), self.compare(Cmp::Ge, index, 0, id)];
            let is_inside = self.all_of(&tests, id);
            let shifted = self.add(Op::Arith(Arith::Add), Ty::Int, &[start, index], id);
            let outside = self.constant(Constant::Int(-1), Ty::Int, id);
            let index = self.add(Op::Cond, Ty::Int, &[is_inside, shifted, outside], id);
            let element = self.add(Op::SeqAt, ty, &[items, index], id);
            let no_slice = self.add(Op::Fail(ErrorKind::InvalidArgument), ty, &[], list);
            return Some(self.add(Op::Cond, ty, &[is_slice, element, no_slice], id));
        }
        None
    }

    /// `optional.value()`, `optional.orValue(other)` and `optional.hasValue()` of an optional that is not built.
    pub(super) fn of_view(&mut self, id: AstId, optional: AstId, args: &[AstId]) -> Option<NodeId> {
        if self.is_builtin(id, &[Builtin::OptionalHasValue]) {
            return self.view(optional).map(|view| view.present);
        }
        if self.is_builtin(id, &[Builtin::OptionalValue]) {
            let View { present, value } = self.view(optional)?;
            let ty = self.graph.ty(value);
            let absent = self.add(Op::Fail(ErrorKind::InvalidArgument), ty, &[], id);
            return Some(self.add(Op::Cond, ty, &[present, value, absent], id));
        }
        if self.is_builtin(id, &[Builtin::OptionalOrValue])
            && let &[other] = args
        {
            let View { present, value } = self.view(optional)?;
            let other = self.expr(other);
            // A header, in the form by which the index of a set knows it.
            if self.graph.op(present) == Op::IsPresent && self.graph.ty(other) == Ty::Str {
                return Some(self.add(Op::Coalesce(Catch::Absence), Ty::Str, &[value, other], id));
            }
            return Some(self.choose(id, present, value, other));
        }
        None
    }

    /// `sets.contains(list, others)` and `sets.intersects(list, others)`, or the methods for them, with
    /// few others that are written down: searches for each.
    pub(super) fn searches(&mut self, id: AstId, list: AstId, others: AstId) -> Option<NodeId> {
        let op = if self.is_builtin(id, &[Builtin::SetsContains, Builtin::HasAll]) {
            Op::And
        } else if self.is_builtin(id, &[Builtin::SetsIntersects, Builtin::HasAny]) {
            Op::Or
        } else {
            return None;
        };
        let (field, ty) = self.host_list(list)?;
        let others = self.plain_elements(others)?;
        let others = self.sure_elements(others, ty)?;
        let items = self.add(Op::Elements(field), Ty::Seq, &[], list);
        let has = |this: &mut Self, other| this.add(Op::SeqHas, Ty::Bool, &[other, items], id);
        Some(self.tests(op, id, &others, has))
    }

    /// `text.split(separator)[index]`, or without an index the number of parts. Constants are folded
    /// as a list.
    pub(super) fn parts(&mut self, id: AstId, list: AstId, index: Option<NodeId>) -> Option<NodeId> {
        let (text, args) = self.method(list)?;
        let &[separator] = args else { return None };
        let is_text = |this: &Self, id| {
            let declared = matches!(this.checked.reference(id), Reference::Variable(_));
            declared && !this.ast.expr(id).is_test()
        };
        if !self.is_builtin(list, &[Builtin::Split]) || !is_text(self, text) {
            return None;
        }
        let separator = self.sure_elements(&[separator], Ty::Str)?.first().copied()?;
        let text = self.expr(text);
        if self.graph.ty(text) != Ty::Str {
            return None;
        }
        Some(match index {
            Some(index) => self.add(Op::Call(Helper::split_part), Ty::Str, &[text, separator, index], id),
            None => self.add(Op::Call(Helper::split_count), Ty::Int, &[text, separator], id),
        })
    }

    /// `size(list + list)`
    pub(super) fn joint_size(&mut self, id: AstId, lists: AstId) -> Option<NodeId> {
        let Expr::Binary { left, right, .. } = *self.ast.expr(lists) else { return None };
        if !self.is_builtin(lists, &[Builtin::AddList]) {
            return None;
        }
        let ((a, _), (b, _)) = (self.host_list(left)?, self.host_list(right)?);
        let sizes = [(a, left), (b, right)].map(|(field, at)| {
            let items = self.add(Op::Elements(field), Ty::Seq, &[], at);
            self.add(Op::SeqSize, Ty::Int, &[items], id)
        });
        Some(self.add(Op::Arith(Arith::Add), Ty::Int, &sizes, id))
    }

    fn view(&mut self, id: AstId) -> Option<View> {
        match *self.ast.expr(id) {
            Expr::Index { operand, index, .. } if self.is_builtin(id, &[Builtin::OptionalIndexList]) => {
                let (field, ty) = self.host_list(operand).filter(|(_, ty)| *ty != Ty::Record)?;
                let index = self.sure_elements(&[index], Ty::Int)?.first().copied()?;
                let items = self.add(Op::Elements(field), Ty::Seq, &[], operand);
                let size = self.add(Op::SeqSize, Ty::Int, &[items], id);
                let tests =
                    [self.add(Op::Cmp(Cmp::Gt), Ty::Bool, &[size, index], id), self.compare(Cmp::Ge, index, 0, id)];
                let present = self.all_of(&tests, id);
                Some(View { present, value: self.add(Op::SeqAt, ty, &[items, index], id) })
            }
            Expr::Index { operand, index, .. } if self.is_builtin(id, &[Builtin::OptionalIndexMap]) => {
                let name = self.literal_text(index);
                name.and_then(|name| self.header_view(id, operand, name))
                    .or_else(|| self.entry_view(id, operand, index))
            }
            Expr::Select { operand, field, .. } if self.is_builtin(id, &[Builtin::OptionalSelectMap]) => {
                let name = self.ast.name(field);
                if let Some(view) = self.header_view(id, operand, name) {
                    return Some(view);
                }
                let key = self.text(name, id);
                Some(View { present: self.entry(id, operand, key, true)?, value: self.entry(id, operand, key, false)? })
            }
            Expr::Call { .. } => {
                let (list, _) = self.method(id)?;
                let is_first = self.is_builtin(id, &[Builtin::First]);
                if !is_first && !self.is_builtin(id, &[Builtin::Last]) {
                    return None;
                }
                let (field, ty) = self.host_list(list).filter(|(_, ty)| *ty != Ty::Record)?;
                let items = self.add(Op::Elements(field), Ty::Seq, &[], list);
                let size = self.add(Op::SeqSize, Ty::Int, &[items], id);
                let present = self.compare(Cmp::Gt, size, 0, id);
                let index = if is_first { self.constant(Constant::Int(0), Ty::Int, id) } else { self.last(items, id) };
                Some(View { present, value: self.add(Op::SeqAt, ty, &[items, index], id) })
            }
            _ => None,
        }
    }

    /// `headers[?'name']` and `headers.?name`
    fn header_view(&mut self, id: AstId, map: AstId, name: &str) -> Option<View> {
        let header = self.header(id, map, name)?;
        Some(View { present: self.read_header(id, header, true), value: self.read_header(id, header, false) })
    }

    /// `map[?key]`
    fn entry_view(&mut self, id: AstId, map: AstId, key: AstId) -> Option<View> {
        let key = self.sure_elements(&[key], self.key_type(map)?)?.first().copied()?;
        Some(View { present: self.entry(id, map, key, true)?, value: self.entry(id, map, key, false)? })
    }

    /// The operand and the arguments of a call in the form of a method.
    fn method(&self, id: AstId) -> Option<(AstId, &'c [AstId])> {
        match self.ast.expr(id) {
            Expr::Call { target: Some(target), args, .. } => Some((*target, self.ast.children(*args))),
            _ => None,
        }
    }

    /// The index of the last element; -1 if there is none.
    fn last(&mut self, items: NodeId, at: AstId) -> NodeId {
        let size = self.add(Op::SeqSize, Ty::Int, &[items], at);
        let one = self.constant(Constant::Int(1), Ty::Int, at);
        self.add(Op::Arith(Arith::Sub), Ty::Int, &[size, one], at)
    }

    fn compare(&mut self, cmp: Cmp, node: NodeId, number: i64, at: AstId) -> NodeId {
        let number = self.constant(Constant::Int(number), Ty::Int, at);
        self.add(Op::Cmp(cmp), Ty::Bool, &[node, number], at)
    }

    /// Whether all tests hold. They are made one after the other, and the first error is the result.
    fn all_of(&mut self, tests: &[NodeId], at: AstId) -> NodeId {
        let no = self.constant(Constant::Bool(false), Ty::Bool, at);
        let mut tests = tests.iter().rev().copied();
        let last = tests.next().unwrap_or(no);
        tests.fold(last, |rest, test| self.add(Op::Cond, Ty::Bool, &[test, rest, no], at))
    }
}
