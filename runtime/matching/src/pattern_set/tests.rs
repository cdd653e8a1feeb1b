//! Compares what is known of patterns with what their engine returns.
#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use super::*;
use crate::MemoryBudget;
use crate::pattern::*;
use std::cell::Cell;
use std::fmt::Write;
use std::path::Path;

fn literals(of: &Literals) -> (Vec<&str>, bool) {
    (of.literals.iter().map(|literal| std::str::from_utf8(literal).unwrap()).collect(), of.folded)
}

/// Whether a text has what a pattern requires.
fn has(required: &RequiredLiterals, text: &str) -> bool {
    let (RequiredLiterals::Whole(of)
    | RequiredLiterals::Prefix(of)
    | RequiredLiterals::Suffix(of)
    | RequiredLiterals::Substring(of)) = required;
    let text = if of.folded { text.as_bytes().to_ascii_lowercase() } else { text.as_bytes().to_vec() };
    of.literals.iter().any(|literal| match required {
        RequiredLiterals::Whole(_) => text == **literal,
        RequiredLiterals::Prefix(_) => text.starts_with(literal),
        RequiredLiterals::Suffix(_) => text.ends_with(literal),
        RequiredLiterals::Substring(_) => text.windows(literal.len()).any(|part| part == &**literal),
    })
}

