//! Rounds: every subject is recorded once in each, so that what disturbs the machine for a while
//! disturbs all of them alike.

use crate::counters::{Probe, Quantity};
use crate::planted::{Planted, TRIAL, waste};
use crate::results::record::Measurement;
use crate::results::statistics::median;
use crate::subjects::plan::Plan;
use crate::subjects::{Subject, subjects};
use celero_tooling::progress::Steps;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often everything is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    /// Rounds that are not recorded.
    pub warm_ups: usize,
    /// Rounds that are.
    pub recordings: usize,
}

/// By partition, stage and number of the quantity: for each id its recordings.
type Samples = BTreeMap<(String, &'static str, usize), BTreeMap<String, Vec<f64>>>;

/// The subjects of a plan, ready to be measured.
pub struct Bench {
    subjects: Vec<Subject>,
    planted: Option<Planted>,
}

impl Bench {
    /// Compiles the rules of a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { subjects: subjects(plan), planted: plan.planted.clone() }
    }

    /// Runs all stages of all subjects in rounds, the warm-ups with `warm`, and returns the measurements.
    pub fn measure(
        &mut self,
        label: &'static str,
        rounds: Rounds,
        warm: &mut Probe,
        make: impl FnOnce() -> Probe,
    ) -> Vec<Measurement> {
        let mut progress = Steps::new(label, self.subjects.len() * (rounds.warm_ups + rounds.recordings));
        for _ in 0..rounds.warm_ups {
            for subject in &mut self.subjects {
                subject.record(warm);
                warm.take();
                progress.step();
            }
        }
        let mut probe = make();
        let planted = self.turns(&mut probe);
        let mut samples = Samples::new();
        for _ in 0..rounds.recordings {
            for (number, subject) in self.subjects.iter_mut().enumerate() {
                if let Some((stage, turns)) = &planted {
                    probe.plant(stage, turns.get(number).copied().unwrap_or(0));
                }
                subject.record(&mut probe);
                for (stage, values) in probe.take() {
                    for (quantity, value) in values.into_iter().enumerate().filter(|(_, value)| value.is_finite()) {
                        let of_stage = samples.entry((subject.partition.clone(), stage, quantity)).or_default();
                        of_stage.entry(subject.id.clone()).or_default().push(value);
                    }
                }
                progress.step();
            }
        }
        let quantities = probe.quantities();
        let measurement =
            |((partition, stage, quantity), values): ((String, &str, usize), BTreeMap<String, Vec<f64>>)| {
                let quantity = quantities.get(quantity)?;
                Some(measurement(quantity, stage, partition, rounds, &values))
            };
        samples.into_iter().filter_map(measurement).collect()
    }

    /// Returns the stage that is made slower and, for each subject, by how many turns of a loop.
    /// They are found by a round that is not recorded.
    fn turns(&mut self, probe: &mut Probe) -> Option<(String, Vec<u64>)> {
        let Planted { stage: slow, share } = self.planted.clone()?;
        let instructions = probe.quantities().iter().position(|quantity| quantity.name == "instructions")?;
        let counted = |probe: &mut Probe, stage: &str| {
            let stages = probe.take();
            let found = stages.iter().find(|(name, _)| *name == stage)?;
            found.1.get(instructions).copied()
        };
        probe.stage("planted", || waste(TRIAL));
        let turn = counted(probe, "planted")? / TRIAL as f64;
        let turns = self.subjects.iter_mut().map(|subject| {
            subject.record(probe);
            (counted(probe, &slow).unwrap_or(0.0) * share / turn).round() as u64
        });
        let turns = turns.collect();
        Some((slow, turns))
    }

    /// Returns the bytes of machine code of each rule.
    #[must_use]
    pub fn code_bytes(&self) -> Vec<Measurement> {
        let mut partitions: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
        for subject in &self.subjects {
            if let Some(bytes) = subject.code_bytes {
                let values = partitions.entry(subject.partition.clone()).or_default();
                values.insert(subject.id.clone(), vec![bytes as f64]);
            }
        }
        let quantity = Quantity { name: "code_bytes", unit: "bytes", source: "compiler" };
        let rounds = Rounds { warm_ups: 0, recordings: 1 };
        let partitions = partitions.into_iter();
        partitions.map(|(partition, values)| measurement(&quantity, "codegen", partition, rounds, &values)).collect()
    }
}

fn measurement(
    quantity: &Quantity,
    stage: &str,
    partition: String,
    rounds: Rounds,
    recordings: &BTreeMap<String, Vec<f64>>,
) -> Measurement {
    let spreads: Vec<f64> = recordings.values().map(|recordings| spread(recordings)).collect();
    let values: BTreeMap<String, f64> =
        recordings.iter().map(|(id, recordings)| (id.clone(), median(recordings))).collect();
    Measurement {
        counter: quantity.name.to_owned(),
        unit: quantity.unit.to_owned(),
        source: quantity.source.to_owned(),
        stage: stage.to_owned(),
        partition,
        recordings: rounds.recordings,
        warm_ups: rounds.warm_ups,
        total: values.values().sum(),
        spread: median(&spreads),
        values,
    }
}

/// Half the range, divided by the median.
fn spread(recordings: &[f64]) -> f64 {
    let (low, high) =
        recordings.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    let middle = median(recordings);
    if middle > 0.0 { (high - low) / 2.0 / middle } else { 0.0 }
}
