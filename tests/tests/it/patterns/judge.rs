//! What a pattern of the filter language means is what the `regex` crate says of the same text:
//! `matches` in sets and functions that take patterns, in both tiers. Patterns of CEL and of lists
//! are judged in `re2.rs`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use super::random_patterns::Random;
use celero::filter::FilterLanguage;
use celero::{Bindings, Engine, Env, Limits, Program, RuleSet, Scratch, Tier, Type, Value};
use celero_tests::shared::say;
use regex::bytes;

/// Patterns that are judged together, and texts for each of them.
const PATTERNS: usize = 50;
const TEXTS: usize = 100;
/// Ten groups that match the empty text too, so that those of the pattern behind them have numbers
/// that no replacement can name.
const TEN_GROUPS: &str = r"(a)?(b)??(é)?(?:(a|b)*)([ab]{2})?(_)*((k)?)?(?P<tenth> )?";

/// What a replacement of the filter language is made of.
enum Part {
    Text(&'static str),
    Group(usize),
}

/// `<${1}|${9}|${0}|$${2}$>`, where `$$` is a dollar sign, and so is one before anything but a group.
const REPLACEMENT: &str = "<${1}|${9}|${0}|$${2}$>";
const PARTS: [Part; 7] = [
    Part::Text("<"),
    Part::Group(1),
    Part::Text("|"),
    Part::Group(9),
    Part::Text("|"),
    Part::Group(0),
    Part::Text("|${2}$>"),
];

/// The text with the first match replaced.
fn replaced(pattern: &bytes::Regex, text: &[u8]) -> Vec<u8> {
    let Some(groups) = pattern.captures(text) else { return text.to_vec() };
    let found = groups.get(0).unwrap();
    let mut out = text[..found.start()].to_vec();
    for part in &PARTS {
        match part {
            Part::Text(text) => out.extend_from_slice(text.as_bytes()),
            Part::Group(group) => out.extend_from_slice(groups.get(*group).map_or(b"", |group| group.as_bytes())),
        }
    }
    out.extend_from_slice(&text[found.end()..]);
    out
}

/// A pattern as it is written, and what it means.
type OfBytes = (String, bytes::Regex);

/// A pattern on bytes, as the filter language has them.
pub(super) fn on_bytes(pattern: &str) -> Result<bytes::Regex, regex::Error> {
    bytes::RegexBuilder::new(pattern).unicode(false).build()
}

pub(super) type Set = RuleSet<Bindings<'static>, usize>;
pub(super) type Rule = Program<Bindings<'static>>;

/// An engine of each tier. What a search costs is judged elsewhere: its budget never ends.
pub(super) fn engines() -> [Engine; 2] {
    let limits = Limits { steps: u32::MAX, ..Limits::default() };
    [Tier::Interpret, Tier::Native].map(|tier| Engine::builder().tier(tier).limits(limits).build())
}

pub(super) fn set(engine: &Engine, env: &Env<Bindings<'static>>, rules: impl Iterator<Item = String>) -> Set {
    let rules = rules.enumerate();
    rules.fold(engine.rules(env), |set, (n, rule)| set.rule("r", &rule, n)).build().unwrap()
}

fn raw(pattern: &str) -> String {
    format!("r##\"{pattern}\"##")
}

/// Patterns of bytes, and the texts that they are judged on.
struct OnBytes {
    patterns: Vec<OfBytes>,
    texts: Vec<Vec<u8>>,
}

impl OnBytes {
    fn judge(&self, counts: &mut Counts) {
        let env = filter_env();
        for engine in engines() {
            let rules = |form: fn(&str) -> String| {
                set(&engine, &env, self.patterns.iter().map(move |(pattern, _)| format!("b matches {}", form(pattern))))
            };
            // No pattern has a quote, so that every pattern can be written as it is.
            let (quoted, raw_form) = (rules(|pattern| format!("\"{pattern}\"")), rules(raw));
            let replacing: Vec<Rule> = self
                .patterns
                .iter()
                .map(|(pattern, _)| format!("regex_replace(b, {}, {})", raw(pattern), raw(REPLACEMENT)))
                .map(|source| engine.compile(&env, &source).unwrap())
                .collect();
            let scratch = &mut Scratch::new();
            for text in &self.texts {
                let mut bindings = Bindings::new(&env);
                bindings.set("b", Value::Bytes(text)).unwrap();
                for (form, set) in [("quoted", &quoted), ("raw", &raw_form)] {
                    let found = set.indices(&bindings, scratch).unwrap();
                    for (n, (pattern, regex)) in self.patterns.iter().enumerate() {
                        let expected = regex.is_match(text);
                        assert_eq!(found.contains(&n), expected, "{form}: {pattern:?} on {text:?}");
                        counts.add(expected);
                    }
                }
                for ((pattern, regex), rule) in self.patterns.iter().zip(&replacing) {
                    let found = rule.eval(&bindings, scratch).unwrap();
                    let (expected, context) = (replaced(regex, text), format!("{pattern:?} on {text:?}"));
                    let Value::Bytes(found) = found else { panic!("{found:?}: {context}") };
                    assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{context}");
                }
            }
        }
    }
}

fn filter_env() -> Env<Bindings<'static>> {
    Env::dynamic().variable("b", Type::Bytes).filter_language(FilterLanguage::new())
}

