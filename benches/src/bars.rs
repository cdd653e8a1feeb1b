//! The chart of single workloads as SVG: handwritten Rust, celero and the `cel` crate beside each
//! other, on a logarithmic axis.

use crate::log_axis::{BAR, GREY, LogAxis};
use crate::table::about;
use serde_json::Value;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 200.0;
const RIGHT: f64 = 80.0;
const GAP: f64 = 14.0;
const TOP: f64 = 44.0;
/// The decades of the axis: 1 ns to 1 ms.
const DECADES: f64 = 6.0;

/// The engines: member of a record, name in the chart, colour.
const SERIES: &[(&str, &str, &str)] = &[
    ("handwritten", "handwritten Rust", "#b8860b"),
    ("native", "celero", "#2f80ed"),
    ("interpret", "celero, interpreted", "#7fb2f0"),
    ("cel_lazy", "cel crate, lazy values", "#d890b8"),
    ("cel", "cel crate", "#c2528b"),
];

/// Workloads that show one thing each; `docs/performance.md` has all of them as a table.
const SHOWN: &[&str] = &["W1", "W4", "W5", "W6", "W7", "W8", "W12", "W9", "W9_group"];

/// Draws the rows of `workloads` in a report.
#[must_use]
pub fn bars(rows: &[Value]) -> String {
    let group = BAR * SERIES.len() as f64 + GAP;
    let height = TOP + group * SHOWN.len() as f64 + 30.0;
    let axis = LogAxis { left: LEFT, top: TOP, height, decade_width: (WIDTH - LEFT - RIGHT) / DECADES };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\" \
         fill=\"{GREY}\">\n<title>Time for an evaluation, by engine</title>\n"
    );
    let mut x = 20.0;
    for (_, name, colour) in SERIES {
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.0}\" y=\"8\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{colour}\"/><text x=\"{:.0}\" y=\"18\">{name}</text>",
            x + 17.0
        );
        x += 40.0 + 7.0 * name.len() as f64;
    }
    for (decade, label) in ["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms"].iter().enumerate() {
        axis.decade(&mut svg, decade, label);
    }
    let mut y = TOP + GAP / 2.0;
    for name in SHOWN {
        let engines = rows
            .iter()
            .find(|row| row.get("name").and_then(Value::as_str) == Some(name))
            .and_then(|row| row.get("engines"));
        axis.name(&mut svg, y + BAR * SERIES.len() as f64 / 2.0, &label(name));
        for (engine, _, colour) in SERIES {
            let ns = engines.and_then(|e| e.get(engine)?.get("ns")?.as_f64()).unwrap_or(1.0);
            axis.bar(&mut svg, y, ns, colour, &time(ns));
            y += BAR;
        }
        y += GAP;
    }
    svg.push_str("</svg>\n");
    svg
}

fn time(ns: f64) -> String {
    match ns {
        ..100.0 => format!("{ns:.1} ns"),
        ..1_000.0 => format!("{ns:.0} ns"),
        ..100_000.0 => format!("{:.1} µs", ns / 1_000.0),
        _ => format!("{:.0} µs", ns / 1_000.0),
    }
}

fn label(name: &str) -> String {
    match name {
        "W9_group" => "twenty rules as one set".to_owned(),
        _ => about(name).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rulesets::curve;

    fn rows(record: &str, member: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(format!("{}/record/{record}.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
        serde_json::from_str::<Value>(&text).unwrap().get(member).and_then(Value::as_array).unwrap().clone()
    }

    #[test]
    fn the_pictures_show_the_records() {
        for (name, drawn) in
            [("workloads", bars(&rows("workloads", "workloads"))), ("rulesets", curve(&rows("rulesets", "rulesets")))]
        {
            let path = format!("{}/../docs/pictures/{name}.svg", env!("CARGO_MANIFEST_DIR"));
            let command = format!("compare --from benches/record/{name}.json --svg docs/pictures/{name}.svg");
            assert!(std::fs::read_to_string(&path).unwrap() == drawn, "out of date: run `{command}`");
        }
    }

    #[test]
    fn a_bar_for_each_engine_and_workload() {
        let svg = bars(&rows("workloads", "workloads"));
        assert_eq!(svg.matches("<rect").count(), 50);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
