//! Patterns of CEL are RE2's, wherever they stand: `matches` alone and in sets, the functions that
//! take patterns, and lists of patterns, in both tiers. The judge of random patterns is Go's
//! package `regexp`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use super::go_judge::{Answer, Finding, GoJudge};
use super::judge::{Rule, engines, set};
use super::random_patterns::Random;
use super::random_re2;
use celero::lists::{self, Entries, Entry, Kind, Lists};
use celero::sets::Indexing;
use celero::settings::PatternDialect;
use celero::{Bindings, Engine, Env, ErrorKind, ErrorPolicy, Scratch, Type, Value};
use celero_tests::shared::say;

/// Patterns and texts that are judged together.
const PATTERNS: usize = 100;
const TEXTS: usize = 50;
/// Patterns of one list.
const LISTED: usize = 5;

/// A replacement of the first match.
const TEMPLATE: &str = "[${1}|${9}|${11}|$0|${n0}|$$]";

/// A pattern as a literal. What JSON escapes, CEL does too.
fn literal(pattern: &str) -> String {
    serde_json::to_string(pattern).unwrap()
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
            replace_first: rule(&format!("text.regexReplace(pattern, '{TEMPLATE}')")),
        }
    }

    fn judge(&self, pattern: &str, groups: u64, found: &Finding, bindings: &Bindings<'_>, scratch: &mut Scratch) {
        assert_eq!(self.matches.test(bindings), Ok(found.matches), "matches, {pattern:?}");
        let mut value = |rule: &Rule, expected: Result<&str, ErrorKind>| {
            let value = match rule.eval(bindings, scratch) {
                Ok(Value::String(value)) => Ok(value),
                Ok(other) => panic!("{other:?}: {}, {pattern:?}", rule.source()),
                Err(error) => Err(error.kind),
            };
            assert_eq!(value, expected, "{}, {pattern:?}", rule.source());
        };
        let extracted = found.all.iter().filter_map(|parts| match groups {
            0 => parts[0].as_deref(),
            _ => parts[1].as_deref().filter(|group| !group.is_empty()),
        });
        let extracted = extracted.collect::<Vec<_>>().join("|");
        value(&self.extract, if groups < 2 { Ok(&extracted) } else { Err(ErrorKind::InvalidArgument) });
        value(&self.replace, Ok(&found.marked));
        value(&self.replace_first, Ok(&found.replaced));
    }
}

#[derive(Default)]
struct Counts {
    matched: u64,
    missed: u64,
    refused: u64,
    over_limit: u64,
}

/// Whether a pattern that Go accepts is refused for a limit that is lower here.
fn is_over_limit(error: &str) -> bool {
    error.contains("too many large classes") || error.contains("exceeds the size limit") || error.contains("nest more")
}

/// The patterns that both accept, with what Go finds. What one refuses the other refuses too.
fn accepted(patterns: Vec<String>, answers: Vec<Result<Answer, String>>, counts: &mut Counts) -> Vec<(String, Answer)> {
    let both = patterns.into_iter().zip(answers).filter_map(|(pattern, answer)| {
        match (answer, Entry::parse(Kind::Patterns, &pattern)) {
            (Ok(answer), Ok(_)) => return Some((pattern, answer)),
            (Err(_), Err(_)) => counts.refused += 1,
            (Ok(_), Err(error)) if is_over_limit(&error) => counts.over_limit += 1,
            (Ok(_), Err(error)) => panic!("Go accepts {pattern:?}: {error}"),
            (Err(error), Ok(_)) => panic!("Go refuses {pattern:?}: {error}"),
        }
        None
    });
    both.collect()
}

