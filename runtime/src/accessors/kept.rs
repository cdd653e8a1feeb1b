//! A value together with the memory that it borrows from.

use crate::arena::{Arena, EvalResult};
use crate::value::{KeptTypes, Place, Value, copy};

/// A copy of a value, which borrows nothing from elsewhere.
pub(crate) struct KeptValue {
    /// Refers to `_memory` and `_types` only.
    value: Value<'static>,
    /// Never used again: it is neither emptied nor allocated from while the value is there.
    _memory: Arena,
    /// Never changed.
    _types: KeptTypes,
}

impl KeptValue {
    /// Copies a value into memory of its own, of at most `limit` bytes.
    ///
    /// # Errors
    /// Those of [`copy`].
    pub(crate) fn new(value: &Value<'_>, limit: usize) -> EvalResult<Self> {
        let (memory, types) = (Arena::new(limit), KeptTypes::default());
        let copied = copy(value, Place { arena: &memory, types: Some(&types) })?;
        // SAFETY: all that the copy refers to is in the arena (invariant of `value/copy.rs`), in
        // memory that the arena allocated and that stays where it is when the arena is moved, or
        // descriptors that `types` keeps in a place of their own. Both are dropped with the value,
        // and nothing empties it before: the field is private and not used. `get` shortens the
        // lifetime to that of the borrow.
        let value = unsafe { std::mem::transmute::<Value<'_>, Value<'static>>(copied) };
        Ok(Self { value, _memory: memory, _types: types })
    }

    /// Returns the value.
    #[inline]
    pub(crate) fn get(&self) -> Value<'_> {
        self.value
    }
}

// SAFETY: the value has no list, map or message of a host in it, which may be bound to a thread
// (invariant of `value/copy.rs`): it is plain data, in memory that belongs to it alone and that does not
// change. An arena may be sent.
unsafe impl Send for KeptValue {}

// SAFETY: as for `Send`; what is shared between threads is read only, and the arena is not used.
unsafe impl Sync for KeptValue {}
