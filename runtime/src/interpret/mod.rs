//! The interpreter: a recursive walk over the checked tree.
//!
//! It evaluates rules that have no native code, and it is the oracle that native code is tested
//! against. Therefore it shares only the library's functions with the native tier.
//!
//! Operands are evaluated in the order in which they are written. The error of an operand ends its
//! parent, except in the operators that absorb errors (`&&`, `||`, `all`, `exists`, `default`,
//! `coalesce`) and in `cel.bind`; a final error, such as a spent budget, ends these too, and a value
//! that is not known yet ends `default` and `coalesce`, but not a selection of what is beside its
//! unknown parts. An error carries the position of the node that failed.
//!
//! Invariant: the interpreter knows no graph, no helper and no frame. Test:
//! `tests/tests/it/tidy/heads.rs::the_interpreter_shares_only_the_library`.

mod call;
mod collection;
mod constants;
mod fold;
mod recorder;
mod scope;
mod select;
mod unknown;
mod witness;

pub(crate) use constants::Constants;
pub(crate) use recorder::{NodeResult, Recorded, Recorder};
pub(crate) use witness::{Seen, Witness};

use crate::context::Host;
use crate::error::{ErrorKind, EvalError};
use crate::function::Functions;
use crate::library::Cx;
use crate::owned::OwnedValue;
use crate::value::{Value, type_name_of};
use celero_frontend::{Checked, Expr, FallbackKind, Literal, LogicOp, NodeId, Reference, with_stack};
use smallvec::SmallVec;

/// The result of a node.
type Outcome<'a> = Result<Value<'a>, Failure>;

/// An error and the node that failed.
#[derive(Clone, Copy)]
struct Failure {
    kind: ErrorKind,
    id: NodeId,
    /// What the witness, if there is one, has seen of it.
    seen: u32,
}

/// Evaluates an expression into `place`. The result borrows from the expression, its constants, the host or the arena
/// of `cx`. `constants` are those of this expression.
///
/// # Errors
/// The evaluation error, with its position in the source; `out_of_budget` if the steps or the
/// memory of `cx` are used up.
pub(crate) fn interpret<'a>(
    checked: &'a Checked,
    constants: &'a Constants,
    functions: &'a Functions,
    host: &'a dyn Host,
    cx: &Cx<'a>,
    place: &mut Value<'a>,
) -> Result<(), EvalError> {
    let ast = checked.ast();
    let walk = || {
        let constants = constants.of(checked, functions, host, cx);
        Walk { constants, ..Walk::new(checked, functions, host, cx) }.eval_into(ast.root(), place)
    };
    with_stack(ast.depth(), walk).map_err(|Failure { kind, id, .. }| {
        let span = ast.span(id);
        EvalError { kind, start: span.start, end: span.end }
    })
}

/// Evaluates a node, which is outside of all macros, and tells the witness of each failure.
///
/// # Errors
/// The number under which the witness has seen the failure.
pub(crate) fn interpret_before<'a>(
    witness: &Witness<'a>,
    checked: &'a Checked,
    functions: &'a Functions,
    host: &'a dyn Host,
    cx: &Cx<'a>,
    id: NodeId,
) -> Result<Value<'a>, u32> {
    let walk = || Walk { witness: Some(witness), ..Walk::new(checked, functions, host, cx) }.eval(id);
    with_stack(checked.ast().depth(), walk).map_err(|failure| failure.seen)
}

/// Evaluates an expression as [`interpret`] does, and records the result of each node.
///
/// # Errors
/// As [`interpret`].
pub(crate) fn interpret_recorded<'a>(
    recorder: &Recorder<'a>,
    checked: &'a Checked,
    functions: &'a Functions,
    host: &'a dyn Host,
    cx: &Cx<'a>,
    place: &mut Value<'a>,
) -> Result<(), EvalError> {
    let ast = checked.ast();
    let walk =
        || Walk { recorder: Some(recorder), ..Walk::new(checked, functions, host, cx) }.eval_into(ast.root(), place);
    with_stack(ast.depth(), walk).map_err(|Failure { kind, id, .. }| {
        let span = ast.span(id);
        EvalError { kind, start: span.start, end: span.end }
    })
}

impl Failure {
    /// Keeps the first failure of operands of which none decides; one that is not known could.
    fn add_to(self, first: &mut Option<Self>) {
        if first.is_none_or(|kept| self.kind == ErrorKind::Unknown && kept.kind != ErrorKind::Unknown) {
            *first = Some(self);
        }
    }

    /// A failure that ends the evaluation, after operands that failed. Of those, one that is not
    /// known could have decided before.
    fn after(self, first: Option<Self>) -> Self {
        first.filter(|first| first.kind == ErrorKind::Unknown).unwrap_or(self)
    }
}

