//! An automaton whose states are built when a text first reaches them, and which charges for building them.
//!
//! Searching takes about two nanoseconds for each byte of text while the states exist. Building a
//! state takes time proportional to the program states that it stands for: a text can make a
//! pattern of thousands of program states build one for each byte. So each missing transition is
//! charged by the sizes of the states that it connects
//! ([`dfa_search`](crate::pattern::search::dfa_search)).

use foldhash::fast::FixedState;
use regex_automata::MatchKind;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, State};
use regex_automata::util::pool::{Pool, PoolGuard};
use regex_automata::util::prefilter::Prefilter;
use regex_syntax::hir::Hir;
use std::collections::{HashMap, HashSet};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Largest program, in bytes.
const MAX_PROGRAM_BYTES: usize = 1 << 22;
/// Most states of a program for which literals are looked for where a match may begin.
const MAX_STATES_FOR_LITERALS: usize = 1 << 12;
/// Memory for the states that a searching thread keeps, in bytes. If they need more, they are dropped and built again.
const CACHE_BYTES: usize = 1 << 20;

/// Which direction an automaton reads, and how much it looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pattern) enum Direction {
    /// From the start of a range to its end: finds the end of the leftmost match.
    Forward,
    /// From the end of a range to its start: finds the start of the longest match that ends at the end.
    Backward,
}

/// Why a search ended without an answer.
#[derive(Debug)]
pub(in crate::pattern) enum Stop<E> {
    /// The budget did not suffice.
    Spent(E),
    /// The automaton cannot decide this text: its pattern has a word boundary of Unicode, and the text is not ASCII.
    Undecided,
}

/// A pattern as a lazily built automaton. Threads may share it; each searching thread has its own states.
#[derive(Debug)]
pub(in crate::pattern) struct LazyDfa {
    pub(in crate::pattern) dfa: Arc<DFA>,
    pub(in crate::pattern) direction: Direction,
    /// Finds places where a match may begin.
    pub(in crate::pattern) prefilter: Option<Prefilter>,
    /// Program states for each one that reads a byte or looks around. Only these count in the size of a state.
    pub(in crate::pattern) overhead: usize,
    caches: Pool<Box<Built>, NewBuilt>,
}

type NewBuilt = Box<dyn Fn() -> Box<Built> + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// The states that a thread has built. Dropping the guard returns them to the automaton.
pub(in crate::pattern) type BuiltGuard<'d> = PoolGuard<'d, Box<Built>, NewBuilt>;

/// The states that a thread has built.
#[derive(Debug)]
pub(in crate::pattern) struct Built {
    pub(in crate::pattern) cache: Cache,
    /// Bytes of each state.
    pub(in crate::pattern) sizes: HashMap<LazyStateID, usize, FixedState>,
    /// Transitions out of match states that exist. (For other states the automaton tells whether a transition exists.)
    pub(in crate::pattern) known: HashSet<(LazyStateID, u8), FixedState>,
}

impl LazyDfa {
    /// Returns `None` if the program would be too large.
    pub(in crate::pattern) fn new(hir: &Hir, direction: Direction) -> Option<Self> {
        let program = thompson::Config::new()
            .utf8(false)
            .reverse(direction == Direction::Backward)
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(MAX_PROGRAM_BYTES));
        let nfa = thompson::Compiler::new().configure(program).build_from_hir(hir).ok()?;
        let counts = |state: &&State| {
            matches!(state, State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) | State::Look { .. })
        };
        let counted = nfa.states().iter().filter(counts).count().max(1);
        let overhead = nfa.states().len().div_ceil(counted);
        let kind = match direction {
            Direction::Forward => MatchKind::LeftmostFirst,
            Direction::Backward => MatchKind::All,
        };
        // Only if what precedes a match is without meaning, the search can start anew at any place.
        let restartable = direction == Direction::Forward
            && nfa.look_set_prefix_any().is_empty()
            && nfa.states().len() <= MAX_STATES_FOR_LITERALS;
        let prefilter = restartable.then(|| Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir)).flatten();
        let config = DFA::config()
            .match_kind(kind)
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true)
            .cache_capacity(CACHE_BYTES);
        let dfa = Arc::new(DFA::builder().configure(config).build_from_nfa(nfa).ok()?);
        let own = Arc::clone(&dfa);
        let built = move || {
            let (sizes, known) = (HashMap::default(), HashSet::default());
            Box::new(Built { cache: own.create_cache(), sizes, known })
        };
        Some(Self { dfa, direction, prefilter, overhead, caches: Pool::new(Box::new(built)) })
    }

    /// Number of states of the program.
    pub(in crate::pattern) fn program_states(&self) -> usize {
        self.dfa.get_nfa().states().len()
    }

    /// Whether the pattern matches the empty text somewhere.
    pub(in crate::pattern) fn has_empty(&self) -> bool {
        self.dfa.get_nfa().has_empty()
    }

    /// Bytes held on the heap, without what each searching thread keeps.
    pub(in crate::pattern) fn heap_bytes(&self) -> usize {
        self.dfa.get_nfa().memory_usage().saturating_add(self.prefilter.as_ref().map_or(0, Prefilter::memory_usage))
    }

    /// The states of this thread.
    pub(in crate::pattern) fn built(&self) -> BuiltGuard<'_> {
        self.caches.get()
    }
}
