//! Tables of improvements: how many times fewer instructions one way of evaluating a rule takes
//! than another, for rules that search in text, simple rules, and all.

use super::record::Run;
use super::statistics::{Estimate, compare};
use crate::structure::{Feature, Structure};
use celero_tooling::language::Language;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Two stages that are compared, with what they are called.
const PAIRS: &[(&str, &str, &str, &str)] = &[
    ("Interpreter against native code", "eval-interpreted", "interpreter", "eval-warm"),
    ("memmem against celero's search, in native code", "eval-memmem", "memmem", "eval-searcher"),
];

/// The rows: a name, and whether a rule with these features counts.
type Row = (&'static str, fn(&BTreeSet<Feature>) -> bool);

const ROWS: &[Row] = &[
    ("expressions using contains", |features| features.contains(&Feature::Contains)),
    ("simple expressions", |features| {
        features.iter().all(|feature| matches!(feature, Feature::Comparison | Feature::Plain | Feature::Set))
    }),
    ("all expressions", |_| true),
];

/// Returns the tables, as Markdown, of a run that measured both searchers.
///
/// # Errors
/// The run did not measure them.
pub fn tables(run: &Run) -> Result<String, String> {
    let features = features(run);
    let mut text = String::new();
    for (title, first, slow, second) in PAIRS {
        let (first, second) = (values(run, first), values(run, second));
        if first.is_empty() || second.is_empty() {
            return Err(
                "the run has no instructions of the two searchers: `celero lab table` makes one that has".to_owned()
            );
        }
        let _ = writeln!(text, "{title}, by instructions of one evaluation:\n");
        let _ = writeln!(text, "| rules | number | {slow} | improvement | interval |\n|---|---:|---:|---:|---|");
        for (name, counts) in ROWS {
            let pairs: Vec<(f64, f64)> = features
                .iter()
                .filter(|(_, features)| counts(features))
                .filter_map(|(id, _)| Some((*second.get(id)?, *first.get(id)?)))
                .collect();
            let Some(Estimate { ratio, low, high, pairs: number, .. }) = compare(&pairs) else {
                let _ = writeln!(text, "| {name} | 0 | | | |");
                continue;
            };
            let mean = pairs.iter().map(|(_, slow)| slow).sum::<f64>() / number.max(1) as f64;
            let _ = writeln!(text, "| {name} | {number} | {mean:.0} | {ratio:.2} times | {low:.2} to {high:.2} |");
        }
        text.push('\n');
    }
    text.push_str(
        "The improvement is that of a typical rule (Hodges-Lehmann), with its interval of 99.98 %; the third\n\
         column is the mean.\n",
    );
    Ok(text)
}

/// The features of each rule, by its id.
fn features(run: &Run) -> BTreeMap<&str, BTreeSet<Feature>> {
    let of_partition = run.partitions.iter().flat_map(|partition| {
        let language = partition.partition.split('/').next().and_then(|name| Language::named(name).ok());
        partition
            .rules
            .iter()
            .filter_map(move |(id, source)| Some((&**id, Structure::of(source, language?).ok()?.features)))
    });
    of_partition.collect()
}

/// The instructions of a stage, by rule.
fn values<'r>(run: &'r Run, stage: &str) -> BTreeMap<&'r str, f64> {
    let measured = run.measurements.iter().filter(|m| m.counter == "instructions" && m.stage == stage);
    measured.flat_map(|m| m.values.iter().map(|(id, value)| (&**id, *value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::{Partition, example};

    #[test]
    fn rows_are_of_the_rules_with_the_feature() {
        let mut run = example("a", "eval-interpreted", &[400.0, 900.0]);
        assert!(tables(&run).is_err(), "nothing to compare with");
        for (stage, values) in
            [("eval-warm", [100.0, 100.0]), ("eval-memmem", [120.0, 100.0]), ("eval-searcher", [100.0, 100.0])]
        {
            run.measurements.extend(example("a", stage, &values).measurements);
        }
        let rule = |n: u32, source: &str| (format!("{n:016x}"), source.to_owned());
        let rules = [rule(0, r#"request.path.contains("x")"#), rule(1, r#"request.path == "x""#)].into();
        run.partitions = vec![Partition { partition: "cel/x".to_owned(), rules, ..Partition::default() }];
        let text = tables(&run).unwrap();
        for row in [
            "| expressions using contains | 1 | 400 | 4.00 times |",
            "| simple expressions | 1 | 900 | 9.00 times |",
            "| all expressions | 2 | 650 | 6.00 times |",
            "| expressions using contains | 1 | 120 | 1.20 times |",
        ] {
            assert!(text.contains(row), "no `{row}` in:\n{text}");
        }
    }

    /// The tables in `docs/lab.md`.
    #[test]
    fn the_manual_has_the_tables_of_the_record() {
        let file = |name: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let run = Run::read_file(&file("benches/record/lab_table.jsonl")).unwrap().pop().unwrap();
        let manual = std::fs::read_to_string(file("docs/lab.md")).unwrap();
        assert!(
            manual.contains(&tables(&run).unwrap()),
            "docs/lab.md has other tables than `celero lab table --from benches/record/lab_table.jsonl`"
        );
    }
}
