//! [`NamedLists`]: the lists of the host that rules may ask.

use celero_lists::{Kind, ListType, Lists, ValueType, View};
use std::sync::Arc;

/// The lists that were there when they were declared, by the numbers that they have in [`Lists`].
#[derive(Clone, Debug)]
pub(crate) struct NamedLists {
    pub(crate) lists: Lists,
    /// Indexed by list.
    pub(crate) types: Arc<[(Arc<str>, ListType)]>,
}

impl NamedLists {
    pub(crate) fn new(lists: &Lists) -> Self {
        let types = lists.load().infos().map(|info| (info.name, ListType::new(info.kind, info.values))).collect();
        Self { lists: lists.clone(), types }
    }

    /// The name of a list, by its number.
    pub(crate) fn name(&self, list: u32) -> Option<&Arc<str>> {
        self.types.get(list as usize).map(|(name, _)| name)
    }

    /// The kind of a list, by its number.
    pub(crate) fn kind(&self, list: u32) -> Option<Kind> {
        self.types.get(list as usize).map(|(_, ty)| ty.kind())
    }

    /// What the entries of a list carry, by its number.
    pub(crate) fn values(&self, list: u32) -> Option<&ValueType> {
        self.types.get(list as usize)?.1.values()
    }

    /// Whether these are the same lists.
    fn are(&self, other: &Self) -> bool {
        self.lists.is_same(&other.lists) && self.types.len() == other.types.len()
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

/// Calls `f` with the lists of the current generation, if rules ask any, for one evaluation. Never waits.
#[inline]
pub(crate) fn with_lists<R>(lists: Option<&Lists>, f: impl FnOnce(Option<&View>) -> R) -> R {
    match lists {
        Some(lists) => lists.with_view(|view| f(Some(view))),
        None => f(None),
    }
}
