//! The picture of sets of generated rules: instructions for a request over the number of rules. It
//! is the first picture of README.md.

use crate::results::record::Run;
use crate::subjects::sizes::size;
use celero_benches::rulesets::instruction_curve;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Stages and what the chart calls them.
const SERIES: &[(&str, &str)] = &[("eval-one-by-one", "one_by_one"), ("eval-set", "all"), ("eval-first", "first")];

/// Returns the picture of a run as SVG. `None` if it has no instructions of sets.
#[must_use]
pub fn sizes(run: &Run) -> Option<String> {
    let mut rows: BTreeMap<usize, Map<String, Value>> = BTreeMap::new();
    for m in run.measurements.iter().filter(|m| m.counter == "instructions") {
        let (Some(n), Some((_, member))) = (size(&m.partition), SERIES.iter().find(|(stage, _)| *stage == m.stage))
        else {
            continue;
        };
        rows.entry(n).or_default().insert((*member).to_owned(), json!(m.total.round()));
    }
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|(n, mut row)| {
            row.insert("n".to_owned(), json!(n));
            Value::Object(row)
        })
        .collect();
    (!rows.is_empty()).then(|| instruction_curve(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::example;

    #[test]
    fn a_run_with_sets_has_a_point_for_each() {
        let mut run = example("a", "eval-set", &[900.0]);
        assert!(sizes(&run).is_none(), "no set");
        run.measurements[0].partition = "rules/1".to_owned();
        let mut larger = example("a", "eval-set", &[1500.0]).measurements;
        larger[0].partition = "rules/1000".to_owned();
        run.measurements.extend(larger);
        let svg = sizes(&run).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(
            svg.contains("set, all, 1000 rules: 1500 instructions") && svg.contains(">instructions for a request<"),
            "{svg}"
        );
    }

    #[test]
    fn the_picture_of_the_readme_shows_the_record() {
        let file = |name: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let run = Run::read_file(&file("benches/record/lab.jsonl")).unwrap().pop().unwrap();
        let command = "celero lab report benches/record/lab.jsonl --picture docs/pictures/lab.svg";
        let picture = std::fs::read_to_string(file("docs/pictures/lab.svg")).unwrap();
        assert!(picture == sizes(&run).unwrap(), "out of date: run `{command}`");
    }
}
