//! Random typed rules: each is accepted, has a canonical text and layouts that mean the same, and
//! evaluates to a value of its type; what must follow from its value does; and native code, which
//! every rule has, agrees.
//!
//! `CELERO_FILTER_CASES` sets how many pairs of a rule and a host are evaluated, `CELERO_SEED` the seed.

use celero::filter::{
    Filter, FilterExpr, FilterOptions, FilterValue, StandardFunction, standard_functions, unparse_filter,
};
use celero::{ErrorKind, Limits};
use celero_tests::filter::{Outcome, evaluate_other_tier, interpret};
use celero_tests::filter_differential::{Report, compare};
use celero_tests::generate::filter::{Case, Generator, scheme};
use celero_tests::shared::say;

const PAIRS: u64 = 200_000;

/// Fewest pairs in which each thing that rules consist of is met.
const LEAST: u64 = 300;

fn number(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return default };
    text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}"))
}

fn interpreter(case: &Case, filter: &Filter) -> Result<Vec<Outcome>, &'static str> {
    Ok(interpret(filter, &case.hosts))
}

fn nothing_is_wrong(report: &Report, seed: u64) {
    let Report { rules, refused, failures, .. } = report;
    assert!(refused.is_empty(), "seed {seed}, {rules} rules, refused:\n{}", refused.join("\n"));
    assert!(failures.is_empty(), "seed {seed}, {rules} rules:\n{}", failures.join("\n"));
}

#[test]
fn the_tiers_agree() {
    let (seed, pairs) = (number("CELERO_SEED", 1), number("CELERO_FILTER_CASES", PAIRS));
    let other = |case: &Case, filter: &Filter| evaluate_other_tier(filter, &case.hosts);
    let report = compare(Generator::new(seed), pairs, &interpreter, &other);
    let Report { rules, compared, left_out, spent, results, coverage, .. } = &report;
    let [no, yes, nil, value] = results;
    say(&format!("filter rules, seed {seed}: {rules} rules, {compared} pairs compared"));
    for (reason, count) in left_out {
        say(&format!("  {count:>8} interpreted only: {reason}"));
    }
    say(&format!("  {no} false, {yes} true, {nil} nil, {value} other values, {spent} spent their budget"));
    for (thing, count) in coverage.rarest().into_iter().take(8) {
        say(&format!("  {count:>8} {thing}"));
    }
    nothing_is_wrong(&report, seed);
    assert!(no.min(yes) * 8 > rules * 20, "conditions are hardly ever both");
    assert!(*nil > 100 && *spent * 100 < rules * 20);
    assert!(left_out.is_empty(), "pairs without native code: {left_out:?}");
    if pairs < PAIRS {
        return;
    }
    let functions = standard_functions();
    let wanted = functions.iter().filter(|function| !only_on_literals(function.standard));
    let mapped: Vec<String> = wanted.map(|function| format!("{} of many", function.name)).collect();
    let names = functions.iter().map(|function| function.name.to_string());
    let rare: Vec<String> = names.chain(mapped).filter(|name| coverage.of(name) < LEAST).collect();
    assert!(rare.is_empty(), "met in fewer than {LEAST} pairs: {rare:?}");
    let rarest = coverage.rarest();
    let rare: Vec<_> = rarest.iter().filter(|(_, count)| *count < LEAST / 2).collect();
    assert!(rarest.len() > 150 && rare.is_empty(), "{} things, rare: {rare:?}", rarest.len());
}

/// Functions whose first argument is a literal are never called for many values.
fn only_on_literals(function: Option<StandardFunction>) -> bool {
    matches!(
        function,
        Some(StandardFunction::IsJwtPresent | StandardFunction::IsJwtValid | StandardFunction::IsTimedHmacValidV0)
    )
}

