//! An automaton whose states are built when a text first reaches them, and which charges for building them.
//!
//! Searching takes about two nanoseconds for each byte of text while the states exist. Building a state takes time
//! proportional to the program states that it stands for: a text can make a pattern of thousands of program states build
//! one for each byte. So each missing transition is charged by the sizes of the states that it connects.

use super::meter::Meter;
use foldhash::fast::FixedState;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, State};
use regex_automata::util::{pool::Pool, prefilter::Prefilter, start};
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Largest program, in bytes.
const MAX_PROGRAM_BYTES: usize = 1 << 22;
/// Most states of a program for which literals are looked for where a match may begin.
const MOST_STATES_FOR_LITERALS: usize = 1 << 12;
/// Memory for the states that a searching thread keeps, in bytes. If they need more, they are dropped and built again.
const CACHE_BYTES: usize = 1 << 20;
/// Bytes of text read for each step charged.
pub(super) const BYTES_PER_STEP: usize = 8;
/// Steps charged for a missing transition, whatever the size of the states.
const STEPS_PER_TRANSITION: usize = 4;
/// Bytes of the states that a missing transition connects, for each step charged.
const STATE_BYTES_PER_STEP: usize = 8;
/// Bytes of text after which reading is charged while a search goes on.
const UNCHARGED_BYTES: usize = 4096;
/// The prefilter is no longer used after a search of it has skipped fewer bytes than this on average.
const BYTES_PER_CANDIDATE: usize = 16;
/// Calls of the prefilter before the average counts.
const FIRST_CANDIDATES: usize = 8;

/// Which direction an automaton reads, and how much it looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the start of a range to its end: finds the end of the leftmost match.
    Forward,
    /// From the end of a range to its start: finds the start of the longest match that ends at the end.
    Backward,
}

/// Why a search ended without an answer.
#[derive(Debug)]
pub(super) enum Stop<E> {
    /// The budget did not suffice.
    Spent(E),
    /// The automaton cannot decide this text: its pattern has a word boundary of Unicode, and the text is not ASCII.
    Undecided,
}

/// Finds the leftmost match that begins at byte `at` or later: its end with one automaton, its start with another.
///
/// # Errors
/// As [`LazyDfa::search`].
pub(super) fn find_with<M: Meter>(
    forward: &LazyDfa,
    backward: &LazyDfa,
    bytes: &[u8],
    at: usize,
    meter: &M,
) -> Result<Option<Range<usize>>, Stop<M::Error>> {
    let Some(end) = forward.search(bytes, at..bytes.len(), false, meter)? else { return Ok(None) };
    match backward.search(bytes, at..end, false, meter)? {
        Some(start) => Ok(Some(start..end)),
        None => Err(Stop::Undecided),
    }
}

/// A pattern as a lazily built automaton. Threads may share it; each searching thread has its own states.
#[derive(Debug)]
pub(super) struct LazyDfa {
    dfa: DFA,
    direction: Direction,
    /// Finds places where a match may begin.
    prefilter: Option<Prefilter>,
    /// Program states for each one that reads a byte or looks around. Only these count in the size of a state.
    overhead: usize,
    caches: Pool<Box<Built>, fn() -> Box<Built>>,
}

/// The states that a thread has built.
#[derive(Debug, Default)]
struct Built {
    cache: Option<Cache>,
    /// Bytes of each state.
    sizes: HashMap<LazyStateID, usize, FixedState>,
    /// Transitions out of match states that exist. (For other states the automaton tells whether a transition exists.)
    known: HashSet<(LazyStateID, u8), FixedState>,
}

impl LazyDfa {
    /// Returns `None` if the program would be too large.
    pub(super) fn new(hir: &Hir, direction: Direction) -> Option<Self> {
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
            && nfa.states().len() <= MOST_STATES_FOR_LITERALS;
        let prefilter = restartable.then(|| Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir)).flatten();
        let config = DFA::config()
            .match_kind(kind)
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true)
            .cache_capacity(CACHE_BYTES);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        Some(Self { dfa, direction, prefilter, overhead, caches: Pool::new(Box::default) })
    }

    /// Number of states of the program.
    pub(super) fn program_states(&self) -> usize {
        self.dfa.get_nfa().states().len()
    }

    /// Whether the pattern matches the empty text somewhere.
    pub(super) fn has_empty(&self) -> bool {
        self.dfa.get_nfa().has_empty()
    }

    /// Bytes held on the heap, without what each searching thread keeps.
    pub(super) fn heap_bytes(&self) -> usize {
        self.dfa.get_nfa().memory_usage().saturating_add(self.prefilter.as_ref().map_or(0, Prefilter::memory_usage))
    }

    /// Forward: returns the end of the leftmost match that begins in `range`, or with `earliest` that of the shortest. Backward:
    /// returns the start of the longest match that ends where `range` ends. `range` must be one of `text`.
    pub(super) fn search<M: Meter>(
        &self,
        text: &[u8],
        range: Range<usize>,
        earliest: bool,
        meter: &M,
    ) -> Result<Option<usize>, Stop<M::Error>> {
        let mut built = self.caches.get();
        let Built { cache, sizes, known } = &mut **built;
        let cache = cache.get_or_insert_with(|| self.dfa.create_cache());
        let mut search = Search { dfa: self, cache, sizes, known, meter, read: 0, charged: 0 };
        let found = search.run(text, range, earliest)?;
        search.charge_read()?;
        Ok(found)
    }
}

