//! Changes of headers, collected while a phase runs and applied when it is over.

use http::{HeaderMap, HeaderName, HeaderValue};

/// A change of headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// This value in place of all that the name has.
    Set {
        /// The header.
        name: HeaderName,
        /// Its value.
        value: HeaderValue,
    },
    /// This value beside those that the name has.
    Add {
        /// The header.
        name: HeaderName,
        /// Its value.
        value: HeaderValue,
    },
    /// No value.
    Remove {
        /// The header.
        name: HeaderName,
    },
}

/// The changes that a phase asks for, in the order in which they are to be made.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    edits: Vec<Edit>,
}

impl Edits {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The changes, for hosts with a header map of their own.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.edits.iter()
    }

    /// Makes the changes.
    pub fn apply(&self, headers: &mut HeaderMap) {
        for edit in &self.edits {
            match edit {
                Edit::Set { name, value } => drop(headers.insert(name, value.clone())),
                Edit::Add { name, value } => drop(headers.append(name, value.clone())),
                Edit::Remove { name } => drop(headers.remove(name)),
            }
        }
    }

    /// The names that were given values so far.
    pub(crate) fn names_given(&self) -> impl Iterator<Item = &HeaderName> {
        self.edits.iter().filter_map(|edit| match edit {
            Edit::Set { name, .. } | Edit::Add { name, .. } => Some(name),
            Edit::Remove { .. } => None,
        })
    }

    pub(crate) fn push(&mut self, edit: Edit) {
        self.edits.push(edit);
    }

    pub(crate) fn clear(&mut self) {
        self.edits.clear();
    }
}
