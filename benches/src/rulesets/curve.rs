//! The chart of time, or of instructions, over rules as SVG, readable on light and dark pages.

use serde_json::Value;
use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
/// Margins in pixels: left, top, right, bottom.
const MARGINS: [f64; 4] = [80.0, 30.0, 130.0, 60.0];
const GREY: &str = "#808080";

/// The engines: member of a row, name in the chart, colour.
const SERIES: &[(&str, &str, &str)] = &[
    ("cel_ns", "cel crate", "#c2528b"),
    ("handwritten_ns", "handwritten loop", "#b8860b"),
    ("one_by_one_ns", "celero, one by one", "#d2691e"),
    ("indexed_ns", "set, all", "#2f80ed"),
    ("first_ns", "set, first", "#27a376"),
];

/// The same, of rows with instructions.
const INSTRUCTIONS: &[(&str, &str, &str)] = &[
    ("one_by_one", "celero, one by one", "#d2691e"),
    ("all", "set, all", "#2f80ed"),
    ("first", "set, first", "#27a376"),
];

/// What a chart shows.
struct Chart {
    series: &'static [(&'static str, &'static str, &'static str)],
    title: &'static str,
    /// What the vertical axis is, its unit, and its labels by decade.
    axis: &'static str,
    unit: &'static str,
    label: fn(i32) -> String,
}

/// Maps numbers to pixels on logarithmic axes.
struct Plane {
    /// Decimal logarithms of the ends of the axes.
    x: [f64; 2],
    y: [f64; 2],
}

impl Plane {
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let [left, top, right, bottom] = MARGINS;
        let part = |v: f64, [from, to]: [f64; 2]| (v.log10() - from) / (to - from).max(1.0);
        (left + part(x, self.x) * (WIDTH - left - right), HEIGHT - bottom - part(y, self.y) * (HEIGHT - top - bottom))
    }
}

fn points(rows: &[Value], member: &str) -> Vec<(f64, f64)> {
    let point = |row: &Value| Some((row.get("n")?.as_f64()?, row.get(member)?.as_f64()?));
    rows.iter().filter_map(point).filter(|(n, ns)| *n > 0.0 && *ns > 0.0).collect()
}

fn ends(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let (least, most) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(1.0, f64::max));
    [least.min(most).log10().floor(), most.log10().ceil()]
}

fn time(decade: i32) -> String {
    let (unit, power) = match decade {
        ..3 => ("ns", decade),
        3..6 => ("µs", decade.saturating_sub(3)),
        6..9 => ("ms", decade.saturating_sub(6)),
        _ => ("s", decade.saturating_sub(9)),
    };
    format!("{} {unit}", 10_f64.powi(power))
}

fn count(decade: i32) -> String {
    let (unit, power) = if decade < 6 { ("", decade) } else { (" million", decade.saturating_sub(6)) };
    let digits = format!("{:.0}", 10_f64.powi(power));
    match digits.strip_suffix("000") {
        Some(thousands) => format!("{thousands},000{unit}"),
        None => format!("{digits}{unit}"),
    }
}

/// Draws the rows of `rulesets` in a report: time for a request over the number of rules.
#[must_use]
pub fn curve(rows: &[Value]) -> String {
    let title = "Time to find the rules that match a request, by the size of the set";
    drawn(rows, &Chart { series: SERIES, title, axis: "time for a request", unit: "ns", label: time })
}

/// Draws instructions for a request over the number of rules: rows with `n`, `one_by_one`, `all` and `first`.
#[must_use]
pub fn instruction_curve(rows: &[Value]) -> String {
    let title = "Instructions to find the rules that match a request, by the size of the set";
    let axis = "instructions for a request";
    drawn(rows, &Chart { series: INSTRUCTIONS, title, axis, unit: "instructions", label: count })
}

fn drawn(rows: &[Value], chart: &Chart) -> String {
    let Chart { series, title, unit, .. } = chart;
    let all: Vec<(f64, f64)> = series.iter().flat_map(|(member, ..)| points(rows, member)).collect();
    let plane = Plane { x: ends(all.iter().map(|p| p.0)), y: ends(all.iter().map(|p| p.1)) };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"{GREY}\">\n<title>{title}</title>\n"
    );
    grid(&mut svg, &plane, chart);
    let mut labels = Vec::new();
    for (member, name, colour) in *series {
        let line = points(rows, member);
        let places: Vec<(f64, f64)> = line.iter().map(|&(n, ns)| plane.place(n, ns)).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for ((x, y), (n, ns)) in places.iter().zip(&line) {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"><title>{name}, {n} rules: {ns} {unit}</title></circle>"
            );
        }
        labels.extend(places.last().map(|place| (*place, *name, *colour)));
    }
    // Names beside the ends of the lines, from top to bottom, at least one line of text apart.
    labels.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
    let mut lowest = f64::NEG_INFINITY;
    for ((x, y), name, colour) in labels {
        lowest = (lowest + 16.0).max(y + 4.0);
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{lowest:.1}\" fill=\"{colour}\">{name}</text>", x + 10.0);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Grid lines and labels at powers of ten.
fn grid(svg: &mut String, plane: &Plane, chart: &Chart) {
    let [x, y] = [plane.x, plane.y].map(|[from, to]| [from as i32, to as i32]);
    let corner = |x: i32, y: i32| plane.place(10_f64.powi(x), 10_f64.powi(y));
    let ((left, bottom), (right, top)) = (corner(x[0], y[0]), corner(x[1], y[1]));
    let mut line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        let _ = writeln!(
            svg,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{GREY}\" stroke-opacity=\"0.35\"/>"
        );
    };
    (x[0]..=x[1]).map(|decade| corner(decade, y[0]).0).for_each(|at| line(at, bottom, at, top));
    (y[0]..=y[1]).map(|decade| corner(x[0], decade).1).for_each(|at| line(left, at, right, at));
    for decade in x[0]..=x[1] {
        let at = corner(decade, y[0]).0;
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 20.0,
            count(decade)
        );
    }
    for decade in y[0]..=y[1] {
        let at = corner(x[0], decade).1;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            at + 4.0,
            (chart.label)(decade)
        );
    }
    let (middle, below) = ((left + right) / 2.0, bottom + 44.0);
    let _ = writeln!(svg, "<text x=\"{middle:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">rules in the set</text>");
    let height = (top + bottom) / 2.0;
    let _ = writeln!(
        svg,
        "<text x=\"16\" y=\"{height:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {height:.1})\">{}</text>",
        chart.axis
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_curve_has_a_line_for_each_engine_and_labels_at_powers_of_ten() {
        let rows = [
            json!({ "n": 1, "indexed_ns": 40.0, "first_ns": 30.0, "one_by_one_ns": 20.0, "handwritten_ns": 15.0 }),
            json!({ "n": 1000, "indexed_ns": 400.0, "first_ns": 300.0, "one_by_one_ns": 20_000.0, "handwritten_ns": 15_000.0 }),
        ];
        let svg = curve(&rows);
        assert_eq!(svg.matches("<circle").count(), 8);
        for label in [">1,000<", ">100 µs<", ">10 ns<", ">celero, one by one<", ">rules in the set<"] {
            assert!(svg.contains(label), "{label}\n{svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn numbers_are_written_as_people_do() {
        assert_eq!([0, 3, 5, 6].map(count), ["1", "1,000", "100,000", "1 million"].map(str::to_owned));
        assert_eq!([1, 3, 7, 9].map(time), ["10 ns", "1 µs", "10 ms", "1 s"].map(str::to_owned));
    }
}
