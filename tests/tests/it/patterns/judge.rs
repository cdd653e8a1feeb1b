//! What a pattern means is what the `regex` crate says of the same text, wherever a rule may have a pattern: `matches` in both languages, alone and
//! in sets, the functions that take patterns, and lists of patterns, in both tiers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use super::random_patterns::Random;
use celero::filter::FilterLanguage;
use celero::lists::{self, Entries, Entry, Kind, Lists};
use celero::{Bindings, Engine, Env, ErrorKind, Limits, Program, RuleSet, Scratch, Tier, Type, Value};
use celero_tests::shared::say;
use regex::{Regex, bytes};

/// Patterns that are judged together, and texts for each of them.
const PATTERNS: usize = 50;
const TEXTS: usize = 100;
/// Patterns of one list.
const LISTED: usize = 5;

/// Ten groups that match the empty text too, so that those of the pattern behind them have numbers that no replacement can name.
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
type OfText = (String, Regex);
type OfBytes = (String, bytes::Regex);

/// A pattern on bytes, as the filter language has them.
pub(super) fn on_bytes(pattern: &str) -> Result<bytes::Regex, regex::Error> {
    bytes::RegexBuilder::new(pattern).unicode(false).build()
}

type Set = RuleSet<Bindings<'static>, usize>;
type Rule = Program<Bindings<'static>>;

/// An engine of each tier. What a search costs is judged elsewhere: its budget never ends.
fn engines() -> [Engine; 2] {
    let limits = Limits { steps: u32::MAX, ..Limits::default() };
    [Tier::Interpret, Tier::Native].map(|tier| Engine::builder().tier(tier).limits(limits).build())
}

fn set(engine: &Engine, env: &Env<Bindings<'static>>, rules: impl Iterator<Item = String>) -> Set {
    let rules = rules.enumerate();
    rules.fold(engine.rules(env), |set, (n, rule)| set.rule("r", &rule, n)).build().unwrap()
}

fn raw(pattern: &str) -> String {
    format!("r##\"{pattern}\"##")
}

/// Rules without a pattern of their own: the pattern comes with the text.
struct Dynamic {
    matches: Rule,
    extract: Rule,
    replace: Rule,
    replace_first: Rule,
}

impl Dynamic {
    fn new(engine: &Engine, env: &Env<Bindings<'static>>) -> Self {
        let rule = |source: &str| engine.compile(env, source).unwrap();
        Self {
            matches: rule("text.matches(pattern)"),
            extract: rule("regex.extractAll(text, pattern).join('|')"),
            replace: rule(r"regex.replace(text, pattern, r'<\0>')"),
            replace_first: rule("text.regexReplace(pattern, '[${1}|${9}|${11}|$0|${n0}|$$]')"),
        }
    }

    fn judge(&self, pattern: &str, regex: &Regex, text: &str, bindings: &Bindings<'_>, scratch: &mut Scratch) {
        let context = || format!("{pattern:?} on {text:?}");
        assert_eq!(self.matches.test(bindings), Ok(regex.is_match(text)), "matches, {}", context());
        let mut value = |rule: &Rule, expected: Result<&str, ErrorKind>| {
            let found = match rule.eval(bindings, scratch) {
                Ok(Value::String(found)) => Ok(found),
                Ok(other) => panic!("{other:?}: {}, {}", rule.source(), context()),
                Err(error) => Err(error.kind),
            };
            assert_eq!(found, expected, "{}, {}", rule.source(), context());
        };
        let extracted: Vec<&str> = regex
            .captures_iter(text)
            .filter_map(|groups| match groups.get(1) {
                None if groups.len() > 1 => None,
                None => groups.get(0),
                group => group.filter(|group| !group.is_empty()),
            })
            .map(|group| group.as_str())
            .collect();
        let extracted = extracted.join("|");
        let few = regex.capture_names().len() <= 2;
        value(&self.extract, if few { Ok(&extracted) } else { Err(ErrorKind::InvalidArgument) });
        value(&self.replace, Ok(&regex.replace_all(text, "<$0>")));
        value(&self.replace_first, Ok(&regex.replace(text, "[${1}|${9}|${11}|$0|${n0}|$$]")));
    }
}

/// Patterns of text, and the texts that they are judged on.
struct OnText {
    patterns: Vec<OfText>,
    texts: Vec<String>,
}

