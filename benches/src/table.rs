//! The table of the README, from a record that `compare --json` wrote.

use crate::ENGINES;
use serde_json::Value;

/// The workloads of a report as a table in Markdown: nanoseconds for an evaluation.
#[must_use]
pub fn markdown(report: &Value) -> String {
    let mut table = format!("| | {} |\n|---|{}\n", ENGINES.join(" | "), "---:|".repeat(ENGINES.len()));
    for workload in report.get("workloads").and_then(Value::as_array).into_iter().flatten() {
        let (Some(name), Some(engines)) = (workload.get("name").and_then(Value::as_str), workload.get("engines"))
        else {
            continue;
        };
        let cell = |engine: &str| {
            let ns = engines.get(engine)?.get("ns")?.as_f64()?;
            Some(if ns < 100.0 { format!("{ns:.1}") } else { format!("{ns:.0}") })
        };
        let cells: Vec<String> = ENGINES.iter().map(|e| cell(e).unwrap_or_default()).collect();
        table.push_str(&format!("| {name} {} | {} |\n", about(name), cells.join(" | ")));
    }
    table
}

/// What a workload is, in a few words.
fn about(name: &str) -> &'static str {
    match name {
        "W1" => "method ==",
        "W2" => "header's text",
        "W3" => "header ==",
        "W4" => "path prefix and method",
        "W5" => "header contains",
        "W6" => "path matches",
        "W7" => "address in two networks",
        "W8" => "header in a set of 100",
        "W8_miss" => "the same, not in it",
        "W9" => "twenty mixed rules",
        "W9_group" => "the same as one set",
        "W10" => "arithmetic",
        "W11" => "exists over 16 strings",
        "W12" => "member of a JSON body",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_shows_the_record() {
        let file = |name: &str| std::fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let record: Value = serde_json::from_str(&file("record/workloads.json")).unwrap();
        let table = markdown(&record);
        assert!(table.lines().count() > 10);
        assert!(file("../README.md").contains(&table), "the README's table is that of another record:\n{table}");
    }
}
