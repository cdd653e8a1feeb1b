//! Against a list of the members.

#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use super::*;
use std::collections::HashSet;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % n
    }

    fn text(&mut self, longest: usize, alphabet: &[u8]) -> Vec<u8> {
        (0..self.below(longest + 1)).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

/// Asks about the members, and about texts that differ from them in one byte, in length or in case.
fn check<const IGNORE_CASE: bool>(set: &ByteSet<IGNORE_CASE>, members: &HashSet<Vec<u8>>) {
    let right = |text: &[u8]| members.contains(&if IGNORE_CASE { text.to_ascii_lowercase() } else { text.to_vec() });
    let ask = |text: &[u8]| assert_eq!(set.contains(text), right(text), "{:?}", String::from_utf8_lossy(text));
    for member in members {
        assert!(set.contains(member), "{:?}", String::from_utf8_lossy(member));
        ask(&member.to_ascii_uppercase());
        ask(&[&member[..], b"\0"].concat());
        ask(member.split_last().map_or(b"", |(_, but_last)| but_last));
        for at in 0..member.len() {
            for bit in [0x01, 0x20, 0x80] {
                let mut other = member.clone();
                other[at] ^= bit;
                ask(&other);
            }
        }
    }
    ask(b"");
}

fn prepared<const IGNORE_CASE: bool>(members: &HashSet<Vec<u8>>) -> ByteSet<IGNORE_CASE> {
    let set = ByteSet::new(members);
    check(&set, members);
    set
}

#[test]
fn agrees_with_a_list_of_the_members() {
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    let alphabets: [&[u8]; 4] = [b"a", b"ab", b"abc-_@`\x1a", b"etaoinsrh/.-0123456789\0\x7f\x80\xff"];
    for round in 0..400 {
        let alphabet = alphabets[round % alphabets.len()];
        let longest = [3, 9, 20, 50][rng.below(4)];
        let members: HashSet<Vec<u8>> = (0..rng.below(60)).map(|_| rng.text(longest, alphabet)).collect();
        prepared::<false>(&members);
        prepared::<true>(&members.iter().map(|member| member.to_ascii_lowercase()).collect());
    }
}

#[test]
fn the_empty_text_is_a_member_only_if_it_is_one() {
    assert!(!ByteSet::<false>::new([b""; 0]).contains(b""));
    assert!(!ByteSet::<true>::new(["a"]).contains(b""));
    assert!(ByteSet::<false>::new(["", "a"]).contains(b""));
}

#[test]
fn large_sets_are_small_and_found_by_their_ends() {
    let mut rng = Rng(1);
    for count in [100, 10_000] {
        let name = |_| {
            let length = 9 + rng.below(11);
            (0..length).map(|_| b"abcdefghijklmnopqrstuvwxyz-"[rng.below(27)]).collect()
        };
        let members: HashSet<Vec<u8>> = (0..count).map(name).collect();
        let set = prepared::<false>(&members);
        assert!(set.fallback.is_none());
        assert!(set.heap_bytes() < members.len() * 36, "{} for {}", set.heap_bytes(), members.len());
    }
}

#[test]
fn members_with_the_same_ends_are_told_apart() {
    let members: HashSet<Vec<u8>> = (0..5_000).map(|n| format!("/assets/{n:08}/index.js").into_bytes()).collect();
    let set = prepared::<false>(&members);
    assert!(matches!(set.fallback, Some(Fallback::Whole { longest: 25 })));
    assert!(!set.contains(&b"/assets/".repeat(10_000)));
    prepared::<true>(&members);
}

#[test]
fn members_that_no_hash_tells_apart_are_found() {
    let mut rng = Rng(2);
    let members: HashSet<Vec<u8>> = (0..100).map(|_| rng.text(30, b"ab-@")).collect();
    let mut sorted: Vec<Box<[u8]>> = members.iter().map(|member| member[..].into()).collect();
    sorted.sort();
    let texts: Vec<&[u8]> = sorted.iter().map(|text| &**text).collect();
    assert!(PerfectHashTable::<false>::new(&texts, |_, _| 7).is_none());
    // All in one group, and two that no pilot parts.
    let number = |member: &[u8]| sorted.iter().position(|other| **other == *member).unwrap() as u64;
    assert!(PerfectHashTable::<false>::new(&texts, |_, member| number(member)).is_none());
    let pairs = |member: &[u8]| (number(member) / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((number(member) % 2) << 40);
    assert!(PerfectHashTable::<false>::new(&texts, |_, member| pairs(member)).is_none());
    let apart = |member: &[u8]| number(member).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    assert!(PerfectHashTable::<false>::new(&texts, |_, member| apart(member)).is_some());
    let fallback = || Some(Fallback::Sorted(sorted.clone().into()));
    check::<false>(&ByteSet { table: PerfectHashTable::default(), fallback: fallback() }, &members);
    check::<true>(&ByteSet { table: PerfectHashTable::default(), fallback: fallback() }, &members);
}

#[test]
fn repeated_members_count_once() {
    let mut rng = Rng(0x2545_f491_4f6c_dd1d);
    for _ in 0..50 {
        let members: HashSet<Vec<u8>> = (0..1 + rng.below(40)).map(|_| rng.text(20, b"abc")).collect();
        let once = prepared::<false>(&members);
        let times = 1 + rng.below(3);
        let repeated = ByteSet::<false>::new(members.iter().flat_map(|member| std::iter::repeat_n(member, times)));
        check(&repeated, &members);
        assert_eq!(repeated.heap_bytes(), once.heap_bytes());
    }
}
