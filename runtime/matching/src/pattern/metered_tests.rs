//! Searches that are charged: they find what the regex crate finds, and no text and no pattern gets
//! more than its budget.

use crate::pattern::compile::{compile, compile_metered};
use crate::pattern::random_patterns::Random;
use crate::pattern::search::meter::{Meter, Unmetered};
use crate::pattern::search::metered_regex::MeteredRegex;
use crate::pattern::syntax::limits::PatternError;
use crate::{Matcher, MemoryBudget};
use std::cell::Cell;
use std::ops::Range;

/// A budget of steps.
pub(super) struct Budget(Cell<usize>);

impl Meter for Budget {
    type Error = ();

    fn charge(&self, steps: usize) -> Result<(), ()> {
        self.0.set(self.0.get().checked_sub(steps).ok_or(())?);
        Ok(())
    }
}

impl Budget {
    pub(super) fn new(steps: usize) -> Self {
        Self(Cell::new(steps))
    }

    pub(super) fn spent(&self, of: usize) -> usize {
        of.saturating_sub(self.0.get())
    }
}

/// Asserts that the automata find what the regex crate finds.
fn agree(pattern: &str, texts: &[&str]) {
    let (want, regex) = (regex::Regex::new(pattern).unwrap(), compile(pattern).unwrap());
    texts.iter().for_each(|text| agree_on(pattern, text, &want, &regex));
}

fn agree_on(pattern: &str, text: &str, want: &regex::Regex, regex: &MeteredRegex) {
    assert_eq!(regex.0.is_match(text, &Unmetered), Ok(want.is_match(text)), "{pattern:?} on {text:?}");
    for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
        let first = want.find_at(text, at).map(|found| found.range());
        assert_eq!(regex.0.find_at(text, at, &Unmetered), Ok(first.clone()), "{pattern:?} on {text:?} from {at}");
        assert_eq!(regex.find_at(text, at, &Unmetered), Ok(first.clone()), "{pattern:?} on {text:?} from {at}");
        let Some(first) = first else { break };
        let groups = regex.groups(text, first, &Unmetered).unwrap().unwrap();
        let captures = want.captures_at(text, at).unwrap();
        let wanted: Vec<Option<Range<usize>>> = captures.iter().map(|group| group.map(|group| group.range())).collect();
        let found: Vec<_> = (0..regex.group_count()).map(|group| groups.get(group)).collect();
        assert_eq!(found, wanted, "{pattern:?} on {text:?} from {at}");
    }
}

#[test]
fn automata_find_what_the_engine_finds() {
    let mut random = Random(11);
    for _ in 0..500 {
        let pattern = random.pattern(2);
        if regex::Regex::new(&pattern).is_err() {
            continue;
        }
        let texts: Vec<String> = (0..9).map(|_| random.text()).collect();
        agree(&pattern, &texts.iter().map(|text| &**text).chain(["aéa"]).collect::<Vec<_>>());
    }
    for (pattern, text) in [
        (r"(?-u:\B)", "aéa"),
        (r"(?-u:\B)", "éé今"),
        (r"(?-u:\B)今|(?-u:\B)", "é今éé"),
        ("a*", "éaé今aa"),
        ("(?:éé)*|a", "aéééa"),
        ("select.*from", "select a from b, select c from d"),
        (r"\bé+\b", "a é éé"),
        ("a*", "baac"),
        ("(a|ab)(c|bcd)?", "abcd abcd"),
        ("(?m)^x$", "y\nx\nxx\nx"),
    ] {
        agree(pattern, &[text]);
    }
}

/// States that exceed their memory are dropped and built again, and the answers stay right.
#[test]
fn dropped_states_are_built_again() {
    let pattern = "[ab]*a[ab]{300}c|xyz";
    let regex = compile(pattern).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let mut text: String = (0..6_000).map(|_| if random.bool() { 'a' } else { 'b' }).collect();
    assert_eq!(regex.is_match(&text, &Unmetered), Ok(false));
    text.push_str("xyz");
    assert_eq!(regex.find_at(&text, 0, &Unmetered), Ok(Some(6_000..6_003)));
}

pub(super) const MILLION: usize = 1_000_000;

/// Patterns that take long on a text that is made for them end when their budget is spent, whatever
/// engine decides them.
#[test]
fn expensive_searches_end() {
    let ab: String =
        (0..1_u32 << 20).map(|i| if i.wrapping_mul(2_654_435_761) >> 31 == 0 { 'a' } else { 'b' }).collect();
    let mut random = fastrand::Rng::with_seed(5);
    let mut words = |all: [&str; 3]| (0..100_000).filter_map(|_| random.choice(all)).collect::<String>();
    let sql = words(["union ", "select", "a, b "]);
    let foreign = words(["union ", "select", "é, b "]);
    for (pattern, text) in [
        ("[ab]*a[ab]{8000}c", &ab),
        ("(?i)(union|select).{0,500}from ", &sql),
        ("(?i)(union|select).{0,500}from ", &foreign),
        (r"(?i)\b(union|select)\b.{0,500}from ", &foreign),
    ] {
        for matcher in [Matcher::new(pattern).unwrap(), Matcher::lazy(pattern, &MemoryBudget::default())] {
            assert!(matcher.search(text, &Budget::new(MILLION)).is_err(), "{pattern}");
        }
        assert_eq!(compile(pattern).unwrap().find_at(text, 0, &Budget::new(MILLION)), Err(()), "{pattern}");
    }
}

