//! [`NamedLists`]: the lists of the host that rules may ask.

use celero_lists::{Kind, Lists};
use std::sync::Arc;

/// The lists that were there when they were declared, by the numbers that they have in [`Lists`].
#[derive(Clone, Debug)]
pub(crate) struct NamedLists {
    pub(crate) lists: Lists,
    /// Indexed by list.
    pub(crate) kinds: Arc<[(Arc<str>, Kind)]>,
}

impl NamedLists {
    pub(crate) fn new(lists: &Lists) -> Self {
        let kinds = lists.load().infos().map(|info| (info.name, info.kind)).collect();
        Self { lists: lists.clone(), kinds }
    }

    /// Whether these are the same lists.
    fn are(&self, other: &Self) -> bool {
        self.lists.is_same(&other.lists) && self.kinds.len() == other.kinds.len()
    }

    /// Whether both are the same lists, or none.
    pub(crate) fn are_same(one: Option<&Self>, other: Option<&Self>) -> bool {
        match (one, other) {
            (None, None) => true,
            (Some(one), Some(other)) => one.are(other),
            _ => false,
        }
    }
}
