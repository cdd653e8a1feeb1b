//! Explores the states of a lazily built automaton, the most likely first, up to a limit.

use super::typical_texts::TEXTS;
use crate::byte_frequency::rarity_bits;
use crate::pattern::is_left_out;
use foldhash::fast::FixedState;
use regex_automata::Anchored;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::{Entry, HashMap};

/// Indexed by byte: its column. Bytes that no state distinguishes share a column.
pub(super) type Columns = [u8; 256];

/// A byte of a column, and the rarity in bits of the most frequent byte of that column.
type Representative = (u8, i32);

/// States that are explored for each state that typical texts visit.
const MORE_THAN_TYPICAL: usize = 4;
/// Number of states that is always explored.
const FEWEST: usize = 128;

/// A state. Sets of patterns are bit masks; the lowest bit is the first pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct State {
    /// Indexed by column: the next state.
    pub(super) next: Box<[u16]>,
    /// Patterns that match when the state is entered.
    pub(super) entered: u64,
    /// Patterns that match if the text ends in this state.
    pub(super) ended: u64,
    /// Patterns whose next state was not explored, so that they may match.
    pub(super) unknown: u64,
}

/// The explored part of an automaton. The first state is the start state.
#[derive(Debug, Clone)]
pub(super) struct Explored {
    pub(super) columns: Box<Columns>,
    pub(super) states: Vec<State>,
}

impl Explored {
    /// Explores at most about `most` states of the automaton of one pattern. If there are others, one more state, which is never left, stands
    /// for all of these. Returns `None`, and sets `work` to zero, if this takes more than the remaining work.
    pub(super) fn new(dfa: &DFA, most: usize, work: &mut u64) -> Option<Self> {
        let (columns, bytes) = columns(dfa)?;
        let mut search =
            Search { dfa, cache: dfa.create_cache(), bytes, found: HashMap::default(), states: Vec::new() };
        search.run(most.clamp(FEWEST, usize::from(u16::MAX).saturating_sub(2)), work)?;
        let mut this = Self { columns: Box::new(columns), states: search.states() };
        this.merge();
        Some(this)
    }

    /// Whether all states of all patterns are explored.
    pub(super) fn is_complete(&self) -> bool {
        self.states.iter().all(|state| state.unknown == 0)
    }

    pub(super) fn columns_used(&self) -> usize {
        self.states.first().map_or(0, |state| state.next.len())
    }

    /// Merges equivalent states.
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
    /// Indexed by column.
    bytes: Vec<Representative>,
    /// Discovered states, with their number if they are explored.
    found: HashMap<LazyStateID, Option<u16>, FixedState>,
    /// Explored states: the next states, and whether there is a match if the text ends.
    states: Vec<(LazyStateID, Vec<LazyStateID>, u64)>,
}

impl Search<'_> {
    /// Explores states: the start state, then those that typical texts visit, then others.
    fn run(&mut self, most: usize, work: &mut u64) -> Option<()> {
        // Upper bound of the work for one state: a step of each state of the program, for each column.
        let program = self.dfa.get_nfa().states().len().saturating_mul(self.bytes.len());
        let of_state = u64::try_from(program).unwrap_or(u64::MAX);
        let start = self.dfa.start_state(&mut self.cache, &start::Config::new().anchored(Anchored::No)).ok()?;
        // Ordered by rarity, then by discovery.
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

    /// The states that typical texts visit, and how often.
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
        if states.iter().any(|state| state.next.contains(&left_out)) {
            states.push(State { next: vec![left_out; self.bytes.len()].into(), unknown: 1, ..State::default() });
        }
        states
    }
}

/// The columns of an automaton, and a byte of each.
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
        *likely = rarity_bits(byte).min(*likely);
    }
    Some((columns, bytes))
}
