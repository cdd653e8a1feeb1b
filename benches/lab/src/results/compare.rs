//! Whether two runs differ: for each counter and stage, in each partition and in all together.
//!
//! A cell has changed if the interval of its ratio (see [`statistics`](crate::results::statistics)) excludes
//! 1, the ratio is at least as far from 1 as the counter's floor, and there are enough rules for
//! the confidence of intervals. With fewer rules it has changed if all of them moved in one
//! direction and either the stage as a whole has changed that way too, or the ratio is at least
//! [`LARGE`]. Fewer than [`MIN`] rules are shown, but not judged.

use super::record::{Measurement, Run};
use super::statistics::{CONFIDENCE, Estimate, compare};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The fewest rules by which a cell is judged.
pub const MIN: usize = 4;
/// A ratio that few rules suffice for.
pub const LARGE: f64 = 1.2;
/// The partition of all rules together.
pub const ALL: &str = "all";
/// Rules that are shown of a cell.
const WORST: usize = 3;

/// What is said of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No change that is larger than the noise.
    Same,
    /// More is counted.
    Worse,
    /// Less is counted.
    Better,
    /// There are too few pairs.
    TooFew,
}

/// A counter of a stage in a partition, in two runs.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The counter.
    pub counter: String,
    /// The stage.
    pub stage: String,
    /// The partition, or [`ALL`].
    pub partition: String,
    /// How the runs differ.
    pub estimate: Estimate,
    /// Whether they do.
    pub verdict: Verdict,
    /// The rules with the largest ratios, by id.
    pub worst: Vec<(String, f64)>,
}

/// Returns the smallest relative change of a counter that counts as one.
#[must_use]
pub fn floor(counter: &str) -> f64 {
    match counter {
        "instructions" | "allocations" | "code_bytes" => 0.01,
        "branches" => 0.02,
        "wall_time" | "cycles" => 0.05,
        _ => 0.10,
    }
}

/// Compares two runs. Rules and stages that only one of them has are left out.
#[must_use]
pub fn cells(first: &Run, second: &Run) -> Vec<Cell> {
    type Pairs = BTreeMap<String, (f64, f64)>;
    let key = |m: &Measurement| (m.counter.clone(), m.stage.clone(), m.partition.clone());
    let known: BTreeMap<_, &Measurement> = first.measurements.iter().map(|m| (key(m), m)).collect();
    let mut pairs: BTreeMap<(String, String, String), Pairs> = BTreeMap::new();
    for measurement in &second.measurements {
        let key = key(measurement);
        let Some(before) = known.get(&key) else { continue };
        for (id, after) in &measurement.values {
            if let Some(before) = before.values.get(id) {
                pairs.entry(key.clone()).or_default().insert(id.clone(), (*before, *after));
                let all = (key.0.clone(), key.1.clone(), ALL.to_owned());
                pairs.entry(all).or_default().insert(id.clone(), (*before, *after));
            }
        }
    }
    let cell = |((counter, stage, partition), pairs): ((String, String, String), Pairs)| {
        let estimate = compare(&pairs.values().copied().collect::<Vec<_>>())?;
        let verdict = verdict(&estimate, floor(&counter));
        let mut worst: Vec<(String, f64)> =
            pairs.into_iter().filter(|(_, (a, _))| *a > 0.0).map(|(id, (a, b))| (id, b / a)).collect();
        worst.sort_by(|a, b| b.1.total_cmp(&a.1));
        worst.truncate(WORST);
        Some(Cell { counter, stage, partition, estimate, verdict, worst })
    };
    let mut cells: Vec<Cell> = pairs.into_iter().filter_map(cell).collect();
    let wholes: Vec<(String, String, Verdict)> = cells
        .iter()
        .filter(|cell| cell.partition == ALL && cell.estimate.confidence >= CONFIDENCE)
        .map(|cell| (cell.counter.clone(), cell.stage.clone(), cell.verdict))
        .collect();
    for cell in &mut cells {
        let Estimate { ratio, confidence, .. } = cell.estimate;
        let moved = matches!(cell.verdict, Verdict::Worse | Verdict::Better);
        if moved && confidence < CONFIDENCE && ratio.max(1.0 / ratio) < LARGE {
            let whole = wholes.iter().find(|(counter, stage, _)| *counter == cell.counter && *stage == cell.stage);
            if whole.is_none_or(|(.., whole)| *whole != cell.verdict) {
                cell.verdict = Verdict::TooFew;
            }
        }
    }
    cells
}

