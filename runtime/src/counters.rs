//! Counting what rules do, without threads that write the same memory.
//!
//! What is counted has a [`Board`]. Each [`Scratch`](crate::Scratch) owns a shard of it, to which nobody else writes, in cache lines
//! of its own; whoever reads sums the shards. A rule has a *place*, the number of its words in every shard.
//!
//! - A shard is made when a scratch comes by for the first time, or when a place is beyond its end. All other counting takes no
//!   lock and allocates nothing.
//! - The shard of a scratch that is gone keeps its counts, and goes to the next scratch: there are never more shards than there
//!   have been scratches at a time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What was counted of a set of rules that counts: [`RuleSetBuilder::counters`](crate::RuleSetBuilder::counters),
/// [`Live::with_counters`](crate::Live::with_counters).
///
/// A set's evaluation evaluates, by definition, all of its rules, or where only the first match is asked for those up to it: so
/// there is no number of evaluations for each rule. Whether an index passed over a rule because it can't be true, or native code
/// computed a part of it with others, shows nowhere.
///
/// Numbers only rise. They are read while others count: each is right, but those of an evaluation that is under way may
/// be there in part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts<'r> {
    /// How often the set was asked.
    pub evaluations: u64,
    /// The mean time of an evaluation, from a sample: the first of each scratch, and each 1024th after it. `None` before the first.
    pub mean_time: Option<Duration>,
    /// What the rules did, in their order.
    pub rules: Vec<RuleCounts<'r>>,
}

/// What was counted of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleCounts<'r> {
    /// Its index in the set.
    pub index: usize,
    /// Its name.
    pub name: &'r str,
    /// How often it was among the answers: those that failed and count as a match included. Of evaluations that asked for the
    /// first match, only that one is.
    pub matches: u64,
    /// How often it failed where its answer was wanted: as often as it was in [`Scratch::errors`](crate::Scratch::errors).
    pub errors: u64,
}

/// Each so many-th evaluation of a shard is timed; a power of two.
const SAMPLED: u64 = 1024;

const EVALUATIONS: usize = 0;
const TIMED: usize = 1;
const NANOSECONDS: usize = 2;
/// Words before those of the first place.
const HEAD: usize = 4;
/// Words of a place: matches, and errors.
const WORDS: usize = 2;

/// Words that share no cache line, nor a pair of them, with anything else.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line([AtomicU64; LINE]);

const LINE: usize = 16;

/// The counts of one scratch. The scratch alone writes them, but for a place that nobody has.
#[derive(Debug)]
struct Shard(Box<[Line]>);

