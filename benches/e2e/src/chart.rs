//! Bar charts of CPU time for each request, as SVG that is readable on light and dark pages.

use crate::record::{job_of, number, rows, title};
use serde_json::Value;
use std::fmt::Write as _;

const GREY: &str = "#808080";
const WIDTH: f64 = 720.0;
const ROW: f64 = 26.0;
const LEFT: f64 = 230.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 34.0;

fn colour(engine: &str) -> &'static str {
    match engine {
        "none" => GREY,
        "handwritten" => "#b8860b",
        "cel" | "cel_default" => "#c2528b",
        "rhai" | "rhai_no_interning" => "#8a63d2",
        "coprocessor" => "#d2691e",
        _ => "#2f80ed",
    }
}

/// Draws the bar chart of a job's record.
pub(crate) fn bars(job: &Value) -> String {
    let rows: Vec<(&str, f64)> = rows(job).map(|(engine, row)| (engine, number(row, "cpu_us"))).collect();
    let most = rows.iter().map(|row| row.1).fold(1.0, f64::max);
    let height = TOP + ROW * rows.len() as f64 + 10.0;
    let heading = job_of(job).map_or("", |job| job.title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\" \
         fill=\"{GREY}\">\n<title>{heading}</title>\n<text x=\"{LEFT}\" y=\"18\">CPU µs a request: {heading}</text>\n"
    );
    let mut y = TOP;
    for (engine, micros) in rows {
        let width = (WIDTH - LEFT - RIGHT) * micros / most;
        let line = y + 15.0;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{line:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"20\" rx=\"2\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{line:.1}\">{micros:.1}</text>",
            LEFT - 8.0,
            title(engine),
            colour(engine),
            LEFT + width + 6.0,
        );
        y += ROW;
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bar_for_each_engine() {
        let job = json!({ "job": "header", "engines": [{ "engine": "none", "cpu_us": 20.0 }, { "engine": "policy", "cpu_us": 21.5 }] });
        let svg = bars(&job);
        assert_eq!(svg.matches("<rect").count(), 2);
        assert!(svg.contains(">celero, policy<") && svg.contains(">21.5<") && svg.contains("A static header"), "{svg}");
    }
}