/// What the figures of a cell alone say.
fn verdict(estimate: &Estimate, floor: f64) -> Verdict {
    let &Estimate { ratio, low, high, pairs, .. } = estimate;
    if pairs < MIN {
        Verdict::TooFew
    } else if low > 1.0 && ratio >= 1.0 + floor {
        Verdict::Worse
    } else if high < 1.0 && ratio <= 1.0 / (1.0 + floor) {
        Verdict::Better
    } else {
        Verdict::Same
    }
}

/// Returns why figures of two runs can't be compared: what differs that decides instruction counts.
/// `None` if nothing does.
#[must_use]
pub fn incomparable(first: &Run, second: &Run) -> Option<String> {
    let (a, b) = (&first.info, &second.info);
    let facts = [
        ("architecture", &a.machine.arch, &b.machine.arch),
        ("C library", &a.machine.libc, &b.machine.libc),
        ("toolchain", &a.build.toolchain, &b.build.toolchain),
        ("profile", &a.build.profile, &b.build.profile),
        ("target", &a.build.target, &b.build.target),
        ("features of the build", &a.build.features.join(" "), &b.build.features.join(" ")),
        ("processor features", &a.machine.counted_features.join(" "), &b.machine.counted_features.join(" ")),
    ];
    let (what, one, other) = facts.into_iter().find(|(_, one, other)| one != other)?;
    Some(format!("the runs have different values of {what}: `{one}` and `{other}`"))
}

