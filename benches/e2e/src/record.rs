//! Reads the JSON records that `e2e run` writes.

use crate::jobs::Job;
use serde_json::Value;

/// The title of an engine in tables and charts.
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

/// The engines of a job's record, with what was measured of each.
pub(crate) fn rows(job: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let rows = job.get("engines").and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(|row| Some((row.get("engine")?.as_str()?, row)))
}

/// A measured number; NaN if the record lacks it.
pub(crate) fn number(row: &Value, member: &str) -> f64 {
    row.get(member).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// The job that a part of a record is about.
pub(crate) fn job_of(job: &Value) -> Option<&'static Job> {
    Job::named(job.get("job")?.as_str()?)
}
