//! The states of a lazily built automaton, the likeliest first, up to a number of them.

use super::typical_texts::TEXTS;
use crate::byte_frequency::bits;
use crate::pattern::is_left_out;
use foldhash::fast::FixedState;
use regex_automata::Anchored;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::{Entry, HashMap};

/// By byte, the column. ByteMask that all states take for the same have one column.
pub(super) type Columns = [u8; 256];

/// A byte of a column, and how rare the likeliest of that column is.
type Representative = (u8, i32);

/// How many times as many states are taken as typical texts lead through: the others are for texts like them.
const MORE_THAN_TYPICAL: usize = 4;
/// So many states are always taken.
const FEWEST: usize = 128;

/// A state. A set of patterns is a number, its lowest bit the first pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct State {
    /// By column, the state that follows.
    pub(super) next: Box<[u16]>,
    /// What matches once the state is entered.
    pub(super) entered: u64,
    /// What matches if the text ends there.
    pub(super) ended: u64,
    /// Of what the state that follows is not known, so that it may match.
    pub(super) unknown: u64,
}

/// The first state is where each text starts.
#[derive(Debug, Clone)]
pub(super) struct Explored {
    pub(super) columns: Box<Columns>,
    pub(super) states: Vec<State>,
}

impl Explored {
    /// The states of the automaton of one pattern, at most about so many. All that are left out are one more state, out of
    /// which nothing leads. `None` if that takes more than is left of the work, which is none then.
    pub(super) fn new(dfa: &DFA, most: usize, work: &mut u64) -> Option<Self> {
        let (columns, bytes) = columns(dfa)?;
        let mut search =
            Search { dfa, cache: dfa.create_cache(), bytes, found: HashMap::default(), states: Vec::new() };
        search.run(most.clamp(FEWEST, usize::from(u16::MAX).saturating_sub(2)), work)?;
        let mut this = Self { columns: Box::new(columns), states: search.states() };
        this.merge();
        Some(this)
    }

    pub(super) fn columns_used(&self) -> usize {
        self.states.first().map_or(0, |state| state.next.len())
    }

    /// Makes states one that nothing tells apart.
    pub(super) fn merge(&mut self) {
        let mut kinds: Vec<u16> = vec![0; self.states.len()];
        let mut count = 0;
        loop {
            let mut known: HashMap<State, u16, FixedState> =
                HashMap::with_capacity_and_hasher(count, FixedState::default());
            let mut next_kinds = Vec::with_capacity(kinds.len());
            for state in &self.states {
                let next = state.next.iter().map(|&to| kinds.get(usize::from(to)).copied().unwrap_or(0)).collect();
                let new = u16::try_from(known.len()).unwrap_or(u16::MAX);
                next_kinds.push(*known.entry(State { next, ..*state }).or_insert(new));
            }
            kinds = next_kinds;
            if known.len() == count {
                let mut states: Vec<(u16, State)> = known.into_iter().map(|(state, kind)| (kind, state)).collect();
                states.sort_unstable_by_key(|(kind, _)| *kind);
                self.states = states.into_iter().map(|(_, state)| state).collect();
                return;
            }
            count = known.len();
        }
    }
}

struct Search<'d> {
    dfa: &'d DFA,
    cache: Cache,
    /// By column.
    bytes: Vec<Representative>,
    /// States, with their number if they are taken.
    found: HashMap<LazyStateID, Option<u16>, FixedState>,
    /// Those that are taken: what follows, and what matches if the text ends there.
    states: Vec<(LazyStateID, Vec<LazyStateID>, u64)>,
}

impl Search<'_> {
    /// Takes states: where a text starts, then those of typical texts, then others.
    fn run(&mut self, most: usize, work: &mut u64) -> Option<()> {
        // What one state takes: a step from each state of the program that it stands for, for each column.
        let program = self.dfa.get_nfa().states().len().saturating_mul(self.bytes.len());
        let of_state = u64::try_from(program).unwrap_or(u64::MAX);
        let start = self.dfa.start_state(&mut self.cache, &start::Config::new().anchored(Anchored::No)).ok()?;
        // By how unlikely, then in order of discovery.
        let mut queue = BinaryHeap::from([Reverse((i32::MIN, 0_usize, start))]);
        let visits = self.visits(start)?;
        let most = visits.len().saturating_mul(MORE_THAN_TYPICAL).clamp(FEWEST, most);
        for (state, visits) in visits {
            queue.push(Reverse((visits.saturating_neg(), queue.len(), state)));
        }
        while self.states.len() < most
            && let Some(Reverse((rank, _, state))) = queue.pop()
        {
            if let Some(Some(_)) = self.found.get(&state) {
                continue;
            }
            let Some(left) = work.checked_sub(of_state) else {
                *work = 0;
                return None;
            };
            *work = left;
            let row: Vec<LazyStateID> = self
                .bytes
                .iter()
                .map(|&(byte, _)| self.dfa.next_state(&mut self.cache, state, byte).ok())
                .collect::<Option<_>>()?;
            let end = self.dfa.next_eoi_state(&mut self.cache, state).ok()?;
            for (&next, &(_, likely)) in row.iter().zip(&self.bytes) {
                if let Entry::Vacant(entry) = self.found.entry(next) {
                    entry.insert(None);
                    queue.push(Reverse((rank.max(0).saturating_add(likely), queue.len(), next)));
                }
            }
            self.found.insert(state, u16::try_from(self.states.len()).ok());
            self.states.push((state, row, u64::from(end.is_match())));
        }
        Some(())
    }

    /// The states that typical texts lead through, and how often.
    fn visits(&mut self, start: LazyStateID) -> Option<Vec<(LazyStateID, i32)>> {
        let mut visits: HashMap<LazyStateID, i32, FixedState> = HashMap::default();
        for text in TEXTS {
            let mut state = start;
            for byte in text.bytes() {
                state = self.dfa.next_state(&mut self.cache, state, byte).ok()?;
                let count = visits.entry(state).or_default();
                *count = count.saturating_add(1);
            }
        }
        let mut visits: Vec<_> = visits.into_iter().collect();
        visits.sort_unstable();
        Some(visits)
    }

    fn states(&self) -> Vec<State> {
        let left_out = u16::try_from(self.states.len()).unwrap_or(u16::MAX);
        let number = |state: &LazyStateID| self.found.get(state).copied().flatten().unwrap_or(left_out);
        let mut states: Vec<State> = self
            .states
            .iter()
            .map(|(state, row, ended)| State {
                next: row.iter().map(number).collect(),
                entered: u64::from(state.is_match()),
                ended: *ended,
                unknown: 0,
            })
            .collect();
        states.push(State { next: vec![left_out; self.bytes.len()].into(), unknown: 1, ..State::default() });
        states
    }
}

/// The columns of an automaton, and one byte of each.
fn columns(dfa: &DFA) -> Option<(Columns, Vec<Representative>)> {
    let mut columns = [0; 256];
    let mut bytes: Vec<Representative> = Vec::new();
    let mut known = [None::<u8>; 256];
    for (byte, column) in (0..=u8::MAX).zip(columns.iter_mut()) {
        if is_left_out(byte) {
            continue;
        }
        let known = known.get_mut(usize::from(dfa.byte_classes().get(byte)))?;
        *column = match *known {
            Some(column) => column,
            None => {
                let new = u8::try_from(bytes.len()).ok()?;
                bytes.push((byte, i32::MAX));
                *known.insert(new)
            }
        };
        let (_, likely) = bytes.get_mut(usize::from(*column))?;
        *likely = bits(byte).min(*likely);
    }
    Some((columns, bytes))
}
