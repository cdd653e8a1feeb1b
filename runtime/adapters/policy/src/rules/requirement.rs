//! The precondition `require` of a rule.

use crate::rules::action_failure::{ActionFailure, ActionPart, WhyFailed};
use celero::{Context, Program, Scratch, Value};

/// A condition without which a message goes no further.
#[derive(Debug)]
pub(crate) struct Requirement<S>(pub(crate) Program<S>);

impl<S: Context + 'static> Requirement<S> {
    /// Returns whether a message meets the requirement. One whose condition fails does not.
    pub(crate) fn is_met<'r, C: Context<Static = S>>(
        &'r self,
        context: &C,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> bool {
        let why = match self.0.eval(context, scratch) {
            Ok(Value::Bool(met)) => return met,
            Ok(_) => WhyFailed::Invalid,
            Err(error) => WhyFailed::Error(error),
        };
        failures.push(ActionFailure { part: ActionPart::Require, program: Some(&self.0), why });
        false
    }
}
