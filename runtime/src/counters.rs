//! Counters of rules: how often each rule matched or failed. Rule sets and live rules count with them, and hosts can.
//!
//! Every [`CounterShards`] owns one shard of a [`Counters`], on its own cache lines, so counting
//! never contends. Readers add up the shards. A rule has a *slot*: the position of its counters in
//! every shard. Each [`Scratch`](crate::Scratch) has shards.
//!
//! - A shard is made when it is used with counters for the first time, and again when a slot is
//!   beyond its end. All other counting takes no lock and does not allocate.
//! - Shards are reused when their owner is dropped, with their counts, so their number is bounded
//!   by the largest number of owners alive at the same time.
//!
//! Invariant: only the owner of a shard writes it, and no two shards share a cache line. Test:
//! `runtime/src/counters.rs::no_two_shards_share_a_line`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The counters of a rule set: [`RuleSet::counts`](crate::RuleSet::counts),
/// [`Rules::counts`](crate::sets::Rules::counts).
///
/// By definition, an evaluation of a set evaluates all rules, or all up to the first match if only
/// that is asked for; there is no number of evaluations per rule. The index and shared native code
/// do not show in counters.
///
/// Counters never decrease. They can be read while other threads count: an evaluation in progress
/// may be included in part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts<'r> {
    /// Number of evaluations of the set.
    pub evaluations: u64,
    /// Mean time of an evaluation, from a sample: the first evaluation of each scratch, and every
    /// 1,024th after it. `None` before the first.
    pub mean_time: Option<Duration>,
    /// The counters of the rules, in their order.
    pub rules: Vec<RuleCounts<'r>>,
}

/// The counters of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleCounts<'r> {
    /// Its index in the set.
    pub index: usize,
    /// Its name.
    pub name: &'r str,
    /// Number of times the rule was in the answer, including failures that count as a match. An
    /// evaluation for the first match counts only that.
    pub matches: u64,
    /// Number of times the rule was in [`Scratch::errors`](crate::Scratch::errors).
    pub errors: u64,
}

impl<'r> Counts<'r> {
    pub(crate) fn new(counters: &Counters, rules: Vec<RuleCounts<'r>>) -> Self {
        let evaluations = counters.evaluations();
        Self { evaluations: evaluations.number, mean_time: evaluations.mean_time(), rules }
    }
}

impl<'r> RuleCounts<'r> {
    pub(crate) fn new(index: usize, name: &'r str, counts: SlotCounts) -> Self {
        let SlotCounts { matches, errors } = counts;
        Self { index, name, matches, errors }
    }
}

/// The sampling interval of rule sets: one evaluation in 1,024 per shard is timed.
const SAMPLING_INTERVAL: u64 = 1024;

const EVALUATIONS: usize = 0;
const TIMED: usize = 1;
const NANOSECONDS: usize = 2;
/// Number of words before those of the first slot.
const HEAD: usize = 4;
/// Number of words of a slot: matches and errors.
const WORDS: usize = 2;

/// Words that share no pair of cache lines with anything else: processors prefetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line([AtomicU64; LINE]);

const LINE: usize = 16;

/// The counters of one owner, which is their only writer, except for slots that no rule has.
#[derive(Debug)]
struct Shard(Box<[Line]>);

impl Shard {
    /// Creates a shard with all counters zero.
    fn new(slots: usize) -> Self {
        let words = slots.saturating_mul(WORDS).saturating_add(HEAD);
        Self((0..words.div_ceil(LINE)).map(|_| Line::default()).collect())
    }

    fn word(&self, word: usize) -> Option<&AtomicU64> {
        self.0.get(word / LINE)?.0.get(word % LINE)
    }

    fn words(&self) -> impl Iterator<Item = &AtomicU64> {
        self.0.iter().flat_map(|line| &line.0)
    }