/// Returns the cells as a table: those that changed, or all. Rules are named for those that got worse.
#[must_use]
pub fn table(cells: &[Cell], second: &Run, all: bool) -> String {
    let mut text = String::new();
    let shown: Vec<&Cell> =
        cells.iter().filter(|cell| all || matches!(cell.verdict, Verdict::Worse | Verdict::Better)).collect();
    if !shown.is_empty() {
        let _ = writeln!(
            text,
            "{:13} {:17} {:18} {:>8}  {:20} {:>6} {:>5}  verdict",
            "counter", "stage", "partition", "ratio", "interval", "effect", "rules"
        );
    }
    for Cell { counter, stage, partition, estimate, verdict, worst } in shown {
        let Estimate { ratio, low, high, effect, pairs, .. } = estimate;
        let interval = format!("{low:.4} to {high:.4}");
        let word = match verdict {
            Verdict::Same => "same",
            Verdict::Worse => "WORSE",
            Verdict::Better => "better",
            Verdict::TooFew => "too few rules",
        };
        let _ = writeln!(
            text,
            "{counter:13} {stage:17} {partition:18} {ratio:>8.4}  {interval:20} {effect:>+6.2} {pairs:>5}  {word}"
        );
        if *verdict == Verdict::Worse {
            for (id, ratio) in worst {
                let rule = second.rule(id).unwrap_or(id).replace('\n', " ");
                let rule: String = rule.chars().take(100).collect();
                let _ = writeln!(text, "    {ratio:.4}  {rule}");
            }
        }
    }
    let count = |verdict| cells.iter().filter(|cell| cell.verdict == verdict).count();
    let (worse, better) = (count(Verdict::Worse), count(Verdict::Better));
    let (same, few) = (count(Verdict::Same), count(Verdict::TooFew));
    let _ = writeln!(text, "{worse} worse, {better} better, {same} the same, {few} with too few rules to judge");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::example;
    use celero_tests::generate::Rng;

    /// Figures of 16 rules with relative noise of at most `noise`.
    fn figures(seed: u64, factor: f64, noise: f64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        let values = (1..=16).map(|n| f64::from(n) * 10_000.0);
        values.map(|value| value * factor * (1.0 + noise * (rng.below(2_001) as f64 / 1_000.0 - 1.0))).collect()
    }

    fn verdicts(factor: f64, noise: f64) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for seed in 0..500 {
            let first = example("a", "fold", &figures(seed, 1.0, noise));
            let second = example("b", "fold", &figures(seed + 1_000_000, factor, noise));
            for cell in cells(&first, &second).iter().filter(|cell| cell.partition != ALL) {
                let word = match cell.verdict {
                    Verdict::Worse => "worse",
                    Verdict::Better => "better",
                    _ => "same",
                };
                *counts.entry(word).or_default() += 1;
            }
        }
        counts
    }

    #[test]
    fn planted_slowdowns_are_found_and_nothing_else() {
        // The noise of instruction counts is below 0.3 %.
        assert_eq!(verdicts(1.0, 0.003).get("same"), Some(&500));
        assert_eq!(verdicts(1.02, 0.003).get("worse"), Some(&500));
        assert_eq!(verdicts(1.05, 0.003).get("worse"), Some(&500));
        assert_eq!(verdicts(0.95, 0.003).get("better"), Some(&500));
        // With the noise of times 5 % are often missed, but nothing is made up.
        assert!(verdicts(1.0, 0.05).get("same") >= Some(&490), "{:?}", verdicts(1.0, 0.05));
    }

    #[test]
    fn a_regression_is_named_with_its_rules() {
        let first = example("a", "fold", &[100.0; 16]);
        let mut after = [105.0; 16];
        after[2] = 130.0;
        let second = example("b", "fold", &after);
        let cells = cells(&first, &second);
        assert!(cells.iter().all(|cell| cell.verdict == Verdict::Worse) && cells.len() == 2, "{cells:?}");
        let table = table(&cells, &second, false);
        for part in ["fold", "cel/contains", "WORSE", "1.3000  rule 0000000000000002", "2 worse, 0 better"] {
            assert!(table.contains(part), "no `{part}` in:\n{table}");
        }
    }

    #[test]
    fn few_rules_are_not_judged() {
        let (first, second) = (example("a", "fold", &[100.0; 3]), example("b", "fold", &[200.0; 3]));
        assert!(cells(&first, &second).iter().all(|cell| cell.verdict == Verdict::TooFew));
        let small =
            |factor: f64| cells(&example("a", "fold", &[100.0; 6]), &example("b", "fold", &[100.0 * factor; 6]));
        assert!(small(1.05).iter().all(|cell| cell.verdict == Verdict::TooFew), "it may be chance");
        assert!(small(1.25).iter().all(|cell| cell.verdict == Verdict::Worse), "a large change");
    }

    #[test]
    fn a_partition_with_few_rules_is_judged_by_its_stage() {
        let mut runs = [1.0, 1.05].map(|factor| example("a", "fold", &[100.0 * factor; 16]));
        for (run, factor) in runs.iter_mut().zip([1.0, 1.05]) {
            let mut small = example("a", "fold", &[]).measurements.remove(0);
            small.partition = "cel/regex".to_owned();
            small.values = (0..5).map(|n| (format!("small{n}"), 50.0 * factor)).collect();
            run.measurements.push(small);
        }
        let [first, second] = runs;
        let cells = cells(&first, &second);
        assert!(cells.len() == 3 && cells.iter().all(|cell| cell.verdict == Verdict::Worse), "{cells:?}");
    }

    #[test]
    fn different_builds_are_not_compared() {
        let first = example("a", "fold", &[1.0]);
        let mut second = first.clone();
        assert_eq!(incomparable(&first, &second), None);
        second.info.build.profile = "release-3".to_owned();
        assert!(incomparable(&first, &second).unwrap().contains("profile"));
    }
}
