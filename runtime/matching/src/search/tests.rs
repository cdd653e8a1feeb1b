//! Comparison with `memmem`, on texts in allocations of exactly their size.

#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use super::vector::Level;
use super::*;
use crate::testing::STRIDE;
use memchr::memmem;

/// Every level that this processor has.
fn levels() -> Vec<Level> {
    let best = Level::detect();
    #[cfg(target_arch = "x86_64")]
    if best != Level::Sse2 {
        return vec![best, Level::Sse2];
    }
    vec![best]
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % n
    }

    fn bytes(&mut self, length: usize, alphabet: &[u8]) -> Box<[u8]> {
        (0..length).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

/// Each pair on each level, with the pair of places that was chosen and, if `all`, with every other.
fn check(text: &[u8], needle: &[u8], all: bool) {
    let right = memmem::find(text, needle).is_some();
    for level in levels() {
        let mut searcher = Searcher { level, ..Searcher::new(needle) };
        assert_eq!(searcher.is_in(text), right, "{level:?}: {needle:?} in {text:?}");
        if all {
            let places = 0..needle.len().min(256);
            for first in places.clone() {
                for second in first..places.end {
                    searcher.pair = Pair::of(needle, (first as u8, second as u8));
                    assert_eq!(searcher.is_in(text), right, "{level:?}, {:?}: {needle:?} in {text:?}", searcher.pair);
                }
            }
        }
    }
}

#[test]
fn agrees_with_memmem_on_small_alphabets() {
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    let alphabets: [&[u8]; 5] = [b"a", b"ab", b"abc", b"/-wp", b"\0\x7f\x80\xff"];
    for round in 0..if cfg!(miri) { 500 } else { 400_000 } {
        let alphabet = alphabets[round % alphabets.len()];
        let most = if round % 16 == 0 { 300 } else { 80 };
        let text_length = rng.below(most);
        let text = rng.bytes(text_length, alphabet);
        let length = rng.below(40);
        let needle = rng.bytes(length, alphabet);
        check(&text, &needle, false);
        // A needle that does occur, and one that nearly does.
        let from = rng.below(text.len() + 1);
        let to = from + rng.below(text.len() - from + 1);
        let mut piece = text[from..to].to_vec();
        check(&text, &piece, false);
        if !piece.is_empty() {
            let at = rng.below(piece.len());
            piece[at] = b'!';
            check(&text, &piece, false);
        }
    }
}

#[test]
fn agrees_with_memmem_at_every_place_and_length() {
    for length in (0..140).step_by(STRIDE) {
        let text: Box<[u8]> = (0..length).map(|i| (i % 251) as u8).collect();
        for needle_length in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40] {
            for from in (0..=text.len().saturating_sub(needle_length)).step_by(STRIDE) {
                if let Some(needle) = text.get(from..from + needle_length) {
                    check(&text, needle, false);
                }
            }
            check(&text, &vec![b'!'; needle_length], false);
        }
    }
}

#[test]
fn any_pair_of_places_will_do() {
    let mut rng = Rng(1);
    for _ in (0..4_000).step_by(STRIDE) {
        let (text_length, length) = (rng.below(150), rng.below(12));
        let (text, needle) = (rng.bytes(text_length, b"ab"), rng.bytes(length, b"ab"));
        check(&text, &needle, true);
    }
}

/// The text ends where readable memory ends, and then begins where it begins: a byte read outside ends the test.
#[test]
fn nothing_outside_the_text_is_read() {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
    const PAGE: usize = 1 << 16;
    // SAFETY: a new mapping, of which the outer thirds are never to be read.
    let middle = unsafe {
        let map = mmap_anonymous(std::ptr::null_mut(), 3 * PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        let map = map.unwrap();
        mprotect(map, PAGE, MprotectFlags::empty()).unwrap();
        mprotect(map.byte_add(2 * PAGE), PAGE, MprotectFlags::empty()).unwrap();
        map.byte_add(PAGE)
    };
    // SAFETY: the middle third is readable and writable, and nothing else refers to it.
    let page = unsafe { std::slice::from_raw_parts_mut(middle.cast::<u8>(), PAGE) };
    page.iter_mut().enumerate().for_each(|(i, byte)| *byte = b"abcab"[i % 5]);
    for length in 0..300 {
        for text in [&page[..length], &page[PAGE - length..]] {
            for needle in
                [&b"c"[..], b"!", b"ab", b"bca!", b"abcababc", b"!bcababca", b"abcababcababcabab!", &[b'a'; 33]]
            {
                check(text, needle, length < 70);
            }
        }
    }
    // SAFETY: nothing refers to the mapping any more.
    unsafe { munmap(middle.byte_sub(PAGE), 3 * PAGE).unwrap() };
}

/// Needles and texts made for each other.
#[test]
fn time_is_linear_in_hostile_texts() {
    let almost = |needle: &[u8], length: usize| -> Vec<u8> {
        let searcher = Searcher::new(needle);
        let (first, second) = (usize::from(searcher.pair.first), usize::from(searcher.pair.second));
        let mut text = vec![needle[first]; length];
        for (i, byte) in text.iter_mut().enumerate() {
            if i % (second - first + 1) == second - first {
                *byte = needle[second];
            }
        }
        text
    };
    let long = [vec![b'a'; 2000], b"b".to_vec(), vec![b'a'; 2000]].concat();
    for needle in [&b"/wp-admin/"[..], b"//x", b"aaaaaaabaa", &long, b"aab"] {
        for byte in [b'/', b'a'] {
            let name = format!("{}… in {}", needle[..3].escape_ascii(), char::from(byte));
            let texts: [&dyn Fn(usize) -> Vec<u8>; 2] =
                [&|length| vec![byte; length], &|length| almost(needle, length)];
            for text in texts {
                let [small, large] = [1 << 17, 1 << 20];
                if memmem::find(&text(large), needle).is_some() {
                    continue;
                }
                celero_timing::assert_linear(&name, [small, large], |length| {
                    let (text, searcher) = (text(length), Searcher::new(needle));
                    celero_timing::cpu_time_of(|| assert!(!searcher.is_in(std::hint::black_box(&text))))
                });
            }
        }
    }
}
