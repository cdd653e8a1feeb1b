//! Where a value is that was found in a list or a map.

use crate::value::Value;

/// A value that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// It is in a list or a map of values, and need not be copied.
    At(&'a Value<'a>),
    /// The host made it.
    Made(Value<'a>),
}

impl<'a> Place<'a> {
    /// The value.
    #[inline]
    pub(crate) fn value(self) -> Value<'a> {
        match self {
            Self::At(value) => *value,
            Self::Made(value) => value,
        }
    }
}
