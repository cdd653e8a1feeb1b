//! The matchers against the usual crates for the same question. Every answer is compared before anything is timed.
//!
//! `cargo bench -p celero-matching` prints a table for each question; each row is one engine. A
//! benchmark answers one question for each of its values, and the time is that of all of them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "benchmarks"
)]

mod data;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use celero_matching::pattern::{Matcher, MeteredRegex, RequiredLiterals, compile, required_literals};
use celero_matching::{ExactMap, LiteralMap, MemoryBudget, Networks, PatternMatch, PatternSet, Searcher};
use divan::{Bencher, black_box};
use regex_automata::{Anchored, Input, PatternSet as RegexPatterns, meta};
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

fn main() {
    divan::main();
}

/// Runs `ask` for each value. `ask` adds the ids that match to the list.
fn measure<V>(bencher: Bencher<'_, '_>, values: &[V], mut ask: impl FnMut(&V, &mut Vec<u32>)) {
    let mut found = Vec::with_capacity(1024);
    bencher.bench_local(|| {
        let mut count = 0;
        for value in values {
            found.clear();
            ask(black_box(value), &mut found);
            count += found.len();
        }
        count
    });
}

/// Panics unless both ways find the same ids for each value, and some ids for some value.
fn compare<V>(values: &[V], mut a: impl FnMut(&V, &mut Vec<u32>), mut b: impl FnMut(&V, &mut Vec<u32>)) {
    let mut total = 0;
    for value in values {
        let set = |ask: &mut dyn FnMut(&V, &mut Vec<u32>)| {
            let mut ids = Vec::new();
            ask(value, &mut ids);
            ids.into_iter().collect::<BTreeSet<u32>>()
        };
        let (a, b) = (set(&mut a), set(&mut b));
        assert_eq!(a, b, "different answers");
        total += a.len();
    }
    assert!(total > 0, "nothing matches");
}

/// Which key equals a text: 4,096 host names, one in two is a key.
#[divan::bench_group]
mod equal {
    use super::*;

    const KEYS: &[usize] = &[100, 10_000, 100_000];

    #[divan::bench(args = KEYS)]
    fn exact_map(bencher: Bencher<'_, '_>, keys: usize) {
        let (keys, values) = data::hosts(keys);
        let (map, other) = (ExactMap::<false>::new(&keys), table(&keys));
        compare(
            &values,
            |value, found| found.extend(map.get(value.as_bytes())),
            |value, found| found.extend(other.get(value.as_bytes())),
        );
        measure(bencher, &values, |value, found| found.extend(map.get(value.as_bytes())));
    }

    #[divan::bench(args = KEYS)]
    fn hash_map(bencher: Bencher<'_, '_>, keys: usize) {
        let (keys, values) = data::hosts(keys);
        let map = table(&keys);
        measure(bencher, &values, |value, found| found.extend(map.get(value.as_bytes())));
    }

    fn table(keys: &[String]) -> HashMap<&[u8], u32> {
        keys.iter().map(String::as_bytes).zip(0..).collect()
    }
}

/// Which literals occur in a text: 512 request lines of about 90 bytes.
#[divan::bench_group]
mod literals {
    use super::*;

    const KEYS: &[usize] = &[10, 100, 1_000, 10_000];

    #[divan::bench(args = KEYS)]
    fn literal_map(bencher: Bencher<'_, '_>, keys: usize) {
        let (keys, texts) = data::literals(keys);
        let (map, other) = (LiteralMap::<false>::new(&keys).unwrap(), automaton(&keys, AhoCorasickKind::ContiguousNFA));
        compare(
            &texts,
            |text, found| map.for_each(text.as_bytes(), |id| found.push(id)),
            |text, found| all(&other, text, found),
        );
        measure(bencher, &texts, |text, found| map.for_each(text.as_bytes(), |id| found.push(id)));
    }

    #[divan::bench(args = KEYS)]
    fn aho_corasick_dfa(bencher: Bencher<'_, '_>, keys: usize) {
        let (keys, texts) = data::literals(keys);
        let automaton = automaton(&keys, AhoCorasickKind::DFA);
        measure(bencher, &texts, |text, found| all(&automaton, text, found));
    }

    #[divan::bench(args = KEYS)]
    fn aho_corasick_nfa(bencher: Bencher<'_, '_>, keys: usize) {
        let (keys, texts) = data::literals(keys);
        let automaton = automaton(&keys, AhoCorasickKind::ContiguousNFA);
        measure(bencher, &texts, |text, found| all(&automaton, text, found));
    }

    fn automaton(keys: &[String], kind: AhoCorasickKind) -> AhoCorasick {
        AhoCorasick::builder().kind(Some(kind)).build(keys).unwrap()
    }

    fn all(automaton: &AhoCorasick, text: &str, found: &mut Vec<u32>) {
        found.extend(automaton.find_overlapping_iter(text).map(|hit| hit.pattern().as_u32()));
    }
}

/// Which networks contain an address: 4,096 IPv4 addresses.
#[divan::bench_group]
mod networks {
    use super::*;

    const KEYS: &[usize] = &[100, 10_000, 100_000];