fn judge(patterns: &[(String, Answer)], texts: &[String], counts: &mut Counts) {
    let named = Lists::new(lists::Limits::default());
    for (n, patterns) in patterns.chunks(LISTED).enumerate() {
        named.declare(&format!("of{n}"), Kind::Patterns).unwrap();
        let entries = Entries::from_texts(Kind::Patterns, patterns.iter().map(|(pattern, _)| pattern)).unwrap();
        named.change().replace(&format!("of{n}"), entries).commit().unwrap();
    }
    let env = Env::dynamic().variable("text", Type::String).variable("pattern", Type::String).lists(&named);
    for engine in engines() {
        let dynamic = Dynamic::new(&engine, &env);
        let set_of_rules =
            set(&engine, &env, patterns.iter().map(|(pattern, _)| format!("text.matches({})", literal(pattern))));
        let listed = (0..patterns.chunks(LISTED).len()).map(|n| format!("text in lists.of{n}"));
        let listed = set(&engine, &env, listed);
        let scratch = &mut Scratch::new();
        for (of, text) in texts.iter().enumerate() {
            let mut bindings = Bindings::new(&env);
            bindings.set("text", Value::String(text)).unwrap();
            let found = set_of_rules.indices(&bindings, scratch).unwrap();
            for (n, (pattern, answer)) in patterns.iter().enumerate() {
                let expected = answer.findings[of].matches;
                assert_eq!(found.contains(&n), expected, "in a set: {pattern:?} on {text:?}");
                *(if expected { &mut counts.matched } else { &mut counts.missed }) += 1;
            }
            let found = listed.indices(&bindings, scratch).unwrap();
            for (n, patterns) in patterns.chunks(LISTED).enumerate() {
                let expected = patterns.iter().any(|(_, answer)| answer.findings[of].matches);
                let shown: Vec<_> = patterns.iter().map(|(pattern, _)| pattern).collect();
                assert_eq!(found.contains(&n), expected, "in a list: one of {shown:?} on {text:?}");
            }
        }
        // A thread keeps few patterns that are known only at evaluation: all texts come for one after the other.
        for (pattern, answer) in patterns {
            let mut bindings = Bindings::new(&env);
            bindings.set("pattern", Value::String(pattern)).unwrap();
            for (text, found) in texts.iter().zip(&answer.findings) {
                bindings.set("text", Value::String(text)).unwrap();
                dynamic.judge(pattern, answer.groups, found, &bindings, scratch);
            }
        }
    }
}

#[test]
fn patterns_mean_what_go_says() {
    let Some(go) = GoJudge::new() else { return };
    let pairs: usize = std::env::var("CELERO_RE2_PAIRS").map_or(20_000, |pairs| pairs.parse().unwrap());
    let seed: u64 = std::env::var("CELERO_SEED").map_or(1, |seed| seed.parse().unwrap());
    let (mut random, mut counts) = (Random(seed), Counts::default());
    let mut judged = 0;
    while judged < pairs {
        // No entry of a list is empty.
        let mut patterns: Vec<String> = (0..2 * PATTERNS).map(|_| random_re2::pattern(&mut random)).collect();
        patterns.retain(|pattern| !pattern.is_empty());
        let own = |pattern: &String| pattern.chars().filter(|c| !r"^$()?\[]*+|".contains(*c)).collect::<String>();
        let mut texts: Vec<String> = patterns.iter().step_by(8).map(own).collect();
        while texts.len() < TEXTS {
            texts.push(random_re2::text(&mut random) + &random_re2::text(&mut random));
        }
        let answers = go.judge(&patterns, &texts, TEMPLATE);
        let patterns = accepted(patterns, answers, &mut counts);
        judge(&patterns, &texts, &mut counts);
        judged += patterns.len() * texts.len();
    }
    let Counts { matched, missed, refused, over_limit } = counts;
    say(&format!(
        "{judged} pairs of a pattern and a text, {matched} answers yes, {missed} no, {refused} patterns refused, {over_limit} over a limit"
    ));
    assert!(over_limit < 10 + refused / 20, "{over_limit}");
    assert!(matched > missed / 8 && missed > matched / 8 && refused > 50, "{matched} {missed} {refused}");
}

