//! The action `delay` of a rule: how long a request waits.

use crate::rules::action_failure::{ActionFailure, ActionPart};
use celero::{Context, Program, Scratch, Value};
use std::time::Duration;

/// The action `delay` of a rule.
#[derive(Debug)]
pub(crate) struct RuleDelay<S> {
    pub(crate) time: DelayTime<S>,
    /// The longest delay of the policy.
    pub(crate) longest: Duration,
    /// The log says how long the request would wait, and it does not.
    pub(crate) dry_run: bool,
}

/// A time that is constant or computed by an expression.
#[derive(Debug)]
pub(crate) enum DelayTime<S> {
    Fixed(Duration),
    Computed(Program<S>),
}

impl<S: Context + 'static> RuleDelay<S> {
    /// Returns how long the request waits. A time that fails, which is added to `failures`, is the
    /// longest one: else a client could avoid the delay by what it sends. A negative one is none.
    pub(crate) fn time<'r, C: Context<Static = S>>(
        &'r self,
        context: &C,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> Duration {
        let program = match &self.time {
            DelayTime::Fixed(time) => return *time,
            DelayTime::Computed(program) => program,
        };
        let time = ActionPart::Delay.evaluate(program, context, scratch, |value| match value {
            Value::Duration(time) => Some(Duration::from_nanos(u64::try_from(time.0).unwrap_or(0)).min(self.longest)),
            _ => None,
        });
        time.unwrap_or_else(|failure| {
            failures.push(failure);
            self.longest
        })
    }
}