    #[divan::bench(args = KEYS)]
    fn network_map(bencher: Bencher<'_, '_>, keys: usize) {
        let (keys, values) = data::networks(keys);
        let (map, other) = (Networks::new(&keys), tables(&keys));
        compare(
            &values,
            |address, found| map.for_each(*address, |id| found.push(id)),
            |address, found| each_length(&other, *address, found),
        );
        measure(bencher, &values, |address, found| map.for_each(*address, |id| found.push(id)));
    }

    /// A hash table for each prefix length that occurs.
    #[divan::bench(args = KEYS)]
    fn hash_map_per_length(bencher: Bencher<'_, '_>, keys: usize) {
        let (keys, values) = data::networks(keys);
        let tables = tables(&keys);
        measure(bencher, &values, |address, found| each_length(&tables, *address, found));
    }

    type Tables = Vec<(u8, HashMap<u32, u32>)>;

    fn tables(keys: &[(IpAddr, u8)]) -> Tables {
        let mut tables: Tables = Vec::new();
        for (id, (address, prefix)) in (0..).zip(keys) {
            let at = tables.iter().position(|(length, _)| length == prefix).unwrap_or_else(|| {
                tables.push((*prefix, HashMap::new()));
                tables.len() - 1
            });
            tables[at].1.insert(first_bits(*address, *prefix), id);
        }
        tables
    }

    fn each_length(tables: &Tables, address: IpAddr, found: &mut Vec<u32>) {
        found.extend(tables.iter().filter_map(|(length, table)| table.get(&first_bits(address, *length))));
    }

    fn first_bits(address: IpAddr, prefix: u8) -> u32 {
        let IpAddr::V4(address) = address else { panic!("only IPv4 here") };
        address.to_bits() >> (32 - u32::from(prefix))
    }
}

/// Which patterns match a text: 512 request lines. Patterns of the kind `literals` require some,
/// those of `classes` and `gaps` do not; the joint automaton is small for `classes` and large for
/// `gaps`.
#[divan::bench_group]
mod patterns {
    use super::*;

    const KINDS: &[&str] = &["literals_100", "literals_300", "classes_30", "gaps_30", "gaps_100"];

    fn input(kind: &str) -> (Vec<String>, Vec<String>) {
        let (kind, count) = kind.split_once('_').unwrap();
        data::patterns(kind, count.parse().unwrap())
    }

    /// Required literals in one map, the patterns without in a set of patterns: what a rule engine does.
    struct Ours {
        literals: LiteralMap<true>,
        /// Indexed by literal.
        owners: Vec<u32>,
        set: PatternSet,
        /// Indexed by pattern of the set.
        members: Vec<u32>,
        matchers: Vec<Matcher>,
    }

    impl Ours {
        fn new(patterns: &[String]) -> Self {
            let (mut literals, mut owners) = (Vec::new(), Vec::new());
            let (mut others, mut members) = (Vec::new(), Vec::new());
            for (id, pattern) in (0..).zip(patterns) {
                if let Some(RequiredLiterals::Substring(required)) = required_literals(pattern) {
                    for literal in &required.literals {
                        literals.push(literal.to_ascii_lowercase());
                        owners.push(id);
                    }
                } else {
                    others.push(pattern.as_str());
                    members.push(id);
                }
            }
            // Equal literals of several patterns stay separate keys here.
            let set = PatternSet::new(&others, 4 << 20, &MemoryBudget::default());
            let matchers = patterns.iter().map(|pattern| Matcher::new(pattern).unwrap()).collect();
            Self { literals: LiteralMap::new(&literals).unwrap(), owners, set, members, matchers }
        }

        fn ask(&self, text: &str, found: &mut Vec<u32>) {
            self.literals.for_each(text.as_bytes(), |literal| found.push(self.owners[literal as usize]));
            found.sort_unstable();
            found.dedup();
            found.retain(|id| self.matchers[*id as usize].is_match(text) == Ok(true));
            self.set.for_each(text, |member, kind| {
                let id = self.members[member as usize];
                if kind == PatternMatch::Certain || self.matchers[id as usize].is_match(text) == Ok(true) {
                    found.push(id);
                }
            });
        }
    }

    #[divan::bench(args = KINDS)]
    fn literals_and_pattern_set(bencher: Bencher<'_, '_>, kind: &str) {
        let (patterns, texts) = input(kind);
        let (ours, other) = (Ours::new(&patterns), joint(&patterns));
        compare(
            &texts,
            |text, found| ours.ask(text, found),
            |text, found| found.extend(other.matches(text).iter().map(|id| id as u32)),
        );
        measure(bencher, &texts, |text, found| ours.ask(text, found));
    }

    /// With limits that do not restrict it.
    fn joint(patterns: &[String]) -> regex::RegexSet {
        regex::RegexSetBuilder::new(patterns).size_limit(1 << 30).dfa_size_limit(16 << 20).build().unwrap()
    }

    #[divan::bench(args = KINDS)]
    fn regex_set(bencher: Bencher<'_, '_>, kind: &str) {
        let (patterns, texts) = input(kind);
        let set = joint(&patterns);
        measure(bencher, &texts, |text, found| found.extend(set.matches(text).iter().map(|id| id as u32)));
    }

