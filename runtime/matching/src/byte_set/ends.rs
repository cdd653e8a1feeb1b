//! The first and last eight bytes of a text, and hashes computed from them.

use crate::perfect_hash::Seed;

/// Setting these bits turns ASCII letters to lower case. It changes other bytes too, which a hash may ignore.
const LOWER_CASE: u64 = 0x2020_2020_2020_2020;

/// The first and the last eight bytes of a text. Texts of one length are equal if their ends and
/// the bytes between are. With `IGNORE_CASE`, texts that differ only in the case of ASCII letters
/// have the same ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends<const IGNORE_CASE: bool> {
    first: u64,
    last: u64,
}

impl<const IGNORE_CASE: bool> Ends<IGNORE_CASE> {
    /// The ends of `text`. Those of a text shorter than eight bytes are built from pieces that overlap.
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
        let lower_case = if IGNORE_CASE { LOWER_CASE } else { 0 };
        Self { first: first | lower_case, last: last | lower_case }
    }

    /// The first eight bytes. Only for texts that have as many.
    #[cfg(feature = "http")]
    #[inline(always)]
    pub(crate) fn first(self) -> u64 {
        self.first
    }

    /// Hashes the ends and the length of their text. Both factors have a secret: with a known one, texts could be
    /// chosen for which it is 0, and the hash with it.
    #[inline(always)]
    pub(crate) fn hash(self, length: usize, seed: Seed) -> u64 {
        let length = (length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mix(self.first ^ seed.first, self.last ^ length ^ seed.second)
    }

    /// Hashes all of the text that has these ends.
    pub(crate) fn hash_whole(self, text: &[u8], seed: Seed) -> u64 {
        let lower_case = if IGNORE_CASE { LOWER_CASE } else { 0 };
        let (chunks, _) = text.as_chunks();
        let first = chunks
            .iter()
            .fold(seed.first, |hash, chunk| mix(hash ^ (u64::from_le_bytes(*chunk) | lower_case), seed.second));
        self.hash(text.len(), Seed { first, ..seed })
    }
}

/// Folds the 128-bit product of two words to 64 bits, so that each bit depends on both words.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a).wrapping_mul(u128::from(b));
    (product as u64) ^ ((product >> 64) as u64)
}

/// Whether two texts of the same length are equal. With `IGNORE_CASE`, the first is in lower case.
#[inline(always)]
pub(crate) fn same<const IGNORE_CASE: bool>(member: &[u8], text: &[u8]) -> bool {
    // Mostly two overlapping words cover all bytes.
    let equal = match text.len() {
        ..8 => member == text,
        8..16 => same_ends::<8>(member, text),
        16..=32 => same_ends::<16>(member, text),
        33.. => member == text,
    };
    equal || IGNORE_CASE && member.eq_ignore_ascii_case(text)
}

#[inline(always)]
fn same_ends<const BYTES: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<BYTES>() == b.first_chunk() && a.last_chunk::<BYTES>() == b.last_chunk()
}
