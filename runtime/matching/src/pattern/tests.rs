//! Patterns that are decided without searching: the answers are those of `Regex`, for patterns made of everything that
//! patterns are made of.

use crate::MemoryBudget;
use crate::pattern::analysis::{TextTest, analyze};
use crate::pattern::cache::{PatternCache, Strategy};
use crate::pattern::random_patterns::Random;
use crate::pattern::search::matcher::{Engine, Matcher};
use regex::{Regex, RegexBuilder};

fn holds(tests: &[TextTest], text: &str) -> bool {
    tests.iter().any(|test| match test {
        TextTest::Is(whole) => text == &**whole,
        TextTest::StartsWith(start) => text.starts_with(&**start),
        TextTest::EndsWith(end) => text.ends_with(&**end),
        TextTest::Contains(part) => text.contains(&**part),
    })
}

/// Asserts that all ways to decide a pattern agree on a text.
fn agree(pattern: &str, regex: &Regex, matcher: &Matcher, plain: Option<&[TextTest]>, text: &str) {
    let want = regex.is_match(text);
    assert_eq!(matcher.is_match(text), Ok(want), "{pattern:?} on {text:?}, {matcher:?}");
    if let Some(tests) = plain {
        assert_eq!(holds(tests, text), want, "{pattern:?} on {text:?}, {tests:?}");
    }
}

#[test]
fn generated_patterns_are_decided_as_the_engine_does() {
    let mut random = Random(7);
    let (mut forward, mut backward, mut plain) = (0, 0, 0);
    let cases = std::env::var("CELERO_PATTERN_CASES").map_or(1500, |cases| cases.parse().unwrap());
    for _ in 0..cases {
        let pattern = random.pattern(2);
        let Ok(regex) = Regex::new(&pattern) else {
            assert!(analyze(&pattern).is_none(), "{pattern:?}");
            continue;
        };
        let matcher = match Matcher::new(&pattern) {
            Err(crate::pattern::PatternError::TooManyCases) => continue,
            matcher => matcher.unwrap(),
        };
        let lazy = Matcher::lazy(&pattern, &MemoryBudget::default());
        forward += usize::from(matches!(&matcher.0, Engine::Anchored(dfa) if !dfa.backward));
        backward += usize::from(matches!(&matcher.0, Engine::Anchored(dfa) if dfa.backward));
        let tests = plain_tests(&pattern);
        within_bound(&pattern);
        plain += usize::from(tests.is_some());
        for text in ["", "a", "ab", "aab", "b\n", "é"] {
            agree(&pattern, &regex, &matcher, tests.as_deref(), text);
        }
        for _ in 0..40 {
            let text = random.text();
            agree(&pattern, &regex, &matcher, tests.as_deref(), &text);
            agree(&pattern, &regex, &lazy, tests.as_deref(), &text);
        }
    }
    // Enough of each for this to say something.
    assert!(forward > cases / 10 && backward > cases / 30 && plain > cases / 10, "{forward} {backward} {plain}");
}

const PATHS: &[&str] = &[
    "",
    "/",
    "/user/1234/view",
    "/user//view",
    "/user/1/2/view",
    "/user/é/view",
    "/user/1/view\n",
    "/user/1/views",
    "/USER/1/VIEW",
    "/us",
    "/a.php",
    "/a.PHP",
    "/aphp",
    "/a.phpx",
    "/api/v1/users/12",
    "/api/v1/users/",
    "GET",
    "get",
    "GETS",
    "\u{fffd}",
    "a.b",
    "axb",
    "foo",
    "xfoo",
    "foox",
    "foo\n",
    "\nfoo",
];

#[test]
fn each_pattern_has_its_engine() {
    let engine = |pattern: &str| match Matcher::new(pattern).unwrap().0 {
        Engine::Anchored(dfa) if dfa.backward => "backward",
        Engine::Anchored(_) => "forward",
        Engine::Search(_) => "search",
        Engine::Ascii(..) => "ascii",
        Engine::Lazy(..) => "lazy",
    };
    let cases = [
        ("^/user/([^/]+)/view$", "forward"),
        (r"\A/api/v[0-9]+/users/[0-9]+\z", "forward"),
        ("(?i)^/(user|admin)/", "forward"),
        ("^a|^/b+", "forward"),
        (r"\.(?i:php|asp)$", "backward"),
        ("[0-9]+$", "backward"),
        ("us[e]r.*view", "search"),
        ("(?m)^foo$", "search"),
        (r"^/user\b", "search"),
        (r"^\w{40}$", "search"),
        ("^(a|b)*[ab]{12}c$", "forward"),
        ("^(a|b)*a(a|b){16}$", "backward"),
        ("^(a|b)*a(a|b){16}", "search"),
    ];
    for (pattern, want) in cases {
        assert_eq!(engine(pattern), want, "{pattern}");
        let regex = Regex::new(pattern).unwrap();
        let matcher = Matcher::new(pattern).unwrap();
        for text in PATHS {
            agree(pattern, &regex, &matcher, None, text);
        }
    }
}