    #[divan::bench(args = KINDS)]
    fn regex_automata_new_many(bencher: Bencher<'_, '_>, kind: &str) {
        let (patterns, texts) = input(kind);
        let config = meta::Config::new()
            .match_kind(regex_automata::MatchKind::All)
            .nfa_size_limit(Some(1 << 30))
            .hybrid_cache_capacity(16 << 20);
        let regex = meta::Regex::builder().configure(config).build_many(&patterns).unwrap();
        let mut set = RegexPatterns::new(patterns.len());
        measure(bencher, &texts, |text, found| {
            set.clear();
            regex.which_overlapping_matches(&Input::new(text.as_str()).anchored(Anchored::No), &mut set);
            found.extend(set.iter().map(|id| id.as_u32()));
        });
    }

    #[divan::bench(args = KINDS)]
    fn loop_over_regex(bencher: Bencher<'_, '_>, kind: &str) {
        let (patterns, texts) = input(kind);
        let all: Vec<regex::Regex> = patterns.iter().map(|pattern| regex::Regex::new(pattern).unwrap()).collect();
        measure(bencher, &texts, |text, found| {
            found.extend((0_u32..).zip(&all).filter(|(_, regex)| regex.is_match(text)).map(|(id, _)| id));
        });
    }
}

/// Whether one pattern of hundreds of states matches a short text: 64 texts of a length, one in
/// eight of which some pattern matches. The texts are short, so that what a search costs besides
/// reading counts.
#[divan::bench_group]
mod one_pattern {
    use super::*;

    const LENGTHS: &[usize] = &[24, 80, 400];
    const PATTERNS: [&str; 3] = [
        "(?i)(union|select).{0,100}from ",
        r"(?i)<script[^>]{0,60}>\s*\w+\(",
        r"[a-z0-9.+-]{1,40}@[a-z0-9-]{1,40}\.[a-z]{2,9}",
    ];

    fn texts(length: usize) -> Vec<String> {
        let matching = ["select a from ", "<script>f(", "a.b@example.org"];
        let with = |(at, mut text): (usize, String)| {
            if at % 8 == 0 {
                let found = matching[at / 8 % matching.len()];
                text.replace_range(..found.len(), found);
            }
            text
        };
        data::texts(length).into_iter().take(64).enumerate().map(with).collect()
    }

    fn check(length: usize, texts: &[String]) -> usize {
        let (mut count, budget) = (0, celero_matching::pattern::Unmetered);
        for pattern in PATTERNS {
            let (ours, other) = (compile(pattern).unwrap(), regex::Regex::new(pattern).unwrap());
            for text in texts {
                assert_eq!(ours.is_match(text, &budget), Ok(other.is_match(text)), "{pattern} {text}");
                count += usize::from(other.is_match(text));
            }
        }
        assert!(count > 0, "nothing matches texts of {length} bytes");
        count
    }

    #[divan::bench(args = LENGTHS)]
    fn metered_regex(bencher: Bencher<'_, '_>, length: usize) {
        let texts = texts(length);
        let count = check(length, &texts);
        let all = PATTERNS.map(|pattern| compile(pattern).unwrap());
        let found =
            |regex: &MeteredRegex| texts.iter().filter(|text| regex.is_match_unmetered(black_box(text))).count();
        assert_eq!(all.iter().map(found).sum::<usize>(), count);
        bencher.bench_local(|| all.iter().map(found).sum::<usize>());
    }

    #[divan::bench(args = LENGTHS)]
    fn regex(bencher: Bencher<'_, '_>, length: usize) {
        let texts = texts(length);
        let all = PATTERNS.map(|pattern| regex::Regex::new(pattern).unwrap());
        let found = |regex: &regex::Regex| texts.iter().filter(|text| regex.is_match(black_box(text))).count();
        bencher.bench_local(|| all.iter().map(found).sum::<usize>());
    }
}

/// Whether one needle occurs in a text: texts of a length, none of which contains it.
#[divan::bench_group]
mod substring {
    use super::*;

    const LENGTHS: &[usize] = &[16, 64, 1024];
    const NEEDLE: &str = "/wp-admin/";

    #[divan::bench(args = LENGTHS)]
    fn searcher(bencher: Bencher<'_, '_>, length: usize) {
        let texts = data::texts(length);
        let searcher = Searcher::new(NEEDLE);
        for text in texts.iter().map(String::as_str).chain([NEEDLE]) {
            assert_eq!(searcher.is_in(text.as_bytes()), text.contains(NEEDLE));
        }
        bencher.bench_local(|| texts.iter().filter(|text| searcher.is_in(black_box(text.as_bytes()))).count());
    }

    #[divan::bench(args = LENGTHS)]
    fn memmem(bencher: Bencher<'_, '_>, length: usize) {
        let texts = data::texts(length);
        let finder = memchr::memmem::Finder::new(NEEDLE);
        bencher.bench_local(|| texts.iter().filter(|text| finder.find(black_box(text.as_bytes())).is_some()).count());
    }
}
