//! Random patterns in both dialects: where one accepts and the other refuses, or where they find
//! something else, a row of the table of [`Dialect`] says so.

use crate::Matcher;
use crate::pattern::Dialect;
use regex::Regex;

/// What the patterns of a row of the table contain, as a pattern.
const ROWS: &[(&str, &str)] = &[
    ("classes of ASCII", r"\\[dwsbDWSB]"),
    ("operators and classes in classes", r"\[[^]]*(\[|&&|--|~~)"),
    ("ends of words", r"\\[<>]"),
    ("quoted text and octal escapes", r"\\[QE0-7]"),
    ("braces", r"\{"),
    ("repetitions of repetitions", r"[*+?}](\(\?[a-zA-Z-]*\))?[*+?{]"),
    ("flags", r"\(\?[imsU-]*[uxR]"),
    ("flags that are empty, or given twice", r"\(\?([:)-]|[a-zA-Z]*-|([a-zA-Z]*i){2}|([a-zA-Z]*s){2})"),
    ("properties", r"\\[pP]"),
    ("escapes by number", r"\\[uU]"),
    ("names of groups", r"\(\?P?<"),
    ("repetitions of what is no part", r"\(\?[a-zA-Z-]*\)(\|?)[*+?{]"),
];

const PIECES: &[&str] = &[
    "a",
    "b",
    "i",
    "s",
    "1",
    "2",
    ".",
    "-",
    "^",
    "$",
    "|",
    "(",
    ")",
    "(?",
    "(?:",
    "(?i",
    "(?-",
    "(?s)",
    "(?P<n>",
    "(?u",
    "(?x)",
    ":",
    "[",
    "]",
    "[^",
    "[[:alpha:]]",
    "[[:foo:]]",
    "[:",
    "&&",
    "~~",
    "*",
    "+",
    "?",
    "{",
    "}",
    "{2}",
    "{,2}",
    "\\d",
    "\\b",
    "\\<",
    "\\Q",
    "\\E",
    "\\1",
    "\\pL",
    "\\u0061",
    "\\x{61}",
    "\\.",
    "\\z",
    "\\A",
    "\\-",
    "\\é",
    "é",
    " ",
    "#",
    "&",
    "<",
    ",",
    "\n",
];

const TEXTS: &[&str] = &[
    "", "a", "b", "ab", "ba", "A", "aa", "a1", "-", "]", "[", "i", "é", " ", "a b", "\n", "a\nb", "{", "&", "(", "1",
    ":", "s",
];

#[test]
fn what_differs_is_in_the_table() {
    let rows: Vec<Regex> = ROWS.iter().map(|(_, pattern)| Regex::new(pattern).unwrap()).collect();
    let mut random = fastrand::Rng::with_seed(5);
    let found = |matcher: &Matcher| TEXTS.iter().map(|text| matcher.is_match(text).unwrap()).collect::<Vec<_>>();
    let mut met = vec![0; ROWS.len()];
    let mut wrong = Vec::new();
    let mut equal = 0;
    for _ in 0..10_000 {
        let pattern: String = (0..random.usize(1..8)).filter_map(|_| random.choice(PIECES)).copied().collect();
        let differs = match (Matcher::new(&pattern), Matcher::new(Dialect::Re2.pattern(&pattern))) {
            (Ok(regex), Ok(re2)) => found(&regex) != found(&re2),
            (Err(_), Err(_)) => false,
            _ => true,
        };
        if !differs {
            equal += 1;
            continue;
        }
        let mut has_row = false;
        for (row, count) in rows.iter().zip(&mut met) {
            if row.is_match(&pattern) {
                (has_row, *count) = (true, *count + 1);
            }
        }
        if !has_row {
            wrong.push(pattern);
        }
    }
    assert!(wrong.is_empty(), "{}: {:?}", wrong.len(), wrong.iter().take(20).collect::<Vec<_>>());
    assert!(equal > 1_000 && met.iter().all(|count| *count > 0), "{equal}, {met:?}");
}
