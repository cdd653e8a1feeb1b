//! Memory for the results of an evaluation: text, lists, maps.
//!
//! An arena is reset between evaluations, not freed, so that later evaluations on the same thread
//! do not call the global allocator.

use bumpalo::Bump;
use celero_ir::ErrorKind;
use std::cell::Cell;
use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::net::IpAddr;

/// The result of an operation that may fail during an evaluation.
pub type EvalResult<T> = Result<T, ErrorKind>;

/// A bump allocator with a limit. An allocation beyond the limit fails with `out_of_budget`.
#[derive(Debug)]
pub struct Arena {
    bump: Bump,
    /// Whether an allocation failed since the arena was made.
    is_exceeded: Cell<bool>,
}

thread_local! {
    static ZERO_CAPACITY: ManuallyDrop<Arena> = ManuallyDrop::new(Arena::new(0));
}

/// Calls `f` with the thread's zero-capacity arena, in which every allocation fails. Returns `None`
/// while the thread ends.
///
/// For evaluations that rarely allocate: trying without memory first spares looking up an arena.
#[inline]
pub(crate) fn with_zero_capacity<R>(f: impl FnOnce(&Arena) -> R) -> Option<R> {
    ZERO_CAPACITY.try_with(|arena| f(arena)).ok()
}

impl Arena {
    /// Returns an empty arena that holds at most `limit` bytes. Does not allocate yet.
    #[must_use]
    #[inline]
    pub fn new(limit: usize) -> Self {
        let bump = Bump::new();
        bump.set_allocation_limit(Some(limit));
        Self { bump, is_exceeded: Cell::new(false) }
    }

    /// Returns whether an allocation failed since the arena was made.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded.get()
    }

    #[cold]
    fn exceed(&self) -> ErrorKind {
        self.is_exceeded.set(true);
        ErrorKind::OutOfBudget
    }

    /// Discards the content and keeps the memory.
    #[inline]
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Discards the content and sets the limit to `limit` bytes.
    ///
    /// Memory that is kept does not count toward the limit: whether an allocation succeeds must not
    /// depend on earlier evaluations, and a new allocation may not fit into the kept chunk. A chunk
    /// larger than half of the limit is freed, because the next chunk would be twice as large.
    #[inline]
    pub(crate) fn recycle(&mut self, limit: usize) {
        if !self.is_fresh(limit) {
            self.recycle_memory(limit);
        }
    }

    /// Returns whether there is nothing to discard or to free, and sets the limit if so.
    #[inline]
    pub(crate) fn is_fresh(&mut self, limit: usize) -> bool {
        // The capacity is that of the newest chunk: it is all memory if nothing was allocated.
        let kept = self.bump.allocated_bytes();
        let is_fresh = kept == self.bump.chunk_capacity() && kept <= limit / 2;
        if is_fresh {
            self.bump.set_allocation_limit(Some(limit.saturating_add(kept)));
        }
        is_fresh
    }

    #[inline(never)]
    fn recycle_memory(&mut self, limit: usize) {
        self.reset();
        if self.bump.allocated_bytes() > limit / 2 {
            self.bump = Bump::new();
        }
        self.bump.set_allocation_limit(Some(limit.saturating_add(self.bump.allocated_bytes())));
    }

    /// Moves `value` into the arena and returns it for changes in place. Its destructor never runs.
    #[inline]
    pub(crate) fn keep<T>(&self, value: T) -> EvalResult<&mut T> {
        self.bump.try_alloc(value).map_err(|_| self.exceed())
    }

    /// Moves `value` into the arena. Its destructor never runs, hence `Copy`.
    ///
    /// # Errors
    /// `out_of_budget` at the limit.
    #[inline]
    pub fn alloc<T: Copy>(&self, value: T) -> EvalResult<&T> {
        self.bump.try_alloc(value).map(|v| &*v).map_err(|_| self.exceed())
    }

    /// Copies a slice into the arena.
    ///
    /// # Errors
    /// `out_of_budget` at the limit.
    #[inline]
    pub fn alloc_slice<T: Copy>(&self, slice: &[T]) -> EvalResult<&[T]> {
        self.bump.try_alloc_slice_copy(slice).map(|v| &*v).map_err(|_| self.exceed())
    }

    /// Returns a new slice of `count` elements; `value` computes each from its index.
    ///
    /// # Errors
    /// `out_of_budget` at the limit.
    #[inline]
    pub(crate) fn alloc_slice_with<T: Copy>(&self, count: usize, value: impl FnMut(usize) -> T) -> EvalResult<&[T]> {
        self.bump.try_alloc_slice_fill_with(count, value).map(|v| &*v).map_err(|_| self.exceed())
    }

    /// Returns memory for `count` elements.
    ///
    /// # Errors
    /// `out_of_budget` at the limit.
    #[inline]
    pub(crate) fn uninit_slice<T: Copy>(&self, count: usize) -> EvalResult<&mut [MaybeUninit<T>]> {
        let elements = self.bump.try_alloc_slice_fill_with(count, |_| MaybeUninit::uninit());
        elements.map_err(|_| self.exceed())
    }

    /// Copies text into the arena.
    ///
    /// # Errors
    /// `out_of_budget` at the limit.
    #[inline]
    pub fn alloc_str(&self, text: &str) -> EvalResult<&str> {
        self.bump.try_alloc_str(text).map(|v| &*v).map_err(|_| self.exceed())
    }

    /// Formats text into the arena.
    ///
    /// # Errors
    /// `out_of_budget` at the limit.
    pub fn format(&self, text: fmt::Arguments<'_>) -> EvalResult<&str> {
        struct Writer<'a>(ArenaVec<'a, u8>);
        impl fmt::Write for Writer<'_> {
            fn write_str(&mut self, s: &str) -> fmt::Result {
                self.0.extend(s.as_bytes()).map_err(|_| fmt::Error)
            }
        }
        let mut writer = Writer(self.vec());
        fmt::write(&mut writer, text).map_err(|_| ErrorKind::OutOfBudget)?;
        std::str::from_utf8(writer.0.finish()).map_err(|_| ErrorKind::OutOfBudget)
    }

    /// Returns the canonical text of an address (RFC 5952 for IPv6).
    ///
    /// # Errors
    /// `out_of_budget` at the limit.
    pub(crate) fn format_ip(&self, address: IpAddr) -> EvalResult<&str> {
        let IpAddr::V4(v4) = address else { return self.format(format_args!("{address}")) };
        // By hand: `fmt` takes longer than the rest of a typical rule about an address.
        let mut text = [0; "255.255.255.255".len()];
        let mut places = text.iter_mut();
        let mut put = |byte| {
            if let Some(place) = places.next() {
                *place = byte;
            }
        };
        for (index, octet) in v4.octets().into_iter().enumerate() {
            if index > 0 {
                put(b'.');
            }
            if octet >= 100 {
                put(b'0' | (octet / 100));
            }
            if octet >= 10 {
                put(b'0' | (octet / 10 % 10));
            }
            put(b'0' | (octet % 10));
        }
        let unused = places.len();
        let used = text.get(..text.len().saturating_sub(unused)).unwrap_or_default();
        self.alloc_str(std::str::from_utf8(used).map_err(|_| ErrorKind::OutOfBudget)?)
    }

    /// Returns an empty vector that grows inside the arena.
    #[inline]
    pub fn vec<T: Copy>(&self) -> ArenaVec<'_, T> {
        ArenaVec { elements: bumpalo::collections::Vec::new_in(&self.bump), arena: self }
    }
}

