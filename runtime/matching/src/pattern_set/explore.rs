//! Explores the states of an automaton, which are built when they are first reached, the most
//! likely first, up to a limit.

use super::subsets::{Before, Number, Subsets, Transitions};
use super::typical_texts::TEXTS;
use crate::byte_frequency::rarity_bits;
use crate::pattern::is_left_out;
use foldhash::fast::FixedState;
use regex_automata::nfa::thompson::{self, NFA};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Indexed by byte: its column. Bytes that no state distinguishes share a column.
pub(super) type Columns = [u8; 256];

/// A byte of a column, and the rarity in bits of the most frequent byte of that column.
type Representative = (u8, i32);

/// States that are explored for each state that typical texts visit.
const MORE_THAN_TYPICAL: usize = 4;
/// Steps of work for each set of ranges by which bytes are distinguished: one for each byte.
const STEPS_PER_SPLIT: u64 = 256;
/// Cells of rows that are compared for a step of work.
const CELLS_PER_STEP: usize = 4;
/// Number of states that is always explored.
const MIN: usize = 128;

/// What a state says. Sets of patterns are bit masks; the lowest bit is the first pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct State {
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
    /// A row for each state: indexed by column, the next state.
    pub(super) next: Vec<u16>,
    /// Number of columns, at least one.
    pub(super) width: usize,
}

impl Explored {
    /// Explores at most about `most` states of the automaton of one pattern. If there are others,
    /// one more state, which is never left, stands for all of these. Returns `None`, and sets
    /// `work` to zero, if this takes more than the remaining work.
    pub(super) fn new(program: &NFA, most: usize, work: &mut u64) -> Option<Self> {
        let (columns, representatives) = columns(program, work)?;
        let subsets = Subsets::new(program, &columns, representatives.iter().map(|(byte, _)| *byte).collect())?;
        spend(work, subsets.steps())?;
        if subsets.matches_all() {
            let (states, width) = (vec![State { entered: 1, ended: 1, unknown: 0 }], representatives.len());
            return Some(Self { columns: Box::new(columns), states, next: vec![0; width], width });
        }
        let mut search = Search { subsets, representatives, found: Vec::new(), explored: Vec::new() };
        search.run(most.clamp(MIN, usize::from(u16::MAX).saturating_sub(2)), work)?;
        let (states, next) = search.states();
        let mut this = Self { columns: Box::new(columns), states, next, width: search.representatives.len() };
        this.merge(work)?;
        Some(this)
    }

    /// Whether all states of all patterns are explored.
    pub(super) fn is_complete(&self) -> bool {
        self.states.iter().all(|state| state.unknown == 0)
    }

    /// The next states of each state.
    pub(super) fn rows(&self) -> std::slice::ChunksExact<'_, u16> {
        self.next.chunks_exact(self.width)
    }

    /// The next states of a state.
    pub(super) fn row(&self, state: u16) -> Option<&[u16]> {
        self.next.get(usize::from(state).checked_mul(self.width)?..)?.get(..self.width)
    }

    /// Merges equivalent states. Returns `None`, and sets `work` to zero, if this takes more than the remaining work.
    fn merge(&mut self, work: &mut u64) -> Option<()> {
        // Indexed by state: its kind. States of different kinds are not equivalent.
        let mut kinds: Vec<u16> = Vec::new();
        let mut known = HashMap::with_hasher(FixedState::default());
        for state in &self.states {
            let new = u16::try_from(known.len()).unwrap_or(u16::MAX);
            kinds.push(*known.entry(state).or_insert(new));
        }
        let mut count = known.len();
        let mut next: Vec<u16> = Vec::new();
        loop {
            spend(work, u64::try_from(self.next.len() / CELLS_PER_STEP).unwrap_or(u64::MAX))?;
            next.clear();
            for (row, kind) in self.rows().zip(&kinds) {
                next.push(*kind);
                next.extend(row.iter().map(|&to| kinds.get(usize::from(to)).copied().unwrap_or(0)));
            }
            let mut known: HashMap<&[u16], u16, FixedState> =
                HashMap::with_capacity_and_hasher(count, FixedState::default());
            for (row, kind) in next.chunks_exact(self.width.saturating_add(1)).zip(&mut kinds) {
                let new = u16::try_from(known.len()).unwrap_or(u16::MAX);
                *kind = *known.entry(row).or_insert(new);
            }
            if known.len() == count {
                break;
            }
            count = known.len();
        }
        // Kinds are numbered in the order of their first states, which stay.
        let (mut states, mut rows) = (Vec::with_capacity(count), Vec::with_capacity(count.saturating_mul(self.width)));
        for ((state, row), kind) in self.states.iter().zip(self.rows()).zip(&kinds) {
            if usize::from(*kind) == states.len() {
                states.push(*state);
                rows.extend(row.iter().map(|&to| kinds.get(usize::from(to)).copied().unwrap_or(0)));
            }
        }
        (self.states, self.next) = (states, rows);
        Some(())
    }
}

