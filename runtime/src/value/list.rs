//! Lists: a slice of values, or a list of the host read in place.

use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use std::fmt::Debug;

/// A list of the host.
pub trait HostList: Debug {
    /// How many elements it has.
    fn len(&self) -> usize;

    /// Whether it has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element, `None` out of bounds. The arena is for what must be built to show it.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full.
    fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>;
}

/// A list.
#[derive(Clone, Copy, Debug)]
pub enum List<'a> {
    /// Values in a row.
    Slice(&'a [Value<'a>]),
    /// The host's.
    Host(&'a dyn HostList),
}

impl<'a> List<'a> {
    /// How many elements it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Slice(s) => s.len(),
            Self::Host(h) => h.len(),
        }
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element, `None` out of bounds.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full.
    pub fn get(&self, index: usize, arena: &'a Arena) -> EvalResult<Option<Value<'a>>> {
        match self {
            Self::Slice(s) => Ok(s.get(index).copied()),
            Self::Host(h) => h.get(index, arena),
        }
    }
}