struct Walk<'a, 'w> {
    checked: &'a Checked,
    functions: &'a Functions,
    host: &'a dyn Host,
    cx: &'w Cx<'a>,
    /// Values of parts that need not be evaluated.
    constants: &'a [(NodeId, OwnedValue)],
    /// The macros' variables in scope, indexed by level. If computing one failed, reading it is that error.
    locals: SmallVec<[Outcome<'a>; 8]>,
    /// Records failures for a report; `None` in evaluations.
    witness: Option<&'w Witness<'a>>,
    /// Records all results for a trace; `None` in evaluations.
    recorder: Option<&'w Recorder<'a>>,
}

impl<'a, 'w> Walk<'a, 'w> {
    fn new(checked: &'a Checked, functions: &'a Functions, host: &'a dyn Host, cx: &'w Cx<'a>) -> Self {
        Self { checked, functions, host, cx, constants: &[], locals: SmallVec::new(), witness: None, recorder: None }
    }
}

impl<'a> Walk<'a, '_> {
    fn eval(&mut self, id: NodeId) -> Outcome<'a> {
        let mut value = Value::Null;
        self.eval_into(id, &mut value)?;
        Ok(value)
    }

    /// Evaluates into `place`, because copying a value of 32 bytes costs more than writing it where
    /// it is needed. After an error the content of `place` is unspecified.
    fn eval_into(&mut self, id: NodeId, place: &mut Value<'a>) -> Result<(), Failure> {
        let result = self.eval_node(id, place);
        if let Some(recorder) = self.recorder {
            recorder.record(id, result.map(|()| *place).map_err(|failure| (failure.kind, failure.id)));
        }
        result
    }

    /// Evaluates an operand as [`eval_into`](Self::eval_into) does; a literal without a call.
    #[inline(always)]
    fn operand(&mut self, id: NodeId, place: &mut Value<'a>) -> Result<(), Failure> {
        if let Expr::Literal(literal) = self.checked.ast().expr(id)
            && self.recorder.is_none()
        {
            *place = literal_value(literal);
            return Ok(());
        }
        self.eval_into(id, place)
    }

    // One frame of the stack for each level of the tree, not two.
    #[inline(always)]
    fn eval_node(&mut self, id: NodeId, place: &mut Value<'a>) -> Result<(), Failure> {
        let checked = self.checked;
        match checked.ast().expr(id) {
            Expr::Literal(literal) => *place = literal_value(literal),
            Expr::Ident { test, .. } => {
                if *test && let Some(present) = self.presence(id)? {
                    *place = Value::Bool(present);
                } else if !self.name(id, place)? {
                    return Err(self.error(id, ErrorKind::NoSuchKey));
                }
            }
            Expr::Select { operand, field, test, optional } => {
                return self.select(id, *operand, *field, *test, *optional, place);
            }
            Expr::Index { operand, index, .. } => return self.binary(id, *operand, *index, place),
            Expr::Unary { operand, .. } => return self.unary(id, *operand, place),
            Expr::Binary { left, right, .. } => return self.binary(id, *left, *right, place),
            Expr::Logic { op, operands } => *place = self.logic(*op, checked.ast().children(*operands))?,
            Expr::Cond { condition, then, otherwise } => {
                let branch = if self.boolean(*condition)? { then } else { otherwise };
                return self.eval_into(*branch, place);
            }
            Expr::Call { .. } | Expr::List { .. } if let Some(value) = self.constant(id) => *place = value,
            Expr::Call { target, args, .. } => {
                return self.call(id, *target, checked.ast().children(*args), place);
            }
            _ => return self.eval_rare(id, place),
        }
        Ok(())
    }

    /// What few rules have. Not inlined, because each level of all other expressions would take the stack for it.
    #[inline(never)]
    fn eval_rare(&mut self, id: NodeId, place: &mut Value<'a>) -> Result<(), Failure> {
        let checked = self.checked;
        match checked.ast().expr(id) {
            Expr::List { elements, optional } => {
                *place = self.list(id, checked.ast().children(*elements), optional)?;
            }
            Expr::Map { entries, optional } => *place = self.map(id, checked.ast().children(*entries), optional)?,
            Expr::Fold { kind, range, var2, filter, transform, .. } => {
                let fold = fold::Fold { id, pairs: var2.is_some(), filter: *filter, transform: *transform };
                *place = self.fold(*kind, *range, &fold)?;
            }
            Expr::Bind { init, body, .. } => *place = self.bind(*init, *body)?,
            Expr::OptMap { target, body, flat, .. } => *place = self.opt_map(id, *target, *body, *flat)?,
            Expr::Fallback { kind, operands } => *place = self.fallback(*kind, checked.ast().children(*operands))?,
            Expr::Message { fields, values, optional, .. } => {
                *place = self.message(id, fields, checked.ast().children(*values), optional)?;
            }
            // The others are not rare, and a tree with an error node does not pass the checker.
            _ => return Err(self.error(id, ErrorKind::NoSuchOverload)),
        }
        Ok(())
    }

    /// The value of a node that is a constant.
    #[inline]
    fn constant(&self, id: NodeId) -> Option<Value<'a>> {
        if self.constants.is_empty() {
            return None;
        }
        let at = self.constants.binary_search_by_key(&id, |(node, _)| *node).ok()?;
        self.constants.get(at).map(|(_, value)| value.as_value())
    }

    /// Writes the value that a name refers to into `place`. Returns false if the node is not a name
    /// but a selection from a value.
    fn name(&self, id: NodeId, place: &mut Value<'a>) -> Result<bool, Failure> {
        let checked = self.checked;
        match checked.reference(id) {
            Reference::Variable(index) => match self.host.field(*index, self.cx.arena()) {
                Ok(Some(value)) => *place = value,
                Ok(None) => return Err(self.error(id, ErrorKind::NoSuchKey)),
                Err(kind) => return Err(self.error(id, kind)),
            },
            Reference::Local(level) => match self.locals.get(*level as usize) {
                Some(Ok(value)) => *place = *value,
                Some(Err(error)) => return Err(*error),
                None => return Err(self.error(id, ErrorKind::NoSuchKey)),
            },
            Reference::Type(ty) => *place = Value::Type(type_name_of(ty)),
            Reference::Constant(number) => *place = Value::Int(*number),
            Reference::Undeclared => return Err(self.error(id, ErrorKind::NoSuchKey)),
            Reference::Message(_)
            | Reference::Call { .. }
            | Reference::Guard(_)
            | Reference::InList(_)
            | Reference::ListValue { .. }
            | Reference::None => return Ok(false),
        }
        Ok(true)
    }

    /// `&&` and `||`: any operand that decides wins, else what is not known, else the first error,
    /// else the other value.
    fn logic(&mut self, op: LogicOp, operands: &[NodeId]) -> Outcome<'a> {
        let decides = op == LogicOp::Or;
        let mut first = None;
        for &operand in operands {
            match self.boolean(operand) {
                Ok(value) if value == decides => return Ok(Value::Bool(decides)),
                Ok(_) => {}
                Err(error) if error.kind.is_final() => return Err(error.after(first)),
                Err(error) => error.add_to(&mut first),
            }
        }
        first.map_or(Ok(Value::Bool(!decides)), Err)
    }

    /// `default`: the second operand where the first is null or absent. `coalesce`: the first
    /// operand that is not null and does not fail, else the last error, else null.
    fn fallback(&mut self, kind: FallbackKind, operands: &[NodeId]) -> Outcome<'a> {
        if let (FallbackKind::Default, &[value, otherwise]) = (kind, operands) {
            return match self.eval(value) {
                Ok(Value::Null) => self.eval(otherwise),
                Err(error) if error.kind == ErrorKind::NoSuchKey => self.eval(otherwise),
                outcome => outcome,
            };
        }
        let mut result = Ok(Value::Null);
        for &operand in operands {
            match self.eval(operand) {
                Ok(Value::Null) => {}
                Err(error) if error.kind.has_substitute() => result = Err(error),
                outcome => return outcome,
            }
        }
        result
    }

    /// Evaluates a node that must be a `bool`.
    fn boolean(&mut self, id: NodeId) -> Result<bool, Failure> {
        let mut value = Value::Null;
        self.eval_into(id, &mut value)?;
        match value {
            Value::Bool(value) => Ok(value),
            _ => Err(self.unfit(id, value, "a `bool`")),
        }
    }

    /// The failure of a value that is not what is needed.
    #[cold]
    fn unfit(&self, id: NodeId, value: Value<'a>, needed: &'static str) -> Failure {
        let kind = ErrorKind::NoSuchOverload;
        let see = |witness: &Witness<'a>| witness.see(id, kind, &[value], Some(needed));
        Failure { kind, id, seen: self.witness.map_or(u32::MAX, see) }
    }

    fn error(&self, id: NodeId, kind: ErrorKind) -> Failure {
        self.failed(id, kind, &[])
    }

    /// The failure of an operation on these operands.
    #[cold]
    fn failed(&self, id: NodeId, kind: ErrorKind, operands: &[Value<'a>]) -> Failure {
        Failure { kind, id, seen: self.witness.map_or(u32::MAX, |witness| witness.see(id, kind, operands, None)) }
    }

    /// Adds the failed node to an error of the library.
    #[inline]
    fn at<T>(&self, id: NodeId, result: Result<T, ErrorKind>) -> Result<T, Failure> {
        result.map_err(|kind| self.error(id, kind))
    }
}

/// Returns the value of a literal.
pub(crate) fn literal_value(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(value) => Value::String(value),
        Literal::Bytes(value) => Value::Bytes(value),
    }
}

#[cfg(test)]
mod tests;
