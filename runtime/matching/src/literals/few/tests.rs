//! Tests of sets of few literals.

use super::*;
use crate::testing::{Rng, STRIDE};

/// The levels that this processor has.
fn levels() -> impl Iterator<Item = LiteralLevel> {
    LiteralLevel::ALL.into_iter().filter(|level| *level <= LiteralLevel::detect())
}

fn has_vectors() -> bool {
    LiteralLevel::detect() >= LiteralLevel::Avx2
}

fn right(keys: &[Vec<u8>], text: &[u8]) -> u64 {
    (0..).zip(keys).filter(|(_, key)| memmem::find(text, key).is_some()).fold(0, |all, (id, _)| all | 1_u64 << id)
}

/// Texts are copied to allocations of exactly their size, so that reading beyond their end is
/// noticed by tools that look for it.
fn check(keys: &[Vec<u8>], text: &[u8]) {
    let text: Box<[u8]> = text.into();
    for level in levels() {
        let found = FewLiterals::with_level(keys, level).unwrap().find(&text);
        assert_eq!(found, right(keys, &text), "{keys:?} in {text:?}, {level:?}");
    }
}

#[test]
fn agrees_with_a_search_for_each_key() {
    let mut rng = Rng::new(7);
    for alphabet in [&b"a"[..], b"ab", b"abc\0\xff", b"abcdefghijklmnopqrstuvwxyz/-.% "] {
        for most in [1, 3, 8, 9, 64] {
            for _ in (0..60).step_by(STRIDE) {
                let mut keys: Vec<Vec<u8>> = (0..1 + rng.below(most)).map(|_| rng.text(9, alphabet)).collect();
                keys.push([&rng.text(60, alphabet)[..], b"abc"].concat());
                keys.truncate(64);
                for _ in (0..20).step_by(STRIDE) {
                    let mut text = rng.text(120, alphabet);
                    if rng.below(2) == 0 {
                        let key = &keys[rng.below(keys.len())];
                        let at = rng.below(text.len() + 1);
                        text.splice(at..at, key.iter().copied());
                    }
                    check(&keys, &text);
                }
            }
        }
    }
}

#[test]
fn a_key_is_found_at_every_place_of_a_text_of_every_length() {
    for key in [&b"abc"[..], b"abcd", b"abcdefghijklmnop", b"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq"] {
        for before in (0..72).step_by(STRIDE) {
            for after in (0..40).step_by(STRIDE) {
                let text = [&vec![b'.'; before][..], key, &vec![b'.'; after]].concat();
                check(&[key.into(), b"zzz".into()], &text);
            }
        }
    }
}

#[test]
fn wrong_comparisons_are_bounded() {
    // All keys have the same anchor, which is everywhere in the text, and differ at their ends only.
    let keys: Vec<Vec<u8>> = (0..64_u8).map(|n| [&[b'a'; 2_000][..], &[b'b' + n]].concat()).collect();
    let few = FewLiterals::new(&keys).unwrap();
    let text = [&vec![b'a'; 10_000][..], b"c"].concat();
    assert_eq!(few.find(&text), 2);
    assert_eq!(few.find_in_one_pass(&text), (0, false));
    let mut search = Search { found: 0, steps: 100 };
    few.compare(&text, 0, u64::MAX, &mut search);
    // Without vectors no key is in the tables, so that each of the 64 offsets takes its step and nothing is compared.
    assert_eq!((search.found, search.steps), (0, if has_vectors() { 0 } else { 100 - 64 }));
}

#[test]
fn keys_that_were_found_take_steps_too() {
    // All keys have the same anchor, which is everywhere in the text, and are in the text.
    let mut keys: Vec<String> = (3..65).map(|length| "z".repeat(length)).collect();
    let text = "z".repeat(30_000);
    let all = (1_u64 << 62) - 1;
    let few = FewLiterals::new(&keys).unwrap();
    assert!(few.keys.iter().all(|key| key.anchor_bytes() == b"zzz"));
    assert_eq!((few.find(text.as_bytes()), few.find_in_one_pass(text.as_bytes()).1), (all, has_vectors()));
    // Another key keeps the search going.
    keys.push("absent".into());
    let few = FewLiterals::new(&keys).unwrap();
    let found = if has_vectors() { all } else { 0 };
    assert_eq!(few.find_in_one_pass(text.as_bytes()), (found, false));
    assert_eq!(few.find(text.as_bytes()), all);
    let mut search = Search { found: all, steps: 60 };
    few.compare(text.as_bytes(), 0, u64::MAX, &mut search);
    assert_eq!((search.found, search.steps), (all, 0));
}

#[test]
fn at_most_64_keys_fit() {
    let keys = vec!["key"; 65];
    assert!(FewLiterals::new(&keys).is_none());
    assert_eq!(FewLiterals::new(&keys[..64]).unwrap().find(b"a key"), u64::MAX);
    assert_eq!(FewLiterals::new::<&str>(&[]).unwrap().find(b"a key"), 0);
    assert_eq!(FewLiterals::new(&["", "k", "no"]).unwrap().find(b"key"), 0b011);
}
