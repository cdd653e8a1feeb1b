//! The engine of a pattern for texts of ASCII alone. It has far fewer states than one for all of Unicode, which counts for
//! patterns whose states do not fit into a cache.

use super::alphabet::reduce;
use crate::library::{Room, syntax};
use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;

/// Largest program in bytes.
const MAX_PROGRAM: usize = 1 << 20;
/// Largest cache of a lazily built automaton in bytes; past it the search goes on more slowly.
const MAX_CACHE: usize = 1 << 20;

/// Says of texts of ASCII what the pattern's engine for all texts does.
#[derive(Debug)]
pub(crate) struct AsciiRegex(Regex);

impl AsciiRegex {
    /// `None` if the pattern is not valid, looks into characters or is too large.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        let config = Config::new()
            .utf8_empty(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_PROGRAM))
            .hybrid_cache_capacity(MAX_CACHE);
        let pattern = reduce(&syntax(pattern)?)?.hir;
        Regex::builder().configure(config).build_from_hir(&pattern).ok().map(Self)
    }

    /// As [`new`](Self::new), if there is room for it.
    pub(super) fn within(pattern: &str, room: &Room) -> Option<Self> {
        let this = Self::new(pattern)?;
        let bytes = this.bytes();
        room.keep(this, bytes)
    }

    /// Bytes that it holds, without what threads have for themselves while they search.
    pub(crate) fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    /// Whether the pattern matches somewhere in the text, which is ASCII: of others the answer may be wrong.
    #[inline]
    pub(crate) fn is_match(&self, ascii: &str) -> bool {
        self.0.is_match(ascii)
    }
}