#[derive(Default)]
struct Counts {
    matched: u64,
    missed: u64,
    refused: u64,
}

impl Counts {
    fn add(&mut self, matched: bool) {
        *(if matched { &mut self.matched } else { &mut self.missed }) += 1;
    }
}

/// Random patterns that both accept. What one refuses the other refuses too.
fn patterns(random: &mut Random, counts: &mut Counts) -> Vec<OfBytes> {
    let (env, engine) = (filter_env(), Engine::builder().tier(Tier::Interpret).build());
    let mut accepted = Vec::new();
    while accepted.len() < PATTERNS {
        let mut pattern = random.pattern(3);
        if random.chance(3) {
            pattern.insert_str(0, TEN_GROUPS);
        }
        match (on_bytes(&pattern), engine.check(&env, &format!("b matches {}", raw(&pattern)))) {
            (Ok(regex), Ok(_)) => accepted.push((pattern, regex)),
            (Err(_), Err(_)) => counts.refused += 1,
            (theirs, ours) => assert_eq!(ours.is_ok(), theirs.is_ok(), "{pattern:?}: {:?}", ours.err()),
        }
    }
    accepted
}

/// Texts, half of them with the letters of a pattern.
fn texts(random: &mut Random, patterns: &[String]) -> Vec<String> {
    let own = |pattern: &String| pattern.chars().filter(|c| !r"^$()?\[]*+|{}<>:".contains(*c)).collect::<String>();
    let mut texts: Vec<String> = patterns.iter().step_by(2).map(own).collect();
    while texts.len() < TEXTS {
        texts.push(random.text() + &random.text());
    }
    texts
}

#[test]
fn patterns_on_bytes_mean_what_the_regex_crate_says_of_their_text() {
    let pairs: usize = std::env::var("CELERO_PATTERN_PAIRS").map_or(50_000, |pairs| pairs.parse().unwrap());
    let seed: u64 = std::env::var("CELERO_SEED").map_or(1, |seed| seed.parse().unwrap());
    let (mut random, mut counts) = (Random(seed), Counts::default());
    let mut judged = 0;
    while judged < pairs {
        let patterns = patterns(&mut random, &mut counts);
        let texts = texts(&mut random, &patterns.iter().map(|(pattern, _)| pattern.clone()).collect::<Vec<_>>());
        let texts = texts.into_iter().map(|text| {
            let mut bytes = text.into_bytes();
            if random.chance(3) {
                bytes.insert(bytes.len() / 2, 0xff);
            } else if random.chance(3) {
                bytes.pop();
            }
            bytes
        });
        OnBytes { texts: texts.collect(), patterns }.judge(&mut counts);
        judged += PATTERNS * TEXTS;
    }
    let Counts { matched, missed, refused } = counts;
    say(&format!(
        "{judged} pairs of a pattern and a text, {matched} answers yes, {missed} no, {refused} patterns refused"
    ));
    assert!(matched > missed / 4 && missed > matched / 4, "{matched} {missed}");
}

/// A pattern, a text, and whether it matches: patterns whose meaning depends on each parenthesis.
const BY_HAND: &[(&str, &str, bool)] = &[
    (r"^/admin/([a-z]+)?$", "/admin/", true),
    (r"^/admin/([a-z]+)?$", "/admin/x", true),
    (r"(b{2})?", "", true),
    (r"^(\d{3})?-?\d$", "5", true),
    (r"^(a{2}){3}$", "aaaaaa", true),
    (r"^(a{2}){3}$", "aaaaa", false),
    ("(a|é)", "é", true),
    ("^(é)+$", "éé", true),
    ("^(|a)b$", "b", true),
    ("(?i)^(K|ab)$", "AB", true),
    ("(?U)^(a+)$", "aa", true),
];

#[test]
fn patterns_with_groups_match_as_written() {
    let (cel, filter) = (Env::dynamic().variable("b", Type::String), filter_env());
    for (pattern, text, expected) in BY_HAND {
        assert_eq!(on_bytes(pattern).unwrap().is_match(text.as_bytes()), *expected, "{pattern:?} on {text:?}");
        for engine in engines() {
            let literal = serde_json::to_string(pattern).unwrap();
            let of_text = engine.compile(&cel, &format!("b.matches({literal})")).unwrap();
            let of_bytes = engine.compile(&filter, &format!("b matches {}", raw(pattern))).unwrap();
            let mut bindings = Bindings::new(&cel);
            bindings.set("b", Value::String(text)).unwrap();
            assert_eq!(of_text.test(&bindings), Ok(*expected), "{pattern:?} on {text:?}");
            let mut bindings = Bindings::new(&filter);
            bindings.set("b", Value::Bytes(text.as_bytes())).unwrap();
            assert_eq!(of_bytes.test(&bindings), Ok(*expected), "{pattern:?} on {text:?}");
        }
    }
}
