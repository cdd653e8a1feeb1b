//! A page with charts of runs over time: one file of HTML and SVG, which loads nothing and runs no
//! script. Light and dark follow the reader's setting.

mod chart;
mod evaluations;
mod sizes;

pub use sizes::sizes;

use crate::results::compare::{ALL, Verdict, cells, incomparable};
use crate::results::record::Run;
use crate::results::statistics::median;
use chart::{Line, chart};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Counters, in the order of the page, with their headings.
const COUNTERS: &[(&str, &str)] = &[
    ("instructions", "Instructions"),
    ("wall_time", "Wall time"),
    ("cycles", "Cycles"),
    ("branches", "Branches"),
    ("branch_misses", "Mispredicted branches"),
    ("cache_misses", "Cache misses"),
    ("allocations", "Allocations"),
    ("peak_resident", "Peak resident memory"),
    ("code_bytes", "Bytes of code"),
];

/// Stages in the order in which they run.
const STAGES: &[&str] = &[
    "parse",
    "check",
    "front",
    "lower",
    "verify",
    "compact",
    "fold",
    "canonical",
    "sets",
    "precompute",
    "raw",
    "project",
    "messages",
    "codegen",
    "eval-cold",
    "eval-warm",
    "eval-interpreted",
    "index",
    "set-codegen",
    "eval-set",
    "eval-first",
    "eval-one-by-one",
    "reload",
    "policy-load",
    "policy-request",
    "policy-response",
    "policy-cases",
];

const STYLE: &str = include_str!("style.css");

/// Returns the page of these runs, in the order of their times.
#[must_use]
pub fn page(mut runs: Vec<Run>) -> String {
    runs.sort_by_key(|run| run.info.time);
    let mut html = String::new();
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>celero lab</title>\
         <style>{STYLE}</style></head><body><main>\n<h1>celero, measured over time</h1>\n"
    );
    let _ = writeln!(
        html,
        "<p>{} runs. Each chart is a stage; each line is a partition of the rules. The height is the figure of a typical rule, \
         divided by that of the first run that measured it. A ring marks a change against the run before that is larger than the noise.</p>",
        runs.len()
    );
    html.push_str(&changes(&runs));
    if let Some(picture) = runs.last().and_then(evaluations::picture) {
        let _ = writeln!(
            html,
            "<figure id=\"evaluation\"><figcaption>Rules, in the last run</figcaption>{picture}</figure>"
        );
    }
    if let Some(picture) = runs.last().and_then(sizes) {
        // Within HTML an SVG needs no name of its language.
        let picture = picture.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        let _ = writeln!(html, "<figure id=\"sizes\"><figcaption>Sets, in the last run</figcaption>{picture}</figure>");
    }
    for (counter, heading) in COUNTERS {
        let stages: BTreeSet<&str> = runs
            .iter()
            .flat_map(|run| &run.measurements)
            .filter(|m| m.counter == *counter)
            .map(|m| &*m.stage)
            .collect();
        if stages.is_empty() {
            continue;
        }
        let mut stages: Vec<&str> = stages.into_iter().collect();
        stages.sort_by_key(|stage| STAGES.iter().position(|known| known == stage).unwrap_or(usize::MAX));
        let open = if *counter == "instructions" { " open" } else { "" };
        let _ = writeln!(html, "<details{open}><summary><h2>{heading}</h2></summary><div class=\"charts\">");
        for stage in stages {
            let lines = lines(&runs, counter, stage);
            let _ = writeln!(
                html,
                "<figure id=\"{counter}-{stage}\"><figcaption>{}</figcaption>{}</figure>",
                escaped(stage),
                chart(&lines, &labels(&runs))
            );
        }
        html.push_str("</div></details>\n");
    }
    html.push_str(&figures(&runs));
    html.push_str("</main></body></html>\n");
    html
}

/// Text as HTML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The commits, short.
fn labels(runs: &[Run]) -> Vec<String> {
    runs.iter().map(|run| escaped(&run.info.commit.chars().take(9).collect::<String>())).collect()
}

/// By partition: for each run the ratio to the first, and whether it changed against the run before.
fn lines(runs: &[Run], counter: &str, stage: &str) -> Vec<Line> {
    let mut lines: BTreeMap<String, Line> = BTreeMap::new();
    for (number, run) in runs.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|before| runs.get(before));
        let changed: Vec<(String, Verdict)> = before
            .filter(|before| incomparable(before, run).is_none())
            .map(|before| cells(&only(before, counter, stage), &only(run, counter, stage)))
            .unwrap_or_default()
            .into_iter()
            .map(|cell| (cell.partition, cell.verdict))
            .collect();
        for (partition, ratio) in ratios(runs, run, counter, stage) {
            let verdict = changed.iter().find(|(name, _)| *name == partition).map_or(Verdict::Same, |found| found.1);
            let line = lines.entry(partition.clone()).or_insert_with(|| Line::new(escaped(&partition)));
            line.points.push((number, ratio, verdict));
        }
    }
    lines.into_values().collect()
}

