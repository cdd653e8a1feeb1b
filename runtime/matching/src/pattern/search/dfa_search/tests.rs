//! How far searches read.

use super::{Direction, LazyDfa, Search};
use crate::pattern::analysis::reach::{Near, Parts};
use crate::pattern::analysis::required::rated_literals;
use crate::pattern::metered_tests::Budget;
use crate::pattern::search::ascii_regex::AsciiRegex;
use crate::pattern::search::interleaved::Interleaved;
use crate::pattern::search::meter::Unmetered;
use crate::pattern::syntax::parse::parse;
use std::ops::ControlFlow;

/// After each place where a match may begin, the search returns to the prefilter, and asks it once.
#[test]
fn the_prefilter_is_asked_once_for_each_candidate() {
    const CANDIDATES: usize = 40;
    let dfa = LazyDfa::new(&parse("needle[0-9]+x").unwrap(), Direction::Forward).unwrap();
    let text = format!("{}needle12y", "-".repeat(300)).repeat(CANDIDATES) + "--";
    let search = || Search::new(&dfa, text.as_bytes(), 0..text.len(), true, Unmetered);
    let mut alone = search();
    assert!(matches!(alone.run(), Ok(None)));
    let mut in_turns = search();
    assert!(matches!(in_turns.run_filtered(), Ok(ControlFlow::Break(None))));
    for search in [alone, in_turns] {
        // The last time it finds none.
        assert_eq!(search.candidates, CANDIDATES);
        assert!(search.prefilter.is_some());
        assert_eq!(search.read, text.len());
    }
}

/// One long line after a candidate does not make the search read all of the text that follows.
#[test]
fn the_prefilter_is_used_again_after_a_long_line() {
    let dfa = LazyDfa::new(&parse("select[^\n]*from").unwrap(), Direction::Forward).unwrap();
    let others = "-".repeat(1_000_000);
    for (end, matches) in [("select", false), ("select 1 from", true)] {
        let text = format!("select{}\n{others}{end}", "a".repeat(100));
        let mut search = Search::new(&dfa, text.as_bytes(), 0..text.len(), true, Unmetered);
        assert!(matches!(search.run_filtered(), Ok(ControlFlow::Continue(()))));
        let found = loop {
            Search::follow_in_turns([&mut search]);
            match search.step_slow() {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(found)) => break found,
                Err(_) => panic!("the search is undecided"),
            }
        };
        assert_eq!(found, matches.then_some(text.len()));
        assert!(search.skipped > others.len() - 20_000, "{} bytes were skipped", search.skipped);
    }
}

/// How much a search near literals charges, and what it finds.
fn near(pattern: &str, text: &str, offsets: &[usize]) -> (bool, usize) {
    const STEPS: usize = 1 << 30;
    let regex = AsciiRegex::new(pattern).unwrap();
    let rated = rated_literals(&parse(pattern).unwrap()).unwrap();
    let parts = Parts::of(text.len());
    let bits = offsets.iter().fold(0, |bits, offset| bits | parts.bit(*offset));
    let mut spent = 0;
    let mut found = None;
    // The first search builds the states.
    for _ in 0..2 {
        let budget = Budget::new(STEPS);
        let mut searches = Interleaved::new();
        let mut done = |(), result: Result<bool, ()>| found = result.ok();
        searches.add(((), &regex), (text, Some(Near { parts, bits, reach: &rated.reach })), &budget, &mut done);
        searches.finish(&mut done);
        spent = budget.spent(STEPS);
    }
    (found.unwrap(), spent)
}

#[test]
fn a_search_near_literals_reads_little_else() {
    let others = "the quick brown fox, ".repeat(1_000);
    let text = |middle: &str| format!("{others}{middle}, {others}");
    let at = others.len();
    for (pattern, middle, want) in [
        (r"select[ a-z]{1,20}from", "select 1 from", false),
        (r"select[ a-z]{1,20}from", "select a from", true),
        (r"\bselect\b[^,]*from\b", "select 1 from", true),
        (r"\bselect\b[^,]*from\b", "selects 1 from", false),
        (r"\(\s*select\s+\d", "(   select 1", true),
        (r"\(\s*select\s+\d", "(  x select 1", false),
        (r"(?m)^[a-z]{1,9} select", "\nabc select", true),
    ] {
        let (found, spent) = near(pattern, &text(middle), &[at]);
        assert_eq!(found, want, "{pattern} {middle}");
        // A part has some 700 bytes.
        assert!(spent < 1_000, "{pattern} {middle}: {spent}");
    }
    // A match that has begun is read to its end, and a text in which one may always have begun is read once.
    let (found, spent) = near(r"select.*from\b", &(text("select") + "from"), &[at]);
    assert!(found && (at / 8..at / 4).contains(&spent), "{spent}");
    let text = text("select");
    let everywhere: Vec<usize> = (0..text.len()).step_by(100).collect();
    for pattern in ["[a-z ,].*select.*froms", "select.*froms", r"\bselect[^s]*froms"] {
        let (_, spent) = near(pattern, &text, &everywhere);
        assert!(spent < text.len() / 4, "{pattern}: {spent}");
    }
}
