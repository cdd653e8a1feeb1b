//! Measures calls against a reference: what one step of the budget promises.

use super::*;
use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration as Elapsed, Instant};

/// Most times the reference that a step may take (`docs/language.md`, "Limits"). A build without
/// full optimisation slows what is generic, such as the standard library's searches, more than the
/// loop of the reference.
pub(super) const FACTOR: f64 = if cfg!(debug_assertions) { 50.0 } else { 10.0 };
/// Steps for the calls of one measurement: hours.
const BUDGET: i64 = 1 << 40;
/// Memory for what the calls of one measurement build.
const MEMORY: usize = 1 << 28;
/// Shortest measurement: much longer than reading the clock takes.
const SHORTEST: Elapsed = Elapsed::from_micros(15);
const MAX_CALLS: usize = 256;
/// Measurements after which a call counts as fast enough, and as too slow.
const MIN_ROUNDS: usize = 5;
const MAX_ROUNDS: usize = 60;

/// A step is about as much work as reading eight bytes through an automaton: each read waits for the one before.
pub(super) struct Reference {
    next: Vec<u16>,
    text: Vec<u8>,
    /// Nanoseconds of a step in the fastest run.
    best: Cell<f64>,
}

const STATES: usize = 32;
const BYTES_PER_STEP: usize = 8;

impl Reference {
    pub(super) fn new() -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        let state = |random: &mut fastrand::Rng| u16::try_from(random.usize(..STATES) << 8).unwrap();
        let next = (0..STATES << 8).map(|_| state(&mut random)).collect();
        let text = (0..200 * BYTES_PER_STEP).map(|_| random.u8(..)).collect();
        let reference = Self { next, text, best: Cell::new(f64::INFINITY) };
        (0..100).for_each(|_| reference.run());
        reference
    }

    /// Runs once, and keeps the time if it is the shortest.
    fn run(&self) {
        let start = Instant::now();
        let mut state = 0_usize;
        for byte in black_box(&self.text) {
            state = usize::from(self.next[state + usize::from(*byte)]);
        }
        black_box(state);
        let steps = self.text.len() / BYTES_PER_STEP;
        self.best.set(self.best.get().min(nanoseconds(start.elapsed()) / steps as f64));
    }

    /// Returns the nanoseconds of a step in these calls, which are made one after another. Each
    /// call may take a step besides those that it charges.
    fn measure(&self, arena: &mut Arena, builtin: Builtin, calls: &[Vec<Value<'_>>]) -> f64 {
        self.run();
        arena.recycle(MEMORY);
        let cx = Cx::new(BUDGET, arena);
        let start = Instant::now();
        let mut count = 0_usize;
        for args in calls.iter().cycle().take(MAX_CALLS.max(calls.len())) {
            // The result is of no interest, but the call must be made.
            let _ = black_box(invoke(&cx, builtin, black_box(args)));
            count += 1;
            if count >= calls.len() && start.elapsed() > SHORTEST {
                break;
            }
        }
        let elapsed = nanoseconds(start.elapsed());
        // A budget that is exceeded ends the evaluation.
        let Ok(left) = u64::try_from(cx.left()) else { return 0.0 };
        elapsed / ((BUDGET.cast_unsigned() - left) as f64 + count as f64)
    }

    /// Returns about how many times the reference a step in these calls takes.
    pub(super) fn estimate(&self, arena: &mut Arena, builtin: Builtin, calls: &[Vec<Value<'_>>]) -> f64 {
        let fastest = (0..2).map(|_| self.measure(arena, builtin, calls)).fold(f64::INFINITY, f64::min);
        fastest / self.best.get()
    }

    /// Returns how many times the reference a step in these calls takes, if that is above
    /// [`FACTOR`] however often both are measured. What else the machine does slows both.
    pub(super) fn excess(&self, arena: &mut Arena, builtin: Builtin, calls: &[Vec<Value<'_>>]) -> Option<f64> {
        self.best.set(f64::INFINITY);
        let mut fastest = f64::INFINITY;
        for round in 1..=MAX_ROUNDS {
            fastest = fastest.min(self.measure(arena, builtin, calls));
            if round >= MIN_ROUNDS && fastest / self.best.get() <= FACTOR {
                return None;
            }
        }
        Some(fastest / self.best.get())
    }
}

fn nanoseconds(elapsed: Elapsed) -> f64 {
    elapsed.as_nanos() as f64
}