#[test]
fn plain_text_is_found() {
    use TextTest::{Contains, EndsWith, Is, StartsWith};
    let cases: &[(&str, &[TextTest])] = &[
        ("foo", &[Contains("foo".into())]),
        ("", &[Contains("".into())]),
        (r"a\.b", &[Contains("a.b".into())]),
        (".*foo.*", &[Contains("foo".into())]),
        ("(f)o(o)", &[Contains("foo".into())]),
        ("^foo", &[StartsWith("foo".into())]),
        ("^foo.*", &[StartsWith("foo".into())]),
        ("^(/user|/api)", &[StartsWith("/user".into()), StartsWith("/api".into())]),
        ("foo$", &[EndsWith("foo".into())]),
        (".*foo$", &[EndsWith("foo".into())]),
        (r"\.(php|asp)$", &[EndsWith(".php".into()), EndsWith(".asp".into())]),
        ("^foo$", &[Is("foo".into())]),
        (r"\Afoo\z", &[Is("foo".into())]),
        ("^$", &[Is("".into())]),
        ("^(GET|PUT|POST)$", &[Is("GET".into()), Is("PUT".into()), Is("POST".into())]),
    ];
    for (pattern, want) in cases {
        let tests = plain_tests(pattern).unwrap_or_else(|| panic!("{pattern} is plain"));
        assert_eq!(tests, *want, "{pattern}");
        let regex = Regex::new(pattern).unwrap();
        let matcher = Matcher::new(pattern).unwrap();
        for text in PATHS {
            agree(pattern, &regex, &matcher, Some(&tests), text);
        }
    }
    // Not at an end of the text, not finite, too many, nothing, and what is no pattern.
    for pattern in ["(?m)^foo", "(?m)foo$", "^fo+$", "^foo.*$", "a.b", "foo|bar", r"\bfoo", "a^b", "[^\\s\\S]", "("] {
        assert!(plain_tests(pattern).is_none(), "{pattern}");
    }
    // As large a class, and as many repetitions, as a part of one may have, and more.
    assert_eq!(plain_tests("^[a-j]$").map(|tests| tests.len()), Some(10));
    assert_eq!(plain_tests("^(?:a{10}|b?)$"), Some(vec![Is("a".repeat(10).into()), Is("b".into()), Is("".into())]));
    for pattern in ["^[a-k]$", "^a{11}$", "^a{2,3}$", "^(?:ab?)*$"] {
        assert!(plain_tests(pattern).is_none(), "{pattern}");
    }
}

/// The literal at the anchor is no part of the automaton, and counts.
#[test]
fn a_long_literal_at_the_anchor_counts() {
    let pattern = format!("^{}[0-9]", "x".repeat(8_000));
    let matcher = PatternCache::default().matcher(&pattern).unwrap();
    assert!(matches!(&matcher.0, Engine::Anchored(_)) && matcher.heap_bytes(0) > 8_000, "{}", matcher.heap_bytes(0));
    assert!(!matches!(PatternCache::with_budget(8_000).matcher(&pattern).unwrap().0, Engine::Anchored(_)));
}

