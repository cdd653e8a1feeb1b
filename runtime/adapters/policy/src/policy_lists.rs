//! The named lists of a policy, for hosts that change them or read their files again.

use crate::error::PolicyError;
use crate::named_lists::{fill, like};
use crate::policy::Policy;
use celero::lists::Lists;
use std::path::PathBuf;

impl Policy {
    /// Returns the named lists of the policy; `None` if it has none. A host may change them while requests are evaluated: the next phase of a
    /// request sees the change. A reload begins with the entries of the files again; a [`celero_lists::Overlay`] brings back what was changed. Entries with a time at which they expire are in their list
    /// until the host calls [`Lists::expire`], for instance each second; those that had expired when the policy was loaded are left out.
    #[must_use]
    pub fn lists(&self) -> Option<&Lists> {
        self.lists.as_ref()
    }

    /// Reads the files of the named lists again, without compiling anything, and returns lists with these entries, the running ones unchanged:
    /// [`Lists::take_over`] puts them in force. `None` if the policy has no lists.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error in the files of lists.
    pub fn read_lists(&self) -> Result<Option<Lists>, PolicyError> {
        let Some(running) = &self.lists else { return Ok(None) };
        let mut problems = self.problems.of_same_files();
        let fresh = like(running);
        fill(&fresh, &self.list_sections, &mut problems);
        if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(Some(fresh)) }
    }

    /// Returns the names of the lists that have files, each with its files.
    pub fn list_files(&self) -> impl Iterator<Item = (String, Vec<PathBuf>)> {
        self.list_sections.files()
    }
}