    fn load(&self, word: usize) -> u64 {
        self.word(word).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Adds to a word. Returns its previous value; `None` if the shard is too short. There is no
    /// other writer, so that the addition need not be atomic.
    fn add(&self, word: usize, n: u64) -> Option<u64> {
        let word = self.word(word)?;
        let before = word.load(Ordering::Relaxed);
        word.store(before.wrapping_add(n), Ordering::Relaxed);
        Some(before)
    }
}

/// The index of a word of a slot.
fn word(slot: u32, number: usize) -> usize {
    (slot as usize).saturating_mul(WORDS).saturating_add(HEAD).saturating_add(number)
}

/// Counters for a host that decides itself what counts as a match: a policy whose rules end the
/// evaluation, for example. A [`RuleSet`](crate::RuleSet) and [`Live`](crate::Live) count without
/// it.
///
/// Share it between threads, and give each thread [`CounterShards`]. Counting takes no lock and
/// does not allocate, but for the first evaluation with new counters.
///
/// ```
/// use celero::counting::{CounterShards, Counters};
///
/// let counters = Counters::new(2).sampling_interval(64);
/// let mut shards = CounterShards::default(); // of this thread
///
/// let mut counting = shards.begin(&counters);
/// counting.matched(1);
/// let timed = counting.end();
///
/// assert!(timed, "the first evaluation of each shard is timed");
/// assert_eq!((counters.evaluations().number, counters.slot(1).matches, counters.slot(0).matches), (1, 1, 0));
/// ```
#[derive(Debug)]
pub struct Counters {
    /// Unique number of these counters.
    id: u64,
    /// The sampling interval, a power of two, minus 1.
    sampling_mask: u64,
    state: Mutex<State>,
}

/// The evaluations that [`Counters`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluations {
    /// Number of evaluations.
    pub number: u64,
    /// Number of those that were timed.
    pub timed: u64,
    /// The sum of the times of these.
    pub time: Duration,
}

impl Evaluations {
    /// The mean time of an evaluation; `None` before the first.
    pub(crate) fn mean_time(&self) -> Option<Duration> {
        let nanoseconds = u64::try_from(self.time.as_nanos()).unwrap_or(u64::MAX);
        nanoseconds.checked_div(self.timed).map(Duration::from_nanos)
    }
}

/// The counts of one slot of [`Counters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlotCounts {
    /// Number of matches.
    pub matches: u64,
    /// Number of errors.
    pub errors: u64,
}

#[derive(Debug, Default)]
struct State {
    shards: Vec<Arc<Shard>>,
    /// Number of slots that are or were taken.
    slots: u32,
    /// Slots that are free again.
    free: Vec<u32>,
}

impl State {
    fn sum(&self, word: usize) -> u64 {
        self.shards.iter().fold(0, |sum: u64, shard| sum.wrapping_add(shard.load(word)))
    }

    fn slot(&self, slot: u32) -> SlotCounts {
        SlotCounts { matches: self.sum(word(slot, 0)), errors: self.sum(word(slot, 1)) }
    }
}

