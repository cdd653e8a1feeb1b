//! Tables of improvements: how many times fewer instructions one way of evaluating a rule takes than another, for rules that search in text,
//! simple rules, and all.

use crate::plan::{Plan, PlannedRule};
use crate::record::Run;
use crate::statistics::{Estimate, compare};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Two stages that are compared, with what they are called.
const PAIRS: &[(&str, &str, &str, &str)] = &[
    ("Interpreter against native code", "eval-interpreted", "interpreter", "eval-warm"),
    ("memmem against celero's search, in native code", "eval-memmem", "memmem", "eval-searcher"),
];

/// The rows: a name, and which rules count.
type Row = (&'static str, fn(&PlannedRule) -> bool);

const ROWS: &[Row] = &[
    ("expressions using contains", |rule| uses(rule, "contains")),
    ("simple expressions", |rule| {
        rule.features.iter().all(|feature| matches!(&**feature, "comparison" | "plain" | "set"))
    }),
    ("all expressions", |_| true),
];

fn uses(rule: &PlannedRule, feature: &str) -> bool {
    rule.features.iter().any(|used| used == feature)
}

/// Returns the tables, as Markdown, of a run whose plan had [`Plan::searchers`] set.
#[must_use]
pub fn tables(plan: &Plan, run: &Run) -> String {
    let mut text = String::new();
    for (title, first, slow, second) in PAIRS {
        let (first, second) = (values(run, first), values(run, second));
        let _ = writeln!(text, "{title}, by instructions of one evaluation:\n");
        let _ = writeln!(text, "| rules | number | {slow} | improvement | interval |\n|---|---:|---:|---:|---|");
        for (name, counts) in ROWS {
            let pairs: Vec<(f64, f64)> = plan
                .rules()
                .filter(|(_, rule)| counts(rule))
                .filter_map(|(_, rule)| Some((*second.get(&*rule.id)?, *first.get(&*rule.id)?)))
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
    text.push_str("The improvement is that of a typical rule (Hodges-Lehmann), with its interval of 99.98 %; the third column is the mean.\n");
    text
}

/// The instructions of a stage, by rule.
fn values<'r>(run: &'r Run, stage: &str) -> BTreeMap<&'r str, f64> {
    let measured = run.measurements.iter().filter(|m| m.counter == "instructions" && m.stage == stage);
    measured.flat_map(|m| m.values.iter().map(|(id, value)| (&**id, *value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Host, Partition};
    use crate::record::example;
    use celero_tooling::language::Language;

    #[test]
    fn rows_are_of_the_rules_with_the_feature() {
        let mut run = example("a", "eval-interpreted", &[400.0, 900.0]);
        run.measurements.extend(example("a", "eval-warm", &[100.0, 100.0]).measurements);
        let rule = |n: u32, feature: &str| PlannedRule {
            id: format!("{n:016x}"),
            source: String::new(),
            language: Language::Cel,
            features: vec![feature.to_owned()],
            host: Host::Request,
        };
        let partition = Partition { rules: vec![rule(0, "contains"), rule(1, "comparison")], ..Partition::default() };
        let plan = Plan { partitions: [("cel/x".to_owned(), partition)].into(), ..Plan::default() };
        let text = tables(&plan, &run);
        for row in [
            "| expressions using contains | 1 | 400 | 4.00 times |",
            "| simple expressions | 1 | 900 | 9.00 times |",
            "| all expressions | 2 | 650 | 6.00 times |",
        ] {
            assert!(text.contains(row), "no `{row}` in:\n{text}");
        }
    }
}