/// The same patterns, and others, cost little on ordinary texts.
#[test]
fn ordinary_searches_are_cheap() {
    let line = "GET /shop/item/4711?color=blue&size=xl HTTP/1.1 from Mozilla/5.0 (X11; Linux x86_64) ";
    let text = line.repeat((1 << 16) / line.len());
    let foreign = "Grüße aus Köln, 今日は ".repeat(2000);
    for (pattern, text) in [
        ("[ab]*a[ab]{8000}c", &text),
        ("(?i)(union|select).{0,500}from ", &text),
        (r"(?i)\b(union|select)\b.{0,500}from ", &foreign),
        (r"\w+@\w+\.com", &text),
        (r"\w+@\w+\.com", &foreign),
        ("(chrome|firefox|safari|curl)/[0-9]+", &text),
    ] {
        let (budget, regex) = (Budget::new(MILLION), compile(pattern).unwrap());
        assert_eq!(regex.is_match(text, &budget), Ok(false), "{pattern}");
        assert!(budget.spent(MILLION) < 100_000, "{pattern}: {}", budget.spent(MILLION));
        // States that exist are not paid again.
        let again = Budget::new(MILLION);
        assert_eq!(regex.is_match(text, &again), Ok(false), "{pattern}");
        assert!(again.spent(MILLION) <= text.len() / 5, "{pattern}: {}", again.spent(MILLION));
    }
}

/// Finds all matches, as functions that replace them do. Returns how many there are.
fn find_all(regex: &MeteredRegex, text: &str, meter: &impl Meter<Error = ()>) -> Result<usize, ()> {
    let (mut at, mut count) = (0, 0);
    while at <= text.len()
        && let Some(found) = regex.find_at(text, at, meter)?
    {
        let next = found.end.saturating_add(1);
        at = if found.is_empty() { text.ceil_char_boundary(next).max(next) } else { found.end };
        count = usize::saturating_add(count, 1);
    }
    Ok(count)
}

/// What a search does not read, it does not charge: many matches in a long text cost what the text does.
#[test]
fn all_matches_cost_what_the_text_does() {
    for (pattern, piece) in [
        ("a", "a"),
        ("a*", "ab"),
        ("a*", "é"),
        ("x*", "é"),
        ("", "é"),
        ("é?", "éa"),
        (r"\w+", "é "),
        (r"\w+\s", "ab "),
        ("[ab]{2,5}|c", "abc"),
        ("(?i)select|[a-z]+", "a selec "),
    ] {
        let regex = compile(pattern).unwrap();
        let spent = |n: usize| {
            let budget = Budget::new(usize::MAX);
            assert!(find_all(&regex, &piece.repeat(n), &budget).unwrap() >= n / 2, "{pattern} in {piece}");
            budget.spent(usize::MAX)
        };
        let (small, large) = (spent(2_000), spent(8_000));
        assert!(large <= 5 * small, "{pattern} in {piece}: {small} steps, {large} steps for four times the text");
    }
}

/// Where each match is only known at the end of the text, the searches cost the square of the text,
/// and end when the budget is spent.
#[test]
fn matches_that_read_the_whole_text_are_charged() {
    for pattern in ["a.*b|a", "a.*?b|a", "(?:a.*b)?"] {
        let regex = compile(pattern).unwrap();
        assert_eq!(find_all(&regex, &"a".repeat(1 << 16), &Budget::new(MILLION)), Err(()), "{pattern}");
    }
}

#[test]
fn compiling_is_charged_by_what_it_takes() {
    let spent = |pattern: &str| {
        let budget = Budget::new(MILLION);
        compile_metered(pattern, MILLION, &budget).map(|regex| (regex.is_ok(), budget.spent(MILLION)))
    };
    assert!(matches!(spent("[0-9]+"), Ok((true, 3_000..6_000))));
    assert!(matches!(spent(r"\w{40}N"), Ok((true, 100_000..900_000))), "{:?}", spent(r"\w{40}N"));
    assert!(matches!(spent("("), Ok((false, 3_000..6_000))));
    assert!(matches!(spent(r"\w{1000}"), Ok((false, 250_000..500_000))), "{:?}", spent(r"\w{1000}"));
    assert_eq!(spent(&r"(?i)[\s\S]".repeat(20)), Err(()));
    let little = Budget::new(20_000);
    assert!(compile_metered(r"\w{40}N", 20_000, &little).is_err());
    let long = "a".repeat(20_000);
    assert!(matches!(compile_metered(&long, MILLION, &Budget::new(0)), Ok(Err(PatternError::TooLong { .. }))));
}

/// A search for groups reserves memory for each group in each state: gigabytes for the longest patterns.
#[test]
fn memory_for_groups_is_charged() {
    let text = "ab".repeat(300);
    for (groups, is_cheap) in [(1, true), (10, true), (100, true), (1_000, false), (2_700, false)] {
        let regex = compile(&"(a|b)*".repeat(groups)).unwrap();
        let budget = Budget::new(MILLION);
        let found = regex.find_at(&text, 0, &budget).unwrap().unwrap();
        let budget = Budget::new(MILLION);
        assert_eq!(regex.groups(&text, found, &budget).is_ok(), is_cheap, "{groups} groups");
    }
}