#[test]
fn required_literals_of_patterns() {
    let part: fn(Literals) -> RequiredLiterals = RequiredLiterals::Substring;
    type Case = (&'static str, fn(Literals) -> RequiredLiterals, &'static [&'static str], bool);
    let cases: &[Case] = &[
        ("abc", part, &["abc"], false),
        ("x*abc.*de", part, &["abc"], false),
        ("[ab]cd", part, &["acd", "bcd"], false),
        ("ab?c", part, &["abc", "ac"], false),
        ("foo|bar+|b(?:i)z", part, &["bar", "biz", "foo"], false),
        ("foo|foobar", part, &["foo"], false),
        ("(?i)bot", part, &["bot"], true),
        ("(?i)at", part, &["at"], true),
        ("(?i)ka", part, &["ka", "\u{212A}a"], true),
        ("(?:ab){2}", part, &["abab"], false),
        ("x(?:ab){2,}y", part, &["xabab"], false),
        ("(?:a.bcd)+", part, &["bcd"], false),
        (r"\bselect\b.*\d", part, &["select"], false),
        ("^/admin", RequiredLiterals::Prefix, &["/admin"], false),
        ("^(?:GET|HEAD) /", RequiredLiterals::Prefix, &["GET /", "HEAD /"], false),
        ("^/[0-9]", RequiredLiterals::Prefix, &["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"], false),
        (r"\.php$", RequiredLiterals::Suffix, &[".php"], false),
        ("^(?:GET|HEAD)$", RequiredLiterals::Whole, &["GET", "HEAD"], false),
        ("^$", RequiredLiterals::Whole, &[""], false),
        ("^a.*unlikely", part, &["unlikely"], false),
    ];
    for (pattern, kind, want, folded) in cases {
        let want = Literals { literals: want.iter().map(|text| text.as_bytes().into()).collect(), folded: *folded };
        assert_eq!(required_literals(pattern), Some(kind(want)), "{pattern}");
    }
}

#[test]
fn nothing_required() {
    for pattern in
        ["", "a", ".*", "ab|c", "(?:ab)*", "(?:ab)?", "[a-z]b", "a.b", r"\d\d", "^a?", "[a&&b]", "(?m)^a", "^|ab"]
    {
        assert_eq!(required_literals(pattern), None, "{pattern}");
    }
}

#[test]
fn literals_are_few() {
    let many = "[a-d]".repeat(20);
    let Some(RequiredLiterals::Substring(of)) = required_literals(&many) else {
        panic!("{:?}", required_literals(&many))
    };
    assert!(
        of.literals.len() <= 256 && of.literals.iter().all(|literal| literal.len() >= SHORTEST_SUBSTRING),
        "{:?}",
        literals(&of)
    );
    assert!(required_literals(&"(?:a|b)?x".repeat(200)).is_some());
    // Deep ones take time in proportion to their size.
    let deep = format!("{}ab.c{}", "(?:".repeat(45), ")+".repeat(45));
    assert!(required_literals(&deep).is_some());
}

pub(super) const ASSERTIONS: &[&str] = &[
    "^",
    "$",
    r"\b",
    r"\B",
    r"(?-u:\b)",
    r"(?-u:\B)",
    "(?m:^)",
    "(?m:$)",
    "(?mR:^)",
    "(?mR:$)",
    r"\A",
    r"\z",
    r"(?-u:\b{start})",
    r"(?-u:\b{end})",
    r"(?-u:\b{start-half})",
    r"(?-u:\b{end-half})",
    r"\b{start}",
    r"\b{end-half}",
];

/// Patterns and texts of a few letters, some of which have other cases outside of ASCII.
pub(super) fn pattern(random: &mut fastrand::Rng, depth: u32) -> String {
    let mut out = String::new();
    for _ in 0..random.usize(1..=4) {
        match random.u32(0..if depth == 0 { 7 } else { 10 }) {
            0..=4 => out.push_str(random.choice(["a", "b", "k", "s", "K"]).unwrap()),
            5 => out.push_str(random.choice(["[ab]", "[^a]", "[a-k]", ".", r"\w", "[kK]", "(?i:s)", "é"]).unwrap()),
            6 => out.push_str(random.choice(ASSERTIONS).unwrap()),
            7 => write!(out, "(?:{}|{})", pattern(random, depth - 1), pattern(random, depth - 1)).unwrap(),
            8 => write!(out, "({})", pattern(random, depth - 1)).unwrap(),
            _ => {
                let times = random.choice(["*", "+", "?", "{2}", "{2,3}", "{0}", "*?"]).unwrap();
                write!(out, "(?:{}){times}", pattern(random, depth - 1)).unwrap();
            }
        }
    }
    if random.u32(0..4) == 0 { format!("(?i:{out})") } else { out }
}

pub(super) fn text(random: &mut fastrand::Rng) -> String {
    let letters = ['a', 'b', 'k', 's', 'K', 'S', 'a', 'b', ' ', '\n', '\r', '\u{212A}', '\u{17F}', 'é'];
    let ascii = random.bool();
    let letters = if ascii { &letters[..11] } else { &letters[..] };
    (0..random.usize(0..9)).map(|_| letters[random.usize(0..letters.len())]).collect()
}

/// The matcher of a pattern.
pub(super) fn matcher(pattern: &str) -> Option<Matcher> {
    Matcher::new(pattern).ok()
}

#[test]
fn matches_have_what_is_required() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut matches, mut ruled_out) = (0, 0);
    for _ in 0..3000 {
        let pattern = pattern(&mut random, 3);
        let (Some(matcher), Some(required)) = (matcher(&pattern), required_literals(&pattern)) else { continue };
        for _ in 0..40 {
            let text = text(&mut random);
            if matcher.is_match(&text).unwrap() {
                assert!(has(&required, &text), "{pattern} {text:?} {required:?}");
                matches += 1;
            } else if !has(&required, &text) {
                ruled_out += 1;
            }
        }
    }
    assert!(matches > 500 && ruled_out > 10_000, "{matches} {ruled_out}");
}

/// Checks the answers of groups, and counts matches, ruled-out patterns and possible matches.
fn check(patterns: &[&str], matchers: &[Matcher], groups: &PatternSet, text: &str, counts: &mut [usize; 3]) {
    let mut answers = vec![None; patterns.len()];
    groups.for_each(text, |number, answer| {
        let place = &mut answers[number as usize];
        assert_eq!(*place, None, "{} is reported twice for {text:?}", patterns[number as usize]);
        *place = Some(answer);
    });
    for ((pattern, matcher), answer) in patterns.iter().zip(matchers).zip(answers) {
        match answer {
            Some(PatternMatch::Certain) => {
                assert!(matcher.is_match(text).unwrap(), "{pattern} does not match {text:?}")
            }
            Some(PatternMatch::Possible) => {}
            None => assert!(!matcher.is_match(text).unwrap(), "{pattern} matches {text:?}"),
        }
        counts[answer.map_or(1, |answer| if answer == PatternMatch::Certain { 0 } else { 2 })] += 1;
    }
}

