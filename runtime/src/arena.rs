//! Memory for what an evaluation must build: strings, lists, maps. Reset, not freed, between evaluations, so that a warm
//! evaluation does not touch the global allocator.

use crate::value::Value;
use bumpalo::Bump;
use celero_ir::ErrorKind;
use std::fmt;
use std::mem::ManuallyDrop;
use std::net::IpAddr;

/// A bump allocator with a limit. Running into the limit is the evaluation error `out_of_budget`.
#[derive(Debug)]
pub struct Arena {
    bump: Bump,
}

thread_local! {
    static WITHOUT_ROOM: ManuallyDrop<Arena> = ManuallyDrop::new(Arena::new(0));
}

/// Runs `f` with an arena in which nothing has room; `None` while the thread ends.
#[inline]
pub(crate) fn without_room<R>(f: impl FnOnce(&Arena) -> R) -> Option<R> {
    WITHOUT_ROOM.try_with(|arena| f(arena)).ok()
}

/// The result of building something.
pub type EvalResult<T> = Result<T, ErrorKind>;

impl Arena {
    /// An empty arena that will hold at most `limit` bytes. Allocates nothing yet.
    #[must_use]
    #[inline]
    pub fn new(limit: usize) -> Self {
        let bump = Bump::new();
        bump.set_allocation_limit(Some(limit));
        Self { bump }
    }

    /// Forgets what was built and keeps the memory.
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Forgets what was built, and makes room for `limit` bytes. Memory that is kept comes on top: what is built next may
    /// not fit into it, and whether that is within the limit must not hang on what was built before. More than half of the
    /// limit is not kept, because the next piece of memory would be twice as large.
    #[inline]
    pub(crate) fn recycle(&mut self, limit: usize) {
        if self.bump.allocated_bytes() == 0 {
            self.bump.set_allocation_limit(Some(limit));
        } else {
            self.recycle_memory(limit);
        }
    }

    #[inline(never)]
    fn recycle_memory(&mut self, limit: usize) {
        self.reset();
        if self.bump.allocated_bytes() > limit / 2 {
            self.bump = Bump::new();
        }
        self.bump.set_allocation_limit(Some(limit.saturating_add(self.bump.allocated_bytes())));
    }

    /// Moves something under construction in. Its destructor never runs.
    pub(crate) fn keep<T>(&self, value: T) -> EvalResult<&mut T> {
        self.bump.try_alloc(value).map_err(|_| ErrorKind::OutOfBudget)
    }

    /// Moves a value in. Its destructor never runs, which is why it must be `Copy`.
    ///
    /// # Errors
    /// `out_of_budget` when the limit is reached; so for the other methods.
    pub fn alloc<T: Copy>(&self, value: T) -> EvalResult<&T> {
        self.bump.try_alloc(value).map(|v| &*v).map_err(|_| ErrorKind::OutOfBudget)
    }

    /// Copies a slice in.
    ///
    /// # Errors
    /// `out_of_budget` when the limit is reached.
    pub fn alloc_slice<T: Copy>(&self, slice: &[T]) -> EvalResult<&[T]> {
        self.bump.try_alloc_slice_copy(slice).map(|v| &*v).map_err(|_| ErrorKind::OutOfBudget)
    }

    /// Makes a slice of `count` values, each from its index.
    ///
    /// # Errors
    /// `out_of_budget` when the limit is reached.
    pub(crate) fn alloc_slice_with<T: Copy>(&self, count: usize, value: impl FnMut(usize) -> T) -> EvalResult<&[T]> {
        self.bump.try_alloc_slice_fill_with(count, value).map(|v| &*v).map_err(|_| ErrorKind::OutOfBudget)
    }

    /// Copies text in.
    ///
    /// # Errors
    /// `out_of_budget` when the limit is reached.
    pub fn alloc_str(&self, text: &str) -> EvalResult<&str> {
        self.bump.try_alloc_str(text).map(|v| &*v).map_err(|_| ErrorKind::OutOfBudget)
    }

    /// Writes text in.
    ///
    /// # Errors
    /// `out_of_budget` when the limit is reached.
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

    /// The text of an address.
    ///
    /// # Errors
    /// `out_of_budget` when the limit is reached.
    pub(crate) fn format_ip(&self, address: IpAddr) -> EvalResult<&str> {
        let IpAddr::V4(v4) = address else { return self.format(format_args!("{address}")) };
        // The formatting of the standard library takes longer than all else that rules do with an address.
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

    /// An empty vector that grows inside the arena.
    pub fn vec<T: Copy>(&self) -> ArenaVec<'_, T> {
        ArenaVec(bumpalo::collections::Vec::new_in(&self.bump))
    }

    /// Copies a value in and gives its address.
    ///
    /// # Errors
    /// `out_of_budget` when the limit is reached.
    pub fn alloc_value<'a>(&'a self, value: Value<'a>) -> EvalResult<&'a Value<'a>> {
        self.alloc(value)
    }
}

/// A vector inside an arena.
#[derive(Debug)]
pub struct ArenaVec<'a, T>(bumpalo::collections::Vec<'a, T>);

impl<'a, T: Copy> ArenaVec<'a, T> {
    /// Makes room for `more` elements.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full.
    pub fn reserve(&mut self, more: usize) -> EvalResult<()> {
        self.0.try_reserve(more).map_err(|_| ErrorKind::OutOfBudget)
    }

    /// Appends an element.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full.
    pub fn push(&mut self, element: T) -> EvalResult<()> {
        self.reserve(1)?;
        self.0.push(element);
        Ok(())
    }

    /// Appends all elements of a slice.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full.
    pub fn extend(&mut self, elements: &[T]) -> EvalResult<()> {
        self.reserve(elements.len())?;
        self.0.extend_from_slice(elements);
        Ok(())
    }

    /// Takes the last element out.
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Forgets the elements from this many on. Their memory stays taken.
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// The elements so far, to be changed in place.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }

    /// The elements, for as long as the arena's content lives.
    #[must_use]
    pub fn finish(self) -> &'a [T] {
        self.0.into_bump_slice()
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