/// What follows from the meaning of `not`, of `any` and `all`, and of the connectives, holds.
#[test]
fn rules_follow_from_each_other() {
    let seed = number("CELERO_SEED", 1) ^ 7;
    let cases = Generator::new(seed).filter(|case| !case.is_value).take(1_500);
    for case in cases {
        let plain = evaluate(&case, &case.source);
        let negated: Vec<bool> = plain.iter().map(|value| !value).collect();
        let text = unparse_filter(case.compile().unwrap().tree());
        for (other, expected) in [
            (format!("not ({text})"), &negated),
            (format!("not not({text})"), &plain),
            (format!("({text}) and ({text}) and true"), &plain),
            (format!("false or ({text}) or ({text})"), &plain),
            (format!("({text}) xor ({text}) xor ({text})"), &plain),
            (format!("true xor ({text})"), &negated),
            (format!("to_string(({text})) eq \"true\""), &plain),
        ] {
            assert_eq!(&evaluate(&case, &other), expected, "{case:?}\n{other}");
        }
        // `any` of some conditions is the opposite of `all` of their opposites.
        let filter = case.compile().unwrap();
        for node in filter.tree().nodes() {
            let FilterExpr::Quantifier { all, operand } = node.expr else { continue };
            let is_condition = !matches!(
                filter.tree().expr(operand),
                FilterExpr::Field(_) | FilterExpr::Call { .. } | FilterExpr::Access { .. }
            );
            if is_condition {
                let span = filter.tree().node(operand).span;
                let inner = case.source.get(span.start as usize..span.end as usize).unwrap();
                let (this, opposite) = if all { ("all", "any") } else { ("any", "all") };
                let expected = evaluate(&case, &format!("{this}(({inner}))"));
                assert_eq!(evaluate(&case, &format!("not {opposite}(not ({inner}))")), expected, "{case:?}\n{inner}");
            }
        }
    }
}

fn evaluate(case: &Case, source: &str) -> Vec<bool> {
    let compiled = Filter::compile(source, &scheme(case.nil_not_equal), &FilterOptions::default());
    let filter = compiled.unwrap_or_else(|error| panic!("{case:?}\n{source}\n{error}"));
    let value = |outcome: Outcome| match outcome.unwrap() {
        Some(FilterValue::Bool(value)) => value,
        other => panic!("{source}: {other:?}"),
    };
    interpret(&filter, &case.hosts).into_iter().map(value).collect()
}

/// With a smaller budget a rule has the same value or spends the budget, and a budget that is enough stays enough.
#[test]
fn budgets_change_no_value() {
    let mut spent = 0;
    for case in Generator::new(number("CELERO_SEED", 1) ^ 3).take(1_500) {
        let filter = case.compile().unwrap();
        let host = case.hosts.first().unwrap();
        let expected = filter.eval(host).unwrap();
        let mut enough = false;
        for steps in [0, 1, 2, 4, 8, 16, 64, 256] {
            let limits = Limits { steps, ..Limits::default() };
            match filter.clone().with_limits(limits).eval(host) {
                Ok(value) => {
                    assert_eq!(value, expected, "{case:?}");
                    enough = true;
                }
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::OutOfBudget);
                    assert!(!enough, "{case:?}: {steps} steps are too few, and fewer were enough");
                    spent += 1;
                }
            }
        }
    }
    assert!(spent > 1_000, "{spent}");
}

#[test]
fn planted_faults_are_found() {
    let faults = [
        (" eq ", " ne "),
        (" lt ", " le "),
        (" and ", " or "),
        (" xor ", " or "),
        ("any(", "all("),
        (" strict wildcard ", " wildcard "),
        ("[*]", "[0]"),
        ("upper(", "lower("),
        ("..", "/32 "),
    ];
    for (right, wrong) in faults {
        let planted = |case: &Case, filter: &Filter| {
            let source = case.source.replacen(right, wrong, 1);
            // Where the other rule is not accepted, the fault is not there.
            let other = Case { source, ..case.clone() }.compile();
            Ok(interpret(other.as_ref().unwrap_or(filter), &case.hosts))
        };
        let report = compare(Generator::new(5), 40_000, &interpreter, &planted);
        let found = report.failures.first().unwrap_or_else(|| panic!("`{right}` as `{wrong}` was not found"));
        assert!(found.contains("smallest: ") && found.contains("second: "), "{found}");
    }
    let nil = |case: &Case, _: &Filter| {
        let other = Case { nil_not_equal: !case.nil_not_equal, ..case.clone() };
        interpreter(&other, &other.compile().unwrap())
    };
    let report = compare(Generator::new(5), 40_000, &interpreter, &nil);
    assert!(report.failures.iter().any(|failure| failure.contains("nil")), "{:?}", report.failures);
}
