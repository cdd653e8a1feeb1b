//! Searches that take turns: each finds what it finds alone, and pays for itself.

use crate::pattern::metered_tests::Budget;
use crate::pattern::random_patterns::Random;
use crate::pattern::search::ascii_regex::AsciiRegex;
use crate::pattern::search::interleaved::Interleaved;
use crate::pattern::search::meter::Unmetered;
use std::collections::BTreeMap;

/// Long enough that every pattern is searched for with an automaton.
const LONG: usize = 40_000;

/// What the searches find together, by index of the pattern.
fn together(regexes: &[AsciiRegex], text: &str, budgets: &[Budget]) -> BTreeMap<usize, Result<bool, ()>> {
    let mut found = BTreeMap::new();
    let mut searches = Interleaved::new();
    let mut done = |tag, result| assert_eq!(found.insert(tag, result), None, "ended twice");
    for (tag, (regex, budget)) in regexes.iter().zip(budgets).enumerate() {
        searches.add((tag, regex), (text, None), budget, &mut done);
    }
    searches.finish(&mut done);
    found
}

fn budgets(count: usize, steps: usize) -> Vec<Budget> {
    (0..count).map(|_| Budget::new(steps)).collect()
}

/// Texts of which the patterns match early, late, at the end or nowhere, and texts shorter than one turn.
#[test]
fn searches_that_take_turns_find_what_they_find_alone() {
    let (mut random, mut places) = (Random(7), fastrand::Rng::with_seed(7));
    let mut regexes: Vec<AsciiRegex> = (0..400).filter_map(|_| AsciiRegex::new(&random.pattern(2))).collect();
    let fixed = ["ab+a$", "select.*from", "a[^c]*c", r"\bab\b", "^x*$", "(a|b)x{40}a", "needle", "[ab]x+b", "$"];
    regexes.extend(fixed.iter().filter_map(AsciiRegex::new));
    let mut outcomes = [0; 2];
    for round in 0..6 {
        let mut text = "x".repeat(LONG + round);
        for _ in 0..round {
            let at = places.usize(1..5) * LONG / 5;
            let part: String = random.text().chars().filter(char::is_ascii).collect();
            text.replace_range(at..at + part.len(), &part);
        }
        text.push_str(["", "a", "ab", "needle", "select a from b", "\n"][round]);
        let found = together(&regexes, &text, &budgets(regexes.len(), usize::MAX));
        assert_eq!(found.len(), regexes.len());
        for (tag, regex) in regexes.iter().enumerate() {
            let Ok(want) = regex.is_match(&text, &Unmetered);
            assert_eq!(found[&tag], Ok(want), "{regex:?} round {round}");
            outcomes[usize::from(want)] += 1;
        }
    }
    assert!(outcomes.iter().all(|count| *count > 300), "{outcomes:?}");
}

/// A search whose budget is spent ends without an answer, and the searches beside it go on.
#[test]
fn each_search_that_takes_turns_pays_for_itself() {
    let patterns = ["[ab]*a[ab]{300}c", "[ab]+c", "ba*b$", "[ab]*d", "a[ab]*e"];
    let regexes: Vec<AsciiRegex> = patterns.iter().filter_map(AsciiRegex::new).collect();
    let mut random = fastrand::Rng::with_seed(3);
    let mut text: String = (0..LONG).map(|_| if random.bool() { 'a' } else { 'b' }).collect();
    text.push_str("bab");
    let budgets = budgets(regexes.len(), LONG);
    let found: Vec<_> = together(&regexes, &text, &budgets).into_values().collect();
    assert_eq!(found, [Err(()), Ok(false), Ok(true), Ok(false), Ok(false)]);
    // Reading is charged: a step for eight bytes.
    for budget in budgets.iter().skip(1) {
        assert!((LONG / 8..LONG / 4).contains(&budget.spent(LONG)), "{}", budget.spent(LONG));
    }
    // No budget suffices for nothing.
    let none = together(&regexes, &text, &self::budgets(regexes.len(), 1)).into_values().all(|found| found == Err(()));
    assert!(none);
}
