//! The ends of a text, and hashes of texts made from them.

/// Bits that make a letter of ASCII a small one. What it does to other bytes does not matter to a hash.
const SMALL: u64 = 0x2020_2020_2020_2020;

/// The ends of a text of a given length; texts are the same if these and the bytes between are. Those of texts that differ
/// only in the case of letters are the same if `IGNORE_CASE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends<const IGNORE_CASE: bool> {
    first: u64,
    last: u64,
}

impl<const IGNORE_CASE: bool> Ends<IGNORE_CASE> {
    /// The first and the last eight bytes; of a shorter text pieces that overlap.
    #[inline(always)]
    pub(crate) fn of(text: &[u8]) -> Self {
        let (first, last) = if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
        } else {
            let byte = |at: Option<&u8>| u64::from(at.copied().unwrap_or(0));
            (byte(text.first()), byte(text.get(1)) << 8 | byte(text.last()))
        };
        let small = if IGNORE_CASE { SMALL } else { 0 };
        Self { first: first | small, last: last | small }
    }

    /// The first eight bytes, of a text that has them.
    #[cfg(feature = "http")]
    #[inline(always)]
    pub(crate) fn first(self) -> u64 {
        self.first
    }

    /// A hash of the ends and the length of their text.
    #[inline(always)]
    pub(super) fn hash(self, length: usize, seed: u64) -> u64 {
        let length = (length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mix(self.first ^ seed, self.last ^ length ^ 0x243f_6a88_85a3_08d3)
    }

    /// A hash of the whole text that has these ends.
    pub(super) fn hash_whole(self, text: &[u8], seed: u64) -> u64 {
        let small = if IGNORE_CASE { SMALL } else { 0 };
        let (chunks, _) = text.as_chunks();
        let hash = chunks.iter().fold(seed, |hash, chunk| {
            mix(hash ^ (u64::from_le_bytes(*chunk) | small), 0x1319_8a2e_0370_7344 ^ seed.rotate_left(32))
        });
        self.hash(text.len(), hash)
    }
}

/// A product's halves, one over the other: each bit of it depends on all of both.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a).wrapping_mul(u128::from(b));
    (product as u64) ^ ((product >> 64) as u64)
}
