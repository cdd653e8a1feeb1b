//! Sets of 1 to 100,000 rules: the cost of finding the rules that match with the set's index, rule
//! by rule, by hand and with a peer; rules and requests that are hard for an index; sets of real
//! expressions.

mod changes;
mod curve;
mod engines;
mod generate;
mod growth;
mod handwritten;
mod pathologies;
mod real;
pub(crate) mod rng;
mod timing;
pub(crate) mod vocabulary;

pub use curve::{curve, instruction_curve};

use crate::table::rounded;
use celero::ErrorPolicy;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::time::Instant;
use timing::Timing;
use vocabulary::Vocabulary;

/// The numbers of rules.
const SIZES: &[usize] = &[1, 10, 100, 1_000, 10_000, 100_000];
/// Number of requests on which each set is evaluated.
const REQUESTS: usize = 256;

/// The parts of the comparison.
pub const PARTS: &[&str] = &["sizes", "growth", "changes", "pathologies", "crs", "crawlers"];

/// What to measure.
pub struct Options {
    /// The largest number of rules in a set.
    pub most: usize,
    /// Some of [`PARTS`]; none means all.
    pub parts: Vec<String>,
}

/// Prints a line of the report.
pub type Say<'s> = dyn FnMut(&str) + 's;

/// The rules of the mix, in CEL.
#[must_use]
pub fn sources(many: usize) -> Vec<String> {
    engines::sources(&generate::rules(&Vocabulary::new(), many))
}

/// Rules of the mix in CEL, and requests for them, of built-in words: the same ones on every machine.
#[must_use]
pub fn reproducible(rules: usize, requests: usize) -> (Vec<String>, Vec<(http::Request<()>, SocketAddr)>) {
    let vocabulary = Vocabulary::built_in();
    let rules = generate::rules(&vocabulary, rules);
    let samples = generate::samples(&vocabulary, &rules, requests);
    (engines::sources(&rules), samples.into_iter().map(|sample| (sample.request, sample.peer)).collect())
}

/// Headers of a request for which a few rules of the mix are true.
#[must_use]
pub fn headers_for(many: usize) -> Vec<(String, String)> {
    generate::headers_for(&generate::rules(&Vocabulary::new(), many))
}

/// Measures the parts, printing each line when it is known, and returns the results as JSON.
///
/// # Errors
/// A description of an engine that finds other rules than the others.
pub fn compare_rule_sets(options: &Options, say: &mut Say<'_>) -> Result<Value, String> {
    let wanted = |part: &str| options.parts.is_empty() || options.parts.iter().any(|p| p == part);
    let mut report = Map::new();
    if wanted("sizes") {
        report.insert("rulesets".into(), sizes(options.most, say)?.into());
    }
    if wanted("growth") {
        report.insert("growth".into(), growth::measure(options.most, say)?.into());
    }
    if wanted("changes") {
        report.insert("changes".into(), changes::measure(options.most, say)?.into());
    }
    if wanted("pathologies") {
        report.insert("pathologies".into(), pathologies::measure(options.most, say)?.into());
    }
    for (part, measure) in [("crs", real::crs as fn() -> _), ("crawlers", real::crawlers)] {
        if !wanted(part) {
            continue;
        }
        match measure() {
            Some(result) => {
                let (line, row) = result?;
                say(&line);
                report.insert(part.into(), row);
            }
            None => say(&format!("{part}: left out, the shared corpora are not there (set CELERO_SHARED)")),
        }
    }
    Ok(Value::Object(report))
}

/// The engines in the order of the table's columns, and their names in the report.
const COLUMNS: &[(&str, &str)] = &[
    ("indexed", "indexed_ns"),
    ("first", "first_ns"),
    ("one_by_one", "one_by_one_ns"),
    ("handwritten", "handwritten_ns"),
    ("cel", "cel_ns"),
];