impl Shard {
    /// For so many places, all zero.
    fn new(places: usize) -> Self {
        let words = places.saturating_mul(WORDS).saturating_add(HEAD);
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

    /// Adds to a word, and gives what was there; `None` if there is no such word. There is no other writer: this need not be
    /// one operation.
    fn add(&self, word: usize, n: u64) -> Option<u64> {
        let word = self.word(word)?;
        let before = word.load(Ordering::Relaxed);
        word.store(before.wrapping_add(n), Ordering::Relaxed);
        Some(before)
    }
}

/// The word of a place.
fn word(place: u32, number: usize) -> usize {
    (place as usize).saturating_mul(WORDS).saturating_add(HEAD).saturating_add(number)
}

/// All counts of a set.
#[derive(Debug)]
pub(crate) struct Board {
    /// Which board it is; no other has the same.
    id: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    shards: Vec<Arc<Shard>>,
    /// Places that are or were taken.
    places: u32,
    /// Places that are free again.
    free: Vec<u32>,
}

impl State {
    fn sum(&self, word: usize) -> u64 {
        self.shards.iter().fold(0, |sum: u64, shard| sum.wrapping_add(shard.load(word)))
    }
}

impl Board {
    /// With places for so many rules, from 0.
    pub(crate) fn new(places: usize) -> Self {
        static BOARDS: AtomicU64 = AtomicU64::new(0);
        let places = u32::try_from(places).unwrap_or(u32::MAX);
        let state = State { places, ..State::default() };
        Self { id: BOARDS.fetch_add(1, Ordering::Relaxed), state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many evaluations there were, and the mean time of one.
    pub(crate) fn evaluations(&self) -> (u64, Option<Duration>) {
        let state = self.lock();
        let mean = state.sum(NANOSECONDS).checked_div(state.sum(TIMED)).map(Duration::from_nanos);
        (state.sum(EVALUATIONS), mean)
    }

    /// Of each of these places, the matches and errors.
    pub(crate) fn read(&self, places: impl Iterator<Item = u32>, mut tell: impl FnMut(u64, u64)) {
        let state = self.lock();
        places.for_each(|place| tell(state.sum(word(place, 0)), state.sum(word(place, 1))));
    }

    /// A shard for a scratch, at least up to a place. It has `old` until now, if any.
    fn shard(&self, old: Option<&Arc<Shard>>, place: u32) -> Arc<Shard> {
        let mut state = self.lock();
        // No room for one more rule would mean to make all shards anew with every single one.
        let places = (state.places.max(place.saturating_add(1)) as usize).next_power_of_two();
        let new = Shard::new(places);
        let State { shards, .. } = &mut *state;
        let mine = match old {
            Some(old) => shards.iter_mut().find(|shard| Arc::ptr_eq(shard, old)),
            // What its last owner has written is visible: uniqueness is established by an acquiring load.
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

/// A place on a board, which is free again when this goes.
#[derive(Debug)]
pub(crate) struct Place {
    board: Arc<Board>,
    number: u32,
}

impl Place {
    /// A place of which nothing is counted yet.
    pub(crate) fn new(board: &Arc<Board>) -> Self {
        let mut state = board.lock();
        let number = state.free.pop().unwrap_or_else(|| {
            let number = state.places;
            state.places = number.saturating_add(1);
            number
        });
        // Whoever counts at this place comes to know of it later, and whoever did before is done: the place was given back
        // by the last one that knew the rule.
        for words in state.shards.iter().flat_map(|shard| (0..WORDS).map(|of| shard.word(word(number, of)))) {
            words.into_iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        drop(state);
        Self { board: Arc::clone(board), number }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.board.lock().free.push(self.number);
    }
}

/// The shards of a scratch: by board.
#[derive(Debug, Default)]
pub(crate) struct Shards(Vec<(u64, Arc<Shard>)>);

impl Shards {
    /// Begins an evaluation of what has this board.
    pub(crate) fn begin<'s>(&'s mut self, board: &'s Board) -> Counting<'s> {
        let known = self.0.iter().position(|(id, _)| *id == board.id);
        let place = known.unwrap_or_else(|| {
            // Those of boards that are gone are of no use any more.
            self.0.retain(|(_, shard)| Arc::strong_count(shard) > 1);
            self.0.push((board.id, board.shard(None, 0)));
            self.0.len().saturating_sub(1)
        });
        let mut counting = Counting { board, shard: self.0.get_mut(place).map(|(_, shard)| shard), start: None };
        let before = counting.add(EVALUATIONS, 1).unwrap_or(0);
        if before & (SAMPLED - 1) == 0 {
            counting.start = Some(Instant::now());
        }
        counting
    }
}

/// An evaluation that is counted.
pub(crate) struct Counting<'s> {
    board: &'s Board,
    shard: Option<&'s mut Arc<Shard>>,
    /// When it began, if it is timed.
    start: Option<Instant>,
}

impl Counting<'_> {
    fn add(&mut self, word: usize, n: u64) -> Option<u64> {
        self.shard.as_ref().and_then(|shard| shard.add(word, n))
    }

    pub(crate) fn matched(&mut self, place: u32) {
        self.count(place, 0);
    }

    pub(crate) fn failed(&mut self, place: u32) {
        self.count(place, 1);
    }

    fn count(&mut self, place: u32, number: usize) {
        let word = word(place, number);
        if self.add(word, 1).is_none()
            && let Some(shard) = &mut self.shard
        {
            **shard = self.board.shard(Some(shard), place);
            shard.add(word, 1);
        }
    }

    /// The evaluation is over: what follows is no part of its time.
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

    fn read(board: &Board, place: u32) -> (u64, u64) {
        let mut found = (0, 0);
        board.read([place].into_iter(), |matches, errors| found = (matches, errors));
        found
    }

    #[test]
    fn a_shard_is_inherited_and_its_counts_stay() {
        let board = Board::new(2);
        for round in 1..=5 {
            let mut shards = Shards::default();
            shards.begin(&board).matched(1);
            let mut others = Shards::default();
            others.begin(&board).failed(1);
            assert_eq!((read(&board, 1), read(&board, 0)), ((round, round), (0, 0)));
        }
        assert_eq!((board.evaluations().0, board.lock().shards.len()), (10, 2));
    }

    #[test]
    fn shards_of_boards_that_are_gone_are_let_go() {
        let mut shards = Shards::default();
        for _ in 0..10 {
            shards.begin(&Board::new(1));
        }
        assert_eq!(shards.0.len(), 1);
        let kept = Board::new(1);
        shards.begin(&kept);
        shards.begin(&Board::new(1));
        shards.begin(&Board::new(1));
        assert_eq!((shards.0.len(), kept.evaluations().0), (2, 1));
    }

    #[test]
    fn places_are_given_again_and_start_at_zero() {
        let board = Arc::new(Board::new(0));
        let mut shards = Shards::default();
        let places: Vec<Place> = (0..100).map(|_| Place::new(&board)).collect();
        for place in &places {
            let mut counting = shards.begin(&board);
            counting.matched(place.number());
            counting.failed(place.number());
        }
        let more: Vec<Place> = (0..1000).map(|_| Place::new(&board)).collect();
        shards.begin(&board).matched(more[999].number());
        assert!(places.iter().all(|place| read(&board, place.number()) == (1, 1)), "they survive growth");
        drop(places);
        let again = Place::new(&board);
        assert!(again.number() < 100);
        assert_eq!(read(&board, again.number()), (0, 0));
        assert_eq!((board.evaluations().0, board.lock().shards.len()), (101, 1));
    }

    #[test]
    fn a_sample_is_timed() {
        let board = Board::new(0);
        let mut shards = Shards::default();
        for _ in 0..=SAMPLED {
            shards.begin(&board).end();
        }
        assert_eq!(board.lock().sum(TIMED), 2);
        assert!(board.evaluations().1.is_some());
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