/// Classes of all characters but some of ASCII are not checked to be UTF-8, and the literal at the
/// anchor is compared apart.
#[test]
fn anchored_patterns_agree_on_characters_of_several_bytes() {
    let parts =
        ["[^/]", "[^/]+", ".", ".*", "(?s:.)", "[^a]?é", r"[^\x00-\x7F]", "[^a-zé]{2}", "é", r"\w+", "(?:[^/]|é)*"];
    let ends = [
        "",
        "/",
        "é",
        r"\B",
        r"\b",
        r"(?-u:\B)",
        r"(?-u:\b)",
        r"(?-u:\b{start-half})",
        r"(?-u:\b{end-half})",
        "(?m:^)",
        "(?m:$)",
        "(?Rm:^)",
        "(?Rm:$)",
        "^",
        "$",
    ];
    let texts = [
        "",
        "/",
        "a",
        "é",
        "éé",
        "aé",
        "éa",
        "a/é",
        "/é",
        "é/",
        "日本",
        "日本é",
        "a日",
        "\u{10FFFF}",
        "\u{80}a",
        "é\né",
        "\né",
        "\r\né",
    ];
    let patterns = parts.iter().flat_map(|part| ends.iter().map(move |end| [*part, *end]));
    let mut anchored = 0;
    for [part, end] in patterns {
        for pattern in
            [format!("^{part}{end}"), format!("^a{end}{part}$"), format!("{end}{part}/$"), format!("^é{part}{end}日")]
        {
            let regex = Regex::new(&pattern).unwrap();
            let (matcher, cached) =
                (Matcher::new(&pattern).unwrap(), PatternCache::default().matcher(&pattern).unwrap());
            anchored += usize::from(matches!(&matcher.0, Engine::Anchored(_)));
            for text in texts.iter().flat_map(|a| texts.iter().map(move |b| format!("{a}{b}"))) {
                agree(&pattern, &regex, &matcher, None, &text);
                agree(&pattern, &regex, &cached, None, &text);
            }
        }
    }
    assert!(anchored > parts.len() * ends.len(), "{anchored}");
}

#[test]
fn a_cached_matcher_is_refused_as_the_pattern_is() {
    let long = format!("(?x)^a{}b", " ".repeat(20_000));
    for pattern in ["(", "^a(?:x{1000}){1000}", &long, r"^\w{1000}"] {
        let refused = PatternCache::default().matcher(pattern).err();
        assert!(refused.is_some(), "{pattern:?}");
        assert_eq!(refused, Matcher::new(pattern).err(), "{pattern:?}");
    }
}

#[test]
fn a_pattern_is_decided_without_compiling_it_or_refused() {
    let patterns = PatternCache::default();
    assert_eq!(patterns.plan(r"foo(?:\w{1000})*").strategy, None);
    assert_eq!(patterns.plan("foo.*").strategy, Some(Strategy::AnyOf(vec![TextTest::Contains("foo".into())])));
    assert_eq!(patterns.plan("fo+b").strategy, Some(Strategy::Search));
}

#[test]
fn what_is_kept_of_a_pattern_is_of_that_pattern() {
    let patterns = PatternCache::default();
    let of = |n: usize| match n % 4 {
        0 => format!("^/{n}"),
        1 => format!("{n}+x"),
        2 => format!("({n}"),
        _ => format!("{n}.*"),
    };
    // More than are kept, each asked for by two stages and again later.
    for pattern in (0..400).chain(0..400).map(of) {
        let fresh = || PatternCache::default();
        assert_eq!(patterns.check(&pattern), fresh().check(&pattern), "{pattern}");
        assert_eq!(patterns.plan(&pattern), fresh().plan(&pattern), "{pattern}");
    }
}

#[test]
fn programs_are_within_their_bound() {
    let classes =
        [r"\w", r"\W", r"\d", r"\s", r"\S", r"\pL", r"\PL", r"\p{Greek}", r"\p{Lu}", r"\p{Cn}", ".", "(?s:.)", "[^a]"];
    for class in classes {
        for around in
            ["{}", "{}+", "a{}*b", "{}{7}", "({}|x{})?", "(?i:k{}s)", "^{}{2,5}$", r"\b{}", "(?:{}){0}", "(?:{}*)*"]
        {
            within_bound(&around.replace("{}", class));
        }
    }
    for literal in ["(?i)straße", "(?i)k", "[k-s]{3}", "", "^$", "(|a)(|b)", "(?:a{10}){10}", "x*y*z*", "(?P<name>a)"]
    {
        within_bound(literal);
    }
}

fn within_bound(pattern: &str) {
    let size = analyze(pattern).unwrap_or_else(|| panic!("{pattern} is valid")).program_bytes;
    assert!(RegexBuilder::new(pattern).size_limit(size).build().is_ok(), "{pattern} takes more than {size}");
}

fn plain_tests(pattern: &str) -> Option<Vec<TextTest>> {
    analyze(pattern).map(|analysis| analysis.tests).filter(|tests| !tests.is_empty())
}
