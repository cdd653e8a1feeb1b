//! A small per-thread memory of what was made from text last: compiled patterns, time zones.

use std::cell::RefCell;

/// Most entries kept. Those of compiled patterns take up to three megabytes each, if the patterns are hostile.
const CAPACITY: usize = 16;

/// Longest text that an entry is kept for, in bytes.
const LONGEST: usize = 1024;

/// The entries, most recently made last.
pub(crate) struct Recent<T>(RefCell<Vec<(Box<str>, T)>>);

impl<T> Recent<T> {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Uses what was made from `text`, or makes it first. The oldest entry gives way.
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
        if text.len() <= LONGEST {
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
        let recent = Recent::new();
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
        let long = "x".repeat(LONGEST + 1);
        assert_eq!((get(&long), get(&long)), (3, 4));
        for i in 0..CAPACITY {
            get(&"y".repeat(i + 10));
        }
        let before = made.get();
        assert_eq!((get("a"), get("a")), (before + 1, before + 1));
        assert_eq!(recent.with("bad", || Err(7), |n: &usize| *n), Err(7));
    }
}
