//! Counters of rule sets: how often each rule matched or failed.
//!
//! Every [`Scratch`](crate::Scratch) owns one shard of a [`CounterRegistry`], on its own cache lines, so counting never contends. Readers add
//! up the shards. A rule has a *slot*: the position of its counters in every shard.
//!
//! - A shard is made when a scratch is used with a registry for the first time, and again when a slot is beyond its end. All other
//!   counting takes no lock and does not allocate.
//! - Shards are reused when a scratch is dropped, with their counts, so their number is bounded by the largest number of scratches
//!   alive at the same time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The counters of a rule set: [`RuleSet::counts`](crate::RuleSet::counts), [`Rules::counts`](crate::Rules::counts).
///
/// By definition, an evaluation of a set evaluates all rules, or all up to the first match if only that is asked for; there is no
/// number of evaluations per rule. The index and shared native code do not show in counters.
///
/// Counters never decrease. They can be read while other threads count: an evaluation in progress may be included in part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts<'r> {
    /// Number of evaluations of the set.
    pub evaluations: u64,
    /// Mean time of an evaluation, from a sample: the first evaluation of each scratch, and every 1,024th after it. `None` before the
    /// first.
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
    /// Number of times the rule was in the answer, including failures that count as a match. An evaluation for the first match counts
    /// only that.
    pub matches: u64,
    /// Number of times the rule was in [`Scratch::errors`](crate::Scratch::errors).
    pub errors: u64,
}

/// Sampling interval: one evaluation in 1,024 per shard is timed. A power of two.
const SAMPLED: u64 = 1024;

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

/// The counters of one scratch, which is their only writer, except for slots that no rule has.
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

    /// Adds to a word. Returns its previous value; `None` if the shard is too short. There is no other writer, so that the addition need
    /// not be atomic.
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

/// The counters of a set: hands out slots and shards, and adds up the shards.
#[derive(Debug)]
pub(crate) struct CounterRegistry {
    /// Unique number of the registry.
    id: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    shards: Vec<Arc<Shard>>,
    /// Places that are or were taken.
    slots: u32,
    /// Places that are free again.
    free: Vec<u32>,
}

impl State {
    fn sum(&self, word: usize) -> u64 {
        self.shards.iter().fold(0, |sum: u64, shard| sum.wrapping_add(shard.load(word)))
    }
}