impl Counters {
    /// Creates counters with the slots from 0 up to `slots`, all zero. One evaluation in 1,024 per shard is timed.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        let state = State { slots, ..State::default() };
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, sampling_mask: SAMPLING_INTERVAL - 1, state: Mutex::new(state) }
    }

    /// Sets the sampling interval: one evaluation in `interval` per shard is timed, the first one
    /// included. An interval that is not a power of two is rounded up to one.
    #[must_use]
    pub fn sampling_interval(mut self, interval: u32) -> Self {
        self.sampling_mask = u64::from(interval).next_power_of_two().saturating_sub(1);
        self
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the evaluations so far. Adds up all shards, under a lock that evaluations do not take.
    #[must_use]
    pub fn evaluations(&self) -> Evaluations {
        let state = self.lock();
        let time = Duration::from_nanos(state.sum(NANOSECONDS));
        Evaluations { number: state.sum(EVALUATIONS), timed: state.sum(TIMED), time }
    }

    /// Returns the counts of a slot; zeros if there is no such slot. Adds up all shards, under a
    /// lock that evaluations do not take.
    #[must_use]
    pub fn slot(&self, slot: u32) -> SlotCounts {
        self.lock().slot(slot)
    }

    /// The counts of each of these slots, in their order.
    pub(crate) fn slots(&self, slots: impl Iterator<Item = u32>) -> Vec<SlotCounts> {
        let state = self.lock();
        slots.map(|slot| state.slot(slot)).collect()
    }

    /// A shard that is long enough for `slot`. `old` is the shard that its owner has so far.
    fn shard(&self, old: Option<&Arc<Shard>>, slot: u32) -> Arc<Shard> {
        let mut state = self.lock();
        // Spare slots: otherwise each new rule would make all shards anew.
        let slots = (state.slots.max(slot.saturating_add(1)) as usize).next_power_of_two();
        let new = Shard::new(slots);
        let State { shards, .. } = &mut *state;
        let mine = match old {
            Some(old) => shards.iter_mut().find(|shard| Arc::ptr_eq(shard, old)),
            // `get_mut` loads with acquire ordering, so that what the last owner wrote is visible.
            None => shards.iter_mut().find_map(|shard| Arc::get_mut(shard).is_some().then_some(shard)),
        };
        if let Some(mine) = mine {
            if mine.0.len() < new.0.len() {
                for (new, old) in new.words().zip(mine.words()) {
                    new.store(old.load(Ordering::Relaxed), Ordering::Relaxed);
                }
                *mine = Arc::new(new);
            }
            return Arc::clone(mine);
        }
        let new = Arc::new(new);
        shards.push(Arc::clone(&new));
        new
    }
}

/// A slot of counters. Dropping it gives the slot back.
#[derive(Debug)]
pub(crate) struct CounterSlot {
    counters: Arc<Counters>,
    number: u32,
}

