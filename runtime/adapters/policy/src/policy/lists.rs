//! The named lists of a policy, for hosts that change them or read their files again.

use crate::file::error::PolicyError;
use crate::lists::section::{fill, like};
use crate::lists::source::{ListDocument, ListSource};
use crate::policy::Policy;
use celero::lists::Lists;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

impl Policy {
    /// Returns the named lists of the policy, those of its [host](crate::Loader::lists) first; `None`
    /// if it has none. A host may change the others while requests are evaluated: the next phase of
    /// a request sees the change. A reload begins with
    /// the entries of the files again; a [`celero_lists::Overlay`] brings back what was changed.
    /// No rule finds an entry that has expired; it takes memory until the host calls
    /// [`Lists::expire`], for instance each second. [`Lists::lookups`] says how often each was asked.
    #[must_use]
    pub fn lists(&self) -> Option<&Lists> {
        self.lists.as_ref()
    }

    /// Reads the files of the named lists again, without compiling anything, and returns lists with
    /// these entries and those of documents at URLs, the running ones unchanged:
    /// [`Lists::take_over`] puts them in force. `None` if the policy has no lists.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error in the files of lists.
    pub fn read_lists(&self) -> Result<Option<Lists>, PolicyError> {
        self.read_some_lists(|_| true, None)
    }

    /// Reads the files of one list again, that of a source, with a new document of this source.
    /// Returns it alone: [`Lists::take_over_some`] puts it in force. `None` if the policy has no
    /// lists.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error in the document and the files of the list.
    pub fn read_list_with(&self, source: &ListSource, document: &ListDocument) -> Result<Option<Lists>, PolicyError> {
        self.read_some_lists(|name| name == source.list(), Some((source, document)))
    }

    fn read_some_lists(
        &self,
        wanted: impl Fn(&str) -> bool,
        offered: Option<(&ListSource, &ListDocument)>,
    ) -> Result<Option<Lists>, PolicyError> {
        let Some(running) = &self.lists else { return Ok(None) };
        let mut problems = self.problems.of_same_files();
        let fresh = like(running, wanted);
        fill(&fresh, &self.list_sections, offered, &mut problems);
        if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(Some(fresh)) }
    }

    /// Returns the names of the lists that have files, each with its files. A path that ends in
    /// `*.` and an extension is a [`FilePattern`](celero_lists::FilePattern).
    pub fn list_files(&self) -> impl Iterator<Item = (String, Vec<PathBuf>)> {
        self.list_sections.files()
    }

    /// Returns the sources of lists at URLs, for a host that fetches them.
    pub fn list_sources(&self) -> impl Iterator<Item = &Arc<ListSource>> {
        self.list_sections.sources.iter()
    }

    /// Fills the lists that have sources at URLs with the documents that are known already. `kept`
    /// is asked for the document of a source that has none: [`take_over`](Self::take_over), which
    /// comes before this, brings those of the policy before. Documents are
    /// [checked](ListSource::check) by the caller. Call it before the policy is used.
    ///
    /// # Errors
    /// Returns a [`PolicyError`]: with these entries, the lists would exceed their bounds, or files
    /// have changed meanwhile and have errors.
    pub fn restore_lists(&self, kept: impl Fn(&ListSource) -> Option<ListDocument>) -> Result<(), PolicyError> {
        let mut names = BTreeSet::new();
        for source in &self.list_sections.sources {
            if source.document().is_none()
                && let Some(document) = kept(source)
            {
                source.restore(document);
            }
            if source.document().is_some() {
                names.insert(source.list());
            }
        }
        let fresh = self.read_some_lists(|name| names.contains(name), None)?;
        if let (Some(running), Some(fresh), false) = (&self.lists, fresh, names.is_empty()) {
            running.take_over_some(fresh).map_err(|error| {
                let mut problems = self.problems.of_same_files();
                // Not at a source: an error shows the line, and the query of a URL may hold a secret.
                if let Some(place) = self.list_sections.place() {
                    problems.add("policy-list", place, format!("the lists hold {error}"));
                }
                PolicyError::new(problems)
            })?;
        }
        Ok(())
    }

    /// Takes over the documents of the sources of the policy before, and the counts of lookups in
    /// lists of the same names.
    pub(crate) fn take_over_lists(&self, before: &Self) {
        if let (Some(lists), Some(before)) = (&self.lists, &before.lists) {
            lists.take_over_lookups(before);
        }
        for source in &self.list_sections.sources {
            let _ = before.list_sections.sources.iter().any(|known| source.take_over(known));
        }
    }
}
