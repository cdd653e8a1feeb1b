//! Networks by line of the processor's cache: most lookups read one.
//!
//! A line has up to eight networks of the addresses that share the bits read so far. All are
//! compared at once, without a branch that depends on the address, so that the processor can look
//! up the next address meanwhile.

use super::prefix;
use super::segments::{NESTED, NO_NETWORK, Owner};

/// Most networks of a line.
pub(super) const LINE_NETWORKS: usize = 8;

/// A bit for each place. Not the lowest one: with it, compilers make this less vector code.
pub(super) const BITS: [u16; LINE_NETWORKS] = [2, 4, 8, 16, 32, 64, 128, 256];

/// In the last place of a line that has a block instead of networks.
pub(super) const BLOCK: Owner = NESTED | 1 << 30;

/// Networks, the shortest prefix first.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Line {
    /// What of an address follows the bits that were read, for each network; see [`prefix`]. The
    /// first one is repeated if there are fewer.
    prefixes: [u32; LINE_NETWORKS],
    owners: [Owner; LINE_NETWORKS],
}

/// What a line says of an address.
pub(super) enum Found<T> {
    Answer(T),
    /// The offset of the block that knows the answer, in words.
    Block(u32),
}

impl Line {
    /// The line of networks, each with its [`prefix`]: at most [`LINE_NETWORKS`]. A network comes
    /// after those that contain it.
    pub(super) fn new(networks: &[(u32, Owner)]) -> Self {
        let first = networks.first().copied().unwrap_or((prefix::ALL, NO_NETWORK));
        let mut own = Self { prefixes: [first.0; LINE_NETWORKS], owners: [first.1; LINE_NETWORKS] };
        let places = own.prefixes.iter_mut().zip(&mut own.owners).rev();
        for ((prefix, owner), network) in places.zip(networks.iter().rev()) {
            (*prefix, *owner) = *network;
        }
        own
    }

    /// A line that leads to the block at this offset in words.
    pub(super) fn to_block(block: u32) -> Self {
        let mut own = Self { prefixes: [prefix::ALL; LINE_NETWORKS], owners: [BLOCK; LINE_NETWORKS] };
        if let Some(first) = own.owners.first_mut() {
            *first = block;
        }
        own
    }

    /// The smallest network that contains an address, by the 32 bits that follow those that were read.
    #[inline(always)]
    pub(super) fn find(&self, address: u32) -> Found<Owner> {
        let holds = |(of, bit): (&u32, &u16)| if prefix::holds(*of, address) { u32::from(*bit) } else { 0 };
        let found = self.prefixes.iter().zip(&BITS).map(holds).fold(0, |all, one| all | one);
        let owner = self.owners.get(place(found)).copied().unwrap_or(NO_NETWORK);
        if owner == BLOCK {
            return Found::Block(self.block());
        }
        // Not a branch: whether a network contains the address can't be predicted.
        Found::Answer(std::hint::select_unpredictable(found == 0, NO_NETWORK, owner))
    }

    /// The prefixes and the owners; or the offset of a block, in words.
    pub(super) fn networks(&self) -> Found<(&[u32; LINE_NETWORKS], &[Owner; LINE_NETWORKS])> {
        if self.owners.last() == Some(&BLOCK) {
            Found::Block(self.block())
        } else {
            Found::Answer((&self.prefixes, &self.owners))
        }
    }

    #[inline(always)]
    fn block(&self) -> u32 {
        self.owners.first().copied().unwrap_or(0)
    }
}

/// The place of the last network that contains an address, from the [bits](BITS) of all; any place if none does.
#[inline(always)]
pub(super) fn place(found: u32) -> usize {
    (30_u32.wrapping_sub((found | 1).leading_zeros()) & 7) as usize
}
