//! Calibration: however its arguments look, a call of a function takes at most ten times what the
//! steps that it charges promise.
//!
//! The functions are those of the table (`frontend/src/stdlib/table.rs`). For each one the test
//! looks for the slowest arguments: among values of the types of its parameters in many shapes and
//! sizes, combined at random with a fixed seed, and among the worst cases of [`worst_cases`], which
//! were found by reading the functions. A call's time is compared with that of a loop that runs in
//! between, so the test does not depend on the machine.
#![expect(clippy::arithmetic_side_effects, reason = "tests")]

mod clock;
mod documents;
mod entries;
mod values;
mod worst_cases;

use self::clock::{FACTOR, Reference};
use self::entries::{Entry, entry};
use self::values::Values;
use super::*;

/// Random arguments that are tried for each function.
const TRIES: usize = 40;
/// The slowest ones, which are measured again.
const KEPT: usize = 3;

#[test]
fn a_step_costs_at_most_ten_times_what_it_promises() {
    let reference = Reference::new();
    let mut arena = Arena::new(0);
    let mut failures = Vec::new();
    for (seed, &builtin) in (1..).zip(Builtin::ALL) {
        let inputs = Arena::new(1 << 28);
        let mut values = Values::new(seed, &inputs);
        let row = TABLE.row(builtin).unwrap();
        let (tries, derived) = match entry(builtin, &mut values) {
            Entry::Excepted(reason) => {
                assert!(reason.len() > 20, "{builtin:?} is excepted without a reason");
                continue;
            }
            Entry::ByType => (TRIES, Vec::new()),
            Entry::Derived(calls) => (TRIES, calls),
        };
        let found = (0..tries).map(|_| vec![row.params.iter().map(|ty| values.of(ty)).collect()]);
        let mut all: Vec<(f64, Vec<Vec<Value<'_>>>)> = derived
            .into_iter()
            .chain(found.collect::<Vec<_>>())
            .map(|calls| (reference.estimate(&mut arena, builtin, &calls), calls))
            .collect();
        all.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        for (_, calls) in all.iter().take(KEPT).filter(|(estimate, _)| *estimate > FACTOR) {
            if let Some(excess) = reference.excess(&mut arena, builtin, calls) {
                failures.push(format!("{builtin:?}: {excess:.1} times a step: {}", shown(&calls[0])));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Arguments, cut to what fits a line.
fn shown(args: &[Value<'_>]) -> String {
    let one = |value: &Value<'_>| {
        let size = match value {
            S(text) => text.len(),
            Y(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            _ => 0,
        };
        let text = format!("{value:?}");
        format!("{}[{size}]", text.chars().take(60).collect::<String>())
    };
    args.iter().map(one).collect::<Vec<_>>().join(" | ")
}
