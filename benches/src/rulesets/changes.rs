//! Live rules: how many rules a second can be exchanged, one by one, in sets of rising sizes, while
//! the background thread compiles them.

use super::engines::{self, context};
use super::generate;
use super::vocabulary::Vocabulary;
use super::{REQUESTS, SIZES, Say, rounded};
use celero::http::RequestContext;
use celero::sets::Match;
use celero::{Engine, Env, Live, Rule, Scratch};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Pairs of changes in a round: a rule is removed, and another is inserted.
const PAIRS: usize = 500;

/// Rounds of which the median counts.
const ROUNDS: usize = 7;

/// The smallest set that is measured.
const SMALLEST_SET: usize = 1_000;

/// Longest time for the background work after the last change.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Measures every size; returns a row for each.
///
/// # Errors
/// A description of live rules that find other rules than a new set of the same rules, or of work that does not end.
pub(crate) fn measure(most: usize, say: &mut Say<'_>) -> Result<Vec<Value>, String> {
    say(&format!("{:>8}{:>16}{:>16}   live rules, exchanged one by one", "rules", "pairs a second", "settled ms"));
    let sizes = SIZES.iter().copied().filter(|n| (SMALLEST_SET..=most).contains(n));
    sizes.map(|n| exchanged(n, PAIRS, say)).collect()
}

/// Exchanges the oldest rules of a set of `n`, `pairs` of them in a round.
fn exchanged(n: usize, pairs: usize, say: &mut Say<'_>) -> Result<Value, String> {
    let vocabulary = Vocabulary::new();
    let rules = generate::rules(&vocabulary, n.saturating_add(pairs.saturating_mul(ROUNDS)));
    let samples = generate::samples(&vocabulary, &rules, REQUESTS);
    let sources = engines::sources(&rules);
    let rule = |(number, source): (usize, &String)| Rule::new(&format!("r{number}"), source, ());
    let mut all = sources.iter().enumerate().map(rule);
    let (engine, env) = (Engine::new(), Env::<RequestContext<'static>>::new());
    let live = Live::new(engine.clone(), env.clone());
    let first: Vec<_> = all.by_ref().take(n).collect();
    live.replace(|set| set.with_rules(first)).map_err(|error| error.to_string())?;
    let settled =
        |when| if live.wait_idle(TIMEOUT) { Ok(()) } else { Err(format!("{n} rules are not all native {when}")) };
    settled("at first")?;

    let mut rates = Vec::with_capacity(ROUNDS);
    let mut oldest = 0..;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for (old, new) in oldest.by_ref().zip(all.by_ref()).take(pairs) {
            live.remove(&format!("r{old}"));
            live.insert(new).map_err(|error| error.to_string())?;
        }
        rates.push(pairs as f64 / start.elapsed().as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    let rate = rates.get(ROUNDS / 2).copied().unwrap_or(f64::NAN);
    let start = Instant::now();
    settled("after the changes")?;
    let settled = start.elapsed().as_secs_f64() * 1e3;

    let left = sources.iter().enumerate().skip(pairs.saturating_mul(ROUNDS)).map(rule);
    let set = engine.rules(&env).with_rules(left).build().map_err(|error| error.to_string())?;
    let (loaded, mut scratch) = (live.load(), Scratch::new());
    for sample in &samples {
        // Indices of live rules are no positions.
        let name = |found: Match<'_, ()>| found.name.to_owned();
        let new = set.all(&context(sample), &mut scratch).map(|found| found.map(name).collect::<Vec<_>>());
        let live = loaded.all(&context(sample), &mut scratch).map(|found| found.map(name).collect::<Vec<_>>());
        if new.as_ref().ok() != live.as_ref().ok() || new.is_err() != live.is_err() {
            return Err(format!("{n} live rules find {live:?}, a new set {new:?}"));
        }
    }
    say(&format!("{n:>8}{rate:>16.0}{settled:>16.0}"));
    Ok(json!({ "n": n, "pairs_per_s": rounded(rate), "settled_ms": rounded(settled) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanged_rules_find_what_a_new_set_finds() {
        let mut lines = Vec::new();
        let row = exchanged(60, 9, &mut |line| lines.push(line.to_owned())).unwrap();
        assert!(row["pairs_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{row}");
        assert_eq!(lines.len(), 1);
    }
}
