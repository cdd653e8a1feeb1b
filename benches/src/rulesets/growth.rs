//! What rules cost that no request has to do with: a set asked by itself, and as a part of larger ones whose other rules the
//! index does not find for any of the requests. So the candidates are the same, and the matches.
#![expect(clippy::arithmetic_side_effects, reason = "divisors are at least one")]

use super::engines::{self, Asked, Set, context};
use super::generate::{self, Rule, Sample};
use super::vocabulary::Vocabulary;
use super::{REQUESTS, SIZES, Say, rounded, timing};
use celero::{ErrorPolicy, Scratch};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// Rules of the set itself.
const OWN: usize = 1_000;

/// A number of no rule.
const STRANGER: usize = usize::MAX;

/// So many rules of the mix that match no request, and that an index of them finds for none.
fn strangers(vocabulary: &Vocabulary, samples: &[Sample], many: usize) -> Vec<Rule> {
    let (mut strangers, mut asked) = (Vec::new(), many);
    while strangers.len() < many {
        asked = asked.saturating_add(many / 8);
        strangers = generate::rules(vocabulary, asked);
        let (set, _) = engines::build(&engines::sources(&strangers), ErrorPolicy::NoMatch);
        let mut scratch = Scratch::new();
        let mut found: HashSet<usize> = HashSet::new();
        for sample in samples {
            found.extend(set.found(&context(sample), &mut scratch));
            // Of a small set some rules are evaluated without being found.
            found.extend(set.all(&context(sample), &mut scratch).unwrap_or_default());
        }
        let mut number = 0..asked;
        strangers.retain(|_| number.next().is_some_and(|number| !found.contains(&number)));
    }
    strangers.truncate(many);
    strangers
}

/// The rules, each with as many of the others after it as there are for each.
fn spread(own: &[Rule], others: &[Rule]) -> Vec<Rule> {
    let each = others.len() / own.len().max(1);
    let parts = own.iter().enumerate().map(|(n, rule)| {
        let others = others.iter().skip(n.saturating_mul(each)).take(each);
        std::iter::once(rule).chain(others)
    });
    parts.flatten().cloned().collect()
}

/// The set, as one that has only every so manyth rule.
fn asked(set: &Rc<Set>, every: usize) -> Asked {
    let (set, scratch) = (Rc::clone(set), RefCell::new(Scratch::new()));
    Asked::all("indexed", move |sample, matched| {
        let mut scratch = scratch.borrow_mut();
        let all = set.all(&context(sample), &mut scratch).unwrap_or_default();
        matched.extend(all.iter().map(|rule| if rule % every == 0 { rule / every } else { STRANGER }));
    })
}

/// Measures; a row for each size.
///
/// # Errors
/// A set that finds other rules than the rules do by hand.
pub(crate) fn measure(most: usize, say: &mut Say<'_>) -> Result<Vec<Value>, String> {
    let vocabulary = Vocabulary::new();
    let own = generate::rules(&vocabulary, OWN);
    let samples = generate::samples(&vocabulary, &own, REQUESTS);
    let largest = SIZES.iter().copied().filter(|n| *n <= most).max().unwrap_or(0);
    let others = strangers(&vocabulary, &samples, largest.saturating_sub(OWN));
    let by_hand = engines::by_hand(&own);
    let sizes: Vec<usize> = SIZES.iter().copied().filter(|n| (OWN..=most).contains(n)).collect();
    let sets: Vec<Rc<Set>> = sizes
        .iter()
        .map(|n| {
            let rules = spread(&own, others.get(..n.saturating_sub(OWN)).unwrap_or_default());
            Rc::new(engines::build(&engines::sources(&rules), ErrorPolicy::NoMatch).0)
        })
        .collect();
    let engines: Vec<Asked> = sets.iter().zip(&sizes).map(|(set, n)| asked(set, n / OWN)).collect();
    let timed = timing::compare(&std::iter::once(&by_hand).chain(&engines).collect::<Vec<_>>(), &samples)?;

    say(&format!(
        "{:>8}{:>14}{:>8}{:>12}   with the same requests and matches",
        "rules", "indexed", "ratio", "candidates"
    ));
    let mut rows = Vec::new();
    let mut first = None;
    for ((n, set), timing) in sizes.iter().zip(&sets).zip(timed.iter().skip(1)) {
        let mut scratch = Scratch::new();
        let found: usize = samples.iter().map(|sample| set.found(&context(sample), &mut scratch).len()).sum();
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
    fn strangers_change_no_answer() {
        let vocabulary = Vocabulary::new();
        let own = generate::rules(&vocabulary, 50);
        let samples = generate::samples(&vocabulary, &own, 64);
        let all = spread(&own, &strangers(&vocabulary, &samples, 150));
        assert_eq!(all.len(), 200);
        let set = Rc::new(engines::build(&engines::sources(&all), ErrorPolicy::NoMatch).0);
        timing::compare(&[&engines::by_hand(&own), &asked(&set, 4)], &samples).unwrap();
    }
}
