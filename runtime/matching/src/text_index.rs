//! Finds a text among many that are stored elsewhere.

use crate::byte_set::{Ends, same};
use crate::perfect_hash::{NO_MEMBER, PerfectHash, Seed};
use std::cmp::Ordering;

/// Finds which of many texts equals a text. It keeps no text, only the numbers of texts that its owner stores. With
/// `IGNORE_CASE`, ASCII letters match in either case.
///
/// A lookup of another text reads four bytes and one byte, and mostly no stored text; one of a stored text reads four
/// bytes more, and compares. Its time is independent of the number of texts. Memory: about 8 bytes for each text.
///
/// ```
/// use celero_matching::TextIndex;
///
/// let texts = ["api.example.com", "example.com"];
/// let stored = |number: u32| texts.get(number as usize).map(|text| text.as_bytes());
/// let index = TextIndex::<true>::new(2, stored);
/// assert_eq!(index.find(b"API.example.com", stored), Some(0));
/// assert_eq!(index.find(b"www.example.com", stored), None);
/// ```
#[derive(Clone, Debug)]
pub struct TextIndex<const IGNORE_CASE: bool> {
    search: Search,
}

#[derive(Clone, Debug)]
enum Search {
    /// By a hash of the ends of texts.
    Ends(Table),
    /// By a hash of all bytes: the ends do not tell the texts apart. `longest` is the length of the longest, in bytes.
    Whole { table: Table, longest: usize },
    /// By a binary search among this many texts, whose hashes collide with every seed that was tried.
    Sorted(u32),
}

#[derive(Clone, Debug)]
struct Table {
    hash: PerfectHash,
    /// Indexed by slot: a byte of the hash of the text there.
    tags: Box<[u8]>,
    /// Indexed by slot: the number of the text there, or [`NO_MEMBER`].
    numbers: Box<[u32]>,
}

impl<const IGNORE_CASE: bool> TextIndex<IGNORE_CASE> {
    /// Builds the index of `count` texts, which `stored` returns by their numbers from 0. They are distinct and in
    /// ascending order; with `IGNORE_CASE`, in lower case. Takes time about linear in their size.
    #[must_use]
    pub fn new<'t>(count: usize, stored: impl Fn(u32) -> Option<&'t [u8]>) -> Self {
        let text = |number| stored(number).unwrap_or_default();
        let ends = |text: &[u8]| Ends::<IGNORE_CASE>::of(text);
        let by_ends = |seed, number| ends(text(number)).hash(text(number).len(), seed);
        let whole = |seed, number| ends(text(number)).hash_whole(text(number), seed);
        let search = if let Some(table) = Table::new(count, by_ends) {
            Search::Ends(table)
        } else if let Some(table) = Table::new(count, whole) {
            let lengths = (0..u32::try_from(count).unwrap_or(NO_MEMBER)).map(|number| text(number).len());
            Search::Whole { table, longest: lengths.max().unwrap_or(0) }
        } else {
            Search::Sorted(u32::try_from(count).unwrap_or(NO_MEMBER))
        };
        Self { search }
    }

    /// Returns the number of the text that equals `text`. `stored` is that of [`new`](Self::new).
    #[must_use]
    #[inline(always)]
    pub fn find<'t>(&self, text: &[u8], stored: impl Fn(u32) -> Option<&'t [u8]>) -> Option<u32> {
        let Search::Ends(table) = &self.search else { return self.find_otherwise(text, stored) };
        table.find::<IGNORE_CASE>(Ends::<IGNORE_CASE>::of(text).hash(text.len(), table.hash.seed), text, stored)
    }

    /// Not inlined: inlined, it would take registers from the usual case.
    #[inline(never)]
    fn find_otherwise<'t>(&self, text: &[u8], stored: impl Fn(u32) -> Option<&'t [u8]>) -> Option<u32> {
        match &self.search {
            Search::Ends(_) => None,
            Search::Whole { longest, .. } if text.len() > *longest => None,
            Search::Whole { table, .. } => {
                let hash = Ends::<IGNORE_CASE>::of(text).hash_whole(text, table.hash.seed);
                table.find::<IGNORE_CASE>(hash, text, stored)
            }
            Search::Sorted(count) => find_sorted::<IGNORE_CASE>(*count, text, stored),
        }
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.search {
            Search::Ends(table) | Search::Whole { table, .. } => {
                let arrays = size_of_val(&*table.tags).saturating_add(size_of_val(&*table.numbers));
                arrays.saturating_add(table.hash.heap_bytes())
            }
            Search::Sorted(_) => 0,
        }
    }
}