fn sizes(most: usize, say: &mut Say<'_>) -> Result<Vec<Value>, String> {
    let vocabulary = Vocabulary::new();
    say(&vocabulary.from);
    say(&format!(
        "{:>8}{}{:>9}{:>9}{:>10}{:>10}{:>8}{:>8}",
        "rules",
        COLUMNS.iter().map(|(name, _)| format!("{name:>14}")).collect::<String>(),
        "speedup",
        "matches",
        "us/rule",
        "of index",
        "bytes",
        "of code"
    ));
    let mut rows = Vec::new();
    for &n in SIZES.iter().filter(|n| **n <= most) {
        let (line, row) = size(&vocabulary, n)?;
        say(&line);
        rows.push(row);
    }
    say("ns for a request (median); speedup: one_by_one / indexed; matches: rules that match a request, on average;");
    say("us to build, us for the index without native code, bytes and bytes of code for each rule of the set");
    Ok(rows)
}

fn size(vocabulary: &Vocabulary, n: usize) -> Result<(String, Value), String> {
    let rules = generate::rules(vocabulary, n);
    let samples = generate::samples(vocabulary, &rules, REQUESTS);
    let sources = engines::sources(&rules);
    let (set, built) = engines::build(&sources, ErrorPolicy::NoMatch);
    let index_us = engines::index_us(&sources);
    let [indexed, first] = engines::of_set(set);
    let by_hand = engines::by_hand(&rules);
    let start = Instant::now();
    let alone = engines::one_by_one(&engines::compile(&sources), false);
    let compiled = start.elapsed().as_secs_f64() * 1e6 / n.max(1) as f64;
    let peer = engines::cel(&rules);
    let timed = timing::compare(&[&by_hand, &indexed, &first, &alone, &peer], &samples)?;
    let of = |name: &str| timed.iter().find(|t| t.name == name).map_or(f64::NAN, |t| t.ns);

    let mut found = Vec::new();
    samples.iter().for_each(|sample| (by_hand.find)(sample, &mut found));
    let matches = found.len() as f64 / samples.len().max(1) as f64;
    let speedup = of("one_by_one") / of("indexed");
    let columns: String = COLUMNS.iter().map(|(name, _)| format!("{:>14.0}", of(name))).collect();
    let line = format!(
        "{n:>8}{columns}{speedup:>9.1}{matches:>9.1}{:>10.1}{index_us:>10.2}{:>8.0}{:>8.0}",
        built.us, built.bytes, built.code
    );
    let mut row: Map<String, Value> =
        COLUMNS.iter().map(|(name, key)| ((*key).into(), rounded(of(name)).into())).collect();
    let timed: Map<String, Value> = timed.iter().map(|t| (t.name.into(), how(t))).collect();
    row.extend([
        ("n".into(), n.into()),
        ("speedup".into(), rounded(speedup).into()),
        ("matches".into(), rounded(matches).into()),
        ("build_us_per_rule".into(), rounded(built.us).into()),
        ("index_us_per_rule".into(), rounded(index_us).into()),
        ("one_by_one_us_per_rule".into(), rounded(compiled).into()),
        ("bytes_per_rule".into(), built.bytes.round().into()),
        ("code_bytes_per_rule".into(), built.code.round().into()),
        ("timed".into(), timed.into()),
    ]);
    Ok((line, row.into()))
}

fn how(timing: &Timing) -> Value {
    json!({ "requests": timing.requests, "rounds": timing.rounds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_agree_on_generated_rules() {
        for n in [1, 10, 100] {
            let vocabulary = Vocabulary::new();
            let rules = generate::rules(&vocabulary, n);
            let samples = generate::samples(&vocabulary, &rules, 64);
            let sources = engines::sources(&rules);
            let by_hand = engines::by_hand(&rules);
            let [indexed, first] = engines::of_set(engines::build(&sources, ErrorPolicy::NoMatch).0);
            let others =
                [indexed, first, engines::one_by_one(&engines::compile(&sources), false), engines::cel(&rules)];
            let mut found = 0_usize;
            for sample in &samples {
                let answer = |engine: &engines::PreparedEngine| {
                    let mut matched = Vec::new();
                    (engine.find)(sample, &mut matched);
                    matched
                };
                let want = answer(&by_hand);
                found = found.saturating_add(want.len());
                for engine in &others {
                    let want = if engine.once { want.iter().take(1).copied().collect() } else { want.clone() };
                    assert_eq!(answer(engine), want, "{} on {:?}", engine.name, sample.request);
                }
            }
            assert!(found >= 64 / 5, "{found} matches of {n} rules");
        }
    }
}
