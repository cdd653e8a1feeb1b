//! The static cost of random programs: no evaluation takes more operations than it says, with as many elements in lists
//! and maps as were seen in the evaluation.
//!
//! `CELERO_SEED` gives other programs.

use celero::diagnostics::Span;
use celero::settings::{PartResult, TracedPart};
use celero::values::{Arena, Value};
use celero::{Bindings, Engine, Scratch, Tier};
use celero_tests::generate::Generator;
use celero_tests::shared::say;
use std::collections::HashSet;

const CASES: u64 = 4_000;

/// The elements of the largest list or map that a part gave.
fn elements(part: &TracedPart<'_>) -> u64 {
    let of = |result: &PartResult<'_>| match result {
        PartResult::Value(Value::List(list)) => list.len(),
        PartResult::Value(Value::Map(map)) => map.len(),
        _ => 0,
    };
    part.results().iter().map(of).max().unwrap_or(0) as u64
}

#[test]
fn no_evaluation_takes_more_operations_than_the_static_cost_says() {
    let seed = std::env::var("CELERO_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let mut generator = Generator::new(seed);
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let (mut evaluations, mut loops, mut tight) = (0_u64, 0_u64, 0_u64);
    for _ in 0..CASES {
        let case = generator.case();
        let env = case.env();
        let Ok(rule) = engine.check(&env, &case.source) else { continue };
        // A trace does not tell the parts apart that a body is put in the place of.
        if rule.inlined_nodes() > 0 {
            continue;
        }
        let program = engine.compile_checked(&env, &rule).unwrap();
        let cost = rule.static_cost();
        // Literals, and lists of them, are no operations.
        let operations = rule.part_costs().into_iter().filter(|part| !part.cost.is_constant());
        let operations: HashSet<Span> = operations.map(|part| part.span).collect();
        for set in case.bindings.iter().take(3) {
            let arena = Arena::new(1 << 24);
            let mut bindings = Bindings::new(&env);
            for (variable, value) in case.variables.iter().zip(set) {
                if let Some(value) = value {
                    bindings.set(&variable.name, value.in_arena(&arena).unwrap()).unwrap();
                }
            }
            let mut scratch = Scratch::new();
            let Ok(trace) = program.trace(&bindings, &mut scratch) else { continue };
            let parts = trace.parts();
            let most = cost.most_for(parts.iter().map(elements).max().unwrap_or(0));
            let counted = parts.iter().filter(|part| operations.contains(&part.span()));
            let taken: u64 = counted.map(TracedPart::evaluations).sum();
            if taken > most {
                panic!("{taken} operations, and {most} at most: {case}{cost}\n{parts:#?}");
            }
            evaluations += 1;
            loops += u64::from(cost.most.iter().skip(1).any(|factor| *factor > 0));
            tight += u64::from(taken * 2 >= most && taken > 2);
        }
    }
    say(&format!(
        "{evaluations} evaluations within their static cost, {loops} of them with loops over lists of any size"
    ));
    // A test of bounds that nothing comes near proves nothing.
    assert!(evaluations > 2_000 && loops > 100 && tight > evaluations / 4, "{evaluations}, {loops}, {tight}");
}
