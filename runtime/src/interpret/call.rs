//! Operators and functions: evaluates the arguments, receiver first, and calls the library. Only `or` and `orValue` of
//! optionals do not evaluate an argument that they do not need.

use super::{Failure, Walk};
use crate::error::ErrorKind;
use crate::library;
use crate::value::Value;
use celero_frontend::{ListAccess, NodeId, Overload, Reference, Type, stdlib::Builtin};
use smallvec::SmallVec;

impl<'a> Walk<'a, '_> {
    pub(super) fn unary(&mut self, id: NodeId, operand: NodeId, place: &mut Value<'a>) -> Result<(), Failure> {
        let mut arg = Value::Null;
        self.operand(operand, &mut arg)?;
        self.apply(id, &[arg], place)
    }

    pub(super) fn binary(
        &mut self,
        id: NodeId,
        left: NodeId,
        right: NodeId,
        place: &mut Value<'a>,
    ) -> Result<(), Failure> {
        if let Reference::InList(list) = *self.checked.reference(id) {
            let value = self.eval(left)?;
            let found = library::list_has(self.cx, list.into(), value);
            *place = Value::Bool(found.map_err(|kind| self.failed(id, kind, &[value]))?);
            return Ok(());
        }
        if let Some(access) = self.checked.list_access(id) {
            return self.list_value(id, access, place);
        }
        let mut args = [Value::Null; 2];
        let [first, second] = &mut args;
        match self.operand(left, first) {
            Err(failure) if failure.kind == ErrorKind::Unknown => *first = self.beside_unknown(id, failure)?,
            done => done?,
        }
        self.operand(right, second)?;
        self.apply(id, &args, place)
    }

    /// `lists.NAME[key]`, `lists.NAME[key].field`.
    pub(super) fn list_value(&mut self, id: NodeId, access: ListAccess, place: &mut Value<'a>) -> Result<(), Failure> {
        let key = self.eval(access.key)?;
        let value = library::list_value(self.cx, access, key);
        *place = value.map_err(|kind| self.failed(id, kind, &[key]))?;
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        id: NodeId,
        target: Option<NodeId>,
        args: &[NodeId],
        place: &mut Value<'a>,
    ) -> Result<(), Failure> {
        let (overloads, receiver) = match (self.checked.reference(id), args) {
            (Reference::Call { overloads, receiver }, _) => (overloads, receiver),
            (Reference::Guard(ty), &[arg]) => return self.guard(id, ty, arg, place),
            _ => return Err(self.error(id, ErrorKind::NoSuchOverload)),
        };
        if let (Some(target), [other], [Overload::Builtin(builtin)]) = (target, args, &**overloads)
            && matches!(builtin, Builtin::OptionalOr | Builtin::OptionalOrValue)
        {
            return self.optional_or(id, *builtin, target, *other, place);
        }
        match (target.filter(|_| *receiver), args) {
            (None, &[arg]) => self.unary(id, arg, place),
            (Some(target), &[arg]) => self.binary(id, target, arg, place),
            (target, args) => {
                let nodes = target.iter().chain(args);
                let values: Result<SmallVec<[Value<'a>; 4]>, Failure> = nodes.map(|&arg| self.eval(arg)).collect();
                self.apply(id, &values?, place)
            }
        }
    }

    /// Returns the value if it is of the type.
    fn guard(&mut self, id: NodeId, ty: &Type, arg: NodeId, place: &mut Value<'a>) -> Result<(), Failure> {
        self.eval_into(arg, place)?;
        if place.fits(ty) { Ok(()) } else { Err(self.failed(id, ErrorKind::NoSuchOverload, &[*place])) }
    }

    /// `target.or(other)` and `target.orValue(other)`: `other` is evaluated only if `target` has no value.
    fn optional_or(
        &mut self,
        id: NodeId,
        builtin: Builtin,
        target: NodeId,
        other: NodeId,
        place: &mut Value<'a>,
    ) -> Result<(), Failure> {
        let target = self.eval(target)?;
        match target {
            Value::Optional(Some(inner)) if builtin == Builtin::OptionalOrValue => *place = *inner,
            Value::Optional(Some(_)) => *place = target,
            Value::Optional(None) => {
                let other = self.eval(other)?;
                return self.apply(id, &[target, other], place);
            }
            _ => return Err(self.unfit(id, target, "an optional")),
        }
        Ok(())
    }

    /// Calls the function that the checker found for a node. If it found several, the types of the arguments decide.
    pub(super) fn apply(&self, id: NodeId, args: &[Value<'a>], place: &mut Value<'a>) -> Result<(), Failure> {
        let Reference::Call { overloads, .. } = self.checked.reference(id) else {
            return Err(self.error(id, ErrorKind::NoSuchOverload));
        };
        let result = match **overloads {
            [Overload::Builtin(builtin)] => library::invoke(self.cx, builtin, args),
            _ => crate::function::dispatch(self.cx, self.functions, overloads, args),
        };
        match result {
            // The most common result: storing it is cheaper than copying a whole value.
            Ok(Value::Bool(answer)) => *place = Value::Bool(answer),
            Ok(value) => *place = value,
            Err(kind) => return Err(self.failed(id, kind, args)),
        }
        Ok(())
    }
}
