//! Patterns on bytes find what `regex::bytes` finds without Unicode, and no search gets more than its budget.

use crate::MemoryBudget;
use crate::pattern::cache::PatternCache;
use crate::pattern::compile::compile_bytes_metered;
use crate::pattern::metered_tests::{Budget, MILLION};
use crate::pattern::random_patterns::Random;
use crate::pattern::search::byte_matcher::ByteMatcher;
use crate::pattern::search::byte_regex::ByteRegex;
use crate::pattern::search::matcher::Undecided;
use crate::pattern::search::meter::Unmetered;
use crate::pattern::syntax::limits::PatternError;
use regex::bytes::{Regex, RegexBuilder};

/// What a pattern means.
fn oracle(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// Asserts that all engines find what the regex crate finds.
fn agree(pattern: &str, want: &Regex, bytes: &[u8]) {
    let regex = ByteRegex::with_groups(pattern, u32::MAX).unwrap();
    let found = want.is_match(bytes);
    assert_eq!(regex.is_match(bytes, &Unmetered), Ok(found), "{pattern:?} on {bytes:?}");
    assert_eq!(regex.0.is_match(bytes, &Unmetered), Ok(found), "{pattern:?} on {bytes:?}");
    for matcher in [ByteMatcher::new(pattern).unwrap(), ByteMatcher::lazy(pattern, &MemoryBudget::default())] {
        assert_eq!(matcher.search(bytes, &Unmetered), Ok(found), "{pattern:?} on {bytes:?}, {matcher:?}");
    }
    for at in 0..=bytes.len() {
        let first = want.find_at(bytes, at).map(|found| found.range());
        assert_eq!(regex.0.find_at(bytes, at, &Unmetered), Ok(first.clone()), "{pattern:?} on {bytes:?} from {at}");
        assert_eq!(regex.find_at(bytes, at, &Unmetered), Ok(first.clone()), "{pattern:?} on {bytes:?} from {at}");
        let Some(first) = first else { break };
        let groups = regex.groups(bytes, first, &Unmetered).unwrap().unwrap();
        let captures = want.captures_at(bytes, at).unwrap();
        for (number, group) in captures.iter().enumerate() {
            assert_eq!(groups.get(number), group.map(|group| group.range()), "{pattern:?} on {bytes:?} from {at}");
        }
        // The first groups are the same without the others.
        for most in 0..want.captures_len() {
            let fewer = ByteRegex::with_groups(pattern, most as u32).unwrap();
            let found = fewer.find_at(bytes, at, &Unmetered).unwrap().unwrap();
            let kept = fewer.groups(bytes, found, &Unmetered).unwrap().unwrap();
            for number in 0..want.captures_len() {
                let expected = groups.get(number).filter(|_| number <= most);
                assert_eq!(kept.get(number), expected, "{pattern:?} on {bytes:?} from {at}, {most} groups");
            }
        }
    }
}

#[test]
fn generated_patterns_find_what_the_engine_finds() {
    let mut random = Random(13);
    let (mut valid, mut invalid) = (0, 0);
    for _ in 0..800 {
        let mut pattern = random.pattern(2);
        if random.chance(3) {
            pattern.push_str(r"[^a]\xff");
        }
        let Some(want) = oracle(&pattern) else {
            assert!(ByteRegex::new(&pattern).is_err(), "{pattern:?}");
            invalid += 1;
            continue;
        };
        valid += 1;
        for _ in 0..6 {
            let mut bytes = random.text().into_bytes();
            if random.chance(2) {
                let at = bytes.len() / 2;
                bytes.splice(at..at, [0xff]);
            }
            if random.chance(3) {
                bytes.pop();
            }
            agree(&pattern, &want, &bytes);
        }
    }
    assert!(valid > 400 && invalid > 20, "{valid} {invalid}");
    for (pattern, bytes) in [
        (".", "é".as_bytes()),
        (r"^.$", "é".as_bytes()),
        (r"\w", "é".as_bytes()),
        (r"(?u)\w", "é".as_bytes()),
        (r"(?u)\bé+\b", "a é éé \u{e9}".as_bytes()),
        (r"(?u:\b)a", b"\xffa"),
        ("(?i)é", "É".as_bytes()),
        (r"(?i)K", "\u{212a}".as_bytes()),
        (r"\xe9", b"caf\xe9"),
        ("", b"\xff"),
        (r"(?s:.)*x$", b"\xff\x00\nx"),
    ] {
        agree(pattern, &oracle(pattern).unwrap(), bytes);
    }
}

/// A text that is made for a pattern ends its search when the budget is spent.
#[test]
fn expensive_searches_end() {
    let ab: Vec<u8> =
        (0..1_u32 << 20).map(|i| if i.wrapping_mul(2_654_435_761) >> 31 == 0 { b'a' } else { b'b' }).collect();
    for pattern in ["[ab]*a[ab]{8000}c", r"(?u)\b[ab]*a[ab]{8000}c\b"] {
        for matcher in [ByteMatcher::new(pattern).unwrap(), ByteMatcher::lazy(pattern, &MemoryBudget::default())] {
            let spent = matcher.search(&ab, &Budget::new(MILLION));
            assert!(matches!(spent, Err(Undecided::Spent(()))), "{pattern}");
        }
        assert_eq!(ByteRegex::new(pattern).unwrap().find_at(&ab, 0, &Budget::new(MILLION)), Err(()), "{pattern}");
    }
}

/// The same pattern, and others, cost little on ordinary texts.
#[test]
fn ordinary_searches_are_cheap() {
    let line = b"GET /shop/item/4711?color=blue&size=xl HTTP/1.1 from caf\xe9 Mozilla/5.0 (X11; Linux x86_64) ";
    let text = line.repeat((1 << 16) / line.len());
    for pattern in ["[ab]*a[ab]{8000}c", "(?i)(union|select).{0,500}from ", r"\w+@\w+\.com"] {
        let (budget, regex) = (Budget::new(MILLION), ByteRegex::new(pattern).unwrap());
        assert_eq!(regex.is_match(&text, &budget), Ok(false), "{pattern}");
        assert!(budget.spent(MILLION) < 100_000, "{pattern}: {}", budget.spent(MILLION));
        let again = Budget::new(MILLION);
        assert_eq!(regex.is_match(&text, &again), Ok(false), "{pattern}");
        assert!(again.spent(MILLION) <= text.len() / 5, "{pattern}: {}", again.spent(MILLION));
    }
}

/// As with Wirefilter, only the size of the program bounds a pattern; here also the time that it takes to parse.
#[test]
fn limits_hold() {
    assert!(ByteRegex::new(&"a".repeat(20_000)).is_ok());
    assert!(ByteRegex::new(&format!("{}a{}", "(".repeat(249), ")".repeat(249))).is_ok());
    assert!(matches!(
        ByteRegex::new(&format!("{}a{}", "(".repeat(251), ")".repeat(251))),
        Err(PatternError::Syntax(_))
    ));
    for pattern in ["((a{100}){100}){100}", r"(?u)\w{1000}"] {
        let Err(regex::Error::CompiledTooBig(limit)) =
            RegexBuilder::new(pattern).unicode(false).size_limit(10 << 20).build()
        else {
            panic!("{pattern} has a program within the limit")
        };
        assert_eq!(ByteRegex::new(pattern).err(), Some(PatternError::TooLarge { limit }));
    }
    assert!(ByteRegex::new(&r"(?i)[\s\S]".repeat(2_000)).is_ok());
    assert!(ByteRegex::new(&(r"(?i-u)".to_owned() + &r"[\s\S]".repeat(2_000))).is_ok());
    assert_eq!(ByteRegex::new(&r"(?iu)[\s\S]".repeat(2_000)).err(), Some(PatternError::TooManyCases));
    assert_eq!(compile_bytes_metered("a{2000}b", 10_000, &Budget::new(10_000)).err(), Some(()));
}

#[test]
fn a_cache_without_memory_leaves_patterns_undecided() {
    let cache = PatternCache::with_budget(0);
    let matcher = cache.byte_matcher("a+b").unwrap();
    let Err(Undecided::NoEngine(over)) = matcher.search(b"ab", &Unmetered) else { panic!("{matcher:?}") };
    assert_eq!(over.pattern.text, "a+b");
    assert!(cache.byte_matcher("(").is_err());
    assert_eq!(PatternCache::default().byte_matcher("a+b").unwrap().search(b"ab", &Unmetered), Ok(true));
}

/// A search reserves memory for each group in each state.
#[test]
fn thousands_of_groups_take_little_memory() {
    let pattern = "(a|b)*".repeat(20_000) + "c";
    for groups in [0, 9] {
        let regex = ByteRegex::with_groups(&pattern, groups).unwrap();
        assert_eq!(regex.is_match(b"abababc", &Unmetered), Ok(true));
        let found = regex.find_at(b"abababc", 0, &Unmetered).unwrap().unwrap();
        assert!(regex.groups(b"abababc", found, &Unmetered).unwrap().is_some());
    }
}
