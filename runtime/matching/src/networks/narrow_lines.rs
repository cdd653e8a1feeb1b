//! [`NarrowLines`]: lines whose index leaves few bits of an address.
//!
//! Their prefixes are halves of those of a [`Line`], apart from the owners. So a third of the
//! memory says whether some network contains an address: with a million networks, what the
//! processor's caches hold.

use super::lines::{BITS, BLOCK, Found, LINE_NETWORKS, Line, place};
use super::prefix;
use super::segments::{NO_NETWORK, Owner};

/// Most bits of an address that may follow those that were read.
pub(super) const MAX_BITS_LEFT: u32 = 14;
/// Bytes of a line.
pub(super) const NARROW_LINE_BYTES: usize = size_of::<Prefixes>() + size_of::<Owners>();

#[derive(Clone, Debug, Default)]
pub(super) struct NarrowLines {
    prefixes: Box<[Prefixes]>,
    /// As many.
    owners: Box<[Owners]>,
}

/// The prefixes of a line. In a line that has a block instead of networks: [`NO_PREFIX`], and the
/// offset of the block in words; then all owners are [`BLOCK`].
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Prefixes([u16; LINE_NETWORKS]);

/// The owners of a line, in one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Owners([Owner; LINE_NETWORKS]);

/// Of a prefix at least one bit is set.
const NO_PREFIX: u16 = 0;

impl NarrowLines {
    pub(super) fn new(lines: &[Line]) -> Self {
        let of = |line: &Line| match line.networks() {
            Found::Block(block) => (
                Prefixes([NO_PREFIX, block as u16, (block >> 16) as u16, 0, 0, 0, 0, 0]),
                Owners([BLOCK; LINE_NETWORKS]),
            ),
            Found::Answer((prefixes, owners)) => {
                let mut halves = [prefix::NEVER; LINE_NETWORKS];
                for (half, (prefix, owner)) in halves.iter_mut().zip(prefixes.iter().zip(owners)) {
                    if *owner != NO_NETWORK {
                        *half = (*prefix >> 16) as u16;
                    }
                }
                (Prefixes(halves), Owners(*owners))
            }
        };
        let (prefixes, owners): (Vec<_>, Vec<_>) = lines.iter().map(of).unzip();
        Self { prefixes: prefixes.into(), owners: owners.into() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    /// The smallest network that contains an address, by the line and the 16 bits that follow those that were read.
    #[inline(always)]
    pub(super) fn find(&self, line: usize, address: u16) -> Found<Owner> {
        let (Some(Prefixes(prefixes)), Some(Owners(owners))) = (self.prefixes.get(line), self.owners.get(line)) else {
            return Found::Answer(NO_NETWORK);
        };
        // Read before the prefixes are compared, so that the processor waits for both at the same time.
        if owners.last() == Some(&BLOCK) {
            return Found::Block(block(prefixes));
        }
        let holds = |(of, bit): (&u16, &u16)| if prefix::half_holds(*of, address) { *bit } else { 0 };
        let found = prefixes.iter().zip(&BITS).map(holds).fold(0, |all, one| all | one);
        let owner = owners.get(place(found.into())).copied().unwrap_or(NO_NETWORK);
        // Not a branch: whether a network contains the address can't be predicted.
        Found::Answer(std::hint::select_unpredictable(found == 0, NO_NETWORK, owner))
    }

    /// Whether a network contains an address: reads no owners.
    #[inline(always)]
    pub(super) fn any(&self, line: usize, address: u16) -> Found<bool> {
        let Some(Prefixes(prefixes)) = self.prefixes.get(line) else { return Found::Answer(false) };
        if prefixes.first() == Some(&NO_PREFIX) {
            return Found::Block(block(prefixes));
        }
        let holds = |of: &u16| prefix::half_holds(*of, address);
        Found::Answer(prefixes.iter().map(holds).fold(false, |any, one| any | one))
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.prefixes).saturating_add(size_of_val(&*self.owners))
    }
}

/// The block in a line without prefixes.
#[inline(always)]
fn block(prefixes: &[u16; LINE_NETWORKS]) -> u32 {
    let [_, low, high, ..] = *prefixes;
    u32::from(low) | u32::from(high) << 16
}