/// Names of classes that both know, or neither.
const NAMES: &[&str] = &[
    "L",
    "Lu",
    "Ll",
    "Lt",
    "LC",
    "Lc",
    "l",
    "Letter",
    "Uppercase_Letter",
    "cntrl",
    "digit",
    "punct",
    "Combining_Mark",
    "Other",
    "Cn",
    "Cs",
    "Any",
    "Assigned",
    "ASCII",
    "ascii",
    "Greek",
    "greek",
    "GREEK",
    "Han",
    "Latin",
    "Common",
    "Inherited",
    "Nko",
    "Thai",
    "Cham",
    "Miao",
    "Modi",
    "Yi",
    "Grek",
    "Latn",
    "Zyyy",
    "Zinh",
    "Zzzz",
    "Plrd",
    "Qaai",
    "IsGreek",
    "Emoji",
    "Alphabetic",
    "White_Space",
    "Lowercase",
    "L&",
    "gc=L",
    "sc=Han",
    "scx=Han",
    "Unknown",
    "Katakana_Or_Hiragana",
    "In_Greek",
    "",
    "^",
    "^L",
    "^^L",
    " L ",
    "L_",
    "Lé",
    "Age",
    "Foo",
];

#[test]
fn classes_have_the_names_that_go_knows() {
    let Some(go) = GoJudge::new() else { return };
    let patterns: Vec<String> = NAMES.iter().map(|name| format!(r"^\p{{{name}}}$")).collect();
    let texts = ["a", "A", "ǅ", "1", "é", "α", "漢", " ", "\n", ".", "\u{301}", "€"].map(str::to_owned);
    let answers = go.judge(&patterns, &texts, TEMPLATE);
    let patterns = accepted(patterns, answers, &mut Counts::default());
    assert!(patterns.len() > 30);
    judge(&patterns, &texts, &mut Counts::default());
}

/// What differs from the dialect of the `regex` crate: a pattern, a text, and whether it matches.
/// `None`: the pattern is refused.
const DIFFERENT: &[(&str, &str, Option<bool>)] = &[
    (r"\<\?php", "<?php", Some(true)),
    ("^a[=&&][0-9]", "a=1", Some(true)),
    ("^[+--]$", "-", Some(true)),
    ("^[!~~]$", "~", Some(true)),
    ("^[[a]b]$", "[b]", Some(true)),
    (r"\d", "٣", Some(false)),
    (r"\w", "é", Some(false)),
    (r"\s", "\u{A0}", Some(false)),
    (r"\s", "\u{B}", Some(false)),
    (r"a\b", "aé", Some(true)),
    (r"\B", "aéa", Some(false)),
    (r"(?i)^\W$", "ſ", Some(false)),
    (r"^[\w-.]$", "-", Some(true)),
    ("[[]", "[", Some(true)),
    ("^a{$", "a{", Some(true)),
    ("^a{,2}$", "a{,2}", Some(true)),
    (r"^\Q.\E$", ".", Some(true)),
    (r"^\Q.\E$", "a", Some(false)),
    (r"\0", "\0", Some(true)),
    (r"\p{^Han}", "a", Some(true)),
    (r"\b{start}", "a{start}", Some(true)),
    ("a**", "a", None),
    ("a++", "a", None),
    (r"\u0061", "a", None),
    ("a{1001}", "a", None),
    ("(a{100}){100}", "a", None),
    ("a{1,2}{3}", "a", None),
    (r"\p{Emoji}", "a", None),
    ("(?x)a", "a", None),
    (r"a\Z", "a", None),
    ("a$", "a\n", Some(false)),
    ("^.$", "\n", Some(false)),
];

