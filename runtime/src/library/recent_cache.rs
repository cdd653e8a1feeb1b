//! A small cache for what is made from text that is only known during an evaluation: compiled
//! patterns, time zones. Each thread has its own.

use std::cell::RefCell;

/// Most entries. A compiled pattern may have three megabytes if it is hostile.
const CAPACITY: usize = 16;

/// Longest text in bytes for which an entry is kept.
const MAX_TEXT: usize = 16 * 1024;

/// Maps text to what was made from it. A full cache drops its oldest entry; the newest entry is the last.
pub(crate) struct RecentCache<T>(RefCell<Vec<(Box<str>, T)>>);

impl<T> RecentCache<T> {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Calls `consume` with the entry of `text`, which `make` makes if there is none.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn with<R, E>(
        &self,
        text: &str,
        make: impl FnOnce() -> Result<T, E>,
        consume: impl FnOnce(&T) -> R,
    ) -> Result<R, E> {
        let Ok(mut entries) = self.0.try_borrow_mut() else { return make().map(|made| consume(&made)) };
        if let Some((_, found)) = entries.iter().find(|(key, _)| &**key == text) {
            return Ok(consume(found));
        }
        let made = make()?;
        let result = consume(&made);
        if text.len() <= MAX_TEXT {
            if entries.len() >= CAPACITY {
                entries.remove(0);
            }
            entries.push((text.into(), made));
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_few() {
        let recent = RecentCache::new();
        let made = std::cell::Cell::new(0);
        let get = |text: &str| {
            let make = || {
                made.set(made.get() + 1);
                Ok::<_, ()>(text.len())
            };
            assert_eq!(recent.with(text, make, |n| *n), Ok(text.len()));
            made.get()
        };
        assert_eq!((get("a"), get("a"), get("bb"), get("a")), (1, 1, 2, 2));
        let long = "x".repeat(MAX_TEXT + 1);
        assert_eq!((get(&long), get(&long)), (3, 4));
        for i in 0..CAPACITY {
            get(&"y".repeat(i + 10));
        }
        let before = made.get();
        assert_eq!((get("a"), get("a")), (before + 1, before + 1));
        assert_eq!(recent.with("bad", || Err(7), |n: &usize| *n), Err(7));
    }
}
