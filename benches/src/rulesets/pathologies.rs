//! Rules and requests that are hard for an index: what a set costs there, against its rules one by one.

use super::engines::{self, PreparedEngine};
use super::generate::RequestSample;
use super::{Say, rounded, timing};
use celero::ErrorPolicy;
use serde_json::{Value, json};
use std::net::Ipv4Addr;

/// A named case: requests and a policy for errors.
struct Case {
    name: &'static str,
    policy: ErrorPolicy,
    samples: Vec<RequestSample>,
}

/// Rules and the cases that are measured with them.
struct Pathology {
    sources: Vec<String>,
    cases: Vec<Case>,
}

fn case(name: &'static str, path: &str, headers: &[(&str, &str)]) -> Case {
    let headers: Vec<(&str, &[u8])> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    let samples = vec![RequestSample::new(path, &headers, Ipv4Addr::new(192, 0, 2, 7))];
    Case { name, policy: ErrorPolicy::NoMatch, samples }
}

fn numbered(many: usize, rule: impl Fn(usize) -> String) -> Vec<String> {
    (0..many).map(rule).collect()
}

fn group(sources: Vec<String>, cases: impl Into<Vec<Case>>) -> Pathology {
    Pathology { sources, cases: cases.into() }
}

/// No condition that a table could answer.
fn unindexable(n: usize) -> String {
    let number = n.saturating_add(2);
    match n % 3 {
        0 => format!("size(request.path) % {number} == {}", n % 7),
        1 => format!("request.host + '/{n}' == request.path"),
        _ => format!("request.headers['user-agent'] != request.host && size(request.query) > {n}"),
    }
}

/// A text for each number, none of which contains another.
fn literal(n: usize) -> String {
    format!("<{n:x}>")
}

/// Makes a pathology with this many rules.
type Make = fn(usize) -> Pathology;

/// The pathologies, each with its largest number of rules.
const PATHOLOGIES: &[(usize, Make)] = &[
    (1_000, |n| {
        let headers = [("host", "shop.example"), ("user-agent", "curl/8.1")];
        group(numbered(n, unindexable), [case("unindexable", "/api/v1/users/42?tab=orders", &headers)])
    }),
    (100_000, |n| {
        let rules = numbered(n, |i| format!("request.headers['x-tenant'] == 'tenant-{i}'"));
        let present = [("host", "shop.example"), ("x-tenant", "tenant-0")];
        let [present, absent] = [("header_present", &present[..]), ("absent_header", &present[..1])]
            .map(|(name, headers)| case(name, "/", headers));
        let all_fail = case("absent_header, errors match", "/", &[("host", "shop.example")]);
        group(rules, [present, absent, Case { policy: ErrorPolicy::Match, ..all_fail }])
    }),
    (10_000, |n| {
        let rules = numbered(n, |i| format!("request.headers['x-tenant'] == 'tenant-{i}' && request.path == '/{i}'"));
        let present = [("host", "shop.example"), ("x-tenant", "tenant-0")];
        let cases = [
            ("header_present of two, errors match", &present[..]),
            ("absent_header of two, errors match", &present[..1]),
        ]
        .map(|(name, headers)| Case { policy: ErrorPolicy::Match, ..case(name, "/0", headers) });
        group(rules, cases)
    }),
    (10_000, |n| {
        let rules = numbered(n, |i| format!("request.headers['user-agent'].contains('{}')", literal(i)));
        let agent: String = (0..n).step_by((n / 1_000).max(1)).map(literal).collect();
        group(rules, [case("thousand_literals", "/", &[("user-agent", &agent)])])
    }),
    (10_000, |n| {
        let rules = numbered(n, |i| format!("request.host == 'shop.example' && request.path.startsWith('/p{i}/')"));
        group(rules, [case("one_host", "/p77/index.html", &[("host", "shop.example")])])
    }),
    (1_000, |n| {
        let rules = numbered(n, |i| format!("request.path.startsWith('{}')", "/a".repeat(i.saturating_add(1))));
        group(rules, [case("nested_prefixes", &"/a".repeat(n.saturating_add(1)), &[("host", "shop.example")])])
    }),
    (1_000, |n| {
        let rules = numbered(n, |i| format!("request.path.contains('a') && size(request.path) % 1009 == {i}"));
        group(rules, [case("contains_a", "/api/v1/users", &[("host", "shop.example")])])
    }),
];

/// Measures all pathologies, in sets of at most `most` rules.
///
/// # Errors
/// A description of a set that finds other rules than its rules one by one.
pub(crate) fn measure(most: usize, say: &mut Say<'_>) -> Result<Vec<Value>, String> {
    say(&format!("\n{:36}{:>8}{:>14}{:>14}{:>8}", "pathologies", "rules", "indexed", "one_by_one", "ratio"));
    let mut rows = Vec::new();
    for (usual, make) in PATHOLOGIES {
        let Pathology { sources, cases } = make(most.min(*usual));
        let programs = engines::compile(&sources);
        for Case { name, policy, samples } in cases {
            let (set, _) = engines::build(&sources, policy);
            let [indexed, _]: [PreparedEngine; 2] = engines::of_set(set);
            let alone = engines::one_by_one(&programs, policy == ErrorPolicy::Match);
            let timed = timing::compare(&[&alone, &indexed], &samples).map_err(|wrong| format!("{name}: {wrong}"))?;
            let of = |name: &str| timed.iter().find(|t| t.name == name).map_or(f64::NAN, |t| t.ns);
            let (indexed, alone, rules) = (of("indexed"), of("one_by_one"), sources.len());
            let ratio = indexed / alone;
            say(&format!("{name:36}{rules:>8}{indexed:>14.0}{alone:>14.0}{ratio:>8.3}"));
            rows.push(json!({ "name": name, "rules": rules, "indexed_ns": rounded(indexed),
                "one_by_one_ns": rounded(alone), "ratio": (ratio * 1e6).round() / 1e6 }));
        }
    }
    say("ratio: the set's time to that of its rules one by one");
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_answer_as_their_rules_in_hard_cases() {
        let mut lines = Vec::new();
        let rows = measure(40, &mut |line| lines.push(line.to_owned())).unwrap();
        assert!(rows.len() >= 10 && lines.len() > rows.len(), "{lines:#?}");
    }
}
