//! The tables of docs/performance.md, from records that `compare --json` wrote.

use crate::ENGINES;
use serde_json::Value;

/// Returns the tables of a report in Markdown: workloads in nanoseconds for an evaluation, sets in
/// microseconds for a request.
#[must_use]
pub fn markdown(report: &Value) -> String {
    let rows = |member: &str| report.get(member).and_then(Value::as_array).filter(|rows| !rows.is_empty());
    let tables = [
        rows("workloads").map(|rows| workloads(rows)),
        rows("rulesets").map(|rows| rulesets(rows)),
        rows("matching").map(|rows| matching(rows)),
        rows("asking").map(|rows| asking(rows)),
        rows("compile").map(|rows| compiling(rows)),
        rows("limits").map(|rows| limits(rows)),
        rows("messages").map(|rows| messages(rows)),
        report.pointer("/lists/lookups").and_then(Value::as_array).map(|rows| lists(rows)),
    ];
    tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// What asking costs: nanoseconds for an evaluation.
fn asking(rows: &[Value]) -> String {
    let mut table = String::from("| condition | ns |\n|---|---:|\n");
    for row in rows {
        let (name, ns) = (name_of(row), row.get("ns").and_then(Value::as_f64).unwrap_or(f64::NAN));
        table.push_str(&format!("| {name} | {ns:.0} |\n"));
    }
    table
}

/// What compiling costs: microseconds from text to a program, bytes of machine code and of heap.
fn compiling(rows: &[Value]) -> String {
    let mut table =
        String::from("| | new shape, µs | known shape, µs | code, bytes | heap, bytes |\n|---|---:|---:|---:|---:|\n");
    for row in rows {
        let number = |member: &str| row.get(member).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let (name, us, again) = (name_of(row), number("us"), number("again_us"));
        let (code, heap) = (number("code_bytes"), number("kept_heap"));
        table.push_str(&format!("| {name} {} | {us:.0} | {again:.0} | {code:.0} | {heap:.0} |\n", about(name)));
    }
    table
}

/// The columns of the table of limits.
const LIMITERS: [&str; 3] = ["celero", "governor", "pingora-limits"];

/// Limits: what each row has, in the unit that its name says.
fn limits(rows: &[Value]) -> String {
    let mut table = format!("| | {} |\n|---|{}\n", LIMITERS.join(" | "), "---:|".repeat(LIMITERS.len()));
    for row in rows {
        let workload = row.get("workload").and_then(Value::as_str).unwrap_or_default();
        let units = [("ns", ", ns", 1), ("speed", ", times one thread", 2), ("bytes_per_key", ", bytes a key", 0)];
        for (member, unit, digits) in units {
            let Some(figures) = row.get(member) else { continue };
            let cell =
                |name: &str| figures.get(name).and_then(Value::as_f64).map(|figure| format!("{figure:.digits$}"));
            let cells = LIMITERS.map(|name| cell(name).unwrap_or_default());
            table.push_str(&format!("| {workload}{unit} | {} |\n", cells.join(" | ")));
        }
    }
    table
}

/// Rules on messages: nanoseconds for an evaluation.
fn messages(rows: &[Value]) -> String {
    let mut table = String::from(
        "| | prost | view of buffa | native | interpret | native ÷ prost | native ÷ view |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let ns = |member: &str| row.get(member).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let name = row.get("case").and_then(Value::as_str).unwrap_or_default();
        let (prost, view, native) = (ns("prost_ns"), ns("view_ns"), ns("native_ns"));
        let (interpret, by_prost, by_view) = (ns("interpreter_ns"), native / prost, native / view);
        table.push_str(&format!(
            "| {name} | {prost:.0} | {view:.0} | {native:.0} | {interpret:.0} | {by_prost:.2} | {by_view:.2} |\n"
        ));
    }
    table
}

/// Named lists: nanoseconds for a value.
fn lists(rows: &[Value]) -> String {
    let mut table = String::from("| | native | crate | others |\n|---|---:|---:|---|\n");
    for row in rows {
        let engines = || row.get("engines").and_then(Value::as_object).into_iter().flatten();
        let ns = |figures: &Value| figures.get("ns").and_then(Value::as_f64).unwrap_or(f64::NAN);
        let own = |name: &str| row.pointer(&format!("/engines/{name}")).map_or(f64::NAN, ns);
        let others = engines().filter(|(name, _)| !["native", "crate", "loaded"].contains(&name.as_str()));
        let others: Vec<String> = others.map(|(name, figures)| format!("{name} {:.0}", ns(figures))).collect();
        let (native, direct) = (own("native"), own("crate"));
        table.push_str(&format!("| {} | {native:.0} | {direct:.0} | {} |\n", name_of(row), others.join("; ")));
    }
    table
}

fn name_of(row: &Value) -> &str {
    row.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// The sizes of sets: microseconds for a request.
fn rulesets(rows: &[Value]) -> String {
    const COLUMNS: &[(&str, &str)] = &[
        ("set, all", "indexed_ns"),
        ("set, first", "first_ns"),
        ("celero, one by one", "one_by_one_ns"),
        ("handwritten", "handwritten_ns"),
        ("cel", "cel_ns"),
    ];
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut table = format!(
        "| rules | {} | handwritten ÷ set, all |\n|---:|{}---:|\n",
        names.join(" | "),
        "---:|".repeat(COLUMNS.len())
    );
    for row in rows {
        let number = |member: &str| row.get(member).and_then(Value::as_f64);
        let cell = |member: &str| number(member).map(|ns| microseconds(ns / 1000.0)).unwrap_or_default();
        let cells: Vec<String> = COLUMNS.iter().map(|(_, member)| cell(member)).collect();
        let rules = row.get("n").and_then(Value::as_u64).unwrap_or(0);
        let ratio = number("handwritten_ns").zip(number("indexed_ns")).map_or(0.0, |(by_hand, set)| by_hand / set);
        let digits = if ratio < 10.0 { 1 } else { 0 };
        table.push_str(&format!("| {rules} | {} | {ratio:.digits$} |\n", cells.join(" | ")));
    }
    table
}

/// Matchers without rules: for each engine nanoseconds for a value, KiB of heap and milliseconds to build.
fn matching(rows: &[Value]) -> String {
    let mut table = String::from("| | celero | others, and their time divided by celero's |\n|---|---|---|\n");
    for row in rows {
        let name = row.get("name").and_then(Value::as_str).unwrap_or_default();
        let cell = |engine: &Value| {
            let number = |member: &str| engine.get(member).and_then(Value::as_f64).unwrap_or(f64::NAN);
            let (ns, kib) = (number("ns"), number("bytes") / 1024.0);
            let (digits, ms) = (if ns < 100.0 { 1 } else { 0 }, number("build_us") / 1000.0);
            (format!("{ns:.digits$} ns, {kib:.0} KiB, {ms:.1} ms"), number("ratio"))
        };
        let engines = row.get("engines").and_then(Value::as_object).into_iter().flatten();
        let (mut own, mut others) = (String::new(), Vec::new());
        for (engine, figures) in engines {
            match (engine.as_str(), cell(figures)) {
                ("celero", (figures, _)) => own = figures,
                (engine, (figures, ratio)) => others.push(format!("{engine} **{ratio:.2}** ({figures})")),
            }
        }
        table.push_str(&format!("| {name} | {own} | {} |\n", others.join("; ")));
    }
    table
}

fn microseconds(us: f64) -> String {
    let digits = match us {
        ..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{us:.digits$}")
}

fn workloads(rows: &[Value]) -> String {
    let rules = "---:|".repeat(ENGINES.len());
    let mut table = format!("| | {} | native ÷ handwritten |\n|---|{rules}---:|\n", ENGINES.join(" | "));
    for workload in rows {
        let (Some(name), Some(engines)) = (workload.get("name").and_then(Value::as_str), workload.get("engines"))
        else {
            continue;
        };
        let ns = |engine: &str| engines.get(engine)?.get("ns")?.as_f64();
        let cell = |ns: f64| if ns < 100.0 { format!("{ns:.1}") } else { format!("{ns:.0}") };
        let cells: Vec<String> = ENGINES.iter().map(|engine| ns(engine).map(cell).unwrap_or_default()).collect();
        let ratio = ns("native").zip(ns("handwritten")).map(|(native, by_hand)| format!("{:.2}", native / by_hand));
        let ratio = ratio.unwrap_or_default();
        table.push_str(&format!("| {name} {} | {} | {ratio} |\n", about(name), cells.join(" | ")));
    }
    table
}

/// A short description of a workload.
pub(crate) fn about(name: &str) -> &'static str {
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

/// Two places behind the point.
pub(crate) fn rounded(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> String {
        std::fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    /// The cells of the row of a record's table that starts with `label`.
    fn row(record: &str, label: &str) -> Vec<String> {
        let table = markdown(&serde_json::from_str(&file(record)).unwrap());
        let row = table.lines().find(|line| line.starts_with(&format!("| {label} "))).unwrap().to_owned();
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    }

    #[test]
    fn the_front_page_shows_the_records() {
        let readme = file("../README.md");
        let thousands = |cell: &str| match cell.split_at_checked(cell.len().saturating_sub(3)) {
            Some((head, tail)) if !head.is_empty() => format!("{head},{tail}"),
            _ => cell.to_owned(),
        };
        let workload = |name: &str| row("record/workloads.json", name);
        // The best that the peer can do: it resolves values when a rule reads them.
        let compared = |cells: &[String]| {
            let (celero, by_hand, peer) = (&cells[4], &cells[2], thousands(&cells[7]));
            format!("| {celero} ns | {by_hand} ns handwritten in Rust, {peer} ns with the `cel` crate |")
        };
        let set = workload("W9_group");
        let (many, micros) = (row("record/rulesets.json", "100000"), |cell: &str| cell.parse::<f64>().unwrap());
        for wanted in [
            compared(&workload("W4")),
            compared(&workload("W6")),
            compared(&workload("W9")),
            format!("| {} ns | {} ns handwritten in Rust |", set[4], set[2]),
            format!("| {:.1} µs | {} µs for a loop of handwritten", micros(&many[2]), thousands(&many[5])),
        ] {
            assert!(readme.contains(&wanted), "README.md does not say {wanted:?}");
        }
    }

    #[test]
    fn the_documents_show_the_records() {
        for (record, rows) in [
            ("record/workloads.json", 10),
            ("record/rulesets.json", 6),
            ("record/matching.json", 30),
            ("record/asking.json", 10),
            ("record/lists.json", 12),
            ("record/limits.json", 6),
            ("record/messages.json", 4),
        ] {
            let table = markdown(&serde_json::from_str(&file(record)).unwrap());
            assert!(table.lines().count() >= rows, "{record}");
            assert!(
                file("../docs/performance.md").contains(&table),
                "the table of docs/performance.md is not that of {record}:\n{table}"
            );
        }
    }
    #[test]
    fn limits_are_a_table_of_all_units() {
        let report = serde_json::json!({ "limits": [
            { "workload": "one key", "ns": { "celero": 20.44, "governor": 30.0, "pingora-limits": 25.5 } },
            { "workload": "two threads", "speed": { "celero": 1.98, "governor": 1.7 } },
            { "workload": "memory", "bytes_per_key": { "celero": 84.0, "governor": 40.0 } },
        ] });
        let rows = "| one key, ns | 20.4 | 30.0 | 25.5 |\n| two threads, times one thread | 1.98 | 1.70 |  |\n\
            | memory, bytes a key | 84 | 40 |  |\n";
        let table = markdown(&report);
        assert_eq!(table, format!("| | celero | governor | pingora-limits |\n|---|---:|---:|---:|\n{rows}"));
    }
}