impl CounterSlot {
    /// Takes a slot and sets its counters to zero.
    pub(crate) fn new(counters: &Arc<Counters>) -> Self {
        let mut state = counters.lock();
        let number = state.free.pop().unwrap_or_else(|| {
            let number = state.slots;
            state.slots = number.saturating_add(1);
            number
        });
        // Nobody counts here at the moment: the previous rule of the slot is gone, and the new one is not visible yet.
        for words in state.shards.iter().flat_map(|shard| (0..WORDS).map(|of| shard.word(word(number, of)))) {
            words.into_iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        drop(state);
        Self { counters: Arc::clone(counters), number }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for CounterSlot {
    fn drop(&mut self) {
        self.counters.lock().free.push(self.number);
    }
}

/// The shards of one thread, or of one [`Scratch`](crate::Scratch): one for each [`Counters`] that it counts in.
#[derive(Debug, Default)]
pub struct CounterShards(Vec<(u64, Arc<Shard>)>);

impl CounterShards {
    /// Begins an evaluation: counts it, and reads the clock if it is timed. Takes a lock only for
    /// the first evaluation with these counters.
    pub fn begin<'s>(&'s mut self, counters: &'s Counters) -> Counting<'s> {
        let known = self.0.iter().position(|(id, _)| *id == counters.id);
        let place = known.unwrap_or_else(|| {
            // Drop the shards of counters that were dropped.
            self.0.retain(|(_, shard)| Arc::strong_count(shard) > 1);
            self.0.push((counters.id, counters.shard(None, 0)));
            self.0.len().saturating_sub(1)
        });
        let mut counting = Counting { counters, shard: self.0.get_mut(place).map(|(_, shard)| shard), start: None };
        let before = counting.add(EVALUATIONS, 1).unwrap_or(0);
        if before & counters.sampling_mask == 0 {
            counting.start = Some(Instant::now());
        }
        counting
    }
}

/// An evaluation that is counted: [`CounterShards::begin`].
#[derive(Debug)]
pub struct Counting<'s> {
    counters: &'s Counters,
    shard: Option<&'s mut Arc<Shard>>,
    /// The start, if the evaluation is timed.
    start: Option<Instant>,
}

impl Counting<'_> {
    fn add(&mut self, word: usize, n: u64) -> Option<u64> {
        self.shard.as_ref().and_then(|shard| shard.add(word, n))
    }

    /// Counts a match.
    pub fn matched(&mut self, slot: u32) {
        self.count(slot, 0);
    }

    /// Counts an error.
    pub fn failed(&mut self, slot: u32) {
        self.count(slot, 1);
    }

    fn count(&mut self, slot: u32, number: usize) {
        let word = word(slot, number);
        if self.add(word, 1).is_none()
            && let Some(shard) = &mut self.shard
        {
            **shard = self.counters.shard(Some(shard), slot);
            shard.add(word, 1);
        }
    }

    /// Undoes the count of the evaluation, for one without a result.
    pub fn discard(mut self) {
        self.add(EVALUATIONS, 1_u64.wrapping_neg());
    }

    /// Ends the evaluation. Returns whether it was timed.
    pub fn end(mut self) -> bool {
        let Some(start) = self.start.take() else { return false };
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.add(TIMED, 1);
        self.add(NANOSECONDS, nanoseconds);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(counters: &Counters, slot: u32) -> (u64, u64) {
        let SlotCounts { matches, errors } = counters.slot(slot);
        (matches, errors)
    }

    #[test]
    fn a_shard_is_inherited_and_its_counts_stay() {
        let counters = Counters::new(2);
        for round in 1..=5 {
            let mut shards = CounterShards::default();
            shards.begin(&counters).matched(1);
            let mut others = CounterShards::default();
            others.begin(&counters).failed(1);
            assert_eq!((read(&counters, 1), read(&counters, 0)), ((round, round), (0, 0)));
        }
        assert_eq!((counters.evaluations().number, counters.lock().shards.len()), (10, 2));
    }

    #[test]
    fn shards_of_dropped_counters_are_dropped() {
        let mut shards = CounterShards::default();
        for _ in 0..10 {
            shards.begin(&Counters::new(1));
        }
        assert_eq!(shards.0.len(), 1);
        let kept = Counters::new(1);
        shards.begin(&kept);
        shards.begin(&Counters::new(1));
        shards.begin(&Counters::new(1));
        assert_eq!((shards.0.len(), kept.evaluations().number), (2, 1));
    }

    #[test]
    fn slots_are_given_again_and_start_at_zero() {
        let counters = Arc::new(Counters::new(0));
        let mut shards = CounterShards::default();
        let slots: Vec<CounterSlot> = (0..100).map(|_| CounterSlot::new(&counters)).collect();
        for slot in &slots {
            let mut counting = shards.begin(&counters);
            counting.matched(slot.number());
            counting.failed(slot.number());
        }
        let more: Vec<CounterSlot> = (0..1000).map(|_| CounterSlot::new(&counters)).collect();
        shards.begin(&counters).matched(more[999].number());
        assert!(slots.iter().all(|slot| read(&counters, slot.number()) == (1, 1)), "they survive growth");
        drop(slots);
        let again = CounterSlot::new(&counters);
        assert!(again.number() < 100);
        assert_eq!(read(&counters, again.number()), (0, 0));
        assert_eq!((counters.evaluations().number, counters.lock().shards.len()), (101, 1));
    }

    #[test]
    fn a_sample_is_timed() {
        let counters = Counters::new(0);
        let mut shards = CounterShards::default();
        for _ in 0..=SAMPLING_INTERVAL {
            shards.begin(&counters).end();
        }
        let found = counters.evaluations();
        assert_eq!((found.number, found.timed), (SAMPLING_INTERVAL + 1, 2));
        assert!(found.mean_time().is_some());

        let often = Counters::new(0).sampling_interval(3);
        let timed: Vec<bool> = (0..9).map(|_| shards.begin(&often).end()).collect();
        assert_eq!(timed, [true, false, false, false, true, false, false, false, true]);
    }

    #[test]
    fn no_two_shards_share_a_line() {
        let lines: Vec<usize> = (0..8)
            .map(|_| Shard::new(1))
            .flat_map(|shard| shard.0.iter().map(|line| std::ptr::from_ref(line).addr()).collect::<Vec<_>>())
            .collect();
        assert!(lines.iter().all(|address| address % 128 == 0));
        assert_eq!(size_of::<Line>(), 128);
    }
}
