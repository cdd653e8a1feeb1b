//! Checks literals of lists, maps and messages: finds the common type of their elements.

use super::{Checker, codes};
use crate::ast::{Name, NodeId};
use crate::checked::Reference;
use crate::stdlib::Library;
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn check_list(&mut self, elements: &[NodeId], optional: &[bool]) -> Type {
        let mut joined = None;
        for (i, &element) in elements.iter().enumerate() {
            let marked = optional.get(i).copied().unwrap_or(false);
            let ty = self.check_entry(element, marked);
            joined = Some(self.join_elements(joined, ty));
        }
        Type::list(joined.unwrap_or_else(|| self.infer.fresh()))
    }

    pub(super) fn check_map(&mut self, entries: &[NodeId], optional: &[bool]) -> Type {
        let (mut keys, mut values) = (None, None);
        for (i, entry) in entries.chunks(2).enumerate() {
            let &[key, value] = entry else { continue };
            let ty = self.check(key);
            keys = Some(self.join_elements(keys, ty));
            let marked = optional.get(i).copied().unwrap_or(false);
            let ty = self.check_entry(value, marked);
            values = Some(self.join_elements(values, ty));
        }
        let key = keys.unwrap_or_else(|| self.infer.fresh());
        Type::map(key, values.unwrap_or_else(|| self.infer.fresh()))
    }

    /// Returns the type that an element contributes: its own, or that inside the optional if it is marked `?`.
    fn check_entry(&mut self, id: NodeId, marked: bool) -> Type {
        let ty = self.check(id);
        if !marked {
            return ty;
        }
        if self.refuse_optionals(id, "an entry marked `?`") {
            return Type::Error;
        }
        self.expect_optional(id, &ty, "an entry marked `?`")
    }

    /// Elements without a common type make the element type `dyn`.
    fn join_elements(&mut self, joined: Option<Type>, ty: Type) -> Type {
        match joined {
            Some(joined) => self.infer.merge(&joined, &ty).unwrap_or(Type::Dyn),
            None => ty,
        }
    }

    /// Returns whether the syntax of optionals is off, and reports that.
    pub(super) fn refuse_optionals(&mut self, id: NodeId, what: &str) -> bool {
        let off = !self.names.libraries.contains(Library::Optionals);
        if off {
            self.report_library_off(id, what, Library::Optionals);
        }
        off
    }

    /// Returns the type inside an optional. Any other type but `dyn` is reported.
    pub(super) fn expect_optional(&mut self, id: NodeId, ty: &Type, what: &str) -> Type {
        let inner = self.infer.fresh();
        if self.infer.assign(ty, &Type::optional(inner.clone())) {
            return self.infer.shallow(&inner);
        }
        let shown = self.show(ty);
        let help = "wrap it in `optional.of(..)`".to_owned();
        let message = format!("{what} must be an optional, this is `{shown}`");
        self.error(codes::NOT_OPTIONAL, self.ast.span(id), message).help.push(help);
        Type::Error
    }

    pub(super) fn check_message(&mut self, id: NodeId, name: Name, values: &[NodeId]) -> Type {
        for &value in values {
            self.check(value);
        }
        if self.unchecked {
            self.set_reference(id, Reference::Undeclared);
            return Type::Dyn;
        }
        let name = self.ast.name(name);
        let help = self.did_you_mean(name, &self.names.values());
        let message = format!("undeclared type `{name}`");
        self.error(codes::UNDECLARED_TYPE, self.ast.node(id).focus, message).help.extend(help);
        Type::Error
    }
}
