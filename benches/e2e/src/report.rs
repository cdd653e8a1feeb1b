//! Prints a record as tables in Markdown and draws its charts.

use crate::Failure;
use crate::chart;
use crate::record::{job_of, number, rows, title};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// A job's table in Markdown. CPU time is that of proxy and coprocessor together; the ratio is the
/// median over the rounds of the ratio to the second engine.
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

/// Draws a chart for each job into a folder, `JOB.svg`.
pub(crate) fn draw(record: &Value, place: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(place)?;
    for job in record.get("jobs").and_then(Value::as_array).into_iter().flatten() {
        if let Some(known) = job_of(job) {
            std::fs::write(place.join(format!("{}.svg", known.name)), chart::bars(job))?;
        }
    }
    Ok(())
}

/// Prints the tables of a record file, and draws its charts if a folder is given.
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