/// A vector inside an arena.
#[derive(Debug)]
pub struct ArenaVec<'a, T> {
    elements: bumpalo::collections::Vec<'a, T>,
    arena: &'a Arena,
}

impl<'a, T: Copy> ArenaVec<'a, T> {
    /// Reserves memory for `more` elements.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    #[inline]
    pub fn reserve(&mut self, more: usize) -> EvalResult<()> {
        self.elements.try_reserve(more).map_err(|_| self.arena.exceed())
    }

    /// Appends an element.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    #[inline]
    pub fn push(&mut self, element: T) -> EvalResult<()> {
        self.reserve(1)?;
        self.elements.push(element);
        Ok(())
    }

    /// Appends all elements of a slice.
    ///
    /// # Errors
    /// `out_of_budget` at the arena's limit.
    #[inline]
    pub fn extend(&mut self, elements: &[T]) -> EvalResult<()> {
        self.reserve(elements.len())?;
        self.elements.extend_from_slice(elements);
        Ok(())
    }

    /// Removes and returns the last element.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.elements.pop()
    }

    /// Shortens the vector to `length` elements. Their memory is freed with the arena's content only.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.elements.truncate(length);
    }

    /// Returns the elements, for changes in place.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.elements
    }

    /// Returns the elements, which live as long as the arena's content.
    #[must_use]
    #[inline]
    pub fn finish(self) -> &'a [T] {
        self.elements.into_bump_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_the_standard_library_writes_them() {
        let arena = Arena::new(1 << 16);
        for text in ["0.0.0.0", "1.10.100.255", "9.99.199.200", "101.110.209.5", "::", "2001:db8::1", "::ffff:1.2.3.4"]
        {
            assert_eq!(arena.format_ip(text.parse().unwrap()), Ok(text));
        }
        for octet in 0..=u8::MAX {
            let address = IpAddr::from([octet, 0, 1, octet]);
            assert_eq!(arena.format_ip(address), Ok(&*address.to_string()));
        }
        let arena = Arena::new(0);
        assert_eq!(arena.format_ip(IpAddr::from([127, 0, 0, 1])), Err(ErrorKind::OutOfBudget));
    }
}