#[test]
fn groups_answer_as_the_engine_does() {
    let mut random = fastrand::Rng::with_seed(8);
    let mut counts = [0; 3];
    for most in [0, 5_000, 1 << 16, 1 << 16, 1 << 16, 1 << 20, 1 << 20, 1 << 20] {
        let all: Vec<(String, Matcher)> = std::iter::repeat_with(|| pattern(&mut random, 3))
            .filter_map(|pattern| Some((matcher(&pattern)?, pattern)))
            .map(|(matcher, pattern)| (pattern, matcher))
            .take(100)
            .collect();
        let (patterns, matchers): (Vec<String>, Vec<Matcher>) = all.into_iter().unzip();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let groups = PatternSet::new(&patterns, most, &MemoryBudget::default());
        assert!(groups.table_bytes() <= most);
        assert!(most != 0 || groups.unmerged() > 20, "{}", groups.unmerged());
        for _ in 0..300 {
            check(&patterns, &matchers, &groups, &text(&mut random), &mut counts);
        }
    }
    let [matches, ruled_out, input] = counts;
    assert!(matches > 10_000 && ruled_out > 60_000 && input > 10_000, "{counts:?}");
}

/// Long texts, in which patterns with literals are searched for near these.
#[test]
fn groups_answer_as_the_engine_does_in_long_texts() {
    let mut random = fastrand::Rng::with_seed(12);
    let mut counts = [0; 3];
    for most in [0, 1 << 14, 1 << 18] {
        // Large ones: searching for others near their literals does not pay.
        let all: Vec<(String, Matcher)> = std::iter::repeat_with(|| pattern(&mut random, 2) + "(?:k{70}s)?[abks ]")
            .filter(|pattern| required_literals(pattern).is_some())
            .filter_map(|pattern| Some((matcher(&pattern)?, pattern)))
            .map(|(matcher, pattern)| (pattern, matcher))
            .take(150)
            .collect();
        let (patterns, matchers): (Vec<String>, Vec<Matcher>) = all.into_iter().unzip();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let groups = PatternSet::new(&patterns, most, &MemoryBudget::default());
        for round in 0..60 {
            let mut long = String::new();
            while long.len() < 1_000 {
                let others = random.choice(["x", " ", "\n", ".x", "a", "kb", "s a", "xS"]).unwrap();
                long += &others.repeat(random.usize(1..150));
                long += &text(&mut random);
            }
            if round % 4 != 0 {
                long.retain(|c| c.is_ascii());
            }
            check(&patterns, &matchers, &groups, &long, &mut counts);
        }
    }
    let [matches, ruled_out, input] = counts;
    assert!(matches > 1_000 && ruled_out > 3_000 && input > 1_000, "{counts:?}");
}

#[test]
fn texts_of_ascii_leave_nothing_open_if_all_states_fit() {
    let patterns = ["a+b", "[0-9]{3}", r"\bx\b", "^a", "b$", "(?i)k", "", ".", "a|", r"\x{e9}"];
    let groups = PatternSet::new(&patterns, 1 << 20, &MemoryBudget::default());
    let found = |text: &str| {
        let (mut sure, mut input) = (Vec::new(), Vec::new());
        groups.for_each(text, |i, answer| if answer == PatternMatch::Certain { &mut sure } else { &mut input }.push(i));
        sure.sort_unstable();
        input.sort_unstable();
        (sure, input)
    };
    assert_eq!(found(""), (vec![6, 8], vec![]));
    assert_eq!(found("aab"), (vec![0, 3, 4, 6, 7, 8], vec![]));
    assert_eq!(found("1234 x"), (vec![1, 2, 6, 7, 8], vec![]));
    assert_eq!(found("axa K"), (vec![3, 5, 6, 7, 8], vec![]));
    // `\b` is of Unicode, and is undecided if the text is not ASCII.
    assert_eq!(found("éx"), (vec![], vec![2, 5, 6, 7, 8, 9]));
}

