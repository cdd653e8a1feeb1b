//! An engine for patterns on ASCII text.

use crate::MemoryBudget;
use crate::pattern::analysis::reach::Near;
use crate::pattern::analysis::small_alphabet::reduce;
use crate::pattern::analysis::{MIN_PROGRAM_BYTES, program_bound, program_states};
use crate::pattern::search::dfa_search::Search;
use crate::pattern::search::lazy_dfa::{Direction, LazyDfa, Stop};
use crate::pattern::search::meter::Meter;
use crate::pattern::search::metered_regex::{MAX_ASSUMED, STATE_BYTES_PER_STEP};
use crate::pattern::syntax::dialect::{OwnedPattern, Pattern};
use crate::pattern::syntax::parse::parse;
use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::Hir;
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// Largest program, in bytes.
const MAX_PROGRAM_BYTES: usize = 1 << 20;
/// Largest cache of a lazily built automaton, in bytes, for each thread that searches. A search
/// that needs more continues more slowly.
const MAX_CACHE_BYTES: usize = 1 << 20;

/// Decides a pattern on ASCII text.
///
/// It has far fewer states than an engine for all of Unicode, which makes it faster where the
/// states of the other do not fit into the processor's cache. Searches charge what those of a
/// [`MeteredRegex`](crate::pattern::MeteredRegex) do.
#[derive(Debug)]
pub struct AsciiRegex {
    pattern: OwnedPattern,
    regex: Regex,
    /// Upper bound of the states of the program.
    states: usize,
    /// For long texts.
    dfa: OnceLock<Option<LazyDfa>>,
}

impl AsciiRegex {
    /// Returns `None` if the pattern is not valid, matches parts of characters, or is too large.
    #[must_use]
    pub fn new<'p>(pattern: impl Into<Pattern<'p>>) -> Option<Self> {
        let pattern = pattern.into();
        Self::of(pattern, &reduce(&parse(pattern)?)?.hir)
    }

    /// The engine of a pattern that was reduced to this.
    pub(in crate::pattern) fn of(pattern: Pattern<'_>, hir: &Hir) -> Option<Self> {
        let config = Config::new()
            .utf8_empty(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_PROGRAM_BYTES))
            .hybrid_cache_capacity(MAX_CACHE_BYTES);
        let regex = Regex::builder().configure(config).build_from_hir(hir).ok()?;
        Some(Self { pattern: pattern.into(), regex, states: program_states(hir), dfa: OnceLock::new() })
    }

    /// As [`new`](Self::new), with memory from `budget`. Also returns `None` if that does not
    /// suffice, without compiling the pattern.
    #[must_use]
    pub fn within<'p>(pattern: impl Into<Pattern<'p>>, budget: &MemoryBudget) -> Option<Self> {
        let pattern = pattern.into();
        // Nor is it parsed where none is left.
        if !budget.has(MIN_PROGRAM_BYTES) {
            return None;
        }
        let hir = reduce(&parse(pattern)?)?.hir;
        budget.make(program_bound(&hir), || Self::of(pattern, &hir), Self::heap_bytes)
    }

    /// Bytes held on the heap, without what each searching thread caches and what is built for the first long text.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.regex.memory_usage()
    }

    /// Returns whether the pattern matches somewhere in `ascii`. For a text that is not ASCII the answer may be wrong.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    #[inline]
    pub fn is_match<M: Meter>(&self, ascii: &str, meter: &M) -> Result<bool, M::Error> {
        let Some(dfa) = self.automaton(ascii) else { return self.assume(ascii, meter) };
        let mut going = self.going(dfa, ascii, meter);
        let outcome = going.search.run();
        going.result(outcome)
    }

    /// Searches for the pattern as [`is_match`](Self::is_match) does, as far as that takes little
    /// time; only `near` literals, if it is given.
    #[inline]
    pub(in crate::pattern) fn begin<'s, M: Meter>(
        &'s self,
        ascii: &'s str,
        near: Option<Near<'s>>,
        meter: M,
    ) -> ControlFlow<Result<bool, M::Error>, GoingSearch<'s, M>> {
        let dfa = if near.is_some() { self.built() } else { self.automaton(ascii) };
        let Some(dfa) = dfa else { return ControlFlow::Break(self.assume(ascii, &meter)) };
        let mut going = self.going(dfa, ascii, meter);
        let begun = match near {
            Some(near) => going.search.begin_near(near),
            None => going.search.run_filtered(),
        };
        match begun {
            Ok(ControlFlow::Continue(())) => ControlFlow::Continue(going),
            Ok(ControlFlow::Break(found)) => ControlFlow::Break(going.result(Ok(found))),
            Err(stop) => ControlFlow::Break(going.result(Err(stop))),
        }
    }

    /// The automaton, if a search of the text without it may cost much.
    #[inline]
    fn automaton(&self, ascii: &str) -> Option<&LazyDfa> {
        if self.worst(ascii) > MAX_ASSUMED { self.built() } else { None }
    }

    fn built(&self) -> Option<&LazyDfa> {
        let build = || LazyDfa::new(&reduce(&parse(self.pattern.get())?)?.hir, Direction::Forward);
        self.dfa.get_or_init(build).as_ref()
    }

    fn going<'s, M: Meter>(&'s self, dfa: &'s LazyDfa, ascii: &'s str, meter: M) -> GoingSearch<'s, M> {
        let search = Search::new(dfa, ascii.as_bytes(), 0..ascii.len(), true, meter);
        GoingSearch { regex: self, ascii, search }
    }

    /// Searches with the engine whose cost is only known as a bound.
    #[inline]
    fn assume<M: Meter>(&self, ascii: &str, meter: &M) -> Result<bool, M::Error> {
        meter.charge(self.worst(ascii))?;
        Ok(self.regex.is_match(ascii))
    }

    /// Bound of the steps of a search.
    fn worst(&self, ascii: &str) -> usize {
        self.states.saturating_mul(ascii.len()) / STATE_BYTES_PER_STEP
    }
}

/// A search with an automaton, which has not ended.
pub(in crate::pattern) struct GoingSearch<'s, M> {
    regex: &'s AsciiRegex,
    ascii: &'s str,
    pub(super) search: Search<'s, M>,
}

impl<M: Meter> GoingSearch<'_, M> {
    /// The result of the search, which had this outcome.
    pub(in crate::pattern) fn result(&self, outcome: Result<Option<usize>, Stop<M::Error>>) -> Result<bool, M::Error> {
        match outcome {
            Ok(end) => Ok(end.is_some()),
            Err(Stop::Spent(error)) => Err(error),
            Err(Stop::Undecided) => self.regex.assume(self.ascii, self.search.meter()),
        }
    }
}
