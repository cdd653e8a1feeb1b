//! Checks identifiers, qualified names and selections of fields.

use super::names::Meaning;
use super::{Checker, codes};
use crate::ast::{Expr, Name, NodeId};
use crate::cel::parser::no_selection;
use crate::checked::Reference;
use crate::stdlib::{Builtin, Overload};
use crate::types::Type;
use smallvec::SmallVec;
use std::sync::Arc;

/// A path such as `a.b.c`: its names and, for each, the node that ends with it.
pub(super) struct Path {
    pub(super) names: SmallVec<[Name; 6]>,
    pub(super) nodes: SmallVec<[NodeId; 6]>,
    pub(super) rooted: bool,
}

impl<'a> Checker<'a> {
    /// Returns the qualified name that a node may be. Only its last part may be in `has(..)`.
    pub(super) fn path(&self, id: NodeId) -> Option<Path> {
        let mut path = Path { names: SmallVec::new(), nodes: SmallVec::new(), rooted: false };
        let mut at = id;
        loop {
            path.nodes.push(at);
            match self.ast.expr(at) {
                // A name in backquotes that has dots is the key of a map, or the full name of an extension.
                Expr::Select { field, .. } if self.ast.name(*field).contains('.') => return None,
                Expr::Select { operand, field, test, optional: false } if !*test || at == id => {
                    path.names.push(*field);
                    at = *operand;
                }
                Expr::Ident { name, rooted, test } if !*test || at == id => {
                    path.names.push(*name);
                    path.rooted = *rooted;
                    break;
                }
                _ => return None,
            }
        }
        path.names.reverse();
        path.nodes.reverse();
        Some(path)
    }

    /// The macro variable that a path starts with, by level.
    pub(super) fn local_of(&self, path: &Path) -> Option<usize> {
        if path.rooted { None } else { path.names.first().and_then(|n| self.names.local(*n)) }
    }

    pub(super) fn path_parts(&self, path: &Path) -> SmallVec<[&'a str; 6]> {
        path.names.iter().map(|n| self.ast.name(*n)).collect()
    }

    /// Checks an `Ident` or `Select`.
    pub(super) fn check_select(&mut self, id: NodeId) -> Type {
        if self.ast.expr(id).is_test() && self.refuse_excluded(id, "has") {
            return self.set_type(id, Type::Error);
        }
        let Some(path) = self.path(id) else {
            let Expr::Select { operand, field, test, optional } = *self.ast.expr(id) else {
                return self.set_type(id, Type::Error);
            };
            if let Expr::Index { operand: list, .. } = *self.ast.expr(operand)
                && let Some(path) = self.list_of(list)
                && self.list_has_fields(&path)
            {
                let ty = self.check_list_field(id, list, &path, field);
                return self.set_type(id, ty);
            }
            let ty = self.check(operand);
            if optional {
                self.explain_optional_name(operand, field);
            }
            return self.check_field(id, &ty, field, test, optional);
        };
        if path.nodes.len() == 1 && self.ast.expr(id).is_test() {
            return self.check_presence(id, &path);
        }
        let (known, mut ty) = self.check_path_start(&path);
        for (&node, &field) in path.nodes.iter().zip(&path.names).skip(known) {
            let test = self.ast.expr(node).is_test();
            ty = self.check_field(node, &ty, field, test, false);
        }
        ty
    }

    /// Checks `has(x)`: `x` must be a variable that can be absent.
    fn check_presence(&mut self, id: NodeId, path: &Path) -> Type {
        let local = self.local_of(path).and_then(|level| self.names.locals.get_mut(level)).map(|local| {
            local.used = true;
            local.ty.clone()
        });
        let parts = self.path_parts(path);
        let found = if local.is_some() { None } else { self.names.resolve(&parts, path.rooted) };
        let (variable, ty) = match found {
            Some((_, Meaning::Variable(index, ty))) => (Some(index), ty),
            Some((_, Meaning::Alias(_, ty))) => (None, ty),
            None if local.is_none() && !self.unchecked => {
                self.report_undeclared(path);
                return self.set_type(id, Type::Error);
            }
            _ => (None, local.unwrap_or(Type::Dyn)),
        };
        let variables = self.names.declarations.variables();
        if let Some(index) = variable
            && variables.get(index as usize).is_some_and(|variable| variable.optional)
        {
            self.set_reference(id, Reference::Variable(index));
            return self.set_type(id, Type::Bool);
        }
        let name = self.show_path(&path.names);
        let mut error = no_selection(self.ast.node(id).focus);
        if variable.is_some() {
            error.message = format!("`has` takes what can be absent, and `{name}` is never absent");
        }
        if let Type::Optional(_) = self.infer.shallow(&ty) {
            let help =
                format!("`{name}.hasValue()` tests an optional; `{name}.orValue(..)` gives a value where it is empty");
            error.help = vec![help];
        }
        self.push_error(error);
        self.set_type(id, Type::Error)
    }