impl Table {
    /// The table of texts, which `hash` hashes with a seed; `None` if it does not tell them apart.
    fn new(count: usize, hash: impl Fn(Seed, u32) -> u64) -> Option<Self> {
        // Two texts are never equal.
        let (perfect, numbers) = PerfectHash::new(Seed::random(), count, &hash, |one, other| one.cmp(&other))?;
        let tag_of = |number: &u32| if *number == NO_MEMBER { 0 } else { tag(hash(perfect.seed, *number)) };
        let tags = numbers.iter().map(tag_of).collect();
        Some(Self { hash: perfect, tags, numbers: numbers.into() })
    }

    #[inline(always)]
    fn find<'t, const IGNORE_CASE: bool>(
        &self,
        hash: u64,
        text: &[u8],
        stored: impl Fn(u32) -> Option<&'t [u8]>,
    ) -> Option<u32> {
        let slot = self.hash.slot(hash)?;
        if *self.tags.get(slot)? != tag(hash) {
            return None;
        }
        let number = *self.numbers.get(slot)?;
        let own = stored(number)?;
        (own.len() == text.len() && same::<IGNORE_CASE>(own, text)).then_some(number)
    }
}

/// A byte of a hash that decides neither about a bucket nor about a slot.
#[inline(always)]
fn tag(hash: u64) -> u8 {
    (hash >> 32) as u8
}