#[test]
fn states_that_do_not_fit_are_decided_all_the_same() {
    let patterns = ["a[abd-u]{12}c", "b[abd-u]{11,13}c$"];
    let matchers = patterns.map(|pattern| matcher(pattern).unwrap());
    let mut random = fastrand::Rng::with_seed(9);
    for most in [0, 1 << 20] {
        let groups = PatternSet::new(&patterns, most, &MemoryBudget::default());
        assert_eq!(groups.unmerged(), if most == 0 { 2 } else { 0 });
        let mut counts = [0; 3];
        for _ in 0..500 {
            let text: String = (0..30).map(|_| ['a', 'b', 'a', 'b', 'c'][random.usize(0..5)]).collect();
            check(&patterns, &matchers, &groups, &text, &mut counts);
            check(&patterns, &matchers, &groups, "aaabbbaaabbbaaac", &mut counts);
            // Long texts are not read with this table.
            check(&patterns, &matchers, &groups, &text.repeat(40), &mut counts);
        }
        assert!(counts[0] > 500 && counts[1] > 500 && counts[2] == 0, "{counts:?}");
    }
}

#[test]
fn work_is_spent_on_the_short_patterns() {
    let patterns = ["a[abd-u]{11,13}c", "x[0-9a-z]", "b[abd-u]{12}c$", "b+[c-w]"];
    let matchers = patterns.map(|pattern| matcher(pattern).unwrap());
    let mut random = fastrand::Rng::with_seed(11);
    for (work, unmerged) in [(0, 4), (1 << 12, 2), (1 << 40, 0)] {
        let groups = PatternSet::within(&patterns, 1 << 20, work, &MemoryBudget::default());
        assert_eq!(groups.unmerged(), unmerged, "{work}");
        let mut counts = [0; 3];
        for _ in 0..300 {
            let text: String = (0..30).map(|_| ['a', 'b', 'x', '7', 'c'][random.usize(0..5)]).collect();
            check(&patterns, &matchers, &groups, &text, &mut counts);
        }
        assert!(counts[0] > 100 && counts[1] > 100 && counts[2] == 0, "{counts:?}");
    }
    // Without budget for their engines, what is in no table is left open.
    let groups = PatternSet::within(&patterns, 1 << 20, 0, &MemoryBudget::new(0));
    let mut counts = [0; 3];
    check(&patterns, &matchers, &groups, "x7 abc", &mut counts);
    assert!(counts[2] > 0, "{counts:?}");
}

/// Counts steps, of which it says that this many are left.
struct Counted {
    spent: Cell<usize>,
    left: usize,
}

impl Meter for Counted {
    type Error = std::convert::Infallible;

    fn charge(&self, steps: usize) -> Result<(), Self::Error> {
        self.spent.set(self.spent.get().saturating_add(steps));
        Ok(())
    }

    fn left(&self) -> usize {
        self.left
    }
}

/// The steps of a lookup with this many left.
fn cost(set: &PatternSet, text: &str, left: usize) -> usize {
    let counted = Counted { spent: Cell::new(0), left };
    let Ok(()) = set.for_each_metered(text, &counted, |_, _| {});
    counted.spent.get()
}

#[test]
fn a_lookup_takes_no_more_steps_than_are_left() {
    let set = PatternSet::within(&["(?:a.{60}b|b.{60}c|c.{60}a)$"], 1 << 20, 0, &MemoryBudget::default());
    let text: String = ["a", "b", "c", "ab"].iter().cycle().take(20_000).copied().collect();
    let reading = text.len() / 8 + 1;
    let (few, all) = (cost(&set, &text, 100), cost(&set, &text, usize::MAX));
    assert!(few <= reading + 200 && all > reading + 1_000, "{reading} {few} {all}");
}

