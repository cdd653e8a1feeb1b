//! How patterns become parts, and parts larger ones: the automata that are made tables.

use super::explore::Explored;
use super::required_bytes::{ByteMask, required_bytes};
use super::table::{MOST, StateTable};
use crate::pattern::Reduced;
use regex_automata::MatchKind;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson;
use regex_syntax::hir::Hir;

/// Largest program that a table is made from, in bytes. Making one state takes time in proportion to it.
const MAX_PROGRAM: usize = 1 << 19;
/// Most memory for making the table of one pattern, in bytes.
const MAX_MAKING: usize = 1 << 25;
/// The work that goes into the automata of all patterns at most, in steps from a state of a program: some seconds.
pub(super) const MOST_WORK: u64 = 1 << 32;
/// Most states of one pattern.
const MOST_STATES: usize = 1024;
/// Tables are made one if the result takes at most this many bytes,
const SMALL: usize = 1 << 16;
/// or this many, and at most half as much again as both.
const LARGE: usize = 1 << 19;
/// How many tables before it are tried for making one with a table.
const TRIED: usize = 4;

/// Patterns of one automaton.
#[derive(Debug)]
pub(super) struct Automaton {
    pub(super) explored: Explored,
    /// One of which is in each text in which one of the patterns matches.
    pub(super) bytes: ByteMask,
    /// By number in the automaton, the pattern's own.
    pub(super) numbers: Vec<u32>,
    /// Those of which only texts of ASCII can be ruled out.
    pub(super) ascii_only: u64,
    /// Whether it was made since what there is was last gone through.
    fresh: bool,
}

impl Automaton {
    /// The part of one pattern. `None` if it is too large, or not enough of the work is left.
    pub(super) fn new(number: u32, pattern: &Reduced, work: &mut u64) -> Option<Self> {
        if *work == 0 {
            return None;
        }
        Some(Self {
            explored: Explored::new(&automaton(&pattern.hir)?, MOST_STATES, work)?,
            bytes: required_bytes(&pattern.hir).unwrap_or(ByteMask::ALL),
            numbers: vec![number],
            ascii_only: u64::from(pattern.ascii_only),
            fresh: true,
        })
    }

    /// This and the other as one, if that is not much larger than both, nor too much of what all may take.
    fn with(&self, other: &Self, all: usize) -> Option<Self> {
        let first = u32::try_from(self.numbers.len()).ok()?;
        let numbers = [self.numbers.as_slice(), &other.numbers].concat();
        if numbers.len() > MOST {
            return None;
        }
        let both = StateTable::bytes(&self.explored).saturating_add(StateTable::bytes(&other.explored));
        let most = both.saturating_add(both / 2).clamp(SMALL, LARGE).min(all / 4);
        Some(Self {
            explored: self.explored.and(&other.explored, first, |columns| StateTable::states_in(most, columns))?,
            bytes: self.bytes.or(other.bytes),
            numbers,
            ascii_only: self.ascii_only | other.ascii_only.checked_shl(first).unwrap_or(0),
            fresh: true,
        })
    }
}

/// Makes parts that need similar bytes one as long as that makes them not much larger. All may take `most` bytes.
pub(super) fn merge(parts: &mut Vec<Automaton>, most: usize) {
    loop {
        // No text is to lead through the table of many for the sake of a few.
        parts.sort_by(|a, b| a.bytes.chance().total_cmp(&b.bytes.chance()).then_with(|| a.bytes.cmp(&b.bytes)));
        let (mut old, mut new): (Vec<Automaton>, Vec<Automaton>) = (Vec::new(), Vec::new());
        for part in parts.drain(..) {
            let tried = old.iter().enumerate().rev().take(TRIED).filter(|(_, other)| other.fresh || part.fresh);
            let both = tried.filter_map(|(i, other)| Some((i, other.with(&part, most)?))).next();
            if let Some((i, both)) = both {
                old.remove(i);
                new.push(both);
            } else {
                old.push(part);
            }
        }
        let done = new.is_empty();
        parts.extend(old.into_iter().map(|part| Automaton { fresh: false, ..part }));
        parts.extend(new);
        if done {
            return;
        }
    }
}

/// The automaton of a pattern, which makes its states when they are input for.
fn automaton(hir: &Hir) -> Option<DFA> {
    let program = thompson::Config::new()
        .utf8(false)
        .which_captures(thompson::WhichCaptures::None)
        .nfa_size_limit(Some(MAX_PROGRAM));
    let nfa = thompson::Compiler::new().configure(program).build_from_hir(hir).ok()?;
    let config = DFA::config()
        .match_kind(MatchKind::All)
        .skip_cache_capacity_check(true)
        .cache_capacity(MAX_MAKING)
        .minimum_cache_clear_count(Some(0));
    DFA::builder().configure(config).build_from_nfa(nfa).ok()
}
