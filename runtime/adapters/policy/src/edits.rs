//! Header changes, collected while a phase runs and applied when it is over.

use http::{HeaderMap, HeaderName, HeaderValue};

/// A change of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Replaces all values of a header.
    Set {
        /// The name.
        name: HeaderName,
        /// The new value.
        value: HeaderValue,
    },
    /// Adds a value to a header.
    Add {
        /// The name.
        name: HeaderName,
        /// The added value.
        value: HeaderValue,
    },
    /// Removes a header.
    Remove {
        /// The name.
        name: HeaderName,
    },
}

/// The header changes of a phase, in the order in which they are applied.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    edits: Vec<Edit>,
}

impl Edits {
    /// Returns whether there are no changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Returns the changes. For hosts with their own type of header map.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.edits.iter()
    }

    /// Applies the changes.
    pub fn apply(&self, headers: &mut HeaderMap) {
        for edit in &self.edits {
            match edit {
                Edit::Set { name, value } => drop(headers.insert(name, value.clone())),
                Edit::Add { name, value } => drop(headers.append(name, value.clone())),
                Edit::Remove { name } => drop(headers.remove(name)),
            }
        }
    }

    /// Returns the names of headers that get a value.
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