/// Takes steps from the remaining work. `None`, with nothing left, if it is less.
fn spend(work: &mut u64, steps: u64) -> Option<()> {
    let left = work.checked_sub(steps);
    *work = left.unwrap_or(0);
    left.map(drop)
}

struct Search<'p> {
    subsets: Subsets<'p>,
    /// Indexed by column.
    representatives: Vec<Representative>,
    /// Indexed by number of a state.
    found: Vec<Found>,
    /// Explored states.
    explored: Vec<Number>,
}

/// What is known of a state.
#[derive(Default)]
struct Found {
    transitions: Option<Transitions>,
    /// Whether an explored state leads to it.
    is_next: bool,
    /// Its number among the explored states, if it is one.
    explored: Option<u16>,
}

impl Search<'_> {
    /// Explores states: the start state, then those that typical texts visit, then others.
    fn run(&mut self, most: usize, work: &mut u64) -> Option<()> {
        let start = 0;
        // Ordered by rarity, then by discovery.
        let mut queue = BinaryHeap::from([Reverse((i32::MIN, 0_usize, start))]);
        let visits = self.visits(start, work)?;
        let most = visits.len().saturating_mul(MORE_THAN_TYPICAL).clamp(MIN, most);
        for (state, visits) in visits {
            queue.push(Reverse((visits.saturating_neg(), queue.len(), state)));
        }
        while self.explored.len() < most
            && let Some(Reverse((rank, _, state))) = queue.pop()
        {
            let found = self.with_transitions(state, work)?;
            if found.explored.is_some() {
                continue;
            }
            let number = u16::try_from(self.explored.len()).ok();
            self.explored.push(state);
            let found = self.found.get_mut(state as usize)?;
            found.explored = number;
            // Taken out while other states are changed.
            let transitions = found.transitions.take()?;
            for (&next, &(_, likely)) in transitions.next.iter().zip(&self.representatives) {
                let next_found = self.found.get_mut(next as usize)?;
                if !std::mem::replace(&mut next_found.is_next, true) {
                    queue.push(Reverse((rank.max(0).saturating_add(likely), queue.len(), next)));
                }
            }
            self.found.get_mut(state as usize)?.transitions = Some(transitions);
        }
        Some(())
    }

    /// What is known of a state, its transitions included.
    fn with_transitions(&mut self, state: Number, work: &mut u64) -> Option<&Found> {
        self.found.resize_with(self.found.len().max(self.subsets.len()), Found::default);
        if self.found.get(state as usize)?.transitions.is_none() {
            let before = self.subsets.steps();
            let transitions = self.subsets.transitions(state);
            spend(work, self.subsets.steps().saturating_sub(before))?;
            let transitions = transitions?;
            self.found.resize_with(self.subsets.len(), Found::default);
            self.found.get_mut(state as usize)?.transitions = Some(transitions);
        }
        self.found.get(state as usize)
    }

    /// The states that typical texts visit, and how often.
    fn visits(&mut self, start: Number, work: &mut u64) -> Option<Vec<(Number, i32)>> {
        let columns = self.subsets.columns();
        let mut visits: Vec<i32> = Vec::new();
        for text in TEXTS {
            let mut state = start;
            for byte in text.bytes() {
                let column = columns.get(usize::from(byte)).copied().unwrap_or(0);
                let transitions = self.with_transitions(state, work)?.transitions.as_ref()?;
                state = *transitions.next.get(usize::from(column))?;
                visits.resize(visits.len().max(self.found.len()), 0);
                let count = visits.get_mut(state as usize)?;
                *count = count.saturating_add(1);
            }
        }
        Some((0..).zip(visits).filter(|(_, visits)| *visits > 0).collect())
    }

    /// The explored states, and one for those that are left out, if there are any.
    fn states(&self) -> (Vec<State>, Vec<u16>) {
        let left_out = u16::try_from(self.explored.len()).unwrap_or(u16::MAX);
        let (mut states, mut rows) = (Vec::new(), Vec::new());
        for number in &self.explored {
            let transitions = self.found.get(*number as usize).and_then(|found| found.transitions.as_ref());
            let Some(Transitions { next, ended }) = transitions else { continue };
            states.push(State {
                entered: u64::from(self.subsets.entered(*number)),
                ended: u64::from(*ended),
                unknown: 0,
            });
            let explored = |next: &Number| self.found.get(*next as usize).and_then(|found| found.explored);
            rows.extend(next.iter().map(|next| explored(next).unwrap_or(left_out)));
        }
        if rows.contains(&left_out) {
            states.push(State { unknown: 1, ..State::default() });
            rows.extend(self.representatives.iter().map(|_| left_out));
        }
        (states, rows)
    }
}