/// Expects this of a pattern on a text wherever rules have patterns, in both tiers.
fn expect(env: &Env<Bindings<'static>>, pattern: &str, text: &str, expected: Result<bool, ErrorKind>) {
    let mut bindings = Bindings::new(env);
    bindings.set("text", Value::String(text)).unwrap();
    bindings.set("pattern", Value::String(pattern)).unwrap();
    let (text_literal, literal) = (literal(text), literal(pattern));
    for engine in engines() {
        for source in [
            format!("text.matches({literal})"),
            "text.matches(pattern)".to_owned(),
            format!("{text_literal}.matches({literal})"),
            format!("regex.extract(text, {literal}).hasValue()"),
            format!("regex.extract({text_literal}, {literal}).hasValue()"),
        ] {
            let rule = engine.compile(env, &source).unwrap();
            let found = rule.test(&bindings).map_err(|error| error.kind);
            assert_eq!(found, expected, "{source}: {pattern:?} on {text:?}");
            let is_warned = rule.warnings().iter().any(|warning| warning.message.contains("regular expression"));
            assert_eq!(is_warned, expected.is_err() && source.contains(&literal), "{source}");
        }
        for indexing in [Indexing::Always, Indexing::Off] {
            let rules = engine.rules(env).rule("r", &format!("text.matches({literal})"), ()).index(indexing);
            let rules = rules.on_error(ErrorPolicy::NoMatch).build().unwrap();
            let found = rules.any(&bindings, &mut Scratch::new());
            assert_eq!(found, Ok(expected == Ok(true)), "{indexing:?}: {pattern:?} on {text:?}");
        }
    }
}

#[test]
fn what_differs_from_the_regex_crate() {
    let lists = Lists::new(lists::Limits::default());
    lists.declare("own", Kind::Patterns).unwrap();
    let env = Env::dynamic().variable("text", Type::String).variable("pattern", Type::String).lists(&lists);
    for (pattern, text, expected) in DIFFERENT {
        expect(&env, pattern, text, expected.ok_or(ErrorKind::InvalidArgument));
        let listed = lists.change().replace("own", Entries::new(Kind::Patterns)).insert("own", pattern).commit();
        assert_eq!(listed.is_ok(), expected.is_some(), "{pattern:?}");
        if let Some(expected) = *expected {
            let mut bindings = Bindings::new(&env);
            bindings.set("text", Value::String(text)).unwrap();
            let rule = engines()[1].compile(&env, "text in lists.own").unwrap();
            assert_eq!(rule.test(&bindings), Ok(expected), "{pattern:?} on {text:?} in a list");
        }
    }
}

/// [`Env::patterns`]: what differs is judged by the crate itself. The threads' caches of patterns
/// keep those of both dialects apart.
#[test]
fn an_environment_may_read_patterns_as_the_regex_crate_does() {
    let re2 = Env::dynamic().variable("text", Type::String).variable("pattern", Type::String);
    let env = re2.clone().patterns(PatternDialect::Regex);
    let mut differ = 0;
    for (pattern, text, in_re2) in DIFFERENT {
        let found = regex::Regex::new(pattern).ok().map(|regex| regex.is_match(text));
        differ += u32::from(found != *in_re2);
        for (env, expected) in [(&env, &found), (&re2, in_re2), (&env, &found)] {
            expect(env, pattern, text, expected.ok_or(ErrorKind::InvalidArgument));
        }
    }
    assert!(differ > 25, "{differ}");
    let engine = Engine::new();
    let rule = engine.check(&re2, "text.matches('a')").unwrap();
    assert!(engine.compile_checked(&re2, &rule).is_ok() && engine.compile_checked(&env, &rule).is_err());
    let rule = engine.compile(&env, "text.matches(pattern)").unwrap();
    let mut bindings = Bindings::new(&env);
    bindings.set("text", Value::String("a")).unwrap();
    bindings.set("pattern", Value::String("a{,")).unwrap();
    let report = rule.describe(&rule.test(&bindings).unwrap_err(), &bindings).to_string();
    assert!(report.contains("not a regular expression"), "{report}");
}
