//! Whether a policy may replace the one in force.
//!
//! Invariant: a phase of a level that has rules is not replaced by one without, unless the file says `empty: allowed`.
//! Test: `runtime/adapters/policy/tests/policy/emptiness.rs::a_phase_of_a_level_keeps_its_rules`.

use crate::file::emptiness::{CODE, HELP, LIST_HELP, check_phases};
use crate::file::error::PolicyError;
use crate::policy::Policy;
use crate::problems::FileSpan;

impl Policy {
    /// Checks that this policy is not empty where the policy before was not: that each phase of a
    /// level has rules that had some, and that each list still says where its entries are. A file
    /// that was cut to nothing, or in its middle, would let requests pass. The key `empty: allowed`
    /// of the policy and of a list says that it is meant. Call it when a policy is to replace
    /// another one, before [`take_over`](Self::take_over).
    ///
    /// # Errors
    /// Returns a [`PolicyError`] that names what is empty. [`PolicyError::is_emptiness`] recognises it.
    pub fn check_replaces(&self, before: &Self) -> Result<(), PolicyError> {
        let mut problems = self.problems.of_same_files();
        if !self.may_be_empty() && self.rules().next().is_none() && before.rules().next().is_some() {
            let message = "this policy has no rules, but the policy in force has some".to_owned();
            problems.add(CODE, FileSpan::new(0, 0, 0), message).help(HELP);
        } else {
            check_phases(&before.phases_of_levels, &self.phases_of_levels, &mut problems);
        }
        for (list, place) in self.list_sections.unnamed_entries() {
            if before.list_sections.names_entries(&list) {
                let message = format!(
                    "the list `{list}` has no `entries`, `files` or `urls` any more, but it has some in the policy in force"
                );
                problems.add(CODE, place, message).help(LIST_HELP);
            }
        }
        if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(()) }
    }

    /// Returns whether a file of the first level says that it may be empty.
    fn may_be_empty(&self) -> bool {
        self.phases_of_levels.first().is_some_and(|first| first.may_be_empty)
    }
}
