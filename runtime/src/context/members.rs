//! The members of a struct as constants: what a name in a record stands for.

/// A member of a struct whose fields are variables: a variable, or a group of variables under one name.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// One segment of a qualified name; empty if the names of its members stand in its place.
    pub(super) name: &'static str,
    /// The index of its first variable, from that of its parent.
    pub(super) first: u32,
    count: u32,
    pub(super) members: &'static [Member],
}

impl Member {
    /// `count` variables from `first` on. A single variable has no members.
    #[must_use]
    pub const fn new(name: &'static str, first: u32, count: u32, members: &'static [Self]) -> Self {
        Self { name, first, count, members }
    }

    /// Whether it is a variable, not a group.
    pub(super) const fn is_variable(&self) -> bool {
        self.members.is_empty() && self.count == 1
    }
}
