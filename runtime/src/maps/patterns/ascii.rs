//! The engine of a pattern for texts of ASCII alone. It has far fewer states than one for all of Unicode, which counts for
//! patterns whose states do not fit into a cache.

use super::alphabet::reduce;
use crate::library::syntax;
use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::Hir;

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
        Self::of(&reduce(&syntax(pattern)?)?.hir)
    }

    /// Of a pattern over the small alphabet.
    pub(super) fn of(hir: &Hir) -> Option<Self> {
        let config = Config::new()
            .utf8_empty(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_PROGRAM))
            .hybrid_cache_capacity(MAX_CACHE);
        Regex::builder().configure(config).build_from_hir(hir).ok().map(Self)
    }

    /// Whether the pattern matches somewhere in the text, which is ASCII: of others the answer may be wrong.
    #[inline]
    pub(crate) fn is_match(&self, ascii: &str) -> bool {
        self.0.is_match(ascii)
    }
}
