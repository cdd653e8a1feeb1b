//! An engine for patterns on ASCII text.

use super::compile::parse;
use super::small_alphabet::reduce;
use crate::MemoryBudget;
use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;

/// Largest program, in bytes.
const MAX_PROGRAM_BYTES: usize = 1 << 20;
/// Largest cache of a lazily built automaton, in bytes, for each thread that searches. A search that needs more continues
/// more slowly.
const MAX_CACHE_BYTES: usize = 1 << 20;

/// Decides a pattern on ASCII text.
///
/// It has far fewer states than an engine for all of Unicode, which makes it faster where the states of the other do not
/// fit into the processor's cache.
#[derive(Debug)]
pub struct AsciiRegex(Regex);

impl AsciiRegex {
    /// Returns `None` if the pattern is not valid, matches parts of characters, or is too large.
    #[must_use]
    pub fn new(pattern: &str) -> Option<Self> {
        let config = Config::new()
            .utf8_empty(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_PROGRAM_BYTES))
            .hybrid_cache_capacity(MAX_CACHE_BYTES);
        let pattern = reduce(&parse(pattern)?)?.hir;
        Regex::builder().configure(config).build_from_hir(&pattern).ok().map(Self)
    }

    /// As [`new`](Self::new), with memory from `budget`. Also returns `None` if that does not suffice.
    #[must_use]
    pub fn within(pattern: &str, budget: &MemoryBudget) -> Option<Self> {
        let this = Self::new(pattern)?;
        let bytes = this.heap_bytes();
        budget.keep(this, bytes)
    }

    /// Bytes held on the heap, without what each searching thread caches.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.0.memory_usage()
    }

    /// Returns whether the pattern matches somewhere in `ascii`. For a text that is not ASCII the answer may be wrong.
    #[inline]
    #[must_use]
    pub fn is_match(&self, ascii: &str) -> bool {
        self.0.is_match(ascii)
    }
}
