//! Lists: a slice of values, or a list of the host that is read in place.

use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use crate::value::order::Key;
use celero_ir::ErrorKind;
use std::fmt;

/// A list of the host. Implement it for data that rules read without a copy.
pub trait HostList {
    /// Returns the number of elements. It must stay the same during an evaluation.
    fn len(&self) -> usize;

    /// Returns whether the list has no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element at `index`, `None` out of bounds. An element that must be built first is built in the arena.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>;

    /// Returns whether an element equals `value`, for `value in list`; `None` if the elements must
    /// be read and compared for that. Override it for a list that finds elements faster. Numbers of
    /// different types are equal if they are the same number.
    fn contains(&self, value: &Value<'_>) -> Option<bool> {
        let _ = value;
        None
    }
}

/// The elements, as long as they fit into 64 KiB.
impl fmt::Debug for dyn HostList + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arena = Arena::new(1 << 16);
        f.debug_list().entries((0..self.len()).map_while(|index| self.get(index, &arena).ok().flatten())).finish()
    }
}

/// A list.
#[derive(Clone, Copy, Debug)]
pub enum List<'a> {
    /// A slice of values.
    Slice(&'a [Value<'a>]),
    /// A list of the host.
    Host(&'a dyn HostList),
}

impl<'a> List<'a> {
    /// Returns the number of elements.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Slice(s) => s.len(),
            Self::Host(h) => h.len(),
        }
    }

    /// Returns whether the list has no elements.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether an element equals `value`; `None` if the elements must be compared for that.
    pub(crate) fn contains(&self, value: &Value<'_>) -> Option<bool> {
        match self {
            Self::Slice(_) => None,
            Self::Host(host) => host.contains(value),
        }
    }

    /// Returns the element at `index`, `None` out of bounds.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit; otherwise only what a list of the host fails with.
    #[inline]
    pub fn get(&self, index: usize, arena: &'a Arena) -> EvalResult<Option<Value<'a>>> {
        match self {
            Self::Slice(s) => Ok(s.get(index).copied()),
            Self::Host(h) => h.get(index, arena),
        }
    }

    /// As [`get`](Self::get), without a copy of an element that is there. One that the host makes is
    /// put into the arena.
    #[inline]
    pub(crate) fn place(&self, index: usize, arena: &'a Arena) -> EvalResult<Option<&'a Value<'a>>> {
        match self {
            Self::Slice(elements) => Ok(elements.get(index)),
            Self::Host(host) => host.get(index, arena)?.map(|value| arena.alloc(value)).transpose(),
        }
    }

    /// Returns the element at an index of any numeric type, `None` out of bounds. A negative index is out of bounds.
    ///
    /// # Errors
    /// `invalid_argument` if the index is not an `int`, a `uint` or a whole `double`; those of [`get`](Self::get).
    pub(crate) fn at(&self, index: &Value<'_>, arena: &'a Arena) -> EvalResult<Option<Value<'a>>> {
        self.get(Self::position(index)?, arena)
    }

    /// Returns the position that an index of any numeric type means; one that is negative is behind all elements.
    ///
    /// # Errors
    /// `invalid_argument` if the index is not an `int`, a `uint` or a whole `double`.
    pub(crate) fn position(index: &Value<'_>) -> EvalResult<usize> {
        match (index, Key::lookup(index)) {
            (Value::Int(_) | Value::Uint(_) | Value::Double(_), Some(Key::Number(n))) => {
                Ok(usize::try_from(n).unwrap_or(usize::MAX))
            }
            _ => Err(ErrorKind::InvalidArgument),
        }
    }
}