/// The columns of an automaton, and a byte of each. Bytes share a column if each state of the
/// program leads to the same one after all of them, and assertions do not distinguish them: often
/// fewer columns than the program has classes, which are ranges. `None` as in [`Explored::new`],
/// and for programs that no pattern has.
fn columns(program: &NFA, work: &mut u64) -> Option<(Columns, Vec<Representative>)> {
    let mut kinds = Kinds([0; 256]);
    if !program.look_set_any().is_empty() {
        kinds.split(|byte| Before::of(byte) as u8);
    }
    let mut known: HashSet<Vec<(u8, u8, u8)>, FixedState> = HashSet::default();
    let mut ranges: Vec<(u8, u8, u8)> = Vec::new();
    for state in program.states() {
        let transitions = match state {
            thompson::State::ByteRange { trans } => std::slice::from_ref(trans),
            thompson::State::Sparse(sparse) => &sparse.transitions,
            // No pattern has one.
            thompson::State::Dense(_) => return None,
            _ => continue,
        };
        // Those with the same target have the number of the first.
        let first = |next| transitions.iter().position(|other| other.next == next);
        let number = |next| first(next).and_then(|number| u8::try_from(number).ok());
        spend(work, u64::try_from(transitions.len()).unwrap_or(u64::MAX))?;
        ranges.clear();
        for trans in transitions {
            ranges.push((trans.start, trans.end, number(trans.next)?.checked_add(1)?));
        }
        if !known.contains(&ranges) {
            spend(work, STEPS_PER_SPLIT)?;
            let mut labels = [0; 256];
            for (from, to, number) in &ranges {
                if let Some(labels) = labels.get_mut(usize::from(*from)..=usize::from(*to)) {
                    labels.fill(*number);
                }
            }
            kinds.split(|byte| labels.get(usize::from(byte)).copied().unwrap_or(0));
            known.insert(ranges.clone());
        }
    }
    let mut columns = [0; 256];
    let mut bytes: Vec<Representative> = Vec::new();
    let mut known = [None::<u8>; 256];
    for ((byte, column), kind) in (0..=u8::MAX).zip(columns.iter_mut()).zip(kinds.0) {
        if is_left_out(byte) {
            continue;
        }
        let known = known.get_mut(usize::from(kind))?;
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

/// Indexed by byte: the kind of the byte. Bytes of a kind are not distinguished.
struct Kinds([u8; 256]);

impl Kinds {
    /// Distinguishes bytes for which `label` differs.
    fn split(&mut self, label: impl Fn(u8) -> u8) {
        let mut known: HashMap<(u8, u8), u8, FixedState> = HashMap::default();
        for (byte, kind) in (0..=u8::MAX).zip(&mut self.0) {
            let new = u8::try_from(known.len()).unwrap_or(u8::MAX);
            *kind = *known.entry((*kind, label(byte))).or_insert(new);
        }
    }
}
