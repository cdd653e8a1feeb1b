//! Builds an automaton for each pattern, and merges automata that require similar bytes.

use super::explore::Explored;
use super::required_bytes::ByteMask;
use super::table::{MAX_TABLE_PATTERNS, StateTable};
use crate::pattern::Reduced;
use foldhash::fast::FixedState;
use regex_automata::nfa::thompson::{self, NFA};
use regex_syntax::hir::Hir;
use std::collections::HashMap;

/// Largest program that a table is built from, in bytes. The time to build a state is proportional to it.
const MAX_PROGRAM_BYTES: usize = 1 << 19;
/// Most work for the automata of all patterns, in steps of some nanoseconds each: some seconds.
pub(super) const MAX_WORK: u64 = 1 << 30;
/// Most states that are explored for one pattern.
const MAX_STATES: usize = 1024;
/// Two tables are merged if the result has at most this many bytes.
const SMALL: usize = 48 << 10;
/// Two tables are also merged if the result has at most this many bytes and at most 1.5 times the bytes of both.
const LARGE: usize = 1 << 19;
/// Number of preceding automata that are tried for merging with an automaton.
const CANDIDATES: usize = 4;

/// One or more patterns as one automaton.
#[derive(Debug)]
pub(super) struct Automaton {
    pub(super) explored: Explored,
    /// Every text in which one of the patterns matches contains one of these bytes.
    pub(super) bytes: ByteMask,
    /// Indexed by number in the automaton: the id of the pattern.
    pub(super) ids: Vec<u32>,
    /// Patterns that the automaton can rule out for ASCII texts only.
    pub(super) ascii_only: u64,
    /// Whether it was created in the last round of merging.
    fresh: bool,
}

impl Automaton {
    /// The automaton of one pattern, every match of which has one of `bytes`. Returns `None` if it
    /// is too large, or if not enough work is left.
    pub(super) fn new(id: u32, pattern: &Reduced, bytes: ByteMask, work: &mut u64) -> Option<Self> {
        if *work == 0 {
            return None;
        }
        Some(Self {
            explored: Explored::new(&program(&pattern.hir)?, MAX_STATES, work)?,
            bytes,
            ids: vec![id],
            ascii_only: u64::from(pattern.ascii_only),
            fresh: true,
        })
    }

    /// The product of both, if it is not much larger than both and at most a quarter of `all` bytes.
    fn with(&self, other: &Self, all: usize, exceeded: &mut Exceeded) -> Option<Self> {
        let first = u32::try_from(self.ids.len()).ok()?;
        let ids = [self.ids.as_slice(), &other.ids].concat();
        if ids.len() > MAX_TABLE_PATTERNS {
            return None;
        }
        let both = StateTable::bytes(&self.explored).saturating_add(StateTable::bytes(&other.explored));
        let most = both.saturating_add(both / 2).clamp(SMALL, LARGE).min(all / 4);
        let (known, mut states) = exceeded.of(self, other);
        let before = states;
        let states_in = |columns| StateTable::states_in(most, columns);
        let explored = self.explored.and(&other.explored, first, states_in, &mut states);
        if states != before {
            exceeded.0.insert(known, states);
        }
        Some(Self {
            explored: explored?,
            bytes: self.bytes.or(other.bytes),
            ids,
            ascii_only: self.ascii_only | other.ascii_only.checked_shl(first).unwrap_or(0),
            fresh: true,
        })
    }
}

/// For the first pattern of either automaton of a product that had too many states: a number of
/// states that it exceeds. So does each product of automata that these were merged into, which has
/// each of its states at least once.
#[derive(Default)]
struct Exceeded(HashMap<(u32, u32), usize, FixedState>);

impl Exceeded {
    /// What to insert for the product of both, and the number of states that it has more of.
    fn of(&self, one: &Automaton, other: &Automaton) -> ((u32, u32), usize) {
        let key = |a: u32, b: u32| (a.min(b), a.max(b));
        let pairs = one.ids.iter().flat_map(|a| other.ids.iter().map(move |b| key(*a, *b)));
        let states = pairs.filter_map(|pair| self.0.get(&pair)).copied().max().unwrap_or(0);
        (key(one.ids.first().copied().unwrap_or(0), other.ids.first().copied().unwrap_or(0)), states)
    }
}

/// Merges automata that require similar bytes, as long as the results are not much larger. `most`
/// is the memory for all tables.
pub(super) fn merge(automata: &mut Vec<Automaton>, most: usize) {
    let mut exceeded = Exceeded::default();
    loop {
        // Sorted by required bytes: a table runs on every text that contains one, so its patterns
        // should require the same ones.
        automata.sort_by(|a, b| a.bytes.chance().total_cmp(&b.bytes.chance()).then_with(|| a.bytes.cmp(&b.bytes)));
        let (mut old, mut new): (Vec<Automaton>, Vec<Automaton>) = (Vec::new(), Vec::new());
        for automaton in automata.drain(..) {
            let tried =
                old.iter().enumerate().rev().take(CANDIDATES).filter(|(_, other)| other.fresh || automaton.fresh);
            let both = tried.filter_map(|(i, other)| Some((i, other.with(&automaton, most, &mut exceeded)?))).next();
            if let Some((i, both)) = both {
                old.remove(i);
                new.push(both);
            } else {
                old.push(automaton);
            }
        }
        let done = new.is_empty();
        automata.extend(old.into_iter().map(|automaton| Automaton { fresh: false, ..automaton }));
        automata.extend(new);
        if done {
            return;
        }
    }
}

/// The program of a pattern.
pub(super) fn program(hir: &Hir) -> Option<NFA> {
    let config = thompson::Config::new()
        .utf8(false)
        .which_captures(thompson::WhichCaptures::None)
        .nfa_size_limit(Some(MAX_PROGRAM_BYTES));
    thompson::Compiler::new().configure(config).build_from_hir(hir).ok()
}