struct Search<'s, M> {
    dfa: &'s LazyDfa,
    cache: &'s mut Cache,
    sizes: &'s mut HashMap<LazyStateID, usize, FixedState>,
    known: &'s mut HashSet<(LazyStateID, u8), FixedState>,
    meter: &'s M,
    /// Bytes of the range that were read, from the end where reading begins.
    read: usize,
    /// How many of them were charged.
    charged: usize,
}

impl<M: Meter> Search<'_, M> {
    fn run(&mut self, text: &[u8], range: Range<usize>, earliest: bool) -> Result<Option<usize>, Stop<M::Error>> {
        let Some(part) = text.get(range.clone()) else { return Ok(None) };
        let forward = self.dfa.direction == Direction::Forward;
        let (before, after) =
            (range.start.checked_sub(1).and_then(|at| text.get(at)).copied(), text.get(range.end).copied());
        let (outside, beyond) = if forward { (before, after) } else { (after, before) };
        let mut start = self.start(outside)?;
        let mut state = start;
        let mut last = None;
        let mut prefilter = self.dfa.prefilter.as_ref();
        let (mut candidates, mut skipped) = (0_usize, 0_usize);
        let place =
            |read: usize| if forward { range.start.saturating_add(read) } else { range.end.saturating_sub(read) };
        loop {
            if self.read.wrapping_sub(self.charged) > UNCHARGED_BYTES {
                self.charge_read()?;
            }
            if state == start
                && last.is_none()
                && let Some(filter) = prefilter
            {
                let Some(found) = filter.find(part, (self.read..part.len()).into()) else {
                    self.read = part.len();
                    return Ok(None);
                };
                candidates = candidates.saturating_add(1);
                skipped = skipped.saturating_add(found.start.saturating_sub(self.read));
                self.read = found.start;
                if candidates > FIRST_CANDIDATES && skipped / BYTES_PER_CANDIDATE < candidates {
                    prefilter = None;
                }
            }
            let stop = prefilter.map(|_| start).filter(|_| last.is_none());
            state = self.read_on(part, state, stop, forward);
            if stop == Some(state) && self.read < part.len() {
                continue;
            }
            let next = self.read.wrapping_add(1);
            let byte =
                if forward { part.get(self.read) } else { part.len().checked_sub(next).and_then(|at| part.get(at)) };
            let Some(&byte) = byte else { break };
            let clears = self.cache.clear_count();
            state = self.step(state, byte)?;
            if state.is_tagged() {
                // A match state says that a match ended before the byte.
                if state.is_match() {
                    last = Some(place(self.read));
                    if earliest {
                        return Ok(last);
                    }
                } else if state.is_dead() {
                    return Ok(last);
                } else if state.is_quit() {
                    return Err(Stop::Undecided);
                }
            }
            if self.cache.clear_count() != clears && prefilter.is_some() {
                start = self.start(outside)?;
            }
            self.read = next;
        }
        let end = match beyond {
            Some(byte) => self.step(state, byte)?,
            None => self.dfa.dfa.next_eoi_state(self.cache, state).map_err(|_| Stop::Undecided)?,
        };
        if end.is_quit() {
            return Err(Stop::Undecided);
        }
        Ok(if end.is_match() { Some(place(part.len())) } else { last })
    }

    /// Reads on through states that exist and mean nothing, until one of them is `stop` or much has been read: the usual case, in
    /// a loop of its own that does little else. Returns the last state.
    #[inline]
    fn read_on(&mut self, part: &[u8], state: LazyStateID, stop: Option<LazyStateID>, forward: bool) -> LazyStateID {
        if state.is_tagged() || stop == Some(state) {
            return state;
        }
        let end = self.charged.saturating_add(UNCHARGED_BYTES).min(part.len());
        let reversed = (part.len().saturating_sub(end), part.len().saturating_sub(self.read));
        let (state, count) = if forward {
            self.follow(part.get(self.read..end).unwrap_or_default().iter(), state, stop)
        } else {
            self.follow(part.get(reversed.0..reversed.1).unwrap_or_default().iter().rev(), state, stop)
        };
        self.read = self.read.saturating_add(count);
        state
    }

    /// Returns the state that the bytes lead to, and the number of bytes read.
    #[inline(always)]
    fn follow<'t>(
        &self,
        bytes: impl Iterator<Item = &'t u8>,
        mut state: LazyStateID,
        stop: Option<LazyStateID>,
    ) -> (LazyStateID, usize) {
        let mut count = 0_usize;
        for &byte in bytes {
            let next = self.dfa.dfa.next_state_untagged(self.cache, state, byte);
            if next.is_tagged() {
                break;
            }
            (state, count) = (next, count.wrapping_add(1));
            if stop == Some(state) {
                break;
            }
        }
        (state, count)
    }

    /// Charges the bytes that were read and not charged.
    fn charge_read(&mut self) -> Result<(), Stop<M::Error>> {
        let bytes = self.read.saturating_sub(self.charged);
        self.charged = self.read;
        self.charge(bytes / BYTES_PER_STEP)
    }

    fn charge(&self, steps: usize) -> Result<(), Stop<M::Error>> {
        self.meter.charge(steps).map_err(Stop::Spent)
    }

    /// The state before the first byte, after the byte `outside` of the range.
    fn start(&mut self, outside: Option<u8>) -> Result<LazyStateID, Stop<M::Error>> {
        let anchored = if self.dfa.direction == Direction::Forward { Anchored::No } else { Anchored::Yes };
        let config = start::Config::new().anchored(anchored).look_behind(outside);
        let before = (self.cache.memory_usage(), self.cache.clear_count());
        let start = self.dfa.dfa.start_state(self.cache, &config).map_err(|_| Stop::Undecided)?;
        if (self.cache.memory_usage(), self.cache.clear_count()) == before {
            self.charge(STEPS_PER_TRANSITION)?;
        } else {
            self.built(before, None, start)?;
        }
        Ok(start)
    }

    #[inline]
    fn step(&mut self, state: LazyStateID, byte: u8) -> Result<LazyStateID, Stop<M::Error>> {
        if !state.is_tagged() {
            let next = self.dfa.dfa.next_state_untagged(self.cache, state, byte);
            if !next.is_unknown() {
                return Ok(next);
            }
        }
        self.build(state, byte)
    }

    /// The next state, which is built if it is not there, and charged.
    #[cold]
    fn build(&mut self, state: LazyStateID, byte: u8) -> Result<LazyStateID, Stop<M::Error>> {
        let tagged = state.is_tagged();
        let column = self.dfa.dfa.byte_classes().get(byte);
        let missing = !tagged || !self.known.contains(&(state, column));
        let before = (self.cache.memory_usage(), self.cache.clear_count());
        let next = self.dfa.dfa.next_state(self.cache, state, byte).map_err(|_| Stop::Undecided)?;
        if missing {
            self.built(before, Some(state), next)?;
            if tagged && self.cache.clear_count() == before.1 {
                self.known.insert((state, column));
            }
        }
        Ok(next)
    }

    /// Charges a transition that was missing, and remembers the size of its target if that is new.
    fn built(
        &mut self,
        (bytes, clears): (usize, usize),
        from: Option<LazyStateID>,
        to: LazyStateID,
    ) -> Result<(), Stop<M::Error>> {
        let size = |sizes: &HashMap<_, _, _>, state: Option<LazyStateID>| {
            state.and_then(|state| sizes.get(&state).copied()).unwrap_or(0_usize)
        };
        let from = size(self.sizes, from);
        let usage = self.cache.memory_usage();
        if self.cache.clear_count() != clears {
            self.sizes.clear();
            self.known.clear();
            // The new state is among the few that are left, of unknown size.
            self.sizes.insert(to, from);
        } else if let Some(grown) = usage.checked_sub(bytes).filter(|grown| *grown > 0) {
            self.sizes.insert(to, grown);
        }
        let both = from.saturating_add(size(self.sizes, Some(to)));
        let steps = both.saturating_mul(self.dfa.overhead) / STATE_BYTES_PER_STEP;
        self.charge(steps.saturating_add(STEPS_PER_TRANSITION))
    }
}