impl CounterRegistry {
    /// Creates a registry in which the slots from 0 up to `slots` are taken.
    pub(crate) fn new(slots: usize) -> Self {
        static REGISTRIES: AtomicU64 = AtomicU64::new(0);
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        let state = State { slots, ..State::default() };
        Self { id: REGISTRIES.fetch_add(1, Ordering::Relaxed), state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of evaluations, and the mean time of one.
    pub(crate) fn evaluations(&self) -> (u64, Option<Duration>) {
        let state = self.lock();
        let mean = state.sum(NANOSECONDS).checked_div(state.sum(TIMED)).map(Duration::from_nanos);
        (state.sum(EVALUATIONS), mean)
    }

    /// Calls `tell` with the matches and errors of each of these slots.
    pub(crate) fn read(&self, slots: impl Iterator<Item = u32>, mut tell: impl FnMut(u64, u64)) {
        let state = self.lock();
        slots.for_each(|slot| tell(state.sum(word(slot, 0)), state.sum(word(slot, 1))));
    }

    /// A shard for a scratch that is long enough for `slot`. `old` is the shard that it has so far.
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

/// A slot of a registry. Dropping it gives the slot back.
#[derive(Debug)]
pub(crate) struct CounterSlot {
    registry: Arc<CounterRegistry>,
    number: u32,
}

impl CounterSlot {
    /// Takes a slot and sets its counters to zero.
    pub(crate) fn new(registry: &Arc<CounterRegistry>) -> Self {
        let mut state = registry.lock();
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
        Self { registry: Arc::clone(registry), number }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for CounterSlot {
    fn drop(&mut self) {
        self.registry.lock().free.push(self.number);
    }
}

/// The shards of a scratch, by registry.
#[derive(Debug, Default)]
pub(crate) struct Shards(Vec<(u64, Arc<Shard>)>);

impl Shards {
    /// Begins an evaluation of the set with this registry.
    pub(crate) fn begin<'s>(&'s mut self, registry: &'s CounterRegistry) -> Counting<'s> {
        let known = self.0.iter().position(|(id, _)| *id == registry.id);
        let slot = known.unwrap_or_else(|| {
            // Drop the shards of registries that are gone.
            self.0.retain(|(_, shard)| Arc::strong_count(shard) > 1);
            self.0.push((registry.id, registry.shard(None, 0)));
            self.0.len().saturating_sub(1)
        });
        let mut counting = Counting { registry, shard: self.0.get_mut(slot).map(|(_, shard)| shard), start: None };
        let before = counting.add(EVALUATIONS, 1).unwrap_or(0);
        if before & (SAMPLED - 1) == 0 {
            counting.start = Some(Instant::now());
        }
        counting
    }
}

/// An evaluation that is counted.
pub(crate) struct Counting<'s> {
    registry: &'s CounterRegistry,
    shard: Option<&'s mut Arc<Shard>>,
    /// The start, if the evaluation is timed.
    start: Option<Instant>,
}

impl Counting<'_> {
    fn add(&mut self, word: usize, n: u64) -> Option<u64> {
        self.shard.as_ref().and_then(|shard| shard.add(word, n))
    }

    pub(crate) fn matched(&mut self, slot: u32) {
        self.count(slot, 0);
    }

    pub(crate) fn failed(&mut self, slot: u32) {
        self.count(slot, 1);
    }

    fn count(&mut self, slot: u32, number: usize) {
        let word = word(slot, number);
        if self.add(word, 1).is_none()
            && let Some(shard) = &mut self.shard
        {
            **shard = self.registry.shard(Some(shard), slot);
            shard.add(word, 1);
        }
    }

    /// Ends the evaluation's time.
    pub(crate) fn end(&mut self) {
        if let Some(start) = self.start.take() {
            let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.add(TIMED, 1);
            self.add(NANOSECONDS, nanoseconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(registry: &CounterRegistry, slot: u32) -> (u64, u64) {
        let mut found = (0, 0);
        registry.read([slot].into_iter(), |matches, errors| found = (matches, errors));
        found
    }

    #[test]
    fn a_shard_is_inherited_and_its_counts_stay() {
        let registry = CounterRegistry::new(2);
        for round in 1..=5 {
            let mut shards = Shards::default();
            shards.begin(&registry).matched(1);
            let mut others = Shards::default();
            others.begin(&registry).failed(1);
            assert_eq!((read(&registry, 1), read(&registry, 0)), ((round, round), (0, 0)));
        }
        assert_eq!((registry.evaluations().0, registry.lock().shards.len()), (10, 2));
    }

    #[test]
    fn shards_of_boards_that_are_gone_are_let_go() {
        let mut shards = Shards::default();
        for _ in 0..10 {
            shards.begin(&CounterRegistry::new(1));
        }
        assert_eq!(shards.0.len(), 1);
        let kept = CounterRegistry::new(1);
        shards.begin(&kept);
        shards.begin(&CounterRegistry::new(1));
        shards.begin(&CounterRegistry::new(1));
        assert_eq!((shards.0.len(), kept.evaluations().0), (2, 1));
    }

    #[test]
    fn places_are_given_again_and_start_at_zero() {
        let registry = Arc::new(CounterRegistry::new(0));
        let mut shards = Shards::default();
        let slots: Vec<CounterSlot> = (0..100).map(|_| CounterSlot::new(&registry)).collect();
        for slot in &slots {
            let mut counting = shards.begin(&registry);
            counting.matched(slot.number());
            counting.failed(slot.number());
        }
        let more: Vec<CounterSlot> = (0..1000).map(|_| CounterSlot::new(&registry)).collect();
        shards.begin(&registry).matched(more[999].number());
        assert!(slots.iter().all(|slot| read(&registry, slot.number()) == (1, 1)), "they survive growth");
        drop(slots);
        let again = CounterSlot::new(&registry);
        assert!(again.number() < 100);
        assert_eq!(read(&registry, again.number()), (0, 0));
        assert_eq!((registry.evaluations().0, registry.lock().shards.len()), (101, 1));
    }

    #[test]
    fn a_sample_is_timed() {
        let registry = CounterRegistry::new(0);
        let mut shards = Shards::default();
        for _ in 0..=SAMPLED {
            shards.begin(&registry).end();
        }
        assert_eq!(registry.lock().sum(TIMED), 2);
        assert!(registry.evaluations().1.is_some());
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
