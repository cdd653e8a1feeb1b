//! Checks literals of lists, maps and messages: finds the common type of their elements.

use super::{Checker, codes};
use crate::ast::{Name, NodeId};
use crate::checked::Reference;
use crate::messages::is_of_library;
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

    pub(super) fn check_message(
        &mut self,
        id: NodeId,
        name: Name,
        fields: &[Name],
        values: &[NodeId],
        optional: &[bool],
    ) -> Type {
        let written = self.ast.name(name);
        let (path, rooted) = written.strip_prefix('.').map_or((written, false), |path| (path, true));
        let Some(message) = self.names.message(path, rooted) else {
            for &value in values {
                self.check(value);
            }
            if self.unchecked {
                self.set_reference(id, Reference::Undeclared);
                return Type::Dyn;
            }
            let mut names: Vec<&str> = self.names.declarations.messages().names().collect();
            names.sort_unstable();
            let help = if is_of_library(path) {
                vec!["only functions of its library make values of this type".to_owned()]
            } else {
                self.did_you_mean(path, &names)
            };
            let text = format!("undeclared type `{written}`");
            self.error(codes::UNDECLARED_TYPE, self.ast.node(id).focus, text).help.extend(help);
            return Type::Error;
        };
        let mut seen: Vec<Name> = Vec::with_capacity(fields.len());
        for (at, (&field, &value)) in fields.iter().zip(values).enumerate() {
            let marked = optional.get(at).copied().unwrap_or(false);
            let ty = self.check_entry(value, marked);
            self.check_field_value(id, &message, field, (value, &ty));
            if seen.contains(&field) {
                let text = format!("the field `{}` is set twice", self.ast.name(field));
                self.error(codes::FIELD_VALUE, self.ast.span(value), text);
            }
            seen.push(field);
        }
        let ty = self.names.declarations.messages().message(&message).cloned();
        self.set_reference(id, Reference::Message(message.into()));
        ty.unwrap_or(Type::Error)
    }

    /// The value of a field in a literal of a message.
    fn check_field_value(&mut self, id: NodeId, message: &str, field: Name, (value, ty): (NodeId, &Type)) {
        let name = self.ast.name(field);
        let Some(declared) = self.names.declarations.messages().field(message, name).cloned() else {
            self.report_no_field(id, message, name);
            return;
        };
        if !self.infer.assign(ty, &declared) {
            let (shown, wanted) = (self.show(ty), self.show(&declared));
            let text = format!("the field `{name}` of `{message}` is `{wanted}`, this is `{shown}`");
            self.error(codes::FIELD_VALUE, self.ast.span(value), text);
        }
    }
}