    /// Resolves the longest declared prefix of a path. Returns its number of parts and its type.
    fn check_path_start(&mut self, path: &Path) -> (usize, Type) {
        if let Some(level) = self.local_of(path)
            && let Some(local) = self.names.locals.get_mut(level)
        {
            local.used = true;
            let ty = local.ty.clone();
            let Some(&node) = path.nodes.first() else { return (0, Type::Error) };
            self.set_reference(node, Reference::Local(u32::try_from(level).unwrap_or(u32::MAX)));
            return (1, self.set_type(node, ty));
        }
        let parts = self.path_parts(path);
        let (known, reference, ty) = match self.names.resolve(&parts, path.rooted) {
            Some((known, Meaning::Variable(index, ty))) => (known, Reference::Variable(index), ty),
            Some((known, Meaning::Alias(index, ty))) if !self.is_test(path, known) => {
                let overloads = Box::new([Overload::Defined(index)]);
                (known, Reference::Call { overloads, receiver: false }, ty)
            }
            Some((known, Meaning::Type(ty))) if !self.is_test(path, known) => {
                (known, Reference::Type(ty.clone()), Type::Type(Arc::new(ty)))
            }
            Some((known, Meaning::Constant(number))) if !self.is_test(path, known) => {
                (known, Reference::Constant(number), Type::Int)
            }
            _ if self.names_list(path) => {
                self.report_list_alone(path);
                (parts.len(), Reference::None, Type::Error)
            }
            _ if self.unchecked => (1, Reference::Undeclared, Type::Dyn),
            _ => {
                self.report_undeclared(path);
                (parts.len(), Reference::None, Type::Error)
            }
        };
        let Some(&node) = known.checked_sub(1).and_then(|last| path.nodes.get(last)) else {
            return (known, Type::Error);
        };
        self.set_reference(node, reference);
        let ty = if self.is_test(path, known) { Type::Bool } else { ty };
        (known, self.set_type(node, ty))
    }

    /// Returns whether the node of the first `known` names of a path is a `has(..)`.
    fn is_test(&self, path: &Path, known: usize) -> bool {
        let node = known.checked_sub(1).and_then(|last| path.nodes.get(last));
        node.is_some_and(|n| self.ast.expr(*n).is_test())
    }

    /// The selection of a field from a value.
    fn check_field(&mut self, id: NodeId, operand: &Type, field: Name, test: bool, optional: bool) -> Type {
        let messages = self.names.declarations.messages();
        let message = match self.infer.shallow(operand) {
            Type::Opaque(name, _) if messages.has_fields(&name) => Some(name),
            _ => None,
        };
        if let Some(message) = message {
            return self.check_message_field(id, &message, field, test, optional);
        }
        if optional {
            let node = match *self.ast.expr(id) {
                Expr::Select { operand, .. } => operand,
                _ => id,
            };
            let ty = self.check_operator(id, "_?._", &[(node, operand.clone()), (id, Type::String)]);
            return self.set_type(id, ty);
        }
        let ty = self.field_type(id, operand, field);
        self.set_type(id, if test { Type::Bool } else { ty })
    }

    /// The selection of a field from a message of a known type.
    fn check_message_field(&mut self, id: NodeId, message: &str, field: Name, test: bool, optional: bool) -> Type {
        let name = self.ast.name(field);
        let ty = match self.names.declarations.messages().field(message, name) {
            Some(ty) => ty.clone(),
            None => self.report_no_field(id, message, name),
        };
        let ty = match ty {
            Type::Error => ty,
            _ if test => Type::Bool,
            ty if optional => {
                if self.refuse_optionals(id, "`.?`") {
                    return self.set_type(id, Type::Error);
                }
                let overloads = Box::new([Overload::Builtin(Builtin::OptionalSelectMessage)]);
                self.set_reference(id, Reference::Call { overloads, receiver: false });
                Type::optional(ty)
            }
            ty => ty,
        };
        self.set_type(id, ty)
    }

    pub(super) fn report_no_field(&mut self, id: NodeId, message: &str, name: &str) -> Type {
        let mut names: Vec<&str> = self.names.declarations.messages().fields(message).collect();
        names.sort_unstable();
        let help = self.did_you_mean(name, &names);
        let text = format!("message `{message}` has no field `{name}`");
        self.error(codes::NO_FIELDS, self.ast.node(id).focus, text).help.extend(help);
        Type::Error
    }

    fn field_type(&mut self, id: NodeId, operand: &Type, field: Name) -> Type {
        let shallow = self.infer.shallow(operand);
        match &shallow {
            Type::Error | Type::Dyn => shallow,
            Type::Var(_) => {
                self.infer.assign(&Type::Dyn, operand);
                Type::Dyn
            }
            Type::Map(kv) if self.infer.assign(&Type::String, &kv.0) => kv.1.clone(),
            Type::Opaque(message, _) if self.names.declarations.messages().has_fields(message) => {
                let name = self.ast.name(field);
                match self.names.declarations.messages().field(message, name) {
                    Some(ty) => ty.clone(),
                    None => self.report_no_field(id, message, name),
                }
            }
            Type::Optional(inner) => match self.field_type(id, inner, field) {
                Type::Error => Type::Error,
                ty => Type::optional(ty),
            },
            Type::Wrapper(inner) if matches!(**inner, Type::Optional(_)) => self.field_type(id, inner, field),
            _ => {
                let shown = self.show(operand);
                let name = self.ast.name(field);
                let message = match shallow {
                    Type::Map(_) => format!("a value of type `{shown}` has no key `\"{name}\"`"),
                    _ => format!("a value of type `{shown}` has no field `{name}`"),
                };
                let help = self.field_meant(id, &shallow, name);
                self.error(codes::NO_FIELDS, self.ast.node(id).focus, message).help.extend(help);
                Type::Error
            }
        }
    }
}
