//! What unrelated rules cost: a set is measured alone, and as part of larger sets whose other rules
//! the index finds for none of the requests. So the candidates and the matches are the same.
#![expect(clippy::arithmetic_side_effects, reason = "divisors are at least one")]

use super::engines::{self, PreparedEngine, Set, context};
use super::generate::{self, GeneratedRule, RequestSample};
use super::vocabulary::Vocabulary;
use super::{REQUESTS, SIZES, Say, rounded, timing};
use celero::{ErrorPolicy, Scratch};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// Rules of the set itself.
const OWN: usize = 1_000;

/// Stands for a match of a rule that must not match.
const UNRELATED: usize = usize::MAX;

/// `many` rules of the mix that match none of the requests, and that their index finds for none.
fn unrelated(vocabulary: &Vocabulary, samples: &[RequestSample], many: usize) -> Vec<GeneratedRule> {
    let (mut unrelated, mut generated) = (Vec::new(), many);
    while unrelated.len() < many {
        generated = generated.saturating_add(many / 8);
        unrelated = generate::rules(vocabulary, generated);
        let (set, _) = engines::build(&engines::sources(&unrelated), ErrorPolicy::NoMatch);
        let mut scratch = Scratch::new();
        let mut found: HashSet<usize> = HashSet::new();
        for sample in samples {
            found.extend(set.candidates(&context(sample), &mut scratch));
            // A small set evaluates some rules without looking them up.
            found.extend(set.indices(&context(sample), &mut scratch).unwrap_or_default());
        }
        let mut number = 0..generated;
        unrelated.retain(|_| number.next().is_some_and(|number| !found.contains(&number)));
    }
    unrelated.truncate(many);
    unrelated
}

/// Spreads the others evenly among the rules.
fn spread(own: &[GeneratedRule], others: &[GeneratedRule]) -> Vec<GeneratedRule> {
    let each = others.len() / own.len().max(1);
    let parts = own.iter().enumerate().map(|(n, rule)| {
        let others = others.iter().skip(n.saturating_mul(each)).take(each);
        std::iter::once(rule).chain(others)
    });
    parts.flatten().cloned().collect()
}

/// The set as an engine that reports every `every`-th rule under its number among these.
fn every_nth(set: &Rc<Set>, every: usize) -> PreparedEngine {
    let (set, scratch) = (Rc::clone(set), RefCell::new(Scratch::new()));
    PreparedEngine::all("indexed", move |sample, matched| {
        let mut scratch = scratch.borrow_mut();
        let all = set.indices(&context(sample), &mut scratch).unwrap_or_default();
        matched.extend(all.iter().map(|rule| if rule % every == 0 { rule / every } else { UNRELATED }));
    })
}

/// Measures every size; returns a row for each.
///
/// # Errors
/// A description of a set that finds other rules than the handwritten loop.
pub(crate) fn measure(most: usize, say: &mut Say<'_>) -> Result<Vec<Value>, String> {
    let vocabulary = Vocabulary::new();
    let own = generate::rules(&vocabulary, OWN);
    let samples = generate::samples(&vocabulary, &own, REQUESTS);
    let largest = SIZES.iter().copied().filter(|n| *n <= most).max().unwrap_or(0);
    let others = unrelated(&vocabulary, &samples, largest.saturating_sub(OWN));
    let by_hand = engines::by_hand(&own);
    let sizes: Vec<usize> = SIZES.iter().copied().filter(|n| (OWN..=most).contains(n)).collect();
    let sets: Vec<Rc<Set>> = sizes
        .iter()
        .map(|n| {
            let rules = spread(&own, others.get(..n.saturating_sub(OWN)).unwrap_or_default());
            Rc::new(engines::build(&engines::sources(&rules), ErrorPolicy::NoMatch).0)
        })
        .collect();
    let engines: Vec<PreparedEngine> = sets.iter().zip(&sizes).map(|(set, n)| every_nth(set, n / OWN)).collect();
    let timed = timing::compare(&std::iter::once(&by_hand).chain(&engines).collect::<Vec<_>>(), &samples)?;

    say(&format!(
        "{:>8}{:>14}{:>8}{:>12}   with the same requests and matches",
        "rules", "indexed", "ratio", "candidates"
    ));
    let mut rows = Vec::new();
    let mut first = None;
    for ((n, set), timing) in sizes.iter().zip(&sets).zip(timed.iter().skip(1)) {
        let mut scratch = Scratch::new();
        let found: usize = samples.iter().map(|sample| set.candidates(&context(sample), &mut scratch).len()).sum();
        let candidates = found as f64 / samples.len().max(1) as f64;
        let ratio = timing.ns / *first.get_or_insert(timing.ns);
        say(&format!("{n:>8}{:>14.0}{ratio:>8.2}{candidates:>12.2}", timing.ns));
        rows.push(json!({ "n": n, "indexed_ns": rounded(timing.ns), "ratio": rounded(ratio), "candidates": rounded(candidates) }));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unrelated_rules_change_no_match() {
        let vocabulary = Vocabulary::new();
        let own = generate::rules(&vocabulary, 50);
        let samples = generate::samples(&vocabulary, &own, 64);
        let all = spread(&own, &unrelated(&vocabulary, &samples, 150));
        assert_eq!(all.len(), 200);
        let set = Rc::new(engines::build(&engines::sources(&all), ErrorPolicy::NoMatch).0);
        timing::compare(&[&engines::by_hand(&own), &every_nth(&set, 4)], &samples).unwrap();
    }
}
