//! Numbers as strings of bits: addresses, and the shortened keys that blocks of the trie hold.

use std::fmt::Debug;
use std::ops::{BitAnd, BitXor};

/// An address of one family, the highest bit first.
pub(super) trait Address: Copy + Ord + Debug + BitAnd<Output = Self> + BitXor<Output = Self> {
    /// Number of bits.
    const BITS: u32;
    const ZERO: Self;
    /// The lowest bits of `number`.
    fn of(number: u128) -> Self;
    fn number(self) -> u128;
    /// Without the first `count` bits; zeros follow. `count` is at most [`Address::BITS`].
    fn without(self, count: u32) -> Self;
    /// The first `count` bits as a number. `count` is at most [`Address::BITS`].
    fn first(self, count: u32) -> Self;
    /// The first `count` bits, at most 31, as an index.
    fn index(self, count: u32) -> usize;
    /// The last bits, without the lowest `count`, as an index.
    fn last_index(self, count: u32) -> usize;
    /// The first bits, as many as a key has. An address of fewer bits is followed by zeros.
    fn keys(self) -> Keys;
}

/// The first 16, 32, 64 and 128 bits of an address.
pub(super) struct Keys(pub(super) u16, pub(super) u32, pub(super) u64, pub(super) u128);

macro_rules! address {
    ($type:ty, |$bits:ident| $keys:expr) => {
        impl Address for $type {
            const BITS: u32 = Self::BITS;
            const ZERO: Self = 0;

            fn of(number: u128) -> Self {
                number as Self
            }

            #[inline(always)]
            fn number(self) -> u128 {
                self.into()
            }

            #[inline(always)]
            fn without(self, count: u32) -> Self {
                self.checked_shl(count).unwrap_or(0)
            }

            #[inline(always)]
            fn first(self, count: u32) -> Self {
                self.checked_shr(Self::BITS.wrapping_sub(count)).unwrap_or(0)
            }

            #[inline(always)]
            fn index(self, count: u32) -> usize {
                self.first(count) as usize
            }

            #[inline(always)]
            fn last_index(self, count: u32) -> usize {
                self.checked_shr(count).unwrap_or(0) as usize
            }

            #[inline(always)]
            fn keys(self) -> Keys {
                let $bits = self;
                $keys
            }
        }
    };
}

address!(u32, |bits| Keys((bits >> 16) as u16, bits, u64::from(bits) << 32, u128::from(bits) << 96));
address!(u128, |bits| Keys((bits >> 112) as u16, (bits >> 96) as u32, (bits >> 64) as u64, bits));

/// The first bits of an address, as blocks of the trie hold them.
pub(super) trait Key: Copy + Ord {
    const BYTES: usize;
    /// The key at the beginning of `bytes`.
    fn read(bytes: &[u8]) -> Option<Self>;
    /// How many of the first `count` keys in `bytes`, which are sorted, are at most `self`.
    fn rank(self, bytes: &[u8], count: usize) -> usize;
    /// Whether `self` and `other` agree but for the last `free` bits. Nothing need agree if it
    /// counts all bits of a key.
    fn agrees(self, other: Self, free: u8) -> bool;
}

/// Most keys of a block.
pub(super) const MAX_KEYS: usize = 8;

macro_rules! key {
    ($type:ty, $wide:ty, $rank:expr) => {
        impl Key for $type {
            const BYTES: usize = size_of::<Self>();

            #[inline(always)]
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.first_chunk().map(|bytes| Self::from_le_bytes(*bytes))
            }

            #[inline(always)]
            fn rank(self, bytes: &[u8], count: usize) -> usize {
                $rank(self, bytes, count)
            }

            #[inline(always)]
            fn agrees(self, other: Self, free: u8) -> bool {
                <$wide>::from(self ^ other).checked_shr(u32::from(free)).unwrap_or(0) == 0
            }
        }
    };
}

/// Compares all keys that a block can have, so that the loop has no branch and becomes vector code.
/// What follows the keys of the block is compared too, and does not count.
macro_rules! rank_of_all {
    ($type:ty) => {
        |key: $type, bytes: &[u8], count: usize| {
            const BYTES: usize = size_of::<$type>() * MAX_KEYS;
            let Some(all) = bytes.first_chunk::<BYTES>() else { return 0 };
            let (keys, count) = (all.as_chunks().0, count as $type);
            let mut rank: $type = 0;
            for (at, other) in (0..).zip(keys) {
                rank = rank.wrapping_add(<$type>::from((<$type>::from_le_bytes(*other) <= key) & (at < count)));
            }
            rank as usize
        }
    };
}

/// Compares one key after the other.
macro_rules! rank_of_each {
    ($type:ty) => {
        |key: $type, bytes: &[u8], count: usize| {
            let keys = bytes.as_chunks().0.iter().take(count);
            keys.map(|other| usize::from(<$type>::from_le_bytes(*other) <= key)).fold(0, usize::wrapping_add)
        }
    };
}

key!(u16, u32, rank_of_all!(u16));
key!(u32, u64, rank_of_all!(u32));
key!(u64, u128, rank_of_each!(u64));
key!(u128, u128, rank_of_each!(u128));
