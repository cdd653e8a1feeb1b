//! Searches for keys and texts that make a lookup slow. Counts work, not time.
#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use super::filter::FIRST_PART;
use super::first_stage::BLOCK;
use super::rarity::ANCHOR_REGION;
use super::steps::{End, MIN_STEPS, Steps};
use super::{LiteralLevel, LiteralMap};
use crate::testing::{Rng, distinct};
use std::ops::ControlFlow;

const TEXT: usize = 2_048;
/// Most bytes that a pass reads before it verifies what it finds in them.
const READ_AT_ONCE: usize = 448;
/// Work that may be done whatever the length of a text: the steps at its start, and what is read
/// again where the automata begin, by both of them.
const FIXED: usize = MIN_STEPS + 4 * (ANCHOR_REGION + BLOCK);

/// The work of a lookup: one for each byte that the passes read, one for each step of verification
/// and of the automata. Of a search for all keys, or of one that may end at any, whichever works
/// more.
fn work<const IGNORE_CASE: bool>(map: &LiteralMap<IGNORE_CASE>, text: &[u8]) -> usize {
    let works = [false, true].map(|may_end| {
        let mut steps = Steps::new();
        let on = |_: u32, _: Option<usize>| ControlFlow::Continue(());
        let scan = if may_end { LiteralMap::scan_within::<true> } else { LiteralMap::scan_within::<false> };
        let (read, linear) = match scan(map, text, &mut steps, on) {
            Ok(()) => (text.len(), 0),
            Err(End::OutOfSteps(at)) => {
                // A pass reads ahead of what is verified.
                let ahead = if at < FIRST_PART { FIRST_PART } else { READ_AT_ONCE };
                let read = (at + ahead).max(steps.limit - MIN_STEPS).min(text.len());
                (read, map.search_linear(text, at, |id| on(id, None)).1)
            }
            Err(End::Stopped) => panic!("the visitor does not stop"),
        };
        read + steps.taken + linear
    });
    works[0].max(works[1])
}

/// The most work of a text that a search finds: it starts with pieces of keys, or a key and then a
/// part of one again and again, and keeps changes that cause more work.
fn most_work<const IGNORE_CASE: bool>(map: &LiteralMap<IGNORE_CASE>, keys: &[Vec<u8>], rng: &mut Rng) -> usize {
    let mut most = 0;
    for start in 0..6 {
        let key = &keys[rng.below(keys.len())];
        let mut text = if start < 3 { Vec::new() } else { keys[rng.below(keys.len())].clone() };
        while text.len() < TEXT {
            let key = if start < 3 { &keys[rng.below(keys.len())] } else { key };
            if start == 3 {
                text.extend_from_slice(&key[..key.len().min(2)]);
            } else {
                text.extend_from_slice(&key[rng.below(key.len())..]);
            }
        }
        text.truncate(TEXT);
        let mut best = work(map, &text);
        for _ in 0..60 {
            let mut changed = text.clone();
            let (key, at) = (&keys[rng.below(keys.len())], rng.below(TEXT));
            let length = (1 + rng.below(key.len())).min(TEXT - at);
            match rng.below(3) {
                0 => changed[at..at + length].copy_from_slice(&key[..length]),
                1 => changed[at..at + length].copy_from_slice(&key[key.len() - length..]),
                _ => changed[at] = key[0],
            }
            let more = work(map, &changed);
            if more >= best {
                (text, best) = (changed, more);
            }
        }
        most = most.max(best);
    }
    most
}

/// Words of letters, as in usual sets.
fn words(rng: &mut Rng, count: usize) -> Vec<Vec<u8>> {
    distinct((0..count).map(|_| [rng.text(9, b"abcdefghijklmnopqrstuvwxyz-"), b"bot/".to_vec()].concat()))
}

