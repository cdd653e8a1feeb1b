//! Verifies the references of evaluated nodes: that names and calls refer to declarations of fitting types, in scope.
//!
//! Types are compared only as far as evaluation distinguishes them; inference is the task of the language.

use super::{Invariant, Verified, broken};
use crate::ast::{Ast, BinaryOp, Expr, FoldKind, Name, NodeId};
use crate::checked::{Checked, ListAccess, Reference};
use crate::declarations::{Declarations, ListValues};
use crate::stdlib::{Overload, TABLE};
use crate::types::Type;
use smallvec::{SmallVec, smallvec};

pub(super) fn verify(checked: &Checked, declarations: &Declarations) -> Verified {
    let ast = checked.ast();
    let meaning = Meaning { checked, ast, declarations };
    let mut visited = vec![false; ast.nodes().len()];
    // Nodes to visit, each with the number of macro variables in scope.
    let mut open = vec![(ast.root(), 0u32)];
    while let Some((id, scope)) = open.pop() {
        meaning.node(id, scope)?;
        let evaluated = meaning.evaluated(id);
        if let Some(visited) = visited.get_mut(id.0 as usize)
            && std::mem::replace(visited, true)
            && !evaluated.is_empty()
        {
            return Err(broken(Invariant::Sharing, id, "it has several parents"));
        }
        open.extend(evaluated.iter().map(|&(child, variables)| (child, scope.saturating_add(variables))));
    }
    Ok(())
}

/// Operands that are evaluated, with the number of macro variables that their parent opens for each.
type Operands = SmallVec<[(NodeId, u32); 4]>;

struct Meaning<'c> {
    checked: &'c Checked,
    ast: &'c Ast,
    declarations: &'c Declarations,
}

