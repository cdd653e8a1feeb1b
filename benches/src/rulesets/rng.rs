//! Random numbers that are the same in every run (SplitMix64).
#![expect(clippy::arithmetic_side_effects, reason = "divisors are at least one")]

pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 when `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    /// True with a probability of `percent` in a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `things`, which must not be empty.
    pub(crate) fn pick<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        things.get(self.below(things.len())).expect("something to pick")
    }
}
