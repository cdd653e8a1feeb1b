//! The macros that declare one variable: `cel.bind`, `with`, `optMap` and `optFlatMap`.

use super::{Outcome, Walk};
use crate::value::Value;
use celero_frontend::NodeId;

impl<'a> Walk<'a, '_> {
    /// An error of the initializer, unless it is final, is stored as the variable and returned
    /// where the variable is read.
    pub(super) fn bind(&mut self, init: NodeId, body: NodeId) -> Outcome<'a> {
        let init = self.eval(init);
        if let Err(error) = init
            && error.kind.is_final()
        {
            return Err(error);
        }
        self.with_local(init, body)
    }

    pub(super) fn opt_map(&mut self, id: NodeId, target: NodeId, body: NodeId, flat: bool) -> Outcome<'a> {
        let inner = match self.eval(target)? {
            Value::Optional(Some(inner)) => *inner,
            Value::Optional(None) => return Ok(Value::Optional(None)),
            other => return Err(self.unfit(target, other, "an optional")),
        };
        let result = self.with_local(Ok(inner), body)?;
        // The definition of the macro does not require that a `dyn` body of the flat form is an optional.
        if flat {
            return Ok(result);
        }
        Ok(Value::Optional(Some(self.at(id, self.cx.arena().alloc(result))?)))
    }

    fn with_local(&mut self, value: Outcome<'a>, body: NodeId) -> Outcome<'a> {
        self.locals.push(value);
        let result = self.eval(body);
        self.locals.pop();
        result
    }
}