#[test]
fn the_lookup_that_builds_an_engine_pays_for_it() {
    let set = PatternSet::within(&["b[abd-u]{12}c$"], 1 << 20, 0, &MemoryBudget::default());
    let (first, second) = (cost(&set, "x7 abc", usize::MAX), cost(&set, "x7 abc", usize::MAX));
    assert!(first > second + 50, "{first} {second}");
}

#[test]
fn engines_of_ascii_answer_as_those_of_all_texts() {
    let mut random = fastrand::Rng::with_seed(10);
    let (mut matches, mut others) = (0, 0);
    for _ in 0..2000 {
        let pattern = pattern(&mut random, 3);
        let Some(matcher) = matcher(&pattern) else { continue };
        let ascii = AsciiRegex::new(&pattern).unwrap();
        for text in std::iter::repeat_with(|| text(&mut random)).take(40).filter(|text| text.is_ascii()) {
            let want = matcher.is_match(&text).unwrap();
            assert_eq!(ascii.is_match(&text, &Unmetered).unwrap(), want, "{pattern} {text:?}");
            *if want { &mut matches } else { &mut others } += 1;
        }
    }
    assert!(matches > 5_000 && others > 5_000, "{matches} {others}");
}

/// The lines of a file of the shared test data, if it is there.
fn shared(file: &str, key: &str) -> Vec<String> {
    let directory = match std::env::var_os("CELERO_SHARED") {
        Some(directory) => directory.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let text = std::fs::read_to_string(directory.join("corpora").join(file)).unwrap_or_default();
    text.lines().filter_map(|line| string_of(line, key)).collect()
}

/// The string that a key has in a line of JSON, the first of that name.
fn string_of(line: &str, key: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{key}\": \""))?;
    let mut out = String::new();
    let mut rest = rest.chars();
    loop {
        match rest.next()? {
            '"' => return Some(out),
            '\\' => match rest.next()? {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'b' => out.push('\u{8}'),
                'f' => out.push('\u{c}'),
                'u' => {
                    let code: String = rest.by_ref().take(4).collect();
                    out.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                }
                other => out.push(other),
            },
            other => out.push(other),
        }
    }
}

/// Patterns of a collection, each once.
fn collection(file: &str, key: &str) -> Vec<String> {
    let mut patterns = shared(file, key);
    patterns.sort_unstable();
    patterns.dedup();
    patterns.retain(|pattern| parse(pattern).is_some());
    patterns
}

#[test]
fn most_collected_patterns_require_literals() {
    let crs = collection("crs_regexes.jsonl", "regex");
    let crawlers = collection("crawler_patterns.jsonl", "pattern");
    for (name, patterns, least) in [("CRS", crs, 0.64), ("crawlers", crawlers, 0.99)] {
        if patterns.is_empty() {
            continue;
        }
        let some = patterns.iter().filter(|pattern| required_literals(*pattern).is_some()).count();
        let share = some as f64 / patterns.len() as f64;
        assert!(share >= least, "{name}: {some} of {}", patterns.len());
    }
}

#[test]
fn groups_of_collected_patterns() {
    let all = collection("crs_regexes.jsonl", "regex");
    let patterns: Vec<&str> =
        all.iter().map(String::as_str).filter(|pattern| required_literals(pattern).is_none()).step_by(3).collect();
    let matchers: Vec<Matcher> = patterns.iter().map(|pattern| matcher(pattern).unwrap()).collect();
    let groups = PatternSet::new(&patterns, 2 << 20, &MemoryBudget::default());
    let texts = shared("http_requests.jsonl", "uri").into_iter().chain(shared("http_requests.jsonl", "body"));
    let mut counts = [0; 3];
    for text in texts.step_by(7) {
        check(&patterns, &matchers, &groups, &text, &mut counts);
    }
    let [matches, ruled_out, input] = counts;
    assert!(input * 1000 <= matches + ruled_out, "{counts:?}");
}

