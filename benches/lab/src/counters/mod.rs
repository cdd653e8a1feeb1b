//! What is counted while a stage runs. A [`Probe`] holds the counters of one kind of round: time
//! and hardware counters, memory, or instructions under callgrind.

mod callgrind;
mod hardware;
mod space;
mod time;

pub use callgrind::{Callgrind, last_total};
pub use hardware::Hardware;
pub use space::Space;
pub use time::Time;

use crate::planted::waste;
use celero::settings::StageObserver;

/// A quantity that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Its name in records.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// By what means it is counted.
    pub source: &'static str,
}

/// Counts what happens between `begin` and `end`.
pub trait Counter {
    /// What it counts, in the order of the values of `end`.
    fn quantities(&self) -> &'static [Quantity];
    /// Begins to count.
    fn begin(&mut self);
    /// Ends, and appends a value for each quantity.
    fn end(&mut self, values: &mut Vec<f64>);
}

/// Counters around stages. What a stage counted in its several parts is added up until it is taken.
pub struct Probe {
    counters: Vec<Box<dyn Counter>>,
    /// For each stage its values, in the order of the counters.
    stages: Vec<(&'static str, Vec<f64>)>,
    values: Vec<f64>,
    /// A stage, and turns of a loop that are run once within it.
    planted: Option<(String, u64)>,
}

impl Probe {
    /// A probe with these counters. They begin in this order and end in the opposite one, so the
    /// last is the most precise.
    #[must_use]
    pub fn new(counters: Vec<Box<dyn Counter>>) -> Self {
        Self { counters, stages: Vec::with_capacity(32), values: Vec::with_capacity(16), planted: None }
    }

    /// What is counted, in the order of the values of [`take`](Self::take).
    #[must_use]
    pub fn quantities(&self) -> Vec<Quantity> {
        self.counters.iter().rev().flat_map(|counter| counter.quantities()).copied().collect()
    }

    /// Returns what each stage counted since the last call.
    pub fn take(&mut self) -> Vec<(&'static str, Vec<f64>)> {
        self.planted = None;
        std::mem::take(&mut self.stages)
    }

    /// Makes a stage slower until the next call of [`take`](Self::take), by turns of a loop.
    pub(crate) fn plant(&mut self, stage: &str, turns: u64) {
        self.planted = Some((stage.to_owned(), turns));
    }

    /// Runs a stage.
    pub fn stage<T>(&mut self, stage: &'static str, run: impl FnOnce() -> T) -> T {
        self.averaged(stage, 1, run)
    }

    /// Runs a stage that does something `count` times, and records the average.
    pub fn averaged<T>(&mut self, stage: &'static str, count: usize, run: impl FnOnce() -> T) -> T {
        self.start();
        let result = run();
        self.stop(stage, count.max(1) as f64);
        result
    }

    fn start(&mut self) {
        for counter in &mut self.counters {
            counter.begin();
        }
    }

    fn stop(&mut self, stage: &'static str, count: f64) {
        if let Some((_, turns)) = self.planted.take_if(|(planted, _)| planted == stage) {
            waste(turns);
        }
        self.values.clear();
        for counter in self.counters.iter_mut().rev() {
            counter.end(&mut self.values);
        }
        let values = self.values.iter().map(|value| value / count);
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, sums)) => sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
            None => self.stages.push((stage, values.collect())),
        }
    }
}

impl StageObserver for Probe {
    fn begin(&mut self, _: &'static str) {
        self.start();
    }

    fn end(&mut self, stage: &'static str) {
        self.stop(stage, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Calls(f64);

    impl Counter for Calls {
        fn quantities(&self) -> &'static [Quantity] {
            &[Quantity { name: "calls", unit: "calls", source: "test" }]
        }

        fn begin(&mut self) {
            self.0 += 1.0;
        }

        fn end(&mut self, values: &mut Vec<f64>) {
            values.push(self.0);
        }
    }

    #[test]
    fn parts_of_a_stage_add_up_and_batches_are_averaged() {
        let mut probe = Probe::new(vec![Box::new(Calls(0.0)), Box::new(Calls(10.0))]);
        assert_eq!(probe.quantities().len(), 2);
        probe.begin("a");
        probe.end("a");
        probe.stage("a", || ());
        probe.averaged("b", 2, || ());
        assert_eq!(probe.take(), [("a", vec![11.0 + 12.0, 1.0 + 2.0]), ("b", vec![6.5, 1.5])]);
        assert!(probe.take().is_empty());
    }

    #[test]
    fn a_planted_loop_runs_once_in_its_stage() {
        let mut probe = Probe::new(Vec::new());
        probe.plant("b", 1);
        probe.stage("a", || ());
        assert!(probe.planted.is_some());
        probe.stage("b", || ());
        assert!(probe.planted.is_none());
        probe.plant("c", 1);
        probe.take();
        assert!(probe.planted.is_none(), "a subject without the stage leaves nothing to the next");
    }
}
