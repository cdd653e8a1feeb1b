//! Header changes, collected while a phase runs and applied when it is over.

use celero_canonical::{Fields, Head, follow_host};
use http::header::HOST;
use http::{HeaderName, HeaderValue};

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

    /// Returns the changes.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.edits.iter()
    }

    /// Applies the changes.
    pub fn apply(&self, head: &mut impl Fields) {
        for edit in &self.edits {
            match edit {
                Edit::Set { name, value } => head.set_field(name, value.clone()),
                Edit::Add { name, value } => head.add_field(name, value.clone()),
                Edit::Remove { name } => head.remove_field(name),
            }
        }
    }

    /// Applies the changes to a request. A new `Host` becomes the authority of the target too, which HTTP/2 and HTTP/3 send.
    pub fn apply_to_request(&self, head: &mut impl Head) {
        self.apply(head);
        if self.names_given().any(|name| name == HOST) {
            follow_host(head);
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
