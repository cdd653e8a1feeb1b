//! Random numbers and texts for the tests of this crate.

#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use std::collections::BTreeSet;

/// Every so manyth of the cases of a table is tested: few under Miri, which takes a thousand times as long.
pub(crate) const STRIDE: usize = if cfg!(miri) { 37 } else { 1 };

/// A generator of pseudo-random numbers that are the same in every run.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// A text of at most `longest` letters.
    pub(crate) fn text(&mut self, longest: usize, alphabet: &[u8]) -> Vec<u8> {
        (0..self.below(longest.saturating_add(1))).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

/// Each item once, in the order of first occurrence.
pub(crate) fn distinct<T: Clone + Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}
