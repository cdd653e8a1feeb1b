//! Finds the node that failed, and its operands, and puts the failure into words.

use super::cause::Cause;
use super::failed::{Failed, Spent};
use super::operand::Data;
use crate::arena::Arena;
use crate::context::Host;
use crate::cx::{Cx, CxSettings};
use crate::error::{ErrorKind, EvalError};
use crate::function::{Functions, contained, message_of_field};
use crate::interpret::{Seen, Witness, interpret_before};
use crate::limits::Limits;
use crate::lower::is_pure;
use crate::value::Value;
use crate::variables::Variables;
use celero_frontend::{Checked, NodeId, Reference, Span};
use celero_matching::pattern::Dialect;

/// Most nodes at the place of an error that are evaluated to find the one that failed.
const MAX_TRIED: usize = 8;

/// What an expression was evaluated with.
pub(crate) struct Known<'s> {
    pub(crate) variables: &'s Variables,
    pub(crate) functions: &'s Functions,
    pub(crate) limits: &'s Limits,
    /// The dialect of the patterns of the environment.
    pub(crate) dialect: Dialect,
}

/// An error in words.
pub(crate) struct Words {
    /// The message, with the values that the evaluation met.
    pub(crate) message: String,
    /// The message without the text of the context's data.
    pub(crate) redacted: String,
    /// What the author of the rule can do about it.
    pub(crate) help: Option<String>,
}

/// Puts an error of a tree of CEL into words. Evaluates the expression again, as far as it is pure.
pub(crate) fn describe_checked(checked: &Checked, error: EvalError, host: &dyn Host, known: &Known<'_>) -> Words {
    let Known { variables, functions, limits, dialect } = *known;
    Inquiry { checked, variables, functions, limits, dialect }.report(error, host)
}

/// What is asked about a tree, and with what.
struct Inquiry<'s> {
    checked: &'s Checked,
    variables: &'s Variables,
    functions: &'s Functions,
    limits: &'s Limits,
    dialect: Dialect,
}

impl Inquiry<'_> {
    fn report(&self, error: EvalError, host: &dyn Host) -> Words {
        let arena = Arena::new(self.limits.memory);
        // The host's data may panic, as it may in an evaluation.
        let told = contained(|| self.tell(error, &self.failure_and_message(error, host, &arena)));
        told.unwrap_or_else(|()| self.tell(error, &Failed::at(None)))
    }

    fn tell(&self, error: EvalError, failed: &Failed<'_>) -> Words {
        let cause = |data| Cause {
            checked: self.checked,
            variables: self.variables,
            functions: self.functions,
            limits: self.limits,
            dialect: self.dialect,
            data,
            kind: error.kind,
            failed,
        };
        let cause_shown = cause(Data::Shown);
        let redacted = cause(Data::Hidden).message();
        Words { message: cause_shown.message(), redacted, help: cause_shown.help() }
    }

    /// Finds the failure, and what the function of the field says if reading one is what failed.
    fn failure_and_message<'a>(&'a self, error: EvalError, host: &'a dyn Host, arena: &'a Arena) -> Failed<'a> {
        let failed = self.failure(error, host, arena);
        match failed.id.map(|id| self.checked.reference(id)) {
            Some(Reference::Variable(index)) if error.kind == ErrorKind::Host => {
                let read = || _ = host.field(*index, arena);
                Failed { message: message_of_field(read), ..failed }
            }
            _ => failed,
        }
    }

    /// Finds the failure: in the whole expression if it is pure, else in what is at the place of the error.
    fn failure<'a>(&'a self, error: EvalError, host: &'a dyn Host, arena: &'a Arena) -> Failed<'a> {
        let ast = self.checked.ast();
        let cx = self.cx(arena);
        match self.evaluate(ast.root(), host, &cx) {
            Some(Err(seen)) if self.is(&seen, error) => {
                let spent = match error.kind {
                    ErrorKind::OutOfBudget if cx.left() < 0 => Some(Spent::Steps),
                    // Values that are nested too deep exceed neither.
                    ErrorKind::OutOfBudget if arena.is_exceeded() => Some(Spent::Memory),
                    _ => None,
                };
                return Failed { spent, ..Failed::seen(seen) };
            }
            Some(Ok(value))
                if error.kind == ErrorKind::NoSuchOverload
                    && ast.span(ast.root()) == error.span()
                    && !matches!(value, Value::Bool(_)) =>
            {
                return Failed { not_bool: Some(value), ..Failed::at(Some(ast.root())) };
            }
            _ => {}
        }
        if error.end == 0 || error.kind == ErrorKind::OutOfBudget {
            return Failed::at(None);
        }
        // A node comes after its operands.
        let here = (0..u32::try_from(ast.nodes().len()).unwrap_or(u32::MAX)).rev().map(NodeId);
        let here = here.filter(|&id| ast.span(id) == error.span()).take(MAX_TRIED);
        let outermost = here.clone().next();
        // Variables of macros have no values here.
        let seen =
            here.filter(|&id| !self.reads_local(id)).find_map(|id| match self.evaluate(id, host, &self.cx(arena)) {
                Some(Err(seen)) if self.is(&seen, error) => Some(seen),
                _ => None,
            });
        seen.map_or_else(|| Failed::at(outermost), Failed::seen)
    }

    /// Whether what was seen is the error.
    fn is(&self, seen: &Seen<'_>, error: EvalError) -> bool {
        let here = error.kind == ErrorKind::OutOfBudget || self.span(seen.id) == error.span();
        seen.kind == error.kind && here
    }

    /// Whether a node reads a variable of a macro.
    fn reads_local(&self, id: NodeId) -> bool {
        let checked = self.checked;
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if matches!(checked.reference(id), Reference::Local(_)) {
                return true;
            }
            checked.ast().each_child(id, |child| pending.push(child));
        }
        false
    }

    fn span(&self, id: NodeId) -> Span {
        self.checked.ast().span(id)
    }

    /// Returns what an evaluation begins with.
    fn cx<'a>(&self, arena: &'a Arena) -> Cx<'a> {
        CxSettings { steps: i64::from(self.limits.steps), dialect: self.dialect }.cx(arena, None)
    }

    /// Evaluates a node. `None` if it calls an impure function, or if the failure is unknown.
    fn evaluate<'a>(&'a self, id: NodeId, host: &'a dyn Host, cx: &Cx<'a>) -> Option<Result<Value<'a>, Seen<'a>>> {
        if !self.is_pure(id) {
            return None;
        }
        let witness = Witness::default();
        match interpret_before(&witness, self.checked, self.functions, host, cx, id) {
            Ok(value) => Some(Ok(value)),
            Err(number) => witness.seen(number).map(Err),
        }
    }

    /// Whether a node calls no impure function and asks no list, which may have changed.
    fn is_pure(&self, id: NodeId) -> bool {
        let checked = self.checked;
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let pure = match checked.reference(id) {
                Reference::Call { overloads, .. } => overloads.iter().all(|called| is_pure(called, self.functions)),
                Reference::InList(_) | Reference::ListValue { .. } => false,
                _ => true,
            };
            if !pure {
                return false;
            }
            checked.ast().each_child(id, |child| pending.push(child));
        }
        true
    }
}