impl OnText {
    fn judge(&self, counts: &mut Counts) {
        let named = Lists::new(lists::Limits::default());
        for (n, patterns) in self.patterns.chunks(LISTED).enumerate() {
            named.declare(&format!("of{n}"), Kind::Patterns).unwrap();
            let entries = Entries::from_texts(Kind::Patterns, patterns.iter().map(|(pattern, _)| pattern)).unwrap();
            named.change().replace(&format!("of{n}"), entries).commit().unwrap();
        }
        let env = Env::dynamic().variable("text", Type::String).variable("pattern", Type::String).lists(&named);
        for engine in engines() {
            let dynamic = Dynamic::new(&engine, &env);
            // What JSON escapes, CEL does too.
            let literal = |pattern: &str| serde_json::to_string(pattern).unwrap();
            let rules = self.patterns.iter().map(|(pattern, _)| format!("text.matches({})", literal(pattern)));
            let set_of_rules = set(&engine, &env, rules);
            let listed = (0..self.patterns.chunks(LISTED).len()).map(|n| format!("text in lists.of{n}"));
            let listed = set(&engine, &env, listed);
            let scratch = &mut Scratch::new();
            for text in &self.texts {
                let mut bindings = Bindings::new(&env);
                bindings.set("text", Value::String(text)).unwrap();
                let matching = |(_, regex): &OfText| regex.is_match(text);
                let found = set_of_rules.indices(&bindings, scratch).unwrap();
                for (n, (pattern, regex)) in self.patterns.iter().enumerate() {
                    let expected = regex.is_match(text);
                    assert_eq!(found.contains(&n), expected, "in a set: {pattern:?} on {text:?}");
                    counts.add(expected);
                }
                let found = listed.indices(&bindings, scratch).unwrap();
                for (n, patterns) in self.patterns.chunks(LISTED).enumerate() {
                    let expected = patterns.iter().any(matching);
                    assert_eq!(found.contains(&n), expected, "in a list: one of {patterns:?} on {text:?}");
                }
            }
            // A thread keeps few patterns that are known only at evaluation: all texts come for one after the other.
            for (pattern, regex) in &self.patterns {
                let mut bindings = Bindings::new(&env);
                bindings.set("pattern", Value::String(pattern)).unwrap();
                for text in &self.texts {
                    bindings.set("text", Value::String(text)).unwrap();
                    dynamic.judge(pattern, regex, text, &bindings, scratch);
                }
            }
        }
    }
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
    over_limit: u64,
}

impl Counts {
    fn add(&mut self, matched: bool) {
        *(if matched { &mut self.matched } else { &mut self.missed }) += 1;
    }
}

/// Whether a pattern that the `regex` crate accepts is refused for a limit that is lower here: `PatternError::{TooManyCases, TooLarge}`.
fn is_over_limit(error: &str) -> bool {
    error.contains("ignores case in more than nine classes")
        || error.contains("exceeds the size limit of 2097152 bytes")
}

/// Random patterns that both accept, of text and of bytes. What one refuses the other refuses too.
fn patterns(random: &mut Random, counts: &mut Counts) -> (Vec<OfText>, Vec<OfBytes>) {
    let (env, engine) = (filter_env(), Engine::builder().tier(Tier::Interpret).build());
    let (mut text, mut bytes) = (Vec::new(), Vec::new());
    while text.len() < PATTERNS || bytes.len() < PATTERNS {
        let mut pattern = random.pattern(3);
        if random.chance(3) {
            pattern.insert_str(0, TEN_GROUPS);
        }
        let accepted = engine.check(&env, &format!("b matches {}", raw(&pattern)));
        match (on_bytes(&pattern), accepted) {
            (Ok(regex), Ok(_)) if bytes.len() < PATTERNS => bytes.push((pattern.clone(), regex)),
            (Err(_), Err(_)) => counts.refused += 1,
            (theirs, ours) => assert_eq!(ours.is_ok(), theirs.is_ok(), "{pattern:?}: {:?}", ours.err()),
        }
        // No entry of a list is empty.
        if pattern.is_empty() {
            continue;
        }
        match (Regex::new(&pattern), Entry::parse(Kind::Patterns, &pattern)) {
            (Ok(_), Err(error)) if is_over_limit(&error) => counts.over_limit += 1,
            (Ok(regex), Ok(_)) if text.len() < PATTERNS => text.push((pattern, regex)),
            (Err(_), Err(_)) => counts.refused += 1,
            (theirs, ours) => assert_eq!(ours.is_ok(), theirs.is_ok(), "{pattern:?}: {:?}", ours.err()),
        }
    }
    (text, bytes)
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
fn patterns_mean_what_the_regex_crate_says_of_their_text() {
    let pairs: usize = std::env::var("CELERO_PATTERN_PAIRS").map_or(50_000, |pairs| pairs.parse().unwrap());
    let seed: u64 = std::env::var("CELERO_SEED").map_or(1, |seed| seed.parse().unwrap());
    let (mut random, mut counts) = (Random(seed), Counts::default());
    let mut judged = 0;
    while judged < pairs {
        let (text, bytes) = patterns(&mut random, &mut counts);
        let texts = texts(&mut random, &text.iter().map(|(pattern, _)| pattern.clone()).collect::<Vec<_>>());
        let raw_texts = texts.iter().map(|text| {
            let mut bytes = text.clone().into_bytes();
            if random.chance(3) {
                bytes.insert(bytes.len() / 2, 0xff);
            } else if random.chance(3) {
                bytes.pop();
            }
            bytes
        });
        let on_bytes = OnBytes { patterns: bytes, texts: raw_texts.collect() };
        OnText { patterns: text, texts }.judge(&mut counts);
        on_bytes.judge(&mut counts);
        judged += 2 * PATTERNS * TEXTS;
    }
    let Counts { matched, missed, refused, over_limit } = counts;
    say(&format!(
        "{judged} pairs of a pattern and a text, {matched} answers yes, {missed} no, {refused} patterns refused, {over_limit} over a limit"
    ));
    assert!(over_limit < 10 + refused / 20, "{over_limit}");
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
    ("(?x) ^ (a) # )(\n $", "a", true),
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
