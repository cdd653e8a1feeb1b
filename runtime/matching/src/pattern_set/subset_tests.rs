//! Compares the states that are built from programs with what engines return.

use super::explore::Explored;
use super::merge::program;
use super::tests::{ASSERTIONS, matcher, pattern, text};
use crate::pattern::{is_left_out, parse, reduce};
use regex_automata::meta::{Config, Regex};

/// The automaton of a pattern, with at most so many states; `None` if it has none.
fn explored(pattern: &str, most: usize) -> Option<Explored> {
    Explored::new(&program(&reduce(&parse(pattern)?)?.hir)?, most, &mut u64::MAX.clone())
}

/// Whether the automaton of a pattern matches. `None` if the text leaves the explored states before it does.
fn matches(explored: &Explored, text: &[u8]) -> Option<bool> {
    let (mut state, mut found) = (0, false);
    for &byte in text.iter().filter(|byte| !is_left_out(**byte)) {
        state = explored.row(state).unwrap()[usize::from(explored.columns[usize::from(byte)])];
        found |= explored.states[usize::from(state)].entered != 0;
    }
    let end = explored.states[usize::from(state)];
    found |= end.ended != 0;
    (found || end.unknown == 0).then_some(found)
}

#[test]
fn states_decide_as_the_engine_does() {
    let mut random = fastrand::Rng::with_seed(29);
    let (mut decided, mut left) = ([0; 2], 0);
    for round in 0..6000 {
        let pattern = pattern(&mut random, 3);
        let (Some(matcher), Some(explored)) = (matcher(&pattern), explored(&pattern, 1024)) else { continue };
        for _ in 0..10 {
            let text: String = (0..round % 3).map(|_| text(&mut random)).filter(|text| text.is_ascii()).collect();
            match matches(&explored, text.as_bytes()) {
                Some(found) => {
                    assert_eq!(Ok(found), matcher.is_match(&text), "{pattern} {text:?}");
                    decided[usize::from(found)] += 1;
                }
                None => left += 1,
            }
        }
    }
    assert!(decided.iter().all(|decided| *decided > 4_000) && left * 100 < decided[0], "{decided:?} {left}");
}

/// All texts of up to five characters between which assertions differ.
#[test]
fn assertions_hold_where_the_engine_says() {
    let mut texts = vec![String::new()];
    for at in 0..781 {
        let longer: Vec<String> = "a_\r\n ".chars().map(|last| format!("{}{last}", texts[at])).collect();
        texts.extend(longer);
    }
    for assertion in ASSERTIONS {
        for pattern in [
            format!("{assertion}[^a]"),
            format!("[^a]{assertion}[^_]"),
            format!(".{assertion}"),
            format!("(?:a|{assertion}\\n|$)_"),
        ] {
            let (matcher, explored) = (matcher(&pattern).unwrap(), explored(&pattern, 1024).unwrap());
            for text in &texts {
                assert_eq!(matches(&explored, text.as_bytes()), matcher.is_match(text).ok(), "{pattern} {text:?}");
            }
        }
    }
}

/// A match is told at its last byte, so that nothing after it needs states of its own.
#[test]
fn few_states_are_needed() {
    let states = |pattern| explored(pattern, 1024).map(|explored| explored.states.len());
    assert_eq!(states("abc"), Some(4));
    assert_eq!(states("[0-9]{3}"), Some(4));
    assert_eq!(states("a.*b"), Some(3));
    assert_eq!(states(""), Some(1));
    // Whether a word ends is told at the byte after it.
    assert_eq!(states(r"(?-u:\bab\b)"), Some(5));
    assert_eq!(states("^ab$"), Some(4));
}

#[test]
fn bytes_that_no_state_distinguishes_share_a_column() {
    let width = |pattern| explored(pattern, 1024).map(|explored| explored.width);
    assert_eq!(width("(?i)ab"), Some(3));
    assert_eq!(width("x[a-c0-9]+"), Some(3));
    assert_eq!(width("[a-c][b-d]"), Some(4));
    assert_eq!(width("é|[b-d]"), Some(2));
    // Words, line ends and all others.
    assert_eq!(width(r"(?-u:\b)"), Some(4));
    assert_eq!(width("^a"), Some(5));
}

/// Texts with characters of one to four bytes, and bytes that are no text: the states decide as an
/// engine does that reads the first byte of each character only, and rule out no text in which the
/// pattern itself matches.
#[test]
fn states_decide_texts_that_are_not_ascii() {
    const CHARACTERS: [char; 9] = ['a', 'k', '1', '\n', 'é', 'Σ', '\u{212A}', '語', '😀'];
    const BYTES: [u8; 8] = [b'a', 0x80, 0xBF, 0xC1, 0xC3, 0xE2, 0xF0, 0xFF];
    const PIECES: [&str; 22] = [
        "a",
        "é",
        "語",
        "😀",
        r"\w",
        r"(?-u:\w)",
        r"\W",
        r"\d",
        r"\s",
        r"(?-u:\s)",
        r"\pL",
        r"[[:alpha:]]",
        "[^a]",
        "[à-ö]",
        "[é-語]",
        "(?i)k",
        "(?i:σ)",
        ".",
        "(?s:.)",
        r"\b",
        r"(?-u:\b)",
        "$",
    ];
    let mut random = fastrand::Rng::with_seed(41);
    let (mut found, mut missed, mut invalid) = (0, 0, 0);
    for _ in 0..3000 {
        let piece = |random: &mut fastrand::Rng| {
            let times = random.choice(["", "", "", "+", "{2}", "?"]).unwrap();
            format!("(?:{}){times}", random.choice(PIECES).unwrap())
        };
        let pattern: String = (0..random.usize(1..4)).map(|_| piece(&mut random)).collect();
        let reduced = reduce(&parse(&pattern).unwrap()).unwrap();
        let (matcher, explored) = (matcher(&pattern).unwrap(), explored(&pattern, 1024).unwrap());
        let engine = Regex::builder().configure(Config::new().utf8_empty(false)).build_from_hir(&reduced.hir).unwrap();
        let decide = |text: &[u8]| {
            let read: Vec<u8> = text.iter().copied().filter(|byte| !is_left_out(*byte)).collect();
            let decided = matches(&explored, text);
            assert!(decided.is_none_or(|decided| decided == engine.is_match(&read)), "{pattern} {text:?}");
            decided
        };
        for _ in 0..10 {
            let text: String = (0..random.usize(0..8)).map(|_| *random.choice(&CHARACTERS).unwrap()).collect();
            let decided = decide(text.as_bytes());
            if matcher.is_match(&text).unwrap() {
                assert!(reduced.ascii_only || decided != Some(false), "{pattern} {text:?}");
                found += usize::from(decided == Some(true) && !text.is_ascii());
            } else {
                missed += usize::from(decided == Some(false) && !text.is_ascii());
            }
            let bytes: Vec<u8> = (0..random.usize(0..8)).map(|_| *random.choice(&BYTES).unwrap()).collect();
            invalid += usize::from(std::str::from_utf8(&bytes).is_err() && decide(&bytes).is_some());
        }
    }
    assert!(found > 4_000 && missed > 2_000 && invalid > 10_000, "{found} {missed} {invalid}");
}
