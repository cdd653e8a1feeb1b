//! Sets of header names against the plain way to say the same.
#![cfg(feature = "http")]
#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use celero_matching::HeaderSet;
use celero_timing::{cpu_time_of, least_times};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::collections::HashSet;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % n
    }

    /// A name of letters that are few, so that names have much in common.
    fn name(&mut self, longest: usize) -> String {
        let alphabet = [b"ab", b"-a", b"x-", b"0p"][self.below(4)];
        (0..=self.below(longest)).map(|_| char::from(alphabet[self.below(2)])).collect()
    }
}

const NONE: [&str; 0] = [];

/// Asks about a name in the set's case and in others.
fn check(set: &HeaderSet, name: &str, right: bool) {
    assert_eq!(set.contains(name), right, "{name:?}");
    assert_eq!(set.contains(name.to_ascii_uppercase()), right, "{name:?} in capitals");
    if let Ok(header) = name.parse::<HeaderName>() {
        assert_eq!(set.contains(&header), right, "{name:?} as the name of a header");
    }
}

#[test]
fn agrees_with_a_hash_set_and_starts_with() {
    let mut rng = Rng(7);
    for round in 0..600 {
        let longest = [3, 8, 20, 60][round % 4];
        let (names, prefixes) = (rng.below(60), if round % 3 == 0 { 0 } else { rng.below(12) });
        let names: HashSet<String> = (0..names).map(|_| rng.name(longest)).collect();
        let prefixes: Vec<String> = (0..prefixes).map(|_| rng.name(longest) + &rng.name(longest)).collect();
        let set = HeaderSet::new(&names, &prefixes).unwrap();
        let right = |name: &str| names.contains(name) || prefixes.iter().any(|p| name.starts_with(p.as_str()));
        for _ in 0..300 {
            let name = rng.name(longest);
            check(&set, &name, right(&name));
        }
        for known in names.iter().chain(&prefixes) {
            let longer = format!("{known}{}", rng.name(8));
            for name in [known, &known[1..], &known[..known.len() - 1], &longer] {
                check(&set, name, right(name));
            }
        }
        for bytes in [&b""[..], b"\0", b"\xff\xfe\x00 a", b"a b"] {
            assert!(!set.contains(bytes), "{bytes:?}");
        }
    }
}

#[test]
fn large_sets_and_names_with_equal_ends() {
    let alike: Vec<String> = (0..5000).map(|i| format!("x-internal-{i:05}-the-same-tail")).collect();
    let long: Vec<String> = (1..2000).map(|n| "a".repeat(n)).collect();
    for names in [alike, long] {
        let set = HeaderSet::new(names.iter().step_by(2), NONE).unwrap();
        names.iter().enumerate().for_each(|(i, name)| check(&set, name, i % 2 == 0));
    }
    let prefixes: Vec<String> = (0..3000).map(|i| format!("x-p{i:04}-")).collect();
    let set = HeaderSet::new(NONE, &prefixes).unwrap();
    for prefix in &prefixes {
        check(&set, &format!("{prefix}a"), true);
        check(&set, prefix, true);
        check(&set, &prefix[..prefix.len() - 1], false);
    }
}

#[test]
fn an_empty_set_has_nothing() {
    let set = HeaderSet::new(NONE, NONE).unwrap();
    for name in ["", "a", "host", "x-internal-route"] {
        check(&set, name, false);
    }
}

fn map(names: &[&str]) -> HeaderMap {
    let value = HeaderValue::from_static("v");
    let mut map = HeaderMap::new();
    names.iter().for_each(|name| {
        map.append(name.parse::<HeaderName>().unwrap(), value.clone());
    });
    map
}

#[test]
fn finds_and_removes() {
    let set = HeaderSet::new(["CF-Ray", "host"], ["X-Internal-"]).unwrap();
    let mut headers = map(&["accept", "cf-ray", "x-internal-a", "cf-ray", "x-intern", "x-internal-b", "host", "x-a"]);
    let found: Vec<&str> = set.find(&headers).map(HeaderName::as_str).collect();
    assert_eq!(found, ["cf-ray", "x-internal-a", "x-internal-b", "host"]);
    assert_eq!(set.remove(&mut headers), 4);
    assert_eq!(set.find(&headers).count(), 0);
    let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
    left.sort_unstable();
    assert_eq!(left, ["accept", "x-a", "x-intern"]);
    assert_eq!(set.remove(&mut headers), 0);
}

#[test]
fn what_is_no_name_is_named() {
    let error = |names: &[&str], prefixes: &[&str]| HeaderSet::new(names, prefixes).unwrap_err().to_string();
    assert_eq!(error(&["a", "x y"], &[]), "\"x y\" is not the name of a header");
    assert_eq!(error(&["a"], &["x-internal-*:"]), "\"x-internal-*:\" cannot begin the name of a header");
    assert_eq!(error(&[""], &[]), "the name of a header must not be empty");
    assert_eq!(error(&[], &[""]), "the prefix of a header must not be empty");
    let many: Vec<String> = (0..=HeaderSet::MAX).map(|i| format!("a{i}")).collect();
    assert_eq!(HeaderSet::new(&many, NONE).unwrap_err().to_string(), "a set of headers has at most 65535 names");
    let most = HeaderSet::new(&many[..HeaderSet::MAX], NONE).unwrap();
    assert!(most.contains("a0") && most.contains("a65534") && !most.contains("a65535"));
}

/// Names made to look like members take no longer than their length allows.
#[test]
fn hostile_names_take_time_for_their_length() {
    let time = |count: usize| {
        let members: Vec<String> = (0..count).map(|i| format!("cf-int-{i:03}-{}", "a".repeat(i))).collect();
        let set = HeaderSet::new(&members, &members[..count / 5]).unwrap();
        let alike = members.iter().map(|member| member.replace("-a", "-b"));
        let hostile: Vec<String> = alike.chain([("cf-int-".repeat(count * 2))]).collect();
        cpu_time_of(|| {
            for name in &hostile {
                std::hint::black_box(set.contains(std::hint::black_box(name)));
            }
        })
    };
    // Four times the names, each four times as long: sixteen times the text.
    let fit = |[small, large]: [f64; 2]| large < small * 40.0;
    let times = least_times([200, 800], 1..=20, time, fit);
    assert!(fit(times.map(|time| time.as_secs_f64())), "{times:?}");
}