fn find_sorted<'t, const IGNORE_CASE: bool>(
    count: u32,
    text: &[u8],
    stored: impl Fn(u32) -> Option<&'t [u8]>,
) -> Option<u32> {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = from.midpoint(to);
        let text = text.iter().map(|byte| if IGNORE_CASE { byte.to_ascii_lowercase() } else { *byte });
        match stored(middle)?.iter().copied().cmp(text) {
            Ordering::Less => from = middle.saturating_add(1),
            Ordering::Equal => return Some(middle),
            Ordering::Greater => to = middle,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;
    use std::collections::BTreeSet;

    fn check<const IGNORE_CASE: bool>(index: &TextIndex<IGNORE_CASE>, texts: &[Vec<u8>], values: &[Vec<u8>]) {
        for value in values {
            let same = |text: &Vec<u8>| if IGNORE_CASE { text.eq_ignore_ascii_case(value) } else { text == value };
            let right = texts.iter().position(same).map(|number| number as u32);
            let found = index.find(value, |number| texts.get(number as usize).map(Vec::as_slice));
            assert_eq!(found, right, "{value:?} in {texts:?}");
        }
    }

    fn sorted(texts: impl Iterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
        texts.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn index<const IGNORE_CASE: bool>(texts: &[Vec<u8>]) -> TextIndex<IGNORE_CASE> {
        TextIndex::new(texts.len(), |number| texts.get(number as usize).map(Vec::as_slice))
    }

    #[test]
    fn agrees_with_a_list() {
        let mut rng = Rng::new(1);
        for alphabet in [&b"a"[..], b"ab\xff", b"aA.-@`", b"etaoins/\0\x80"] {
            for longest in [2, 9, 20, 40] {
                for _ in 0..40 {
                    let texts = sorted((0..rng.below(50)).map(|_| rng.text(longest, alphabet)));
                    let mut values: Vec<_> = (0..50).map(|_| rng.text(longest, alphabet)).collect();
                    values.extend(texts.iter().cloned());
                    values.extend(texts.iter().map(|text| text.to_ascii_uppercase()));
                    values.push(Vec::new());
                    check::<false>(&index(&texts), &texts, &values);
                    let small = sorted(texts.iter().map(|text| text.to_ascii_lowercase()));
                    check::<true>(&index(&small), &small, &values);
                    let count = small.len() as u32;
                    check::<false>(&TextIndex { search: Search::Sorted(texts.len() as u32) }, &texts, &values);
                    check::<true>(&TextIndex { search: Search::Sorted(count) }, &small, &values);
                }
            }
        }
    }

    #[test]
    fn texts_with_the_same_ends_are_told_apart() {
        let texts: Vec<Vec<u8>> = (0..5_000).map(|n| format!("/assets/{n:08}/index.js").into_bytes()).collect();
        let found = index::<false>(&texts);
        assert!(matches!(found.search, Search::Whole { longest: 25, .. }));
        check(&found, &texts[..100], &texts[..100]);
        let long = b"/assets/".repeat(10_000);
        check(&found, &texts[..100], &[long, b"/assets/00000001/index.jS".to_vec()]);
    }

    #[test]
    fn texts_that_no_hash_tells_apart_have_no_table() {
        assert!(Table::new(100, |_, _| 7).is_none());
        assert!(Table::new(100, |_, number| number.into()).is_none());
        assert!(Table::new(100, |_, number| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)).is_some());
    }

    /// Whoever chooses texts may know how they are hashed, but not with which seed.
    #[test]
    fn texts_that_collide_with_a_known_seed_get_a_table() {
        let known = Seed { first: 0x243f_6a88_85a3_08d3, second: 0x1319_8a2e_0370_7344 };
        let length = |length: u64| length.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Texts that end so that the second factor of their hash is 0: also if it had no seed of its own.
        for second in [known.second, known.first, known.first.rotate_left(32), 0] {
            let whole = [&0_u64.to_le_bytes()[..], &(second ^ length(24)).to_le_bytes()].concat();
            let ends = (second ^ length(16)).to_le_bytes().to_vec();
            for end in [ends, whole] {
                let texts = sorted((0..5_000_u64).map(|n| [&n.to_le_bytes()[..], &end].concat()));
                let hashed = std::cell::Cell::new(0_usize);
                let text = |number: u32| &*texts[number as usize];
                let hash = |seed: Seed, number: u32| {
                    hashed.set(hashed.get() + 1);
                    Ends::<false>::of(text(number)).hash_whole(text(number), seed)
                };
                if second == known.second {
                    assert!(texts.iter().all(|text| Ends::<false>::of(text).hash(text.len(), known) == 0));
                    let all = texts.len();
                    let compare = |one: u32, other: u32| one.cmp(&other);
                    assert!(PerfectHash::new([known].into_iter(), all, hash, compare).is_none());
                }
                hashed.set(0);
                assert!(Table::new(texts.len(), hash).is_some());
                assert!(hashed.get() <= 3 * texts.len(), "{} hashes", hashed.get());
                let found = index::<false>(&texts);
                assert!(matches!(found.search, Search::Ends(_)), "{second:x}");
                check(&found, &texts[..50], &texts[..50]);
            }
        }
        // Texts of which a known seed puts too many into one bucket.
        let bucket = |text: &[u8], seed| Ends::<false>::of(text).hash(text.len(), seed) >> 56;
        let crowd = (0_u64..).map(|n| [&n.to_le_bytes()[..], b"-crafted"].concat());
        let texts = sorted(crowd.filter(|text| bucket(text, known) == 0).take(1_000));
        let hash = |seed, number: u32| Ends::<false>::of(&texts[number as usize]).hash(16, seed);
        let compare = |one: u32, other: u32| one.cmp(&other);
        assert!(PerfectHash::new([known].into_iter(), texts.len(), hash, compare).is_none());
        assert!(matches!(index::<false>(&texts).search, Search::Ends(_)));
    }

    #[test]
    fn many_texts_take_eight_bytes_each() {
        let texts = sorted((0..100_000_u32).map(|n| format!("{:x}.example", n.wrapping_mul(0x9e37_79b9)).into_bytes()));
        let found = index::<true>(&texts);
        assert!(found.heap_bytes() < texts.len() * 8, "{}", found.heap_bytes());
        for (number, text) in (0..).zip(&texts) {
            assert_eq!(found.find(text, |number| texts.get(number as usize).map(Vec::as_slice)), Some(number));
        }
    }
}
