//! Checks operators and function calls: finds the overloads that fit the operands.

use super::infer::Instance;
use super::report::symbol;
use super::select::Path;
use super::{Argument, Checker, codes};
use crate::ast::{BinaryOp, Expr, Name, NodeId, UnaryOp};
use crate::cel::foreign;
use crate::cel::macros::{macro_library, usage};
use crate::checked::Reference;
use crate::stdlib::{Builtin, Overload, Signature};
use crate::types::Type;
use smallvec::SmallVec;
use std::borrow::Cow;

impl Checker<'_> {
    pub(super) fn check_unary(&mut self, id: NodeId, op: UnaryOp, operand: NodeId) -> Type {
        let ty = self.check(operand);
        self.check_operator(id, op.function(), &[(operand, ty)])
    }

    pub(super) fn check_binary(&mut self, id: NodeId, op: BinaryOp, left: NodeId, right: NodeId) -> Type {
        if op == BinaryOp::In
            && let Some(list) = self.list_of(right)
        {
            return self.check_in_list(id, left, right, list);
        }
        let left_type = self.check(left);
        if self.report_dashed(id, op, (left, &left_type), right) {
            return Type::Error;
        }
        let right_type = self.check(right);
        self.explain_operands(id, op, (left, &left_type), (right, &right_type));
        self.check_operator(id, op.function(), &[(left, left_type), (right, right_type)])
    }

    pub(super) fn check_index(&mut self, id: NodeId, operand: NodeId, index: NodeId, optional: bool) -> Type {
        if let Some(list) = self.list_of(operand) {
            return self.check_list_value(id, operand, &list);
        }
        if !self.unchecked && self.report_indexed_lists(id, operand, index) {
            return Type::Error;
        }
        let operand_type = self.check(operand);
        let index_type = self.check(index);
        let name = if optional { "_[?_]" } else { "_[_]" };
        self.check_operator(id, name, &[(operand, operand_type), (index, index_type)])
    }

    /// The call of an operator by its name in the table.
    pub(super) fn check_operator(&mut self, id: NodeId, name: &str, args: &[Argument]) -> Type {
        let signatures = self.names.signatures(name);
        self.resolve_call(id, name, &signatures, false, args)
    }

    pub(super) fn check_call(
        &mut self,
        id: NodeId,
        target: Option<NodeId>,
        function: Name,
        rooted: bool,
        args: &[NodeId],
    ) -> Type {
        if let Some(target) = target
            && let Some(name) = self.qualified_function(target, function)
        {
            let args = self.check_args(None, args);
            let signatures = self.names.signatures(&name);
            return self.resolve_call(id, &name, &signatures, false, &args);
        }
        let receiver = target.is_some();
        let Some(name) = self.names.function(self.ast.name(function), rooted) else {
            if self.unchecked {
                self.check_args(target, args);
                self.set_reference(id, Reference::Call { overloads: Box::default(), receiver });
                return Type::Dyn;
            }
            return self.check_undeclared_function(id, target, function, args);
        };
        let args = self.check_args(target, args);
        if let ("contains", [(target, Type::Error), (value, _)]) = (&*name, &*args) {
            self.explain_list_method(*target, *value);
        }
        let signatures = self.names.signatures(&name);
        if !self.unchecked && signatures.iter().all(|s| s.receiver != receiver) {
            if let (true, Some((_, Type::Error))) = (receiver, args.first()) {
                return Type::Error;
            }
            return self.report_call_form(id, &name, receiver, &args);
        }
        self.resolve_call(id, &name, &signatures, receiver, &args)
    }

    /// For a call `a.b.f(..)`: returns `a.b.f` if it is a declared function that is called without a receiver.
    fn qualified_function(&self, target: NodeId, function: Name) -> Option<String> {
        let path = self.namespace(target)?;
        let name = format!("{}.{}", self.show_path(&path.names), self.ast.name(function));
        let name = self.names.function(&name, path.rooted)?.into_owned();
        self.names.signatures(&name).iter().any(|s| !s.receiver).then_some(name)
    }

    /// Returns the target of a call as a path that may qualify the function's name.
    fn namespace(&self, target: NodeId) -> Option<Path> {
        if self.ast.expr(target).is_test() {
            return None;
        }
        self.path(target).filter(|path| self.local_of(path).is_none())
    }

    /// Checks a call whose function is unknown: reports the function, or the target if that is not declared.
    fn check_undeclared_function(
        &mut self,
        id: NodeId,
        target: Option<NodeId>,
        function: Name,
        args: &[NodeId],
    ) -> Type {
        if let Some(library) = macro_library(self.ast.name(function), args.len(), target.is_some())
            && !self.names.libraries.contains(library)
            && let Some(name) = self.macro_off(target, function)
        {
            return self.report_library_off(id, &name, library);
        }
        let qualified = target
            .and_then(|t| self.namespace(t))
            .filter(|path| !self.names.is_declared(&self.path_parts(path), path.rooted))
            .map(|path| format!("{}.{}", self.show_path(&path.names), self.ast.name(function)));
        if let Some(name) = &qualified
            && let Some(library) = self.names.library_off(name)
        {
            self.check_args(None, args);
            return self.report_library_off(id, &format!("`{name}`"), library);
        }
        if let Some(name) = &qualified
            && let Some(help) = self.qualified_meant(name, args)
        {
            self.check_args(None, args);
            return self.report_undeclared_function(id, name, vec![help]);
        }
        if let Some(name) = qualified
            && let help = self.function_like(&name)
            && !help.is_empty()
        {
            self.check_args(None, args);
            return self.report_undeclared_function(id, &name, help);
        }
        if let Some(target) = target
            && let Some(help) = self.request_method(target, self.ast.name(function), args)
        {
            return self.report_undeclared_function(id, self.ast.name(function), vec![help]);
        }
        if let Some(target) = target
            && self.check(target) == Type::Error
        {
            self.check_args(None, args);
            return Type::Error;
        }
        let name = self.ast.name(function);
        if let Some(library) = self.names.library_off(name) {
            self.check_args(None, args);
            return self.report_library_off(id, &format!("`{}`", name.trim_start_matches('@')), library);
        }
        let help = match self.call_meant(name, target, args) {
            Some(help) => vec![help],
            None => self.macro_or_function_like(name),
        };
        let ty = self.report_undeclared_function(id, name, help);
        // The arguments of a malformed macro are not checked: each use of its variables would be an error.
        if usage(name).is_none() && !foreign::is_macro(name) {
            self.check_args(None, args);
        }
        ty
    }

    /// Returns the name of the macro that a call would be if its library were on. Its target is
    /// checked. Its arguments are not: each use of its variables would be an error.
    fn macro_off(&mut self, target: Option<NodeId>, function: Name) -> Option<String> {
        let name = self.ast.name(function);
        match target {
            Some(target) if name == "bind" => {
                let of_cel = matches!(self.ast.expr(target), Expr::Ident { name, rooted: false, test: false } if self.ast.name(*name) == "cel");
                of_cel.then(|| "`cel.bind`".to_owned())
            }
            Some(target) => {
                self.check(target);
                Some(format!("`{name}`"))
            }
            None => Some(format!("`{name}`")),
        }
    }

    fn check_args(&mut self, target: Option<NodeId>, args: &[NodeId]) -> SmallVec<[Argument; 4]> {
        target.into_iter().chain(args.iter().copied()).map(|arg| (arg, self.check(arg))).collect()
    }

    /// Finds the overloads that fit, records them and returns the type of the result.
    fn resolve_call(
        &mut self,
        id: NodeId,
        name: &str,
        signatures: &[&Signature],
        receiver: bool,
        args: &[Argument],
    ) -> Type {
        let mut overloads: SmallVec<[Overload; 4]> = SmallVec::new();
        let mut result: Option<Type> = None;
        for signature in signatures {
            if signature.receiver != receiver || signature.params.len() != args.len() {
                continue;
            }
            let Some(ty) = self.fit(signature, args) else { continue };
            overloads.push(signature.overload);
            result = match result {
                Some(other) if other != ty => Some(Type::Dyn),
                _ => Some(ty),
            };
        }
        if result.is_none()
            && let Some(library) = self.names.library_off(name).filter(|_| signatures.is_empty())
        {
            return self.report_library_off(id, &format!("`{}`", symbol(name)), library);
        }
        if result.is_none() && !self.unchecked {
            return self.report_no_overload(id, name, signatures, receiver, args);
        }
        let reads_a_type =
            [Builtin::JsonParseAs, Builtin::YamlParseAs].iter().any(|of| overloads.contains(&Overload::Builtin(*of)));
        if reads_a_type && self.refuse_to_read(name, args) {
            return Type::Error;
        }
        self.set_reference(id, Reference::Call { overloads: overloads.into_vec().into(), receiver });
        result.unwrap_or(Type::Dyn)
    }

    /// Reports that a text is to be read as a value of a type, where the library can't: as a message or an address.
    fn refuse_to_read(&mut self, name: &str, args: &[Argument]) -> bool {
        let Some((node, ty)) = args.last() else { return false };
        let Type::Type(of) = self.infer.resolve(ty, false) else { return false };
        let Some(unreadable) = unreadable(&of, MAX_DEPTH).map(Type::to_string) else { return false };
        let (span, text) = (self.ast.span(*node), format!("`{name}` reads no values of type `{unreadable}`"));
        let help = format!("`{name}` with one argument gives maps, lists, text, numbers, bools and nulls");
        self.error(codes::NO_OVERLOAD, span, text).help.push(help);
        true
    }

    /// Returns the result type of a signature, if the arguments fit it.
    fn fit(&mut self, signature: &Signature, args: &[Argument]) -> Option<Type> {
        let mut instance = Instance::new();
        // Most parameters are of a type without parts, and need no copy.
        let params: SmallVec<[Cow<'_, Type>; 4]> = signature
            .params
            .iter()
            .map(|p| match p {
                leaf if leaf.is_leaf() && !matches!(leaf, Type::Param(_)) => Cow::Borrowed(leaf),
                generic => Cow::Owned(self.infer.instantiate(generic, &mut instance)),
            })
            .collect();
        let pairs: SmallVec<[(&Type, &Type); 4]> =
            args.iter().map(|(_, ty)| ty).zip(params.iter().map(|param| &**param)).collect();
        if !self.infer.assign_all(&pairs) {
            return None;
        }
        let result = self.infer.instantiate(&signature.result, &mut instance);
        Some(if instance.is_empty() { result } else { self.infer.resolve(&result, true) })
    }
}

/// Deepest part of a type that is looked at. Values are of their static type only as far as they are checked.
const MAX_DEPTH: u32 = 64;

/// The part of a type whose values are not read from text.
fn unreadable(ty: &Type, depth: u32) -> Option<&Type> {
    let below = depth.checked_sub(1)?;
    match ty {
        Type::Opaque(..) => Some(ty),
        Type::List(of) | Type::Optional(of) | Type::Wrapper(of) => unreadable(of, below),
        Type::Map(of) => unreadable(&of.0, below).or_else(|| unreadable(&of.1, below)),
        _ => None,
    }
}
