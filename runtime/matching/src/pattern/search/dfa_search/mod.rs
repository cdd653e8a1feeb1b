//! A search with a lazily built automaton, which can be interrupted after each byte, so that
//! several searches can take turns.

use crate::pattern::analysis::reach::Near;
use crate::pattern::search::lazy_dfa::{Built, BuiltGuard, Direction, LazyDfa, Stop};
use crate::pattern::search::meter::Meter;
use regex_automata::Anchored;
use regex_automata::hybrid::LazyStateID;
use regex_automata::util::{prefilter::Prefilter, start};
use std::ops::{ControlFlow, Range};

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
/// Bytes read after a candidate of the prefilter, within which the automaton is expected to return to its start.
const BYTES_AFTER_CANDIDATE: usize = 64;
/// Bytes read after a range near literals before it is first asked again whether a match has begun.
const BYTES_AFTER_RANGE: usize = 32;

/// The result of a search: where it found a match.
type Outcome<M> = Result<Option<usize>, Stop<<M as Meter>::Error>>;
/// The outcome, if there is one yet.
type Progress<M> = Result<ControlFlow<Option<usize>>, Stop<<M as Meter>::Error>>;

impl LazyDfa {
    /// Forward: returns the end of the leftmost match that begins in `range`, or with `earliest`
    /// that of the shortest. Backward: returns the start of the longest match that ends where
    /// `range` ends. `range` must be one of `text`.
    pub(super) fn search<M: Meter>(
        &self,
        text: &[u8],
        range: Range<usize>,
        earliest: bool,
        meter: &M,
    ) -> Result<Option<usize>, Stop<M::Error>> {
        Search::new(self, text, range, earliest, meter).run()
    }
}

/// A search that has begun.
pub(super) struct Search<'s, M> {
    dfa: &'s LazyDfa,
    built: BuiltGuard<'s>,
    meter: M,
    /// Whether the first match that ends decides.
    earliest: bool,
    /// The text that is searched, and where it is in the whole text.
    part: &'s [u8],
    range: Range<usize>,
    /// The byte before the first that is read.
    outside: Option<u8>,
    /// The byte after the last that is read.
    beyond: Option<u8>,
    /// The state in which no match has begun.
    start: LazyStateID,
    state: LazyStateID,
    /// The last match found.
    found: Option<usize>,
    /// `None` if it is not worth asking.
    prefilter: Option<&'s Prefilter>,
    /// The prefilter while it is not used, because the automaton did not return to its start soon.
    parked: Option<&'s Prefilter>,
    /// How often the prefilter was asked, and how many bytes it skipped.
    candidates: usize,
    skipped: usize,
    /// Where to search; everywhere if `None`.
    near: Option<Near<'s>>,
    /// Number of bytes of the range to read before the next part to search is looked for.
    limit: usize,
    /// Bytes to read after that if a match has begun.
    ahead: usize,
    /// Bytes of the range that were read, from the end where reading begins.
    read: usize,
    /// How many of them were charged.
    charged: usize,
}

impl<'s, M: Meter> Search<'s, M> {
    /// Prepares what [`LazyDfa::search`] does.
    pub(super) fn new(dfa: &'s LazyDfa, text: &'s [u8], range: Range<usize>, earliest: bool, meter: M) -> Self {
        let (before, after) =
            (range.start.checked_sub(1).and_then(|at| text.get(at)).copied(), text.get(range.end).copied());
        let (outside, beyond) = if dfa.direction == Direction::Forward { (before, after) } else { (after, before) };
        Self {
            dfa,
            built: dfa.built(),
            meter,
            earliest,
            part: text.get(range.clone()).unwrap_or_default(),
            range,
            outside,
            beyond,
            start: LazyStateID::default(),
            state: LazyStateID::default(),
            found: None,
            prefilter: dfa.prefilter.as_ref(),
            parked: None,
            candidates: 0,
            skipped: 0,
            near: None,
            limit: usize::MAX,
            ahead: BYTES_AFTER_RANGE,
            read: 0,
            charged: 0,
        }
    }

    /// Begins: to be called first, unless [`run`](Self::run) is.
    pub(super) fn begin(&mut self) -> Result<(), Stop<M::Error>> {
        self.start = self.start_state(0)?;
        self.state = self.start;
        Ok(())
    }

    /// Begins a search forward for the first match that ends, only where a match may be.
    pub(super) fn begin_near(&mut self, near: Near<'s>) -> Progress<M> {
        self.near = Some(near);
        self.prefilter = None;
        self.enter(near)
    }

