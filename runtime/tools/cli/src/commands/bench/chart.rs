//! Charts of what was measured: bars for the terminal, and SVG.

use super::report::Report;
use crate::output::Paint;
use crate::output::units::{grouped, number};
use std::fmt::Write;

/// The width of the longest bar, in columns.
const WIDTH: f64 = 40.0;
/// Eighths of a block.
const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
/// The colours of the sources in SVG; readable on white and on dark backgrounds, and apart for
/// people who do not see red and green.
const COLORS: [&str; 4] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];

/// A bar: its label, and nanoseconds: median and spread.
struct Bar {
    source: usize,
    label: String,
    median: f64,
    low: f64,
    high: f64,
}

/// Returns the share of a bar in the longest one.
fn share(value: f64, most: f64) -> f64 {
    if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 }
}

fn rows(report: &Report<'_>) -> Vec<Bar> {
    let several = report.about.len() > 1;
    let mut bars = Vec::new();
    for (source, about) in report.about.iter().enumerate() {
        for (subject, measured) in report.of_source(source) {
            let label = if several { format!("{}: {}", about.name, subject.name) } else { subject.name.clone() };
            let (low, high) = (measured.quantile(0.05), measured.quantile(0.95));
            bars.push(Bar { source, label, median: measured.median(), low, high });
        }
    }
    bars
}

/// Returns the medians as bars of block characters.
pub(crate) fn bars(report: &Report<'_>, paint: Paint) -> String {
    let rows = rows(report);
    let most = rows.iter().map(|bar| bar.median).fold(0.0, f64::max);
    let width = rows.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for bar in &rows {
        let eighths = (share(bar.median, most) * WIDTH * 8.0).round().max(1.0) as usize;
        let (whole, part) = (eighths.checked_div(8).unwrap_or(0), eighths.checked_rem(8).unwrap_or(0));
        let blocks = format!("{}{}", "█".repeat(whole), PARTS.get(part).copied().unwrap_or(""));
        let _ = writeln!(text, "{:<width$} {} {} ns", bar.label, paint.name(&blocks), grouped(bar.median));
    }
    text
}

/// Returns a chart as SVG: a bar for each median with its spread, and the time of each request, cheapest first.
pub(crate) fn svg(report: &Report<'_>) -> String {
    const LEFT: f64 = 220.0;
    const RIGHT: f64 = 640.0;
    const ROW: f64 = 26.0;
    const PLOT: f64 = 180.0;
    let rows = rows(report);
    let most = rows.iter().map(|bar| bar.high).fold(0.0, f64::max);
    let color = |source: usize| COLORS.get(source.checked_rem(COLORS.len()).unwrap_or(0)).copied().unwrap_or("#0072b2");
    let scale = |value: f64| LEFT + share(value, most) * (RIGHT - LEFT);
    let bottom = 50.0 + ROW * number(rows.len());
    let several = report.labels.len() > 1;
    let height = bottom + if several { PLOT + 70.0 } else { 20.0 };
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 {height:.0}\" font-family=\"sans-serif\" font-size=\"13\">"
    );
    let _ = writeln!(out, "<rect width=\"760\" height=\"{height:.0}\" fill=\"#ffffff\"/>");
    let title = "nanoseconds for a request: median, and the range of nine of ten rounds";
    let _ = writeln!(out, "<text x=\"16\" y=\"26\" font-weight=\"bold\">{title}</text>");
    for (at, bar) in rows.iter().enumerate() {
        let y = 44.0 + ROW * number(at);
        let (end, low, high, color) = (scale(bar.median), scale(bar.low), scale(bar.high), color(bar.source));
        let (middle, base, width) = (y + 9.0, y + 14.0, (end - LEFT).max(1.0));
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{base:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            shortened(&bar.label)
        );
        let _ = writeln!(out, "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"18\" fill=\"{color}\"/>");
        let _ = writeln!(
            out,
            "<path d=\"M{low:.1} {middle:.1}H{high:.1}M{low:.1} {:.1}v8M{high:.1} {:.1}v8\" stroke=\"#333\" fill=\"none\"/>",
            middle - 4.0,
            middle - 4.0
        );
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{base:.1}\">{}</text>", high.max(end) + 8.0, grouped(bar.median));
    }
    if several {
        requests(&mut out, report, bottom + 20.0, PLOT, &color);
    }
    out.push_str("</svg>\n");
    out
}

/// Draws the time of each request, cheapest first, for the first subject of each source.
fn requests(out: &mut String, report: &Report<'_>, top: f64, height: f64, color: &dyn Fn(usize) -> &'static str) {
    const LEFT: f64 = 60.0;
    const RIGHT: f64 = 720.0;
    let firsts = (0..report.about.len()).filter_map(|source| Some((source, report.of_source(source).next()?.1)));
    let lines: Vec<(usize, Vec<f64>)> = firsts
        .map(|(source, measured)| {
            let mut times = measured.requests.clone();
            times.sort_by(f64::total_cmp);
            (source, times)
        })
        .collect();
    let most = lines.iter().flat_map(|(_, times)| times).copied().fold(0.0, f64::max);
    let base = top + 20.0 + height;
    let _ = writeln!(
        out,
        "<text x=\"16\" y=\"{:.0}\" font-weight=\"bold\">single requests, cheapest first</text>",
        top + 6.0
    );
    let _ = writeln!(out, "<path d=\"M{LEFT} {:.1}V{base:.1}H{RIGHT}\" stroke=\"#333\" fill=\"none\"/>", top + 20.0);
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        LEFT - 6.0,
        top + 28.0,
        grouped(most)
    );
    let _ = writeln!(out, "<text x=\"{}\" y=\"{base:.1}\" text-anchor=\"end\">0</text>", LEFT - 6.0);
    for (source, times) in &lines {
        let step = (RIGHT - LEFT) / number(times.len().max(2).saturating_sub(1));
        for (at, time) in times.iter().enumerate() {
            let (x, y) = (LEFT + step * number(at), base - share(*time, most) * height);
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{}\"/>", color(*source));
        }
    }
}

/// Returns a label for SVG: escaped, and cut in the middle if it is long.
fn shortened(label: &str) -> String {
    const MAX: usize = 30;
    let characters: Vec<char> = label.chars().collect();
    let text: String = match characters.len() {
        length if length > MAX => {
            let end = characters.get(length.saturating_sub(MAX.saturating_sub(1))..).unwrap_or_default();
            format!("…{}", end.iter().collect::<String>())
        }
        _ => label.to_owned(),
    };
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
