//! The picture of one run: instructions of an evaluation by the interpreter and by native code, by
//! partition, on a logarithmic axis.

use crate::results::record::Run;
use crate::results::statistics::median;
use celero_benches::log_axis::{BAR, GREY, LogAxis};
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 250.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 52.0;
const GAP: f64 = 10.0;
/// Stages: name in records, name in the picture, colour.
const SERIES: [(&str, &str, &str); 2] =
    [("eval-interpreted", "interpreter", "#b8860b"), ("eval-warm", "native code", "#2f80ed")];
/// What partitions are called.
const FEATURES: &[(&str, &str)] = &[
    ("regex", "regular expressions"),
    ("contains", "searches in text"),
    ("macros", "all, exists, map, [*]"),
    ("set", "in: lists, networks"),
    ("maps", "maps and headers by key"),
    ("arithmetic", "arithmetic"),
    ("functions", "functions"),
    ("comparison", "comparisons"),
    ("plain", "a variable alone"),
];

/// A partition: its name, its rules that both stages measured, and the instructions of a typical one in each.
struct Row {
    name: String,
    rules: usize,
    counts: [f64; 2],
}

/// The picture as a part of a page. `None` if the run has no instructions of both stages.
pub(super) fn picture(run: &Run) -> Option<String> {
    let rows = rows(run);
    let most = rows.iter().flat_map(|row| row.counts).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let decades = most.log10().ceil().max(1.0);
    let height = TOP + rows.len() as f64 * (2.0 * BAR + GAP) + 30.0;
    let axis = LogAxis { left: LEFT, top: TOP, height, decade_width: (WIDTH - LEFT - RIGHT) / decades };
    let rules: usize = rows.iter().map(|row| row.rules).sum();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"{GREY}\" role=\"img\">\n\
         <title>Instructions for one evaluation of a rule</title>\n\
         <text x=\"20\" y=\"18\" font-size=\"13\">Instructions for one evaluation: the median rule of each kind, {rules} rules</text>\n"
    );
    for ((_, name, colour), x) in SERIES.iter().zip([20.0, 130.0]) {
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"28\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{colour}\"/><text x=\"{}\" y=\"38\">{name}</text>",
            x + 17.0
        );
    }
    for decade in 0..=decades as usize {
        axis.decade(&mut svg, decade, &number(10_f64.powi(decade as i32)));
    }
    let mut y = TOP + GAP / 2.0;
    for Row { name, counts, .. } in &rows {
        axis.name(&mut svg, y + BAR, name);
        let [slow, fast] = *counts;
        for ((_, _, colour), count) in SERIES.iter().zip(counts) {
            // The factor stands behind the shorter bar.
            let factor = if *count == fast { format!(" (1/{:.1})", slow / fast) } else { String::new() };
            axis.bar(&mut svg, y, *count, colour, &format!("{}{factor}", number(count.round())));
            y += BAR;
        }
        y += GAP;
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

/// The partitions, CEL first, in the order of [`FEATURES`].
fn rows(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for (language, called) in [("cel", "CEL"), ("filter", "filter language")] {
        for (feature, what) in FEATURES {
            let partition = format!("{language}/{feature}");
            let [slow, fast] = SERIES.map(|(stage, ..)| values(run, stage, &partition));
            let pairs: Vec<(f64, f64)> = fast
                .iter()
                .filter_map(|(id, fast)| Some((*slow.get(id)?, *fast)))
                .filter(|(_, fast)| *fast > 0.0)
                .collect();
            if pairs.is_empty() {
                continue;
            }
            let slow = median(&pairs.iter().map(|(slow, _)| *slow).collect::<Vec<_>>());
            let fast = median(&pairs.iter().map(|(_, fast)| *fast).collect::<Vec<_>>());
            rows.push(Row { name: format!("{called}: {what}"), rules: pairs.len(), counts: [slow, fast] });
        }
    }
    rows
}

fn values<'r>(run: &'r Run, stage: &str, partition: &str) -> BTreeMap<&'r str, f64> {
    let measured = run.measurements.iter();
    let measured = measured.filter(|m| m.counter == "instructions" && m.stage == stage && m.partition == partition);
    measured.flat_map(|m| m.values.iter().map(|(id, value)| (&**id, *value))).collect()
}

/// A whole number with a comma before each three digits.
fn number(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::example;

    #[test]
    fn a_partition_has_two_bars_with_their_medians() {
        let mut run = example("a", "eval-interpreted", &[900.0, 1000.0, 40_000.0]);
        assert!(picture(&run).is_none(), "one stage alone is no comparison");
        run.measurements.extend(example("a", "eval-warm", &[100.0, 90.0, 4000.0]).measurements);
        let svg = picture(&run).unwrap();
        for text in ["CEL: searches in text<", ">1,000<", ">100 (1/10.0)<", "each kind, 3 rules<"] {
            assert!(svg.contains(text), "no `{text}` in:\n{svg}");
        }
        assert_eq!(svg.matches("<rect").count(), 4);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