    /// Goes to the next range where a match may begin, if none has.
    fn enter(&mut self, near: Near<'s>) -> Progress<M> {
        let Some(range) = near.next(self.part, self.read) else { return Ok(ControlFlow::Break(None)) };
        self.state = self.start_state(range.start)?;
        (self.read, self.charged, self.limit) = (range.start, range.start, range.end);
        self.ahead = BYTES_AFTER_RANGE;
        Ok(ControlFlow::Continue(()))
    }

    /// Goes on at the end of a range: reads on if a match has begun.
    fn leave(&mut self, near: Near<'s>) -> Progress<M> {
        self.charge_read()?;
        let none_begun = self.start_state(self.read)?;
        if self.state == none_begun {
            return self.enter(near);
        }
        self.limit = self.read.saturating_add(self.ahead);
        // So it is asked seldom where the automaton never returns to its start.
        self.ahead = self.ahead.saturating_mul(2);
        Ok(ControlFlow::Continue(()))
    }

    /// Searches from the start to the end.
    pub(super) fn run(&mut self) -> Outcome<M> {
        self.begin()?;
        loop {
            if let ControlFlow::Break(found) = self.skip()? {
                return self.finish(found);
            }
            let stop = self.prefilter.map(|_| self.start).filter(|_| self.found.is_none());
            let before = self.read;
            self.read_on(UNCHARGED_BYTES, stop);
            if stop == Some(self.state) && self.read > before && self.read < self.part.len() {
                continue;
            }
            if let ControlFlow::Break(found) = self.step()? {
                return self.finish(found);
            }
        }
    }

    /// Searches from the start as long as the prefilter skips most of the text. Afterwards it is
    /// used again where the search [resumes](Self::resume_filtered) so, if at all.
    pub(super) fn run_filtered(&mut self) -> Progress<M> {
        self.begin()?;
        self.go_on_filtered()
    }

