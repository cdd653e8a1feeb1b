//! Whether a policy may replace the one in force.

use crate::emptiness::{CODE, HELP, check_lists};
use crate::error::PolicyError;
use crate::policy::Policy;
use crate::problems::FileSpan;

impl Policy {
    /// Checks that this policy is not empty where the policy before was not: that it has rules if that one had, and that its lists have entries. A
    /// file that was cut to nothing would let every request pass. The key `empty: allowed` of the policy and of a list says that it is
    /// meant. Call it when a policy is to replace another one, before [`take_over`](Self::take_over).
    ///
    /// # Errors
    /// Returns a [`PolicyError`] that names what is empty. [`PolicyError::is_emptiness`] recognises it.
    pub fn check_replaces(&self, before: &Self) -> Result<(), PolicyError> {
        let mut problems = self.problems.of_same_files();
        if !self.may_be_empty && self.rules().next().is_none() && before.rules().next().is_some() {
            let message = "this policy has no rules, but the policy in force has some".to_owned();
            problems.add(CODE, FileSpan::new(0, 0, 0), message).help(HELP);
        }
        check_lists(&before.list_sections.read_sources(), &self.list_sections.read_sources(), &mut problems);
        if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(()) }
    }
}
