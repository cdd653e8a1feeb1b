//! What RE2 reads, and what it refuses. Go's package `regexp` judges random patterns in the tests of the workspace.

use super::folding_steps;
use crate::pattern::SyntaxError;
use regex_automata::meta::Regex;
use regex_syntax::hir::Hir;

fn parse(pattern: &str) -> Result<Hir, SyntaxError> {
    super::parse(pattern, 100, usize::MAX).map(Option::unwrap)
}

fn regex(pattern: &str) -> Result<Regex, String> {
    let hir = parse(pattern).map_err(|error| error.to_string())?;
    Regex::builder().build_from_hir(&hir).map_err(|error| error.to_string())
}

/// A pattern, texts in which it matches, and texts in which it does not.
const READ: &[(&str, &[&str], &[&str])] = &[
    (r"^\<\?php\>$", &["<?php>"], &["?php"]),
    (r"^[a&&b]$", &["a", "&", "b"], &["c"]),
    ("^[+--]$", &["+", ",", "-"], &["a"]),
    ("^[!~~]$", &["!", "~"], &["a"]),
    ("^[[]$", &["["], &["]"]),
    ("^[[a]b]$", &["[b]", "ab]"], &["a", "b"]),
    ("^[]a]$", &["]", "a"], &["b"]),
    ("^[^]a]$", &["b"], &["]", "a"]),
    (r"^[\w-.]$", &["a", "-", "."], &["/"]),
    ("^[a-]$", &["a", "-"], &["b"]),
    ("^[a-c-e]$", &["b", "-", "e"], &["d"]),
    ("^[[:alpha:]_]$", &["a", "_"], &["é", "1"]),
    ("^[[:^alpha:]]$", &["é", "1"], &["a"]),
    ("^[[:]$", &["[", ":"], &["a"]),
    (r"^\d$", &["1"], &["٣"]),
    (r"^\w$", &["a", "_"], &["é"]),
    (r"^\s$", &[" ", "\t", "\n", "\x0C", "\r"], &["\u{A0}", "\x0B"]),
    ("^[[:space:]]$", &["\x0B"], &["a"]),
    (r"a\b", &["aé"], &["ab"]),
    (r"\B", &["", "é", "aa"], &["a", "aéa"]),
    (r"(?i)^\w$", &["ſ", "\u{212A}"], &["é"]),
    (r"(?i)^\W$", &["é"], &["ſ", "\u{212A}", "k"]),
    (r"(?i)^[^k]$", &["a"], &["k", "K", "\u{212A}"]),
    (r"(?i)^[\W]$", &["é"], &["ſ"]),
    ("(?i)^straße$", &["STRAẞE"], &["STRASSE"]),
    (r"(?i)^[^\x{0}-j]$", &["é"], &["k", "\u{212A}", "a"]),
    (r"^\p{Greek}\p{^Greek}\P{Greek}\pN$", &["αaa1", "αaa٣"], &["aaa1"]),
    (r"(?i)^\p{Lu}$", &["a", "A"], &["1"]),
    (r"(?i)^\P{Lu}$", &["1"], &["a", "A"]),
    (r"^\p{Zl}$", &["\u{2028}"], &["a"]),
    (r"^\Qa.b\E.$", &["a.bc"], &["axbc"]),
    (r"^\Qa.b", &["a.b"], &["axb"]),
    (r"^\Qab\E*$", &["a", "abb"], &["abab"]),
    (r"^\07\141\0\x41\x{1F600}\a$", &["\x07a\0A😀\x07"], &[]),
    (r"^\1234$", &["S4"], &[]),
    ("^a{$", &["a{"], &["a"]),
    ("^a{,2}$", &["a{,2}"], &["aa"]),
    ("^a{02}$", &["a{02}"], &["aa"]),
    ("^a{2$", &["a{2"], &["aa"]),
    ("^{$", &["{"], &[]),
    ("^(?:a{2}){3}$", &["aaaaaa"], &["aaaaa"]),
    ("^a(?i)*$", &["", "aa"], &["A"]),
    ("^a*(?i)*b$", &["aaB"], &["Ab"]),
    ("^a(?i)b|c$", &["aB", "xC"], &["AB"]),
    ("^(?i:a)b$", &["Ab"], &["AB"]),
    ("^(?i-s:a.)$", &["Ab"], &["a\n"]),
    ("^(?s).$", &["\n"], &["\n\n"]),
    ("^.$", &["\r"], &["\n"]),
    ("a$", &["a"], &["a\n"]),
    ("(?m)^a$", &["b\na\nb"], &["ab"]),
    (r"(?m)a\z", &["a"], &["a\n"]),
    ("(?)^a$", &["a"], &["b"]),
    ("^(?P<n>a)(?<m>b)(?P<n>c)$", &["abc"], &["ab"]),
    ("^(|a)b$", &["b", "ab"], &["aab"]),
    ("^()*$", &[""], &["a"]),
    (r"^\x{D800}?$", &[""], &["\u{FFFD}"]),
    (r"^[\x{D7FF}-\x{E000}]$", &["\u{D7FF}", "\u{E000}"], &["a"]),
    (r"^[^\x{0}-\x{10FFFF}]?$", &[""], &["a"]),
    (r"^\_\-\/\ \#$", &["_-/ #"], &[]),
    ("^\\\n$", &["\n"], &[]),
    (r"\b{start}", &["a{start}"], &["a"]),
];