    /// Goes on from the start state as long as the prefilter skips most of the text.
    fn go_on_filtered(&mut self) -> Progress<M> {
        let mut end = 0;
        while self.prefilter.is_some() {
            if self.state == self.start {
                if let ControlFlow::Break(found) = self.skip()? {
                    return self.finish(found).map(ControlFlow::Break);
                }
                end = self.read.saturating_add(BYTES_AFTER_CANDIDATE);
            } else if self.read >= end {
                self.parked = self.prefilter.take();
                break;
            }
            let before = self.read;
            self.read_on(end.saturating_sub(self.read), Some(self.start));
            if (self.state != self.start || self.read == before || self.read >= self.part.len())
                && let ControlFlow::Break(found) = self.step()?
            {
                return self.finish(found).map(ControlFlow::Break);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Uses a parked prefilter again if the automaton is at its start and the prefilter skips more
    /// than is read between two charges. To be called where reading is charged, so that asking it
    /// costs no more than reading.
    fn resume_filtered(&mut self) -> Progress<M> {
        if let Some(filter) = self.parked
            && self.state == self.start
            && self.found.is_none()
            && filter
                .find(self.part, (self.read..self.part.len()).into())
                .is_none_or(|found| found.start.saturating_sub(self.read) > UNCHARGED_BYTES)
        {
            self.prefilter = self.parked.take();
            return self.go_on_filtered();
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Charges what was read, if it is much, and skips to the next place where a match may begin, if none has.
    fn skip(&mut self) -> Progress<M> {
        self.charge_much()?;
        if self.state == self.start
            && self.found.is_none()
            && let Some(filter) = self.prefilter
        {
            let Some(found) = filter.find(self.part, (self.read..self.part.len()).into()) else {
                self.read = self.part.len();
                return Ok(ControlFlow::Break(None));
            };
            self.candidates = self.candidates.saturating_add(1);
            self.skipped = self.skipped.saturating_add(found.start.saturating_sub(self.read));
            self.read = found.start;
            if self.candidates > FIRST_CANDIDATES && self.skipped / BYTES_PER_CANDIDATE < self.candidates {
                self.prefilter = None;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads a byte, builds the state that it leads to if that is not there, and tells what that
    /// state says. At the end of the text, tells whether a match ends there.
    pub(super) fn step(&mut self) -> Progress<M> {
        let next = self.read.wrapping_add(1);
        let byte = match self.dfa.direction {
            Direction::Forward => self.part.get(self.read),
            Direction::Backward => self.part.len().checked_sub(next).and_then(|at| self.part.get(at)),
        };
        let Some(&byte) = byte else { return self.step_beyond().map(ControlFlow::Break) };
        let clears = self.built.cache.clear_count();
        self.state = self.next(self.state, byte)?;
        if self.state.is_tagged() {
            // A match state says that a match ended before the byte.
            if self.state.is_match() {
                self.found = Some(self.place());
                if self.earliest {
                    return Ok(ControlFlow::Break(self.found));
                }
            } else if self.state.is_dead() {
                return Ok(ControlFlow::Break(self.found));
            } else if self.state.is_quit() {
                return Err(Stop::Undecided);
            }
        }
        if self.built.cache.clear_count() != clears && self.prefilter.or(self.parked).is_some() {
            self.start = self.start_state(0)?;
        }
        self.read = next;
        Ok(ControlFlow::Continue(()))
    }

    /// Where the last match ended, if the byte beyond the range or the end of the text says that.
    fn step_beyond(&mut self) -> Outcome<M> {
        let end = match self.beyond {
            Some(byte) => self.next(self.state, byte)?,
            None => self.dfa.dfa.next_eoi_state(&mut self.built.cache, self.state).map_err(|_| Stop::Undecided)?,
        };
        if end.is_quit() {
            return Err(Stop::Undecided);
        }
        Ok(if end.is_match() { Some(self.place()) } else { self.found })
    }

    /// The offset in the whole text of what is read next.
    fn place(&self) -> usize {
        match self.dfa.direction {
            Direction::Forward => self.range.start.saturating_add(self.read),
            Direction::Backward => self.range.end.saturating_sub(self.read),
        }
    }

    /// Charges what was read.
    fn finish(&mut self, found: Option<usize>) -> Outcome<M> {
        self.charge_read()?;
        Ok(found)
    }

    /// Reads at most `most` bytes through states that exist and mean nothing, until one leads to
    /// `stop` or much has been read: the usual case, in a loop of its own that does little else.
    #[inline]
    fn read_on(&mut self, most: usize, stop: Option<LazyStateID>) {
        if self.state.is_tagged() {
            return;
        }
        let end = self.charged.saturating_add(UNCHARGED_BYTES).min(self.read.saturating_add(most)).min(self.part.len());
        let reversed = (self.part.len().saturating_sub(end), self.part.len().saturating_sub(self.read));
        let (state, count) = match self.dfa.direction {
            Direction::Forward => self.follow(self.part.get(self.read..end).unwrap_or_default().iter(), stop),
            Direction::Backward => {
                self.follow(self.part.get(reversed.0..reversed.1).unwrap_or_default().iter().rev(), stop)
            }
        };
        self.state = state;
        self.read = self.read.saturating_add(count);
    }

    /// Returns the state that the bytes lead to, and the number of bytes read.
    #[inline(always)]
    fn follow<'t>(&self, bytes: impl Iterator<Item = &'t u8>, stop: Option<LazyStateID>) -> (LazyStateID, usize) {
        let (dfa, cache) = (&*self.dfa.dfa, &self.built.cache);
        let (mut state, mut count) = (self.state, 0_usize);
        for &byte in bytes {
            let next = dfa.next_state_untagged(cache, state, byte);
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

    /// Lets searches that read forward take turns after each byte, until one of them [needs another
    /// step](Self::step_slow). What the processor waits for in one of them, it does for the others
    /// meanwhile.
    #[inline]
    pub(super) fn follow_in_turns<const N: usize>(searches: [&mut Self; N]) {
        let parts = searches.each_ref().map(|search| {
            let end = search.charged.saturating_add(UNCHARGED_BYTES).min(search.limit).min(search.part.len());
            search.part.get(search.read..end).unwrap_or_default()
        });
        let count = parts.iter().map(|part| part.len()).min().unwrap_or(0);
        let mut states = searches.each_ref().map(|search| search.state);
        if states.iter().any(LazyStateID::is_tagged) {
            return;
        }
        let mut read = 0_usize;
        {
            let automata = searches.each_ref().map(|search| (&*search.dfa.dfa, &search.built.cache));
            let parts = parts.map(|part| part.get(..count).unwrap_or_default());
            while read < count {
                let mut next = states;
                let mut tagged = false;
                for ((next, part), (dfa, cache)) in next.iter_mut().zip(&parts).zip(&automata) {
                    let Some(&byte) = part.get(read) else { break };
                    *next = dfa.next_state_untagged(cache, *next, byte);
                    tagged |= next.is_tagged();
                }
                if tagged {
                    break;
                }
                states = next;
                read = read.wrapping_add(1);
            }
        }
        for (search, state) in searches.into_iter().zip(states) {
            search.state = state;
            search.read = search.read.saturating_add(read);
        }
    }

    /// Whether it needs a [slow step](Self::step_slow) before it can take turns again.
    fn needs_slow_step(&self) -> bool {
        let much = self.read.wrapping_sub(self.charged) >= UNCHARGED_BYTES;
        if self.state.is_tagged() || much || self.read >= self.limit {
            return true;
        }
        let byte = self.part.get(self.read);
        byte.is_none_or(|byte| self.dfa.dfa.next_state_untagged(&self.built.cache, self.state, *byte).is_tagged())
    }

    /// Takes the step that interleaving can't take, if it needs one: charges, builds a missing state, or ends.
    pub(super) fn step_slow(&mut self) -> Progress<M> {
        if !self.needs_slow_step() {
            return Ok(ControlFlow::Continue(()));
        }
        if let Some(near) = self.near.filter(|_| self.limit <= self.read && self.read < self.part.len()) {
            return self.leave(near);
        }
        if self.read.wrapping_sub(self.charged) >= UNCHARGED_BYTES {
            self.charge_read()?;
            if let ended @ ControlFlow::Break(_) = self.resume_filtered()? {
                return Ok(ended);
            }
        }
        match self.step()? {
            ControlFlow::Break(found) => self.finish(found).map(ControlFlow::Break),
            go_on => Ok(go_on),
        }
    }

    /// Charges what was read, if it is much.
    fn charge_much(&mut self) -> Result<(), Stop<M::Error>> {
        if self.read.wrapping_sub(self.charged) >= UNCHARGED_BYTES { self.charge_read() } else { Ok(()) }
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

    /// Who pays for the search.
    pub(super) fn meter(&self) -> &M {
        &self.meter
    }

    /// The state in which no match has begun, after this many bytes were read: at least one only if it reads forward.
    fn start_state(&mut self, read: usize) -> Result<LazyStateID, Stop<M::Error>> {
        let anchored = if self.dfa.direction == Direction::Forward { Anchored::No } else { Anchored::Yes };
        let before = read.checked_sub(1).map_or(self.outside, |last| self.part.get(last).copied());
        let config = start::Config::new().anchored(anchored).look_behind(before);
        let before = self.size();
        let start = self.dfa.dfa.start_state(&mut self.built.cache, &config).map_err(|_| Stop::Undecided)?;
        if self.size() == before {
            self.charge(STEPS_PER_TRANSITION)?;
        } else {
            self.charge_built(before, None, start)?;
        }
        Ok(start)
    }

    /// Memory of the states in bytes, and how often they were dropped.
    fn size(&self) -> (usize, usize) {
        (self.built.cache.memory_usage(), self.built.cache.clear_count())
    }

    #[inline]
    fn next(&mut self, state: LazyStateID, byte: u8) -> Result<LazyStateID, Stop<M::Error>> {
        if !state.is_tagged() {
            let next = self.dfa.dfa.next_state_untagged(&self.built.cache, state, byte);
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
        let missing = !tagged || !self.built.known.contains(&(state, column));
        let before = self.size();
        let next = self.dfa.dfa.next_state(&mut self.built.cache, state, byte).map_err(|_| Stop::Undecided)?;
        if missing {
            self.charge_built(before, Some(state), next)?;
            if tagged && self.built.cache.clear_count() == before.1 {
                self.built.known.insert((state, column));
            }
        }
        Ok(next)
    }

    /// Charges a transition that was missing, and remembers the size of its target if that is new.
    fn charge_built(
        &mut self,
        (bytes, clears): (usize, usize),
        from: Option<LazyStateID>,
        to: LazyStateID,
    ) -> Result<(), Stop<M::Error>> {
        let Built { cache, sizes, known } = &mut **self.built;
        let from = from.and_then(|state| sizes.get(&state).copied()).unwrap_or(0_usize);
        let usage = cache.memory_usage();
        if cache.clear_count() != clears {
            sizes.clear();
            known.clear();
            // The new state is among the few that are left, of unknown size.
            sizes.insert(to, from);
        } else if let Some(grown) = usage.checked_sub(bytes).filter(|grown| *grown > 0) {
            sizes.insert(to, grown);
        }
        let both = from.saturating_add(sizes.get(&to).copied().unwrap_or(0));
        let steps = both.saturating_mul(self.dfa.overhead) / STATE_BYTES_PER_STEP;
        self.charge(steps.saturating_add(STEPS_PER_TRANSITION))
    }
}

#[cfg(test)]
mod tests;