/// Texts of the length of bodies, with several bodies of attacks in each.
#[test]
fn collected_patterns_in_long_texts() {
    let all = collection("crs_regexes.jsonl", "regex");
    let patterns: Vec<&str> = all.iter().map(String::as_str).step_by(3).collect();
    let matchers: Vec<Matcher> = patterns.iter().map(|pattern| matcher(pattern).unwrap()).collect();
    let groups = PatternSet::new(&patterns, 1 << 20, &MemoryBudget::default());
    let mut bodies =
        shared("http_requests.jsonl", "body").into_iter().filter(|body| body.is_ascii() && !body.is_empty());
    let mut counts = [0; 3];
    for _ in 0..20 {
        let text: Vec<String> = bodies.by_ref().take(20).collect();
        check(&patterns, &matchers, &groups, &text.join(" "), &mut counts);
    }
    let [_, _, input] = counts;
    assert_eq!(input, 0, "{counts:?}");
}

/// Many patterns that take long on the same text take no more than a few of them: later ones are left open.
#[test]
fn a_lookup_is_bounded() {
    let mut random = fastrand::Rng::with_seed(3);
    let text: String = (0..20_000).map(|_| if random.bool() { 'a' } else { 'b' }).collect();
    let last = "[a0-9c-z]{50}x?(ab|b)";
    let possible = |count: usize| {
        let slow: Vec<String> =
            (0..count).map(|n| format!("[ab]*a[ab]{{{}}}c?[^b]d?[ab][a0-9c-z]{{40}}", 300 + n)).collect();
        let patterns: Vec<&str> = slow.iter().map(String::as_str).chain([last]).collect();
        let set = PatternSet::new(&patterns, 0, &MemoryBudget::default());
        let mut found = Vec::new();
        set.for_each(&text, |id, kind| found.push((id, kind)));
        assert!(found.iter().all(|(_, kind)| *kind == PatternMatch::Possible));
        (found.len(), found.iter().any(|(id, _)| *id as usize == count))
    };
    assert_eq!(possible(3), (3, false));
    assert_eq!(possible(20), (21, true));
}

/// A set of parsed patterns, and a matcher of each, find what those of the texts do.
#[test]
fn parsed_patterns_are_those_of_their_texts() {
    let mut random = fastrand::Rng::with_seed(31);
    let mut patterns: Vec<String> = (0..60).map(|_| pattern(&mut random, 3)).collect();
    patterns.extend([r"\w{1000}", r"^\w{1000}", "^[a-z]+$", "(?i)k+"].map(str::to_owned));
    let parsed = patterns.iter().filter_map(|pattern| ParsedPattern::new(pattern).ok()).collect::<Vec<_>>();
    assert!(parsed.len() > 50);
    let texts: Vec<&str> = parsed.iter().map(ParsedPattern::text).collect();
    for table_bytes in [0, 1 << 20] {
        let budget = MemoryBudget::default();
        let of_parsed = PatternSet::from_parsed(&parsed, table_bytes, &budget);
        let of_texts = PatternSet::new(&texts, table_bytes, &budget);
        for text in ["", "abc", "aab", "K", "ß", "-9_", &texts.concat()] {
            let found = |set: &PatternSet| {
                let mut found = Vec::new();
                set.for_each(text, |id, by| found.push((id, by)));
                found.sort_by_key(|(id, _)| *id);
                format!("{found:?}")
            };
            assert_eq!(found(&of_parsed), found(&of_texts), "{text}");
        }
    }
    for parsed in &parsed {
        let (one, other) = (Matcher::from_parsed(parsed), Matcher::new(parsed.text()));
        assert_eq!(one.is_ok(), other.is_ok(), "{}", parsed.text());
        if let (Ok(one), Ok(other)) = (one, other) {
            assert!(["", "abc", "K", "ß"].iter().all(|text| one.is_match(text) == other.is_match(text)));
        }
    }
    assert!(ParsedPattern::new(&"a".repeat(MAX_PATTERN_BYTES + 1)).is_err());
}
