//! Canonical text stands for the tree it was made from: on collected rules, the conformance suite and random programs.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use celero_frontend::{Ast, Limits, dump, layout, parse, unparse};
use celero_tests::conformance::suite::Suite;
use celero_tests::generate::Generator;
use celero_tests::shared;

fn tree(source: &str) -> Ast {
    parse(source, &Limits::default()).unwrap_or_else(|d| panic!("{source}: {d:?}"))
}

/// A tree without places.
fn shape(ast: &Ast) -> String {
    dump(ast).lines().map(|line| line.rsplit_once(' ').unwrap().0.to_owned() + "\n").collect()
}

fn check(source: &str) {
    let Ok(ast) = parse(source, &Limits::default()) else { return };
    let text = unparse(&ast);
    for other in [text.clone(), layout(&ast, 40)] {
        let again = tree(&other);
        assert_eq!(shape(&again), shape(&ast), "{source}\n{other}");
        assert_eq!(unparse(&again), text, "{source}");
        assert_eq!(layout(&again, 40), layout(&ast, 40), "{source}");
    }
}

#[test]
fn collected_rules() {
    let Some(path) = shared::find("corpora/cel_expressions.jsonl", "canonical text of collected rules") else { return };
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        check(entry["expr"].as_str().unwrap());
    }
}

#[test]
fn conformance_expressions() {
    let Some(dir) = shared::find("conformance", "canonical text of the conformance suite") else { return };
    let cases = Suite::read(&dir).unwrap().cases;
    assert!(cases.len() > 1_000);
    cases.iter().for_each(|case| check(&case.expr));
}

#[test]
fn random_programs() {
    let mut generator = Generator::new(11);
    for _ in 0..20_000 {
        let case = generator.case();
        check(&tree(&case.source).source().clone());
    }
}
