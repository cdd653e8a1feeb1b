//! Tables and charts of a record.

use crate::Failure;
use crate::chart;
use crate::jobs::Job;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// What people call an engine.
pub(crate) fn title(engine: &str) -> &str {
    match engine {
        "none" => "Pingora alone",
        "handwritten" => "handwritten Rust",
        "celero" => "celero, embedded",
        "policy" => "celero, policy",
        "policy_20" => "celero, policy of 20 rules",
        "policy_10000" => "celero, policy of 10,000 rules",
        "cel" => "cel crate, shared environment",
        "cel_default" => "cel crate, default context",
        "rhai" => "Rhai",
        "rhai_no_interning" => "Rhai without interning",
        "coprocessor" => "coprocessor",
        other => other,
    }
}

pub(crate) fn rows(job: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let rows = job.get("engines").and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(|row| Some((row.get("engine")?.as_str()?, row)))
}

pub(crate) fn number(row: &Value, member: &str) -> f64 {
    row.get(member).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

pub(crate) fn job_of(job: &Value) -> Option<&'static Job> {
    Job::named(job.get("job")?.as_str()?)
}

/// A job's table in Markdown. Processor time is the proxy's and the coprocessor's; the ratio is to the second engine,
/// as the median of the rounds.
pub(crate) fn table(job: &Value) -> String {
    let heading = job_of(job).map_or("", |job| job.title);
    let mut text = format!(
        "**{heading}**\n\n| | CPU µs a request | ratio | requests a second | p50 µs | p95 µs |\n|---|---|---|---|---|---|\n"
    );
    for (engine, row) in rows(job) {
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.2} | {:.0} | {:.0} | {:.0} |",
            title(engine),
            number(row, "cpu_us"),
            number(row, "ratio"),
            number(row, "per_second"),
            number(row, "p50_us"),
            number(row, "p95_us"),
        );
    }
    text
}

/// Draws a chart for each job.
pub(crate) fn draw(record: &Value, place: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(place)?;
    for job in record.get("jobs").and_then(Value::as_array).into_iter().flatten() {
        if let Some(known) = job_of(job) {
            std::fs::write(place.join(format!("{}.svg", known.name)), chart::bars(job))?;
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a command")]
pub(crate) fn show(record: &Path, charts: Option<&Path>) -> Result<(), Failure> {
    let record: Value = serde_json::from_str(&std::fs::read_to_string(record)?)?;
    for job in record.get("jobs").and_then(Value::as_array).into_iter().flatten() {
        println!("{}", table(job));
    }
    charts.map_or(Ok(()), |place| draw(&record, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_records() {
        let file =
            |path: &str| std::fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).expect(path);
        let page = file("docs/e2e.md");
        for threads in ["one_thread", "two_threads"] {
            let record: Value =
                serde_json::from_str(&file(&format!("benches/record/e2e_{threads}.json"))).expect(threads);
            let jobs = record["jobs"].as_array().expect("jobs");
            assert_eq!(jobs.len(), crate::jobs::JOBS.len(), "{threads}");
            for job in jobs {
                let table = table(job);
                assert!(page.contains(&table), "docs/e2e.md does not show e2e_{threads}.json:\n{table}");
            }
        }
    }
}
