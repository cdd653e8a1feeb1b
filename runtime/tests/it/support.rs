//! Helpers that several files of tests use: random values with a fixed seed, and panics without output.
#![expect(clippy::indexing_slicing, reason = "tests")]

use std::sync::Mutex;

/// Random numbers and texts that are the same in every run.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    /// Up to 11 characters of 1 to 4 bytes.
    pub(crate) fn text(&mut self) -> String {
        let letters: Vec<char> = "aé漢😀 /\0z".chars().collect();
        (0..self.below(12)).map(|_| letters[self.below(letters.len())]).collect()
    }

    /// Something in half of the cases.
    pub(crate) fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.0.bool().then(|| make(self))
    }
}

/// Runs `body` without output of panics. The hook for panics is the whole process's: one test at a time.
pub(crate) fn quietly(body: impl FnOnce()) {
    static EXCLUSIVE: Mutex<()> = Mutex::new(());
    let guard = EXCLUSIVE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    std::panic::set_hook(hook);
    drop(guard);
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}
