//! How much memory the compiled patterns of a program or a set may take together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is left of it. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<AtomicUsize>);

impl Room {
    /// So many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Takes so many bytes, if there are as many left.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// What was made and takes so many bytes, if there are as many left.
    pub(crate) fn keep<T>(&self, made: T, bytes: usize) -> Option<T> {
        self.take(bytes).then_some(made)
    }
}

impl Default for Room {
    /// Room for everything.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_gone_for_all() {
        let room = Room::new(10);
        let same = room.clone();
        assert!(room.take(4) && !same.take(7) && same.take(6) && !room.take(1));
        assert_eq!((room.keep("a", 1), room.keep("b", 0)), (None, Some("b")));
    }
}
