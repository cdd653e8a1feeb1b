//! Compiles parsed patterns to the programs of `regex-automata`.

use crate::pattern::analysis::program_states;
use crate::pattern::syntax::dialect::Pattern;
use crate::pattern::syntax::groups::keep_groups;
use crate::pattern::syntax::limits::{PatternError, Syntax};
use regex_automata::meta::{self, Regex};
use regex_syntax::hir::Hir;

/// Largest cache of a lazily built automaton, in bytes, for each thread that searches. A search
/// that needs more continues more slowly.
const MAX_CACHE_BYTES: usize = 1 << 20;

/// Most states of a pattern in which literals are looked for where a match may begin. In `a?` a
/// thousand times, that takes longer than everything else.
const MAX_STATES_FOR_LITERALS: usize = 1 << 14;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(in crate::pattern) struct Compiled {
    pub(in crate::pattern) regex: Regex,
    /// Upper bound of the states of its program.
    pub(in crate::pattern) states: usize,
}

/// Compiles a pattern to a program of at most `program_bytes`, one on bytes without its groups.
pub(in crate::pattern) fn engine(
    pattern: Pattern<'_>,
    syntax: Syntax,
    program_bytes: usize,
) -> Result<Compiled, PatternError> {
    let hir = syntax.parse(pattern)?;
    let hir = if syntax == Syntax::Bytes { keep_groups(hir, 0) } else { hir };
    engine_of(&hir, syntax, program_bytes)
}

/// [`engine`] of a pattern that was parsed.
pub(in crate::pattern) fn engine_of(hir: &Hir, syntax: Syntax, program_bytes: usize) -> Result<Compiled, PatternError> {
    let states = program_states(hir);
    let config = meta::Config::new()
        .utf8_empty(syntax == Syntax::Text)
        .nfa_size_limit(Some(program_bytes))
        .hybrid_cache_capacity(MAX_CACHE_BYTES)
        .auto_prefilter(states <= MAX_STATES_FOR_LITERALS);
    let regex = Regex::builder().configure(config).build_from_hir(hir);
    // A pattern that was parsed can only be too large.
    let regex = regex.map_err(|_| PatternError::TooLarge { limit: program_bytes })?;
    Ok(Compiled { regex, states })
}
