//! Patterns on bytes as patterns on text, held against each other on bytes that are UTF-8 or not.

#![expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests")]

use celero_matching::Matcher;
use celero_matching::pattern::{ByteRegex, Dialect, OnText, Unmetered, on_text};
use fastrand::Rng;

const PATTERNS: usize = 2_500;
const TEXTS: usize = 40;

/// Letters of which texts are made: with other cases in Unicode, with several bytes, and bytes that are no text.
const LETTERS: &[&[u8]] = &[
    b"a",
    b"b",
    b"k",
    b"K",
    b"s",
    b"S",
    b"1",
    b"-",
    b" ",
    b"\n",
    b"\x0b",
    "\u{e9}".as_bytes(),
    "\u{212a}".as_bytes(),
    "\u{17f}".as_bytes(),
    "\u{20ac}".as_bytes(),
    "\u{1f600}".as_bytes(),
    b"\xff",
    b"\xc3",
    b"\xa9",
    b"\xe2\x82",
];

const PARTS: &[&str] = &[
    "a", "b", "k", "s", "1", "-", ".", "[a-k]", "[^a]", "[^\\n]", r"\d", r"\w", r"\s", r"\W", "(?i:k)", "(?i:as)",
    "(?s:.)", "\u{e9}", "\u{20ac}", r"\b", "^", "$", "(?m:^)", "(?m:$)", "(a|b)", "(?:a|.b)", "",
];
const REPETITIONS: &[&str] = &["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{0,2}", "{1,}"];

fn pick<T: Copy>(random: &mut Rng, of: &[T]) -> T {
    of[random.usize(..of.len())]
}

fn pattern(random: &mut Rng) -> String {
    let parts = 1 + random.usize(..4);
    let mut pattern = String::new();
    for _ in 0..parts {
        pattern.push_str(pick(random, PARTS));
        if !pattern.is_empty() && !pattern.ends_with(['^', '$', 'b', '*', '+', '?', '}']) {
            pattern.push_str(pick(random, REPETITIONS));
        }
    }
    if random.u8(..5) == 0 { format!("({pattern}){}", pick(random, REPETITIONS)) } else { pattern }
}

#[test]
fn exact_patterns_are_found_in_the_same_texts() {
    let mut random = Rng::with_seed(0x0e);
    let (mut exact, mut rewritten, mut near, mut differ, mut found) = (0, 0, 0, 0, 0);
    for _ in 0..PATTERNS {
        let pattern = pattern(&mut random);
        let Ok(of_bytes) = ByteRegex::new(&pattern) else { continue };
        let (text, is_exact) = match on_text(&pattern) {
            OnText::Exact(text) => (text, true),
            OnText::Near(text) => (text, false),
            OnText::Other => continue,
        };
        let of_text = Matcher::new(Dialect::Re2.pattern(&text)).unwrap();
        for _ in 0..TEXTS {
            let letters = random.usize(..6);
            let bytes: Vec<u8> = (0..letters).flat_map(|_| pick(&mut random, LETTERS).iter().copied()).collect();
            let lossy = String::from_utf8_lossy(&bytes);
            let (right, given) = (of_bytes.is_match(&bytes, &Unmetered).unwrap(), of_text.is_match(&lossy).unwrap());
            assert!(!is_exact || right == given, "{pattern}\n{text}\n{bytes:?}: {right} in bytes, {given} in text");
            assert!(
                !bytes.is_ascii() || right == given,
                "{pattern}\n{text}\n{bytes:?}: {right} in bytes, {given} in text"
            );
            differ += usize::from(right != given);
            found += usize::from(right);
        }
        exact += usize::from(is_exact);
        rewritten += usize::from(is_exact && text != pattern);
        near += usize::from(!is_exact);
    }
    // Without texts that tell the near ones apart, the exact ones would not be judged either.
    assert!(exact > PATTERNS / 5 && rewritten > 100 && near > 300, "{exact} exact, {rewritten} rewritten, {near} near");
    assert!(differ > 150 && found > 5_000, "{differ} differ, {found} found");
}
