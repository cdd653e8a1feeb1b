//! Random programs give the same results when they come back from their trees. `CELERO_TREE_CASES` sets how many.

use super::{canonical, read_again};
use celero::values::Arena;
use celero::{Bindings, Engine, ErrorKind, Program, Scratch, Tier};
use celero_tests::differential::Ended;
use celero_tests::generate::{Case, Generator, Owned};
use celero_tests::shared::say;

/// Programs of a run.
const CASES: u64 = 3_000;

fn results(program: &Program<Bindings<'static>>, case: &Case) -> Vec<Ended> {
    let env = case.env();
    let mut scratch = Scratch::new();
    let result = |set: &Vec<Option<Owned>>| {
        let (arena, shown) = (Arena::new(1 << 24), Arena::new(1 << 24));
        let mut bindings = Bindings::new(&env);
        for (variable, value) in case.variables.iter().zip(set) {
            if let Some(value) = value {
                bindings.set(&variable.name, value.in_arena(&arena).unwrap()).unwrap();
            }
        }
        match program.eval(&bindings, &mut scratch) {
            Ok(value) => Ended::Value(Owned::of(&value, &shown).unwrap()),
            Err(error) => Ended::failed(&error),
        }
    };
    case.bindings.iter().map(result).collect()
}

/// Whether both are the same value or an error of the same kind; places are those of different texts. What spends its
/// budget is not compared: code with other places may take other steps.
fn is_same(one: &Ended, other: &Ended) -> bool {
    let spent = |ended: &Ended| ended.error() == Some(ErrorKind::OutOfBudget);
    match (one, other) {
        _ if spent(one) || spent(other) => true,
        (Ended::Value(one), Ended::Value(other)) => one.same(other),
        (one, other) => one.error().is_some() && one.error() == other.error(),
    }
}

#[test]
fn random_programs_keep_their_meaning() {
    let cases = std::env::var("CELERO_TREE_CASES").map_or(CASES, |cases| cases.parse().unwrap());
    let engines = [Tier::Interpret, Tier::Native].map(|tier| Engine::builder().tier(tier).build());
    let mut generator = Generator::new(21);
    let (mut programs, mut compared) = (0, 0);
    for number in 0..cases {
        if number == cases * 3 / 4 {
            generator = Generator::new(22).unchecked();
        }
        let case = generator.case();
        let env = case.env();
        let Ok(rule) = engines[0].check(&env, &case.source) else { continue };
        // One that spends its budget, or differs from evaluation to evaluation, says nothing.
        let is_judged = case.steps.is_none() && rule.is_pure();
        programs += 1;
        let trees = read_again(&engines[0], &env, &case.source).unwrap_or_else(|error| panic!("{case}{error}"));
        for tree in &trees {
            let again = engines[0].check_tree(&env, tree).unwrap_or_else(|error| panic!("{case}{error}"));
            let text = canonical(&env, &case.source);
            // `x.with(v, e)` becomes `cel.bind(v, x, e)`.
            if !text.contains(".with(") {
                assert_eq!(again.source(), text, "{case}");
            }
            assert_eq!(again.result_type(), rule.result_type(), "{case}");
        }
        if !is_judged {
            continue;
        }
        let expected = results(&engines[0].compile_checked(&env, &rule).unwrap(), &case);
        for engine in &engines {
            // The one of the checked tree in JSON; all have the same text.
            let program = engine.compile_tree(&env, &trees[3]).unwrap_or_else(|error| panic!("{case}{error}"));
            for (one, other) in expected.iter().zip(results(&program, &case)) {
                assert!(is_same(one, &other), "{case}{one}\n{other}");
                compared += 1;
            }
        }
    }
    say(&format!("{programs} random programs come back from their trees, {compared} evaluations are the same"));
    assert!(programs * 10 > cases * 9, "{programs} of {cases} programs are valid");
}
