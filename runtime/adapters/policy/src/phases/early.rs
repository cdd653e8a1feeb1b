//! Tries the rules of a phase that reads a body before the body has come.
//!
//! Invariant: a phase that needs no body would have had no effect with any body: none of its rules matches or fails.
//! Test: `runtime/adapters/policy/tests/policy/early.rs::phases_without_bodies_end_as_with_them`.

use crate::phases::phase::{MEMORY, PhaseRules, ThreadMemory};
use crate::phases::watch::{Noted, RuleWatch};
use celero::Context;

impl<S: Context + 'static> PhaseRules<S> {
    /// Returns whether a rule may match or fail, depending on the body, which `context` lacks. If not, that was the
    /// phase: it is counted, without an effect.
    pub(crate) fn needs_body<C: Context<Static = S>>(&self, context: &C, watch: Option<&mut RuleWatch>) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let Some(needs) = &self.needs else { return true };
        let run = || {
            let mut memory = MEMORY.try_with(std::cell::Cell::take).ok().flatten().unwrap_or_default();
            let ThreadMemory { scratch, shards, .. } = &mut *memory;
            let counting = shards.begin(&self.counters);
            // What fails counts as a match here, and so does what stops the evaluation.
            let needed = needs.any(context, scratch).unwrap_or(true);
            if needed {
                counting.discard();
            } else {
                counting.end();
                if let Some(watch) = watch {
                    let noted = Noted { matched: &[], counted: &[], drawn: &[], failed_actions: &Vec::new() };
                    self.watch(watch, context, &noted, None, scratch);
                }
            }
            let _ = MEMORY.try_with(|kept| kept.set(Some(memory)));
            needed
        };
        if let Some(lists) = &self.lists { lists.pin(run) } else { run() }
    }
}
