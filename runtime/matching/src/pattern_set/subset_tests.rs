//! Compares the states that are built from programs with what engines return.

use super::explore::Explored;
use super::merge::program;
use super::tests::{ASSERTIONS, matcher, pattern, text};
use crate::pattern::{is_left_out, parse, reduce};

/// The automaton of a pattern, with at most so many states; `None` if it has none.
fn explored(pattern: &str, most: usize) -> Option<Explored> {
    Explored::new(&program(&reduce(&parse(pattern)?)?.hir)?, most, &mut u64::MAX.clone())
}

/// Whether the automaton of a pattern matches. `None` if the text leaves the explored states before it does.
fn matches(explored: &Explored, text: &str) -> Option<bool> {
    let (mut state, mut found) = (0, false);
    for byte in text.bytes().filter(|byte| !is_left_out(*byte)) {
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
            match matches(&explored, &text) {
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
                assert_eq!(matches(&explored, text), matcher.is_match(text).ok(), "{pattern} {text:?}");
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