#[test]
fn what_re2_reads_means_what_it_says() {
    for (pattern, matching, others) in READ {
        let regex = regex(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        for (texts, expected) in [(matching, true), (others, false)] {
            for text in *texts {
                assert_eq!(regex.is_match(text), expected, "{pattern} on {text:?}");
            }
        }
    }
}

/// A pattern that is refused, the reason, and the part that is wrong.
const REFUSED: &[(&str, &str, &str)] = &[
    ("ab**", "repeats a repetition", "*"),
    ("a++", "repeats a repetition", "+"),
    ("a{2}{3}", "repeats a repetition", "{3}"),
    ("a{1001}", "more than 1000", "{1001}"),
    ("a{99999999999}", "more than 1000", "{99999999999}"),
    ("(?:a{100}){100}", "together", "{100}"),
    ("a{2,1}", "fewer", "{2,1}"),
    ("*", "nothing to repeat", "*"),
    ("a|+", "nothing to repeat", "+"),
    ("(?i)?", "nothing to repeat", "?"),
    (r"\Q\E*", "nothing to repeat", "*"),
    ("{2}", "nothing to repeat", "{2}"),
    ("a(b", "unclosed group", "("),
    ("a)", "unopened group", ")"),
    ("[a", "unclosed character class", "[a"),
    ("[]", "unclosed character class", "[]"),
    ("[z-a]", "no range", "z-a"),
    (r"[a-\d]", "no escape", r"\d"),
    ("x[[:word]a:]]", "no class", "[:word]a:]"),
    ("[[:foo:]]", "no class", "[:foo:]"),
    (r"\u0061", "hexadecimal", r"\u"),
    (r"\Z", "end of the text", r"\Z"),
    (r"\1", "backreferences", r"\1"),
    (r"\8", "backreferences", r"\8"),
    (r"\C", "not supported", r"\C"),
    (r"\q", "no escape", r"\q"),
    (r"\é", "no escape", r"\é"),
    (r"\E", "no escape", r"\E"),
    (r"[\b]", "no escape", r"\b"),
    ("a\\", "backslash at the end", "\\"),
    (r"\x4", "two hexadecimal", r"\x4"),
    (r"\x{}", "two hexadecimal", r"\x{}"),
    (r"\x{4g}", "other characters", r"\x{4g}"),
    (r"\x{110000}", "larger", r"\x{110000}"),
    (r"\p{Emoji}", "no category", r"\p{Emoji}"),
    (r"\p{Grek}", "no category", r"\p{Grek}"),
    (r"\p", "no category", r"\p"),
    (r"\p{L", "without `}`", r"\p{"),
    ("(?x)a", "no flag", "(?x"),
    ("(?-)", "no flag", "(?-)"),
    ("(?i--s)", "no flag", "(?i--"),
    ("(?i", "unclosed group", "(?i"),
    ("(?=a)", "look-around", "(?="),
    ("(?<!a)", "look-around", "(?<!"),
    ("(?P=n)", "no flag", "(?P"),
    ("(?P<n", "without `>`", "(?P<"),
    ("(?P<>a)", "name of a group", "(?P<>"),
    ("(?<é>a)", "name of a group", "(?<é>"),
];

#[test]
fn what_re2_refuses_names_the_place() {
    for (pattern, reason, part) in REFUSED {
        let Err(error) = parse(pattern) else { panic!("{pattern} is read") };
        assert!(error.reason.contains(reason), "{pattern}: {error}");
        assert_eq!(pattern.get(error.span.clone()), Some(*part), "{pattern}: {error}");
    }
    assert!(parse(&format!("{}a{}", "(".repeat(101), ")".repeat(101))).unwrap_err().reason.contains("100 deep"));
    assert!(parse(&format!("{}a{}", "(?:".repeat(5_000), ")".repeat(5_000))).is_ok());
}

#[test]
fn letter_cases_are_counted() {
    assert_eq!(folding_steps(r"[\s\S]\pL"), 0);
    assert_eq!(folding_steps("("), 0);
    assert_eq!(folding_steps(r"(?i)[\s\S]select[^>]"), 2);
    assert_eq!(folding_steps(r"(?i)\pL"), 1000);
    assert_eq!(folding_steps(r"(?i:[\x{0}-\x{10FFFF}b])\PL"), 1000);
    assert!(super::parse(r"(?i)\pL\pL", 100, 1999).unwrap().is_none());
    assert!(super::parse(r"(?i)\pL\pL", 100, 2000).unwrap().is_some());
}