/// A run with one counter of one stage.
fn only(run: &Run, counter: &str, stage: &str) -> Run {
    let measurements = run.measurements.iter().filter(|m| m.counter == counter && m.stage == stage);
    Run { info: run.info.clone(), partitions: Vec::new(), measurements: measurements.cloned().collect() }
}

/// The ratio of a run to the first run that has the stage, by partition: the median over the rules of both.
fn ratios(runs: &[Run], run: &Run, counter: &str, stage: &str) -> Vec<(String, f64)> {
    let measured = run.measurements.iter().filter(|m| m.counter == counter && m.stage == stage);
    let mut ratios = Vec::new();
    let mut all = Vec::new();
    for m in measured {
        let mut firsts = runs.iter().flat_map(|run| &run.measurements);
        let first = firsts.find(|f| f.counter == counter && f.stage == stage && f.partition == m.partition);
        let Some(first) = first else { continue };
        let of_rules: Vec<f64> = m
            .values
            .iter()
            .filter_map(|(id, value)| Some(value / first.values.get(id).copied().filter(|first| *first > 0.0)?))
            .collect();
        if !of_rules.is_empty() {
            ratios.push((m.partition.clone(), median(&of_rules)));
            all.extend(of_rules);
        }
    }
    if !all.is_empty() {
        ratios.push((ALL.to_owned(), median(&all)));
    }
    ratios
}

/// What changed between each run and the one before.
fn changes(runs: &[Run]) -> String {
    let mut rows = String::new();
    for pair in runs.windows(2) {
        let [before, after] = pair else { continue };
        let label = escaped(&after.info.commit.chars().take(9).collect::<String>());
        if let Some(why) = incomparable(before, after) {
            let _ = writeln!(rows, "<tr><td>{label}</td><td colspan=\"5\">not compared: {}</td></tr>", escaped(&why));
            continue;
        }
        for cell in cells(before, after) {
            let class = match cell.verdict {
                Verdict::Worse => "worse",
                Verdict::Better => "better",
                _ => continue,
            };
            if cell.counter != "instructions" {
                continue;
            }
            let estimate = &cell.estimate;
            let _ = writeln!(
                rows,
                "<tr class=\"{class}\"><td>{label}</td><td><a href=\"#{0}-{1}\">{1}</a></td><td>{2}</td><td>{3:+.1} %</td>\
                 <td>{4:+.1} to {5:+.1} %</td><td>{class}</td></tr>",
                escaped(&cell.counter),
                escaped(&cell.stage),
                escaped(&cell.partition),
                (estimate.ratio - 1.0) * 100.0,
                (estimate.low - 1.0) * 100.0,
                (estimate.high - 1.0) * 100.0,
            );
        }
    }
    if rows.is_empty() {
        return "<p>No instruction count changed between runs by more than the noise.</p>\n".to_owned();
    }
    format!(
        "<h2>Changes of instruction counts</h2><div class=\"scroll\"><table><thead><tr><th>commit</th><th>stage</th><th>partition</th>\
         <th>change</th><th>interval</th><th></th></tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// The figures of the last run: the median rule of each stage and partition.
fn figures(runs: &[Run]) -> String {
    let Some(run) = runs.last() else { return String::new() };
    let mut html = String::from(
        "<details><summary><h2>Figures of the last run</h2></summary><div class=\"scroll\"><table><thead><tr><th>counter</th>\
         <th>stage</th><th>partition</th><th>rules</th><th>median</th><th>unit</th></tr></thead><tbody>\n",
    );
    for m in &run.measurements {
        let values: Vec<f64> = m.values.values().copied().collect();
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.0}</td><td>{}</td></tr>",
            escaped(&m.counter),
            escaped(&m.stage),
            escaped(&m.partition),
            values.len(),
            median(&values),
            escaped(&m.unit)
        );
    }
    let _ = writeln!(
        html,
        "</tbody></table></div><p>{}, {}, {}</p></details>",
        escaped(&run.info.machine.cpu),
        escaped(&run.info.build.toolchain),
        escaped(&run.info.build.profile)
    );
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::example;

    #[test]
    fn a_planted_change_is_on_the_page_and_nothing_is_loaded() {
        let values: [f64; 16] = std::array::from_fn(|n| 100.0 * (n + 1) as f64);
        let mut runs = Vec::new();
        for (number, factor) in [1.0, 1.0, 1.05, 1.05].into_iter().enumerate() {
            let mut run = example(&format!("commit{number}"), "fold", &values.map(|value| value * factor));
            run.info.time += number as u64;
            runs.push(run);
        }
        let html = page(runs.clone());
        assert_eq!(html.matches("<tr class=\"worse\"><td>commit2</td>").count(), 2, "the partition and all");
        assert!(html.contains("+5.0 %") && html.contains("class=\"change worse\""), "{html}");
        for foreign in ["<script", "http://", "https://", "url(", "@import"] {
            assert!(!html.contains(foreign), "the page has {foreign}");
        }
        runs.truncate(2);
        assert!(page(runs).contains("No instruction count changed"));
    }

    #[test]
    fn texts_are_escaped() {
        let run = example("<i>", "a\"b", &[1.0; 4]);
        let html = page(vec![run]);
        assert!(!html.contains("<i>") && html.contains("&lt;i&gt;"));
    }
}