impl Meaning<'_> {
    /// The children that are evaluated: those of a name are only its parts, and a call's target may be one.
    fn evaluated(&self, id: NodeId) -> Operands {
        match (self.ast.expr(id), self.checked.reference(id)) {
            (_, reference) if reference.is_name() => Operands::new(),
            (&Expr::Binary { left, .. }, Reference::InList(_)) => smallvec![(left, 0)],
            (_, Reference::ListValue { .. }) => {
                self.checked.list_access(id).into_iter().map(|access| (access.key, 0)).collect()
            }
            (Expr::Ident { .. }, _) | (Expr::Select { optional: false, .. }, Reference::Call { .. }) => Operands::new(),
            (Expr::Call { args, .. }, Reference::Call { receiver: false, .. }) => {
                self.ast.children(*args).iter().map(|&arg| (arg, 0)).collect()
            }
            (&Expr::Fold { range, var2, filter, transform, .. }, _) => {
                let variables = if var2.is_some() { 2 } else { 1 };
                let inside = [filter, transform].into_iter().flatten().map(|child| (child, variables));
                std::iter::once((range, 0)).chain(inside).collect()
            }
            (&Expr::Bind { init: outside, body, .. } | &Expr::OptMap { target: outside, body, .. }, _) => {
                smallvec![(outside, 0), (body, 1)]
            }
            _ => {
                let mut children = Operands::new();
                self.ast.each_child(id, |child| children.push((child, 0)));
                children
            }
        }
    }

    fn node(&self, id: NodeId, scope: u32) -> Verified {
        let wrong = |message: &str| Err(broken(Invariant::Reference, id, message));
        let ty = self.checked.type_of(id);
        match (self.ast.expr(id), self.checked.reference(id)) {
            (Expr::Ident { .. } | Expr::Select { optional: false, .. }, Reference::Variable(index)) => {
                let Some(variable) = self.declarations.variables().get(*index as usize) else {
                    return wrong("there is no variable of this index");
                };
                let test = self.ast.expr(id).is_test();
                self.suits(id, if test { &Type::Bool } else { &variable.ty }, ty)
            }
            (Expr::Ident { test: true, .. }, _) => wrong("a test for presence is of a variable"),
            (Expr::Ident { .. }, Reference::Local(level)) if *level >= scope => {
                Err(broken(Invariant::Scope, id, format!("level {level} is not open here, {scope} are")))
            }
            (Expr::Ident { .. }, Reference::Local(_)) => Ok(()),
            (Expr::Ident { .. } | Expr::Select { test: false, optional: false, .. }, Reference::Type(of)) => {
                self.suits(id, &Type::Type(of.clone().into()), ty)
            }
            (Expr::Ident { .. } | Expr::Message { .. }, Reference::Undeclared) if self.declarations.is_unchecked() => {
                Ok(())
            }
            (_, Reference::Call { overloads, receiver }) => self.call(id, overloads, *receiver),
            (Expr::Call { target: None, args, .. }, Reference::Guard(guarded)) if args.len == 1 => {
                self.suits(id, guarded, ty)
            }
            (&Expr::Binary { op: BinaryOp::In, left, .. }, Reference::InList(index)) => {
                let Some(list) = self.declarations.lists().get(*index as usize) else {
                    return wrong("there is no list of this index");
                };
                if !list.key.accepts(self.checked.type_of(left)) {
                    return wrong("a list is asked for a value of a type that it never contains");
                }
                self.suits(id, &Type::Bool, ty)
            }
            (Expr::Index { .. } | Expr::Select { .. }, Reference::ListValue { .. }) => self.list_value(id),
            (Expr::Ident { .. }, Reference::None) => wrong("a name refers to nothing"),
            (Expr::Ident { .. } | Expr::Select { test: false, optional: false, .. }, Reference::Constant(_)) => {
                self.suits(id, &Type::Int, ty)
            }
            (Expr::Message { fields, values, .. }, Reference::Message(name)) => {
                self.message(id, name, fields, self.ast.children(*values))
            }
            (Expr::Message { .. }, Reference::None) => wrong("a message is of no declared type"),
            (
                Expr::Call { .. }
                | Expr::Unary { .. }
                | Expr::Binary { .. }
                | Expr::Index { .. }
                | Expr::Select { optional: true, .. },
                Reference::None,
            ) => wrong("a call or an operator refers to no function"),
            (expr, Reference::None) => self.plain(id, expr, ty),
            _ => wrong("the expression can't have this reference"),
        }
    }

    /// Tests the literal of a message. A value marked `?` is an optional of the field's type.
    fn message(&self, id: NodeId, name: &str, fields: &[Name], values: &[NodeId]) -> Verified {
        let wrong = |message: &str| Err(broken(Invariant::Reference, id, message));
        let messages = self.declarations.messages();
        let Some(of) = messages.message(name) else { return wrong("there is no message type of this name") };
        for (at, (field, value)) in fields.iter().zip(values).enumerate() {
            let Some(declared) = messages.field(name, self.ast.name(*field)) else {
                return wrong("a message has no field of this name");
            };
            let marked = match self.ast.expr(id) {
                Expr::Message { optional, .. } => optional.get(at).copied().unwrap_or(false),
                _ => false,
            };
            let declared = if marked { &Type::optional(declared.clone()) } else { declared };
            self.suits(*value, declared, self.checked.type_of(*value))?;
        }
        self.suits(id, of, self.checked.type_of(id))
    }

    /// Tests a node that reads a value of a list.
    fn list_value(&self, id: NodeId) -> Verified {
        let wrong = |message: &str| Err(broken(Invariant::Reference, id, message));
        let Some(access) = self.checked.list_access(id) else { return wrong("no key of a list is selected from") };
        let Some(list) = self.declarations.lists().get(access.list as usize) else {
            return wrong("there is no list of this index");
        };
        let Some(field) = list.values.as_ref().and_then(|values| values.field(access.field)) else {
            return wrong("the values of a list have no field of this number");
        };
        let is_select = matches!(self.ast.expr(id), Expr::Select { .. });
        if is_select != matches!(list.values, Some(ListValues::Fields(_))) {
            return wrong("a field is selected exactly from a value that has fields");
        }
        if !list.key.accepts(self.checked.type_of(access.key)) {
            return wrong("a list is asked for a value of a type that it never contains");
        }
        let ty = self.checked.type_of(id);
        match access {
            ListAccess { test: true, .. } => self.suits(id, &Type::Bool, ty),
            ListAccess { optional_key: true, .. } | ListAccess { optional_field: true, .. } => {
                self.suits(id, &Type::optional(field.clone()), ty)
            }
            _ => self.suits(id, field, ty),
        }
    }

    /// Tests the types of an expression that refers to nothing.
    fn plain(&self, id: NodeId, expr: &Expr, ty: &Type) -> Verified {
        let (list, map) = (Type::list(Type::Dyn), Type::map(Type::Dyn, Type::Dyn));
        match expr {
            Expr::Literal(literal) => self.suits(id, &literal.ty(), ty),
            Expr::Select { test: true, .. } => self.suits(id, &Type::Bool, ty),
            Expr::Logic { operands, .. } => {
                self.ast.children(*operands).iter().try_for_each(|&operand| self.truth(operand))?;
                self.suits(id, &Type::Bool, ty)
            }
            Expr::Cond { condition, .. } => self.truth(*condition),
            Expr::List { .. } => self.suits(id, &list, ty),
            Expr::Map { .. } => self.suits(id, &map, ty),
            Expr::Fold { kind, filter, .. } => {
                filter.map_or(Ok(()), |filter| self.truth(filter))?;
                let result = match kind {
                    FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne => Type::Bool,
                    FoldKind::Filter | FoldKind::Map | FoldKind::TransformList => list,
                    FoldKind::TransformMap
                    | FoldKind::TransformMapEntry
                    | FoldKind::MapValues
                    | FoldKind::FilterKeys => map,
                };
                self.suits(id, &result, ty)
            }
            _ => Ok(()),
        }
    }

    fn truth(&self, id: NodeId) -> Verified {
        self.suits(id, &Type::Bool, self.checked.type_of(id))
    }

    fn call(&self, id: NodeId, overloads: &[Overload], receiver: bool) -> Verified {
        let wrong = |message: &str| Err(broken(Invariant::Reference, id, message));
        let text = Type::String;
        let ty_of = |id: &NodeId| self.checked.type_of(*id);
        let (operator, operands): (Option<&str>, SmallVec<[&Type; 4]>) = match self.ast.expr(id) {
            Expr::Unary { op, operand } => (Some(op.function()), smallvec![ty_of(operand)]),
            Expr::Binary { op, left, right } => (Some(op.function()), smallvec![ty_of(left), ty_of(right)]),
            Expr::Index { operand, index, optional } => {
                let name = if *optional { "_[?_]" } else { "_[_]" };
                (Some(name), smallvec![ty_of(operand), ty_of(index)])
            }
            Expr::Select { operand, optional: true, .. } => (Some("_?._"), smallvec![ty_of(operand), &text]),
            Expr::Call { target, args, .. } => {
                let target = target.iter().filter(|_| receiver);
                (None, target.chain(self.ast.children(*args)).map(ty_of).collect())
            }
            // A definition without parameters, mentioned by name.
            Expr::Ident { .. } | Expr::Select { test: false, .. } if matches!(overloads, [Overload::Defined(_)]) => {
                (None, SmallVec::new())
            }
            _ => return wrong("the expression is no call"),
        };
        if overloads.is_empty() && !self.declarations.is_unchecked() {
            return wrong("a call or an operator refers to no function");
        }
        if overloads.len() > 1 && overloads.iter().any(|overload| matches!(overload, Overload::Defined(_))) {
            return wrong("a defined function is the only one of its calls");
        }
        overloads.iter().try_for_each(|overload| self.overload(id, *overload, operator, &operands))
    }

    /// Tests one function that a call may run.
    fn overload(&self, id: NodeId, overload: Overload, operator: Option<&str>, operands: &[&Type]) -> Verified {
        let wrong = |message: &str| Err(broken(Invariant::Reference, id, message));
        let ty = self.checked.type_of(id);
        let (params, result) = match overload {
            Overload::Builtin(builtin) => {
                let Some(row) = TABLE.row(builtin) else { return wrong("there is no such builtin") };
                if operator.is_some_and(|operator| operator != row.name) {
                    return wrong("an operator refers to a function of another name");
                }
                if !self.declarations.libraries().contains(row.library) {
                    return wrong("a function is of a library that is turned off");
                }
                (&row.params, &row.result)
            }
            _ if operator.is_some() => return wrong("an operator refers to a function of the host"),
            Overload::Host(index) => match self.declarations.functions().get(index as usize) {
                Some(function) => (&function.signature.params, &function.signature.result),
                None => return wrong("there is no host function of this index"),
            },
            Overload::Defined(index) => match self.declarations.definitions().get(index as usize) {
                Some(definition) => (&definition.signature().params, &definition.signature().result),
                None => return wrong("there is no defined function of this index"),
            },
        };
        if params.len() != operands.len() {
            return wrong("a function takes another number of operands");
        }
        if let Some((param, operand)) = params.iter().zip(operands).find(|(param, operand)| !may_be(operand, param)) {
            return Err(broken(Invariant::Reference, id, format!("a `{operand}` is no operand for a `{param}`")));
        }
        self.suits(id, result, ty)
    }

    /// Tests that a node's type is one that a value of the type `of` may have.
    fn suits(&self, id: NodeId, of: &Type, ty: &Type) -> Verified {
        if may_be(ty, of) {
            return Ok(());
        }
        Err(broken(Invariant::Type, id, format!("its type is `{ty}`, which is no `{of}`")))
    }
}

/// Whether some value may be of both types. A declared type may hold parameters, which match every type.
fn may_be(ty: &Type, declared: &Type) -> bool {
    match (ty, declared) {
        (_, Type::Dyn | Type::Param(_) | Type::Error | Type::Var(_)) | (Type::Dyn, _) => true,
        (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
        (Type::Wrapper(a), b) | (b, Type::Wrapper(a)) => may_be(a, b),
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => may_be(a, b),
        (Type::Map(a), Type::Map(b)) => may_be(&a.0, &b.0) && may_be(&a.1, &b.1),
        (Type::Type(_), Type::Type(_)) => true,
        (Type::Opaque(_, params), Type::Opaque(any, _)) if **any == *Type::ANY_MESSAGE => params.is_empty(),
        (Type::Opaque(a, xs), Type::Opaque(b, ys)) => {
            a == b && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| may_be(x, y))
        }
        (a, b) => a == b,
    }
}