#[test]
fn no_keys_and_text_cost_much_more_than_usual_ones() {
    const SEED: u64 = 11;
    let mut rng = Rng::new(SEED);
    let letters = b"abcdefghijklmnopqrstuvwxyz";
    let usual_text: Vec<u8> =
        b"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0 ".repeat(13);
    let sets: Vec<(&str, Vec<Vec<u8>>)> = vec![
        ("nested", (2..300).map(|length| vec![b'a'; length]).collect()),
        ("nested, few", (9..40).map(|length| vec![b'a'; length]).collect()),
        ("different at their ends", (0..2_000).map(|n| format!("{}{n:04}", "ab".repeat(20)).into_bytes()).collect()),
        ("different at their starts", (0..500).map(|n| format!("{n:04}{}", "ab".repeat(20)).into_bytes()).collect()),
        ("one long run", vec![[vec![b'a'; 700], b"b".to_vec()].concat(), [b"b".to_vec(), vec![b'a'; 700]].concat()]),
        (
            "in an equal frame",
            (0..900).map(|n| format!("aaaaaaaa{}aaaaaaaa", "b".repeat(n % 30 + 1)).into_bytes()).collect(),
        ),
        ("all of two letters", (0..676).map(|n| vec![letters[n / 26], letters[n % 26]]).collect()),
        (
            "all of three letters",
            (0..17_576).map(|n| vec![letters[n / 676], letters[n / 26 % 26], letters[n % 26]]).collect(),
        ),
        ("full tables", (0..1_500).map(|_| (0..4).map(|_| rng.below(256) as u8).collect()).collect()),
        ("two bytes everywhere", distinct((0..1_400).map(|_| [&b"ababab"[..], &rng.text(6, b"ab")].concat()))),
        ("thousands, two bytes", distinct((0..4_000).map(|_| [&b"abababb"[..], &rng.text(30, b"ab")].concat()))),
        (
            "thousands, of five bytes and more",
            distinct(
                (0..4_000).map(|n| [&b"ababb"[..], &rng.text(n % 3 * 12, b"abc"), &rng.text(2, letters)].concat()),
            ),
        ),
        (
            "cases of one word",
            (0..1_024_u32)
                .map(|n| (0..10).map(|at| if n >> at & 1 == 0 { b'a' + at } else { b'A' + at }).collect())
                .collect(),
        ),
        (
            // Each byte of "aaa" takes two steps.
            "few steps forward",
            [b"aab".to_vec()]
                .into_iter()
                .chain((8..80).map(|length| vec![b'z'; length]))
                .chain([b"aac".to_vec()])
                .collect(),
        ),
        (
            "with anchors at their ends",
            (10..200).map(|length| [&vec![b'a'; length][..], b"Z#Q~"].concat()).chain([b"aab".to_vec()]).collect(),
        ),
        ("words", words(&mut rng, 3_000)),
        ("few words", words(&mut rng, 30)),
    ];
    for level in LiteralLevel::ALL {
        let map = LiteralMap::<false>::with_level(&words(&mut Rng::new(2), 1_000), level).unwrap();
        let usual = work(&map, &usual_text) as f64 / usual_text.len() as f64;
        let check = |most: usize, times: f64, set: &str| {
            let allowed = times * usual * TEXT as f64 + FIXED as f64;
            assert!(most as f64 <= allowed, "{set}, {level:?}: {most} for {TEXT} bytes, {usual:.2} for a usual one");
        };
        for (name, keys) in &sets {
            // The texts of a level don't depend on the levels that the machine has.
            let mut rng = Rng::new(SEED);
            let map = LiteralMap::<false>::with_level(keys, level).unwrap();
            check(most_work(&map, keys, &mut rng), 2.5, name);
            // With one automaton for the keys of one case and one for the others.
            let (exact, others) = keys.split_at(keys.len() / 2);
            let map = LiteralMap::<true>::build(exact, others, level).unwrap();
            check(most_work(&map, keys, &mut rng), 4.0, &format!("{name}, both cases"));
        }
    }
}

#[test]
fn a_usual_set_needs_no_automaton() {
    let mut rng = Rng::new(4);
    for count in [10, 100, 1_000, 5_000] {
        let keys = words(&mut rng, count);
        for level in LiteralLevel::ALL {
            let map = LiteralMap::<false>::with_level(&keys, level).unwrap();
            // Even where half of the text is keys.
            let text =
                (0..100).map(|n| [&b"Mozilla/5.0 "[..], &keys[n % keys.len()]].concat()).collect::<Vec<_>>().concat();
            map.for_each(&text, |_| ());
            assert!(map.automata.get().is_none(), "{count} keys, {level:?}");
        }
    }
}
