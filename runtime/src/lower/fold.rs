//! Constructs that bind variables: the comprehension macros, `cel.bind`, `optMap`.

use super::{Callee, Lowering};
use celero_frontend::{Expr, FoldKind as Macro, NodeId as AstId, Overload, Reference, stdlib::Builtin};
use celero_ir::{FoldKind, Helper, NodeId, Op, Ty};

impl Lowering<'_> {
    /// The number of elements that a filter leaves, whose list is not made.
    pub(super) fn count(&mut self, id: AstId) -> Option<NodeId> {
        let Expr::Fold { kind: Macro::Filter, range, var2: None, filter: Some(filter), transform: None, .. } =
            *self.ast.expr(id)
        else {
            return None;
        };
        let (items, element) = self.items(true, range, false, Some(filter));
        let level = self.level();
        let filter = self.within(items, &[element], |this| {
            let node = this.expr(filter);
            this.truth(node, filter)
        });
        let fold = Op::Fold { kind: FoldKind::Count, level, pairs: false, filtered: false };
        Some(self.add(fold, Ty::Int, &[items, filter], id))
    }

    /// Lowers parts of a comprehension, in which its variables are bound.
    fn within<T>(&mut self, items: NodeId, variables: &[Ty], parts: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.locals.len();
        let record = match (variables, self.graph.op(items)) {
            ([Ty::Record], Op::Elements(list)) => self.record(list),
            _ => None,
        };
        let outer = self.records.len();
        self.records.extend(record);
        self.locals.extend(variables);
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
        let tests = matches!(kind, Macro::All | Macro::Exists | Macro::ExistsOne);
        let (mut items, element) = self.items(tests, range, pairs, filter);
        if matches!(kind, Macro::MapValues | Macro::FilterKeys) {
            items = self.add(Op::Call(Helper::map_only), Ty::Value, &[items], id);
        }
        let mut args = vec![items];
        let level = self.level();
        let variables: &[Ty] = if pairs { &[element, Ty::Value] } else { &[element] };
        self.within(items, variables, |this| {
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

    /// Returns the range of a comprehension and the type of its variable. The elements of a host's
    /// list are read in place if they are only tested.
    fn items(&mut self, tests: bool, range: AstId, pairs: bool, filter: Option<AstId>) -> (NodeId, Ty) {
        if tests
            && !pairs
            && let (Some((list, ty)), Some(filter)) = (self.host_list(range), filter)
            && (ty != Ty::Record || self.needs_members_only(list, filter))
        {
            return (self.add(Op::Elements(list), Ty::Seq, &[], range), ty);
        }
        let items = self.expr(range);
        (self.boxed(items, range), Ty::Value)
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
        let present = self.dispatch(target, Callee::builtin(Builtin::OptionalHasValue), &[optional]);
        let present = self.truth(present, target);
        let value = self.dispatch(target, Callee::builtin(Builtin::OptionalValue), &[optional]);
        let mapped = self.bind(id, value, body);
        let mapped = if flat {
            // The definition of the macro does not require that a `dyn` body is an optional.
            self.boxed(mapped, id)
        } else {
            self.dispatch(id, Callee::builtin(Builtin::OptionalOf), &[mapped])
        };
        let none = self.dispatch(id, Callee::builtin(Builtin::OptionalNone), &[]);
        self.choose(id, present, mapped, none)
    }

    /// `target.or(other)` and `target.orValue(other)`: `other` is evaluated only if `target` has no value.
    pub(super) fn optional_or(&mut self, id: AstId, target: AstId, other: AstId) -> Option<NodeId> {
        let Reference::Call { overloads, .. } = self.checked.reference(id) else { return None };
        let unwraps = match **overloads {
            [Overload::Builtin(Builtin::OptionalOr)] => false,
            [Overload::Builtin(Builtin::OptionalOrValue)] => true,
            _ => return None,
        };
        let target = self.expr(target);
        let optional = self.boxed(target, id);
        let present = self.dispatch(id, Callee::builtin(Builtin::OptionalHasValue), &[optional]);
        let present = self.truth(present, id);
        let first =
            if unwraps { self.dispatch(id, Callee::builtin(Builtin::OptionalValue), &[optional]) } else { optional };
        let other = self.expr(other);
        let second = self.dispatch(id, Callee::Overloads(overloads.clone()), &[optional, other]);
        Some(self.choose(id, present, first, second))
    }
}
