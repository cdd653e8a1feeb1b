//! Checks the macros that declare variables: comprehensions, `cel.bind`, `optMap` and `optFlatMap`.
//!
//! The range, value or target of a macro is checked outside the scope of its variables.

use super::{Checker, codes};
use crate::ast::{Expr, FoldKind, Name, NodeId};
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn check_fold(&mut self, id: NodeId) -> Type {
        let &Expr::Fold { kind, range, var, var2, filter, transform } = self.ast.expr(id) else {
            return Type::Error;
        };
        // The range of a fold in the expansion of another macro has a name that can't be written.
        let expanded =
            matches!(self.ast.expr(range), Expr::Ident { name, .. } if self.ast.name(*name).starts_with('@'));
        if !expanded && var2.is_none() && self.refuse_excluded(id, kind.name()) {
            return Type::Error;
        }
        let range_type = self.check(range);
        let over_map = matches!(kind, FoldKind::MapValues | FoldKind::FilterKeys);
        let (first, second) = match self.infer.shallow(&range_type) {
            Type::List(_) if over_map => {
                let shown = self.show(&range_type);
                let message = format!("`{}` takes a map, this is `{shown}`", kind.name());
                self.error(codes::NOT_MAP, self.ast.span(range), message);
                (Type::Error, Type::Error)
            }
            _ => self.entry_types(range, &range_type, var2.is_some()),
        };
        let outside = self.names.locals.len();
        self.names.push(var, first.clone());
        if let Some(var2) = var2 {
            self.names.push(var2, second);
        }
        if let Some(filter) = filter {
            let ty = self.check(filter);
            self.expect_bool(filter, &ty, format_args!("the predicate of `{}`", kind.name()));
        }
        let transformed = transform.map(|t| (t, self.check(t)));
        self.names.locals.truncate(outside);
        let result = transformed.as_ref().map_or(Type::Error, |(_, ty)| ty.clone());
        match kind {
            FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne => Type::Bool,
            FoldKind::Filter => Type::list(first),
            FoldKind::Map | FoldKind::TransformList => Type::list(result),
            FoldKind::TransformMap | FoldKind::MapValues | FoldKind::FilterKeys => Type::map(first, result),
            FoldKind::TransformMapEntry => {
                let (key, value) = (self.infer.fresh(), self.infer.fresh());
                let map = Type::map(key, value);
                if self.infer.assign(&result, &map) {
                    return map;
                }
                let shown = self.show(&result);
                let at = transformed.map_or(id, |(t, _)| t);
                let message = format!("the transform of `transformMapEntry` must be a map, this is `{shown}`");
                self.error(codes::NOT_MAP, self.ast.span(at), message);
                Type::Error
            }
        }
    }

    /// Returns the types of a fold's variables. Two variables are the index and element of a list,
    /// or the key and value of a map; one variable is the element of a list, or the key of a map.
    fn entry_types(&mut self, range: NodeId, ty: &Type, two: bool) -> (Type, Type) {
        match self.infer.shallow(ty) {
            Type::List(element) if two => (Type::Int, Type::clone(&element)),
            Type::List(element) => (Type::clone(&element), Type::Dyn),
            Type::Map(kv) => (kv.0.clone(), kv.1.clone()),
            Type::Error => (Type::Error, Type::Error),
            Type::Dyn => (Type::Dyn, Type::Dyn),
            Type::Var(_) => {
                self.infer.assign(&Type::Dyn, ty);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let shown = self.show(ty);
                let message = format!("a macro ranges over a list or a map, this is `{shown}`");
                self.error(codes::NOT_ITERABLE, self.ast.span(range), message);
                (Type::Error, Type::Error)
            }
        }
    }

    pub(super) fn check_bind(&mut self, id: NodeId, var: Name, init: NodeId, body: NodeId) -> Type {
        let ty = self.check(init);
        self.names.push(var, ty);
        let result = self.check(body);
        if self.names.locals.pop().is_some_and(|local| !local.used) {
            let message = format!("`{}` is bound but not used", self.ast.name(var));
            self.warning(codes::UNUSED_BINDING, self.ast.node(id).focus, message);
        }
        result
    }

    pub(super) fn check_opt_map(&mut self, id: NodeId, target: NodeId, var: Name, body: NodeId, flat: bool) -> Type {
        let name = if flat { "optFlatMap" } else { "optMap" };
        let ty = self.check(target);
        if self.refuse_optionals(id, &format!("`{name}`")) {
            return Type::Error;
        }
        let inner = self.expect_optional(target, &ty, &format!("the target of `{name}`"));
        self.names.push(var, inner);
        let result = self.check(body);
        self.names.locals.pop();
        if !flat {
            return Type::optional(result);
        }
        if self.infer.shallow(&result).is_dyn() {
            return result;
        }
        match self.expect_optional(body, &result, "the mapping of `optFlatMap`") {
            Type::Error => Type::Error,
            _ => result,
        }
    }
}
