//! Engines that are built when they are first used.

use crate::MemoryBudget;
use crate::pattern::syntax::dialect::{OwnedPattern, Pattern};
use std::sync::OnceLock;

/// A valid pattern whose engine `E` is built on first use, if the memory budget allows it.
///
/// Use it for patterns that are rarely needed: building costs time and memory only then. Threads
/// may share it; only one of them builds the engine.
#[derive(Debug)]
pub struct LazyMatcher<E> {
    pattern: OwnedPattern,
    budget: MemoryBudget,
    /// `None` inside if the budget did not allow it.
    engine: OnceLock<Option<E>>,
}

impl<E> LazyMatcher<E> {
    /// A matcher of a valid pattern that takes the memory of its engine from `budget`.
    #[must_use]
    pub fn new<'p>(pattern: impl Into<Pattern<'p>>, budget: &MemoryBudget) -> Self {
        Self { pattern: pattern.into().into(), budget: budget.clone(), engine: OnceLock::new() }
    }

    /// Returns the engine, which `build` makes on the first call. Returns `None` if `build`
    /// returned `None` then: it does so where the budget is used up.
    #[inline]
    pub fn get(&self, build: impl FnOnce(Pattern<'_>, &MemoryBudget) -> Option<E>) -> Option<&E> {
        self.engine.get_or_init(|| build(self.pattern.get(), &self.budget)).as_ref()
    }

    /// The pattern.
    #[must_use]
    #[inline]
    pub fn pattern(&self) -> Pattern<'_> {
        self.pattern.get()
    }
}
