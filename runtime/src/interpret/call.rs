//! Operators and functions: evaluates the arguments, receiver first, and hands them to the library. Only `or` and `orValue`
//! of optionals leave an argument alone that they don't need.

use super::{Outcome, Walk};
use crate::error::ErrorKind;
use crate::library;
use crate::value::Value;
use celero_frontend::{NodeId, Overload, Reference, Type, stdlib::Builtin};
use smallvec::SmallVec;

impl<'a> Walk<'a, '_> {
    pub(super) fn unary(&mut self, id: NodeId, operand: NodeId) -> Outcome<'a> {
        let operand = self.eval(operand)?;
        self.apply(id, &[operand])
    }

    pub(super) fn binary(&mut self, id: NodeId, left: NodeId, right: NodeId) -> Outcome<'a> {
        let left = self.eval(left)?;
        let right = self.eval(right)?;
        self.apply(id, &[left, right])
    }

    pub(super) fn call(&mut self, id: NodeId, target: Option<NodeId>, args: &[NodeId]) -> Outcome<'a> {
        let (overloads, receiver) = match (self.checked.reference(id), args) {
            (Reference::Call { overloads, receiver }, _) => (overloads, receiver),
            (Reference::Guard(ty), &[arg]) => return self.guard(id, ty, arg),
            _ => return Err(self.error(id, ErrorKind::NoSuchOverload)),
        };
        if let (Some(target), [other], [Overload::Builtin(builtin)]) = (target, args, &**overloads)
            && matches!(builtin, Builtin::OptionalOr | Builtin::OptionalOrValue)
        {
            return self.optional_or(id, *builtin, target, *other);
        }
        let mut values: SmallVec<[Value<'a>; 4]> = SmallVec::new();
        for &arg in target.iter().filter(|_| *receiver).chain(args) {
            values.push(self.eval(arg)?);
        }
        self.apply(id, &values)
    }

    /// A value that must be of the type.
    fn guard(&mut self, id: NodeId, ty: &Type, arg: NodeId) -> Outcome<'a> {
        let value = self.eval(arg)?;
        if value.fits(ty) { Ok(value) } else { Err(self.error(id, ErrorKind::NoSuchOverload)) }
    }

    /// `target.or(other)` and `target.orValue(other)`: `other` is evaluated only where `target` has no value.
    fn optional_or(&mut self, id: NodeId, builtin: Builtin, target: NodeId, other: NodeId) -> Outcome<'a> {
        let target = self.eval(target)?;
        match target {
            Value::Optional(Some(inner)) if builtin == Builtin::OptionalOrValue => Ok(*inner),
            Value::Optional(Some(_)) => Ok(target),
            Value::Optional(None) => {
                let other = self.eval(other)?;
                self.apply(id, &[target, other])
            }
            _ => Err(self.error(id, ErrorKind::NoSuchOverload)),
        }
    }

    /// Calls what the checker found for a node.
    pub(super) fn apply(&self, id: NodeId, args: &[Value<'a>]) -> Outcome<'a> {
        let Reference::Call { overloads, .. } = self.checked.reference(id) else {
            return Err(self.error(id, ErrorKind::NoSuchOverload));
        };
        let result = match **overloads {
            [Overload::Builtin(builtin)] => library::invoke(self.cx, builtin, args),
            _ => library::dispatch(self.cx, self.functions, overloads, args),
        };
        self.at(id, result)
    }
}
