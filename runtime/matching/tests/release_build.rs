//! How fast literals are searched for with vector instructions in a release build.
//!
//! The function that a closure over vectors is passed to may not be inlined, which depends on the
//! code around it and on the units of code generation. Then each vector goes through memory, and a
//! short search takes three times as long. Only a release build shows it, and one with Cargo's
//! default of 16 units shows it best. The walk of a DFA over the same texts, which takes a few
//! cycles for each byte, is the unit: both take turns in one thread, so that other load slows both
//! down alike.
#![expect(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "tests")]

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use celero_matching::{FewLiterals, LiteralLevel, LiteralMap};
use celero_timing::cpu_time_of;
use fastrand::Rng;
use std::hint::black_box;
use std::io::Write;

fn word(rng: &mut Rng, shortest: usize) -> String {
    let bytes = b"abcdefghijklmnopqrstuvwxyz0123456789";
    (0..shortest + rng.usize(..12)).map(|_| char::from(bytes[rng.usize(..36)])).collect()
}

/// A text as of a header. No key is in it: those have no upper-case letter, and it has one in every five bytes.
fn text(rng: &mut Rng, length: usize) -> String {
    let mut text = String::new();
    while text.len() < length {
        let (word, capital) = (word(rng, 1), char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rng.usize(..26)]));
        text.push(capital);
        text.extend(word.chars().take(4));
        text.push([' ', '/', '.', ';'][rng.usize(..4)]);
    }
    text
}

/// Prints a line that is shown even if the test passes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Returns whether a text has one of the keys.
type Search<'s> = &'s dyn Fn(&[u8]) -> bool;

/// Most CPU time of a search, over that of the DFA: two to two and a half times what a processor
/// with the instructions needs.
struct Bound {
    /// Bytes of a text.
    length: usize,
    level: LiteralLevel,
    map: f64,
    few: f64,
}

const BOUNDS: &[Bound] = &[
    Bound { length: 40, level: LiteralLevel::Avx2, map: 1.4, few: 0.8 },
    Bound { length: 40, level: LiteralLevel::Avx512, map: 0.55, few: 0.45 },
    Bound { length: 100, level: LiteralLevel::Avx2, map: 0.55, few: 0.45 },
    Bound { length: 100, level: LiteralLevel::Avx512, map: 0.25, few: 0.25 },
    Bound { length: 2048, level: LiteralLevel::Avx2, map: 0.3, few: 0.6 },
    Bound { length: 2048, level: LiteralLevel::Avx512, map: 0.12, few: 0.17 },
];

/// Texts in each round: one search takes less time than reading the clock.
const TEXTS: usize = 200;
const ROUNDS: usize = 51;
/// How often a search is measured that seems too slow: a slow one is slow every time.
const TRIES: usize = 20;

/// The CPU time of `search` over that of `peer`: the median of rounds in which they take turns.
fn ratio(texts: &[String], search: Search<'_>, peer: Search<'_>) -> f64 {
    let time = |search: Search<'_>| {
        let count = || texts.iter().filter(|text| search(black_box(text.as_bytes()))).count();
        cpu_time_of(|| assert_eq!(black_box(count()), 0)).as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..ROUNDS).map(|_| time(search) / time(peer)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}

#[test]
fn searches_keep_vectors_in_registers() {
    if cfg!(debug_assertions) {
        say("left out: searches are measured in a release build");
        return;
    }
    if LiteralLevel::detect() < LiteralLevel::Avx2 {
        say("left out: this processor has no AVX2");
        return;
    }
    let mut slow = Vec::new();
    for count in [8, 30, 64] {
        let mut rng = Rng::with_seed(count);
        let keys: Vec<String> = (0..count).map(|_| word(&mut rng, 5)).collect();
        let dfa = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(&keys).unwrap();
        let walk = |text: &[u8]| dfa.is_match(text);
        for Bound { length, level, map, few } in BOUNDS.iter().filter(|bound| bound.level <= LiteralLevel::detect()) {
            let texts: Vec<String> = (0..TEXTS).map(|_| text(&mut rng, *length)).collect();
            let literals = LiteralMap::<false>::with_level(&keys, *level).unwrap();
            let few_literals = FewLiterals::with_level(&keys, *level).unwrap();
            let searches: [(&str, f64, Search<'_>); 2] = [
                ("LiteralMap", *map, &|text| literals.any(text)),
                ("FewLiterals", *few, &|text| few_literals.find(text) != 0),
            ];
            for (name, most, search) in searches {
                let mut ratios = Vec::new();
                while ratios.len() < TRIES && ratios.last().is_none_or(|last| *last > most) {
                    ratios.push(ratio(&texts, search, &walk));
                }
                let line = format!("{name}, {level:?}, {count} keys, {length} bytes: {ratios:.2?}, at most {most}");
                say(&line);
                slow.extend(ratios.last().is_none_or(|last| *last > most).then_some(line));
            }
        }
    }
    assert!(slow.is_empty(), "the CPU time over that of a DFA is too high each time it was measured: {slow:#?}");
}
