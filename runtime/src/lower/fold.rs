//! Constructs that bind variables: the comprehension macros, `cel.bind`, `optMap`.

use super::Lowering;
use celero_frontend::{Expr, FoldKind as Macro, NodeId as AstId, Overload, Reference, stdlib::Builtin};
use celero_ir::layout::Items;
use celero_ir::layout::value::tag_of;
use celero_ir::{FoldKind, Helper, NodeId, Op, Ty};

/// The range of a comprehension.
#[derive(Clone, Copy)]
struct Range {
    node: NodeId,
    /// The types of the variables; the last one if there is one.
    first: Ty,
    last: Ty,
}

impl Lowering<'_> {
    /// The number of elements that a filter leaves, whose list is not made.
    pub(super) fn count(&mut self, id: AstId) -> Option<NodeId> {
        let Expr::Fold { kind: Macro::Filter, range, var2: None, filter: Some(filter), transform: None, .. } =
            *self.ast.expr(id)
        else {
            return None;
        };
        let range = self.range(range, false, false, &[filter]);
        let (items, level) = (range.node, self.level());
        let filter = self.within(range, false, |this| {
            let node = this.expr(filter);
            this.truth(node, filter)
        });
        let fold = Op::Fold { kind: FoldKind::Count, level, pairs: false, filtered: false };
        Some(self.add(fold, Ty::Int, &[items, filter], id))
    }

    /// Lowers parts of a comprehension, in which its variables are bound.
    fn within<T>(&mut self, range: Range, pairs: bool, parts: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.locals.len();
        if pairs {
            self.locals.push(range.first);
        }
        let record = match (range.last, self.graph.op(range.node)) {
            (Ty::Record, Op::Elements(list)) => self.record(list, false),
            _ => None,
        };
        let outer = self.records.len();
        self.records.extend(record);
        self.locals.push(range.last);
        let done = parts(self);
        self.locals.truncate(depth);
        self.records.truncate(outer);
        done
    }

    pub(super) fn fold(
        &mut self,
        id: AstId,
        kind: Macro,
        range: AstId,
        pairs: bool,
        filter: Option<AstId>,
        transform: Option<AstId>,
    ) -> NodeId {
        let parts: Vec<AstId> = filter.into_iter().chain(transform).collect();
        let mut range = match kind {
            Macro::MapValues | Macro::FilterKeys => self.map_range(range),
            _ => self.range(range, pairs, kind == Macro::Filter, &parts),
        };
        if matches!(kind, Macro::MapValues | Macro::FilterKeys) && self.graph.ty(range.node) == Ty::Value {
            range.node = self.add(Op::Call(Helper::map_only), Ty::Value, &[range.node], id);
        }
        let mut args = vec![range.node];
        let level = self.level();
        self.within(range, pairs, |this| {
            if let Some(filter) = filter {
                let node = this.expr(filter);
                args.push(this.truth(node, filter));
            }
            if let Some(transform) = transform {
                let node = this.expr(transform);
                args.push(this.boxed(node, transform));
            }
        });
        let (kind, ty) = match kind {
            Macro::All => (FoldKind::All, Ty::Bool),
            Macro::Exists => (FoldKind::Exists, Ty::Bool),
            Macro::ExistsOne => (FoldKind::ExistsOne, Ty::Bool),
            Macro::Filter => (FoldKind::Filter, Ty::Value),
            Macro::Map | Macro::TransformList => (FoldKind::Map, Ty::Value),
            Macro::TransformMap | Macro::MapValues | Macro::FilterKeys => (FoldKind::TransformMap, Ty::Value),
            Macro::TransformMapEntry => (FoldKind::TransformMapEntry, Ty::Value),
        };
        let filtered = filter.is_some() && transform.is_some();
        self.add(Op::Fold { kind, level, pairs, filtered }, ty, &args, id)
    }

    /// The range of a comprehension. The elements of a host's list are read in place, structs only
    /// if their members are enough for these parts and none is `kept` in the result.
    fn range(&mut self, range: AstId, pairs: bool, kept: bool, parts: &[AstId]) -> Range {
        if let Some((list, ty)) = self.host_list(range)
            && (!kept || tag_of(ty).is_some())
            && (ty != Ty::Record || self.needs_members_only(list, pairs, parts))
        {
            return Range { node: self.add(Op::Elements(list), Ty::Seq, &[], range), first: Ty::Int, last: ty };
        }
        if let Some((field, items)) = self.host_cursor(range)
            && let Some((first, last)) = items.variables(pairs)
            && (!kept || tag_of(first).is_some())
        {
            return Range { node: self.add(Op::Cursor(field), Ty::Cursor, &[], range), first, last };
        }
        let items = self.expr(range);
        Range { node: self.boxed(items, range), first: Ty::Value, last: Ty::Value }
    }

    /// The range of a comprehension that takes maps only.
    fn map_range(&mut self, range: AstId) -> Range {
        if matches!(self.host_cursor(range), Some((_, Items::Entries(..)))) {
            return self.range(range, true, false, &[]);
        }
        let items = self.expr(range);
        Range { node: self.boxed(items, range), first: Ty::Value, last: Ty::Value }
    }

    pub(super) fn bind(&mut self, id: AstId, init: NodeId, body: AstId) -> NodeId {
        let (level, depth) = (self.level(), self.locals.len());
        let ty = self.graph.ty(init);
        self.locals.push(ty);
        let body = self.expr(body);
        self.locals.truncate(depth);
        let ty = self.graph.ty(body);
        self.add(Op::Let(level), ty, &[init, body], id)
    }

    /// `target.optMap(x, body)`: `target` has a value ? `optional.of(body with x as the value)` : none.
    pub(super) fn opt_map(&mut self, id: AstId, target: AstId, body: AstId, flat: bool) -> NodeId {
        let target_node = self.expr(target);
        let optional = self.boxed(target_node, target);
        let present = self.library_call(target, Builtin::OptionalHasValue, &[optional]);
        let present = self.truth(present, target);
        let value = self.library_call(target, Builtin::OptionalValue, &[optional]);
        let mapped = self.bind(id, value, body);
        let mapped = if flat {
            // The definition of the macro does not require that a `dyn` body is an optional.
            self.boxed(mapped, id)
        } else {
            self.library_call(id, Builtin::OptionalOf, &[mapped])
        };
        let none = self.library_call(id, Builtin::OptionalNone, &[]);
        self.choose(id, present, mapped, none)
    }

    /// `target.or(other)` and `target.orValue(other)`: `other` is evaluated only if `target` has no value.
    pub(super) fn optional_or(&mut self, id: AstId, target: AstId, other: AstId) -> Option<NodeId> {
        let Reference::Call { overloads, .. } = self.checked.reference(id) else { return None };
        let (builtin, unwraps) = match **overloads {
            [Overload::Builtin(Builtin::OptionalOr)] => (Builtin::OptionalOr, false),
            [Overload::Builtin(Builtin::OptionalOrValue)] => (Builtin::OptionalOrValue, true),
            _ => return None,
        };
        let target = self.expr(target);
        let optional = self.boxed(target, id);
        let present = self.library_call(id, Builtin::OptionalHasValue, &[optional]);
        let present = self.truth(present, id);
        let first = if unwraps { self.library_call(id, Builtin::OptionalValue, &[optional]) } else { optional };
        let other = self.expr(other);
        let second = self.library_call(id, builtin, &[optional, other]);
        Some(self.choose(id, present, first, second))
    }
}
