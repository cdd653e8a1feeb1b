//! Every kind of field times every operation of its CEL type, and every function of the standard
//! library: native code beside the Rust that an expert writes, on a derived context and on bound
//! variables.
//!
//! `fields` is the table of kinds, `operations` that of the operations of each class of kinds,
//! `functions` that of the functions. `benches/tests/everything.rs` compares the answers, and
//! fails when a kind, a function or a macro is missing.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "the Rust of the cells is what an expert writes about values that are known"
)]

mod by_hand;
mod fields;
mod functions;
mod hosts;
mod operations;

use crate::interleaved;
use crate::table::rounded;
pub use fields::{Cell, KINDS, Kind};
pub use hosts::{Answer, Host, TIERS, builtins};
use serde_json::{Value, json};
use std::collections::HashSet;

/// All cells: those of the kinds, then those of the functions; a condition that several tables have is in it once.
#[must_use]
pub fn cells() -> Vec<Cell> {
    let mut cells = vec![Cell::new(CALL, "true", |_| Some(true))];
    cells.extend(fields::cells());
    cells.extend(functions::cells());
    let mut seen = HashSet::new();
    cells.retain(|cell| seen.insert(cell.source.clone()));
    cells
}

/// The kind of the cell that only calls: its times are the fixed cost of a call.
const CALL: &str = "call";

/// Returns an answer that all tiers give.
///
/// # Errors
/// The cell does not compile, fails, or tiers disagree.
pub fn agreed(host: &Host, cell: &Cell) -> Result<[Answer; 3], String> {
    let place = |why: String| format!("{}: {}: {}: {why}", host.name, cell.kind, cell.source);
    let mut answers = host.answers(cell).map_err(place)?;
    let given = [0, 1, 2].map(|tier| answers.get_mut(tier).map_or(2, |answer: &mut Answer| answer(&())));
    match given {
        [0, 0, 0] | [1, 1, 1] => Ok(answers),
        _ => Err(place(format!("{TIERS:?} answer {given:?}; 0 is false, 1 is true, 2 is an error"))),
    }
}

/// Times all cells, or only those of some kinds, and prints a table, the worst first. Returns its rows.
///
/// # Errors
/// As [`agreed`].
pub fn compare_everything(rounds: usize, only: &[String], print: &mut dyn FnMut(String)) -> Result<Vec<Value>, String> {
    let chosen = |cell: &&Cell| cell.kind == CALL || only.is_empty() || only.iter().any(|kind| kind == cell.kind);
    let (cells, mut rows) = (cells(), Vec::new());
    if let Some(unknown) = only.iter().find(|kind| !cells.iter().any(|cell| cell.kind == kind.as_str())) {
        return Err(format!("no cells of `{unknown}`: the kinds are the fields of benches/src/everything/fields.rs"));
    }
    let hosts = Host::all()?;
    for host in &hosts {
        let mut call = [0.0; 3];
        for cell in cells.iter().filter(|cell| host.has(cell)).filter(chosen) {
            let times = interleaved(&mut agreed(host, cell)?, &(), rounds);
            let ns = [0, 1, 2].map(|tier| times.get(tier).map_or(f64::NAN, |time: &crate::Measurement| time.ns));
            if cell.kind == CALL {
                call = ns;
            }
            rows.push(Row {
                host: host.name,
                cell,
                ns,
                ratio: ns[0] / ns[1],
                net: net(ns[0], call[0]) / net(ns[1], call[1]),
            });
        }
    }
    rows.sort_by(|a, b| b.net.total_cmp(&a.net));
    print(format!("{:>8}{:>8}{:>9}{:>9}{:>9}  host     condition", "net", "ratio", "native", "by hand", "interp"));
    for Row { host, cell, ns: [native, by_hand, interpreter], ratio, net } in &rows {
        print(format!("{net:8.2}{ratio:8.2}{native:9.1}{by_hand:9.1}{interpreter:9.1}  {host:8} {}", cell.source));
    }
    print(String::new());
    for host in hosts.iter().map(|host| host.name) {
        for (name, of) in [("net", (|row| row.net) as fn(&Row<'_>) -> f64), ("ratio", |row| row.ratio)] {
            let mut figures: Vec<f64> = rows.iter().filter(|row| row.host == host).map(of).collect();
            figures.sort_by(f64::total_cmp);
            let at = |percent: usize| {
                figures.get((figures.len().saturating_sub(1)) * percent / 100).copied().unwrap_or(f64::NAN)
            };
            let [median, ninth, worst] = [50, 90, 100].map(at);
            print(format!(
                "{host:8} {name:5} of {:4} cells: median {median:.2}, 90th percentile {ninth:.2}, worst {worst:.2}",
                figures.len()
            ));
        }
        let of_host: Vec<&Row<'_>> = rows.iter().filter(|row| row.host == host).collect();
        let near = of_host.iter().filter(|row| row.is_near()).count();
        print(format!("{host:8} {near} of {} cells take at most 2.0 of handwritten Rust or 5 ns more", of_host.len()));
    }
    Ok(rows.iter().map(Row::json).collect())
}

/// A cell as it was measured.
struct Row<'a> {
    host: &'static str,
    cell: &'a Cell,
    /// Nanoseconds of the [`TIERS`].
    ns: [f64; 3],
    /// Native code by handwritten Rust.
    ratio: f64,
    /// The same without the fixed costs of the calls.
    net: f64,
}

impl Row<'_> {
    /// Whether native code takes at most twice the time of handwritten Rust, or 5 ns more.
    fn is_near(&self) -> bool {
        let [native, by_hand, _] = self.ns;
        self.ratio <= 2.0 || native - by_hand <= 5.0
    }

    fn json(&self) -> Value {
        let Self { host, cell, ns: [native, by_hand, interpreter], ratio, net } = self;
        json!({ "host": host, "kind": cell.kind, "condition": cell.source, "native_ns": rounded(*native), "handwritten_ns": rounded(*by_hand),
            "interpreter_ns": rounded(*interpreter), "ratio": rounded(*ratio), "net_ratio": rounded(*net) })
    }
}

/// A time without the fixed cost of a call; at least a nanosecond, below which ratios say nothing.
fn net(ns: f64, call: f64) -> f64 {
    (ns - call).max(1.0)
}
