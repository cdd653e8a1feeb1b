//! Line charts as SVG.

use crate::results::compare::{ALL, Verdict};
use std::fmt::Write;

/// A partition over the runs.
pub(super) struct Line {
    pub(super) name: String,
    /// Number of the run, ratio to the first run, and how it compares with the run before.
    pub(super) points: Vec<(usize, f64, Verdict)>,
}

impl Line {
    pub(super) fn new(name: String) -> Self {
        Self { name, points: Vec::new() }
    }
}

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 46.0;
const BOTTOM: f64 = 24.0;
const MARGIN: f64 = 10.0;
/// Colours of the style sheet.
const COLOURS: usize = 8;
/// Labels below a chart.
const LABELS: usize = 6;

/// Returns a chart. `labels` are the names of the runs.
pub(super) fn chart(lines: &[Line], labels: &[String]) -> String {
    let ratios = || lines.iter().flat_map(|line| &line.points).map(|(_, ratio, _)| *ratio);
    // At least 2 % on each side, so that noise looks like noise.
    let (low, high) = ratios().fold((0.98_f64, 1.02_f64), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
    let room = (high - low) * 0.05;
    let (low, high) = (low - room, high + room);
    let last = labels.len().saturating_sub(1).max(1) as f64;
    let x = |run: usize| LEFT + run as f64 / last * (WIDTH - LEFT - MARGIN);
    let y = |ratio: f64| MARGIN + (high - ratio) / (high - low) * (HEIGHT - BOTTOM - MARGIN);

    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">");
    for ratio in [low + room, 1.0, high - room] {
        let at = y(ratio);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{ratio:.3}</text>",
            WIDTH - MARGIN,
            LEFT - 4.0,
            at + 3.0
        );
    }
    let step = labels.len().div_ceil(LABELS).max(1);
    for (number, label) in labels.iter().enumerate().step_by(step) {
        let anchor = if number == 0 { "start" } else { "end" };
        let _ = write!(
            svg,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{label}</text>",
            x(number),
            HEIGHT - 8.0
        );
    }
    for (number, line) in lines.iter().enumerate() {
        let class = if line.name == ALL { "all".to_owned() } else { format!("c{}", number % COLOURS) };
        let mut path = String::new();
        for (at, (run, ratio, _)) in line.points.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if at == 0 { "M" } else { "L" }, x(*run), y(*ratio));
        }
        let _ = write!(svg, "<g class=\"{class}\"><path d=\"{path}\"/>");
        for (run, ratio, verdict) in &line.points {
            let (radius, mark) = match verdict {
                Verdict::Worse => (5.0, "change worse"),
                Verdict::Better => (5.0, "change better"),
                _ => (2.0, "point"),
            };
            let label = labels.get(*run).map_or("", |label| label);
            let _ = write!(
                svg,
                "<circle class=\"{mark}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{} at {label}: {ratio:.4}</title></circle>",
                x(*run),
                y(*ratio),
                line.name
            );
        }
        svg.push_str("</g>");
    }
    svg.push_str("</svg><ul class=\"legend\">");
    for (number, line) in lines.iter().enumerate() {
        let class = if line.name == ALL { "all".to_owned() } else { format!("c{}", number % COLOURS) };
        let ratio = line.points.last().map_or(1.0, |(_, ratio, _)| *ratio);
        let _ = write!(svg, "<li class=\"{class}\">{} <b>{ratio:.3}</b></li>", line.name);
    }
    svg.push_str("</ul>");
    svg
}
