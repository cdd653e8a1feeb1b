//! The precondition `require` of a rule.

use crate::rules::action_failure::{ActionFailure, ActionPart};
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
        let met = ActionPart::Require.evaluate(&self.0, context, scratch, |value| match value {
            Value::Bool(met) => Some(met),
            _ => None,
        });
        met.unwrap_or_else(|failure| {
            failures.push(failure);
            false
        })
    }
}
