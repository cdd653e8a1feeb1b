//! Memory that evaluations reuse.

use crate::arena::Arena;
use crate::counters::Shards;
use crate::rules::{RuleError, Search, Verdict};
use std::cell::Cell;

/// Where an evaluation builds what it must. One per worker thread: a warm one makes evaluations free of allocation.
#[derive(Debug)]
pub struct Scratch {
    pub(crate) arena: Arena,
    /// The rules of a set that matched, and those that failed, at its last evaluation.
    pub(crate) matched: Vec<usize>,
    /// By tag, the first rule that matched.
    pub(crate) first: Vec<Option<usize>>,
    pub(crate) errors: Vec<RuleError>,
    /// The errors of several sets that are asked as one.
    pub(crate) gathered: Vec<RuleError>,
    /// What the index of a set reads, the rules that it finds, and what became of all rules that may matter.
    pub(crate) read: Arena,
    pub(crate) search: Search,
    pub(crate) verdicts: Vec<Verdict>,
    /// What is counted of the sets that count.
    pub(crate) shards: Shards,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// An empty one. Allocates nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            arena: Arena::new(usize::MAX),
            matched: Vec::new(),
            first: Vec::new(),
            errors: Vec::new(),
            gathered: Vec::new(),
            read: Arena::new(usize::MAX),
            search: Search::default(),
            verdicts: Vec::new(),
            shards: Shards::default(),
        }
    }

    /// The errors of the last evaluation of a [`RuleSet`](crate::RuleSet) with this scratch, in the order of the rules.
    #[must_use]
    pub fn errors(&self) -> &[RuleError] {
        &self.errors
    }

    /// The arena, emptied, with this limit.
    pub(crate) fn arena(&mut self, limit: usize) -> &Arena {
        self.arena.recycle(limit);
        &self.arena
    }
}

thread_local! {
    static SPARE: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// Runs `f` with the thread's own scratch. One that is in use, because a host function evaluates a rule in the middle of
/// another evaluation, is left alone: `f` gets a fresh one then.
pub(crate) fn with_thread_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let result = f(&mut scratch);
    // A thread that is ending has no place to keep it: it is dropped.
    let _ = SPARE.try_with(|spare| spare.set(Some(scratch)));
    result
}
