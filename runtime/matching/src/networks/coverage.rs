//! [`Coverage`]: whether a network contains an IPv4 address, for most addresses of large sets by two bits.
//!
//! The addresses are divided into cells of equal size. Most cells are in a network as a whole, or
//! no address of them is; the trie knows the others. The cells of a million networks are one MiB:
//! they stay in a cache next to the processor that the trie is too large for.

use super::segments::{NO_NETWORK, Segment};

/// Fewest networks of a large set: the trie of fewer stays in that cache.
const MIN_NETWORKS: usize = 1 << 14;
/// At least so many cells, as a power of two, for each network.
const CELLS_OF_NETWORK: u32 = 3;
/// Most bits of the index of a cell.
const MAX_INDEX_BITS: u32 = 22;
/// Bits of a cell.
const STATE_BITS: u32 = 2;
const CELLS_OF_WORD: u32 = u64::BITS / STATE_BITS;

/// Of a cell: some addresses are in a network; some are in none.
const INSIDE: u64 = 1;
const OUTSIDE: u64 = 2;

#[derive(Clone, Debug, Default)]
pub(super) struct Coverage {
    /// The states of the cells, those of a word from its lowest bits on. Empty in a set that is not large.
    words: Box<[u64]>,
    /// The number of bits of an address after the index of its cell.
    below: u32,
}

impl Coverage {
    /// The coverage of a number of networks, which have these segments.
    pub(super) fn new(segments: &[Segment<u32>], networks: usize) -> Self {
        if networks < MIN_NETWORKS {
            return Self::default();
        }
        let bits = networks.ilog2().saturating_add(CELLS_OF_NETWORK).min(MAX_INDEX_BITS);
        let below = u32::BITS.saturating_sub(bits);
        let mut words = vec![0_u64; place(1_u32.checked_shl(bits).unwrap_or(0)).0];
        for (at, segment) in segments.iter().enumerate() {
            let next = segments.get(at.saturating_add(1));
            let last = next.map_or(u32::MAX, |next| next.start.saturating_sub(1));
            let state = if segment.owner == NO_NETWORK { OUTSIDE } else { INSIDE };
            for (word, shift) in (segment.start >> below..=last >> below).map(place) {
                if let Some(word) = words.get_mut(word) {
                    *word |= state.wrapping_shl(shift);
                }
            }
        }
        Self { words: words.into(), below }
    }

    /// Returns whether a network contains the address, if the cell knows.
    #[inline(always)]
    pub(super) fn contains(&self, address: u32) -> Option<bool> {
        let (word, shift) = place(address.wrapping_shr(self.below));
        let state = self.words.get(word)?.wrapping_shr(shift) & (INSIDE | OUTSIDE);
        (state != INSIDE | OUTSIDE).then_some(state == INSIDE)
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

/// The word of a cell, and how far its state is shifted there.
#[inline(always)]
fn place(cell: u32) -> (usize, u32) {
    ((cell / CELLS_OF_WORD) as usize, (cell % CELLS_OF_WORD).wrapping_mul(STATE_BITS))
}
