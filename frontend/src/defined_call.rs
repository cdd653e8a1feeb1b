//! Calls of functions defined in CEL: what is called, with which arguments, and how each takes the
//! place of its parameter.

use crate::ast::{Ast, Expr, NodeId};
use crate::checked::Reference;
use crate::declarations::{Declarations, Definition};
use crate::types::Type;
use smallvec::SmallVec;

/// Returns the arguments of a call of a definition, the receiver first.
pub(crate) fn arguments(ast: &Ast, call: &Expr, definition: &Definition) -> SmallVec<[NodeId; 4]> {
    match call {
        Expr::Call { target, args, .. } => {
            let receiver = target.iter().filter(|_| definition.signature.receiver);
            receiver.chain(ast.children(*args)).copied().collect()
        }
        // A definition without parameters, mentioned by name.
        _ => SmallVec::new(),
    }
}

/// How an argument takes the place of a parameter.
#[derive(Clone, Copy)]
pub(crate) struct Passing {
    /// It is certainly of the parameter's type; otherwise a guard checks its value.
    pub(crate) fits: bool,
    /// Evaluating it again costs nothing.
    repeatable: bool,
}

impl Passing {
    /// Returns how an argument of this expression and reference is passed for a parameter of type `ty`.
    pub(crate) fn of(expr: &Expr, reference: &Reference, ty: &Type, declarations: &Declarations) -> Self {
        let any = *ty == Type::Dyn;
        let (fits, repeatable) = match (expr, reference) {
            (Expr::Literal(literal), _) => (any || literal.ty() == *ty, true),
            (expr, _) if expr.is_test() => (any || *ty == Type::Bool, false),
            // The host guarantees that variables have their declared types.
            (_, Reference::Variable(index)) => {
                (any || declarations.variables().get(*index as usize).is_some_and(|v| v.ty == *ty), true)
            }
            (_, Reference::Local(_)) => (any, true),
            _ => (any, false),
        };
        Self { fits, repeatable }
    }

    /// Whether the argument replaces the parameter wherever the body uses it; otherwise the parameter is bound to it.
    pub(crate) fn replaces(self) -> bool {
        self.fits && self.repeatable
    }
}
