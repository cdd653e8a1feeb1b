//! Random patterns of everything that RE2's syntax has, and of what looks like it.

#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use super::random_patterns::Random;

const OPEN: &[&str] = &["(", "(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?-i:", "(?i-s:", "(?P<n", "(?<n"];

/// What most patterns are made of.
const USUAL: &[&str] = &[
    "a", "a", "b", "b", "k", "K", "s", "é", "1", "_", ".", "ab", r"\w", r"\W", r"\d", r"\s", r"\b", r"\B", "^", "$",
    "[^a]", "[a-z]", r"\pL", "(|a)", "(a|é)", "(?i)",
];

/// Everything else.
#[rustfmt::skip]
const UNUSUAL: &[&str] = &[
    "S", "ſ", "\u{212A}", "ß", "ẞ", "α", "Σ", " ", "-", "\n", r"\D", r"\S", r"\A", r"\z", r"\Z", r"\C", r"\Q", r"\E", r"\Qa.b\E", r"\Q*",
    r"\PL", r"\p{Lu}", r"\p{^Lu}", r"\P{^Greek}", r"\p{Greek}", r"\p{greek}", r"\p{Letter}", r"\p{Emoji}", r"\p{Zl}", r"\p{Grek}", r"\pN", r"\p{L",
    r"\p{Any}", r"\p{ASCII}", r"\p{Cs}", r"\p{IsGreek}", r"\p{L&}", r"\p", r"\0", r"\1", r"\12", r"\141", r"\1234", r"\8", r"\x61", r"\x{61}",
    r"\x{110000}", r"\x6", r"\x{}", r"\x{6g}", r"\u0061", r"\U00000061", r"\_", r"\<", r"\>", r"\-", r"\.", r"\&", r"\~", r"\#", r"\ ", r"\a",
    r"\f", r"\t", r"\n", r"\r", r"\v", r"\e", r"\h", r"\R", r"\X", r"\é", r"\G", "\\", r"\b{start}", r"\<a\>", "{", "}", "{1", "{,2}", "a{02}", "a{,}",
    "(?s)", "(?m)", "(?U)", "(?-i)", "(?x)", "(?u)", "(?R)", "(?)", "(?-)", "(?i-s)", "(?i--s)", "(?", "(?P<n>", "(?<n>", "(?<é>", "(?<>",
    "(?P=n)", "(?P>n)", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?'n'", "(?#a)", "(?|", "(", ")", "|", "[", "]", "[^", "&&", "--", "~~",
    "[[:alpha:]]", "[:alpha:]", "[[:^alpha:]]", "[[:word:]]", "[[:foo:]]", "[[:", "[[:space:]]", "[[:Alpha:]]", r"[\s\S]", r"[^\w]", r"[\W\d]", "[a-",
    "[z-a]", "[a&&b]", "[+--]", "[!~~]", "[[]", "[[a]b]", "[]a]", "[^]a]", r"[\w-.]", r"[a-\d]", r"[^\pL]", r"[\]a]", r"[\x{0}-k]", r"[^\x{0}-k]",
    r"[k-\x{10ffff}]", r"[\x{D7FF}-\x{E000}]", "[a-c-e]", r"[\Qa]", r"[\b]", "[.]", "[$^]", r"[^\x00-\x{10FFFF}]", "()", "(?:)", "(?s:.)", "(?:a||b)",
];

const REPETITIONS: &[&str] =
    &["*", "+", "?", "*?", "+?", "??", "{0}", "{1}", "{2}", "{0,2}", "{1,}", "{2,3}?", "{0,}?", "{3}"];
const UNUSUAL_REPETITIONS: &[&str] = &[
    "{1000}",
    "{1001}",
    "{2,1}",
    "{,3}",
    "**",
    "+*",
    "*+",
    "??*",
    "{2}{3}",
    "{99999999999}",
    "{10}",
    "{01}",
    "{0,0}",
    "{100}",
    "{1,2",
    "{1,b}",
];

const MEMBERS: &[&str] = &[
    "a",
    "b",
    "k",
    "K",
    "s",
    "é",
    "-",
    "^",
    "&",
    "~",
    "[",
    "]",
    "a-k",
    "k-z",
    r"\d",
    r"\W",
    r"\pL",
    r"\P{Lu}",
    "[:alpha:]",
    "[:^digit:]",
    "[:",
    r"\x41",
    r"\101",
    r"\]",
    r"\-",
    r"\n",
    ".",
    r"\Q",
    "&&",
    "--",
    "A-é",
    "é-ß",
    "z-a",
    "\u{212A}",
    "ſ",
];

#[rustfmt::skip]
const LETTERS: &[&str] = &[
    "a", "a", "b", "b", "A", "B", "\n", "é", "k", "K", "s", "S", "ſ", "\u{212A}", "ß", "ẞ", "α", "Σ", "ς", "_", " ", ".", "1", "-", "[", "]", "{", "}",
    "<", ">", "&", "~", "\\", "(", ")", ",", ":", "\r\n", "\t", "\u{B}", "٣", "a.b", "{2}", "\u{2028}", "{start}",
];

/// Returns a pattern, which is often wrong.
pub(super) fn pattern(random: &mut Random) -> String {
    let start = random.pick(&["", "", "", "^", "(?i)", "(?i)^", "(?s)"]);
    let end = random.pick(&["", "", "$"]);
    let mut names = 0;
    format!("{start}{}{end}", sequence(random, 2, &mut names))
}

pub(super) fn text(random: &mut Random) -> String {
    let length = random.pick(&["", "-", "--", "---", "----", "-----", "------"]).len();
    (0..length).map(|_| random.pick(LETTERS)).collect()
}

fn class(random: &mut Random) -> String {
    let mut class = random.pick(&["[", "[", "[^"]).to_owned();
    for _ in 0..random.pick(&["-", "--", "---", "----"]).len() {
        class.push_str(random.pick(MEMBERS));
    }
    if !random.chance(20) {
        class.push(']');
    }
    class
}

/// Parts of a pattern one after the other. `names` counts the groups with names.
fn sequence(random: &mut Random, depth: usize, names: &mut usize) -> String {
    let mut pattern = String::new();
    for _ in 0..random.pick(&["-", "--", "---", "----"]).len() {
        if depth > 0 && random.chance(4) {
            pattern.push_str(random.pick(OPEN));
            if pattern.ends_with("<n") {
                pattern.push_str(&format!("{names}>"));
                *names += 1;
            }
            pattern.push_str(&sequence(random, depth - 1, names));
            if random.chance(3) {
                pattern.push('|');
                pattern.push_str(&sequence(random, depth - 1, names));
            }
            if !random.chance(40) {
                pattern.push(')');
            }
        } else if random.chance(5) {
            pattern.push_str(&class(random));
        } else if random.chance(6) {
            pattern.push_str(random.pick(UNUSUAL));
        } else {
            pattern.push_str(random.pick(USUAL));
        }
        if random.chance(4) {
            let repetition = if random.chance(12) { UNUSUAL_REPETITIONS } else { REPETITIONS };
            pattern.push_str(random.pick(repetition));
        }
    }
    pattern
}
