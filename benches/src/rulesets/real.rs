//! Sets of real expressions on real text: attack patterns of a firewall, and names of crawlers.

use super::engines::{self, PreparedEngine};
use super::generate::RequestSample;
use super::vocabulary::{column, corpora};
use super::{rounded, timing};
use celero::{ErrorPolicy, Program};
use http::HeaderValue;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// The header that holds the text; `matches` reads nothing else.
const HEADER: &str = "user-agent";

/// A line of the printed table and its row in the record, or a description of an engine that finds other rules.
type Measured = Result<(String, Value), String>;

/// Measures attack patterns on request targets, many of which are attacks. `None` without the shared corpora.
pub(crate) fn crs() -> Option<Measured> {
    let directory = corpora()?;
    let patterns = column(&directory.join("crs_regexes.jsonl"), "regex");
    let texts: BTreeSet<String> = column(&directory.join("http_requests.jsonl"), "uri").into_iter().collect();
    Some(measure("crs", patterns, &texts.into_iter().collect::<Vec<_>>()))
}

/// Measures patterns of crawlers on user agents. `None` without the shared corpora.
pub(crate) fn crawlers() -> Option<Measured> {
    let directory = corpora()?;
    let patterns = column(&directory.join("crawler_patterns.jsonl"), "pattern");
    let agents = std::fs::read_to_string(directory.join("user_agents.txt")).unwrap_or_default();
    let agents: Vec<String> = agents.lines().step_by(10).map(str::to_owned).collect();
    Some(measure("crawlers", patterns, &agents))
}

/// A rule that searches with a pattern.
fn source(pattern: &str) -> String {
    // A JSON string is a CEL string.
    format!("request.headers[{HEADER:?}].matches({})", Value::from(pattern))
}

/// Measures all patterns on each text. Patterns that celero refuses as too large are left out for all engines.
fn measure(name: &str, patterns: Vec<String>, texts: &[String]) -> Measured {
    let patterns: BTreeSet<String> = patterns.into_iter().collect();
    let all: Vec<Regex> = patterns.iter().filter_map(|p| Regex::new(p).ok()).collect();
    let empty = RequestSample::new("/", &[(HEADER, b"")], Ipv4Addr::LOCALHOST);
    let programs = engines::compile(&all.iter().map(|regex| source(regex.as_str())).collect::<Vec<_>>());
    let fits = |program: &Program<_>| program.test(&engines::context(&empty)).is_ok();
    let regexes = all.iter().zip(&*programs).filter(|(_, program)| fits(program));
    let regexes: Vec<Regex> = regexes.map(|(regex, _)| regex.clone()).collect();
    let refused = all.len().saturating_sub(regexes.len());
    let sources: Vec<String> = regexes.iter().map(|regex| source(regex.as_str())).collect();
    let samples: Vec<RequestSample> = texts
        .iter()
        .filter(|text| HeaderValue::from_bytes(text.as_bytes()).is_ok())
        .map(|text| RequestSample::new("/", &[(HEADER, text.as_bytes())], Ipv4Addr::LOCALHOST))
        .collect();
    let rules = regexes.len();
    let by_loop = PreparedEngine::all("loop", move |sample, matched| {
        let text = sample.request.headers().get(HEADER).map_or(&b""[..], HeaderValue::as_bytes);
        let text = std::str::from_utf8(text).unwrap_or_default();
        matched.extend(regexes.iter().enumerate().filter(|(_, regex)| regex.is_match(text)).map(|(n, _)| n));
    });
    let (set, built) = engines::build(&sources, ErrorPolicy::NoMatch);
    let [indexed, _] = engines::of_set(set);
    let alone = engines::one_by_one(&engines::compile(&sources), false);
    let timed = timing::compare(&[&by_loop, &indexed, &alone], &samples)?;
    let of = |name: &str| timed.iter().find(|t| t.name == name).map_or(f64::NAN, |t| t.ns);
    let (indexed, looped, alone) = (of("indexed"), of("loop"), of("one_by_one"));
    let speedup = looped / indexed;
    let line = format!(
        "{name}: {rules} expressions ({refused} more are too large) on each of {} texts: indexed {indexed:.0} ns, a loop over `Regex` {looped:.0} ns \
         ({speedup:.1}x), one_by_one {alone:.0} ns; built in {:.1} us for a rule",
        samples.len(),
        built.us
    );
    let row = json!({
        "rules": rules, "refused": refused, "texts": samples.len(), "indexed_ns": rounded(indexed), "loop_ns": rounded(looped),
        "one_by_one_ns": rounded(alone), "speedup": rounded(speedup), "build_us_per_rule": rounded(built.us),
    });
    Ok((line, row))
}
