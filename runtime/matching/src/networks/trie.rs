//! The segment of an address, in few cache lines.
//!
//! All blocks of a trie are in one array of bytes, a block after those that lead to it. A block
//! answers for the addresses that share the bits read so far, its *base*, and is of one of four
//! kinds:
//!
//! - **Lines** skip the bits that all segments share, read some more bits and use them as an index
//!   of [lines](super::lines), each with all networks of its addresses, or with another block if
//!   these are too many. Used where most networks are in a line.
//! - A **table** skips bits as lines do, and has an index of slots. A slot is one network with its
//!   owner, what is outside of it belongs to the *usual* owner of the table; or it is another
//!   block. An address that differs in the skipped bits is before or after all segments. Tables are
//!   used where they divide the segments well.
//! - A **fork** has up to eight keys, sorted, and a block for each. It is used where tables would
//!   divide badly, so that no set of networks makes the trie deep.
//! - A **bucket** has up to eight keys, and an owner for each. Most networks need one key: a
//!   segment whose length is known ends by itself, and what follows belongs to the first owner of
//!   the bucket.
//!
//! Keys have 16, 32, 64 or 128 bits, the fewest that suffice in their block, and are compared all at once.

use super::bits::{Address, Key, Keys};
use super::lines::{Found, Line};
use super::narrow_lines::NarrowLines;
use super::prefix;
use super::segments::{NO_NETWORK, Owner};

#[derive(Clone, Debug)]
pub(super) struct Trie<T> {
    /// Words of four bytes, little-endian.
    pub(super) bytes: Box<[u8]>,
    pub(super) lines: Box<[Line]>,
    /// The lines of the first block, if few bits of an address follow its index; `lines` does not have them then.
    pub(super) narrow: NarrowLines,
    /// The offset of the first block.
    pub(super) root: usize,
    /// What the first block says, if it is one of lines: those that come first.
    pub(super) top: Top<T>,
}

/// The addresses of the first lines.
#[derive(Clone, Debug)]
pub(super) struct Top<T> {
    /// The bits that they have in common, and which ones these are.
    pub(super) base: T,
    pub(super) mask: T,
    /// The number of bits up to the end of the index, and of those after it.
    pub(super) read: u32,
    pub(super) below: u32,
}

impl<T: Address> Top<T> {
    /// Of no addresses.
    pub(super) fn none() -> Self {
        Self { base: T::of(1), mask: T::ZERO, read: 0, below: 0 }
    }
}

/// What a block is. The first word of a block is its kind and a number: for buckets and forks the number of
/// keys.
///
/// - Buckets and forks: for each key a word, which is the owner, or the offset of a block in words.
///   Then the keys. In a bucket follows for each key the number of its last bits that the segment
///   does not fix, one byte.
/// - Tables: the owner before the segments, the owner after them, the usual owner, the bits that
///   are skipped if there are any, and a slot of two words for each index: an owner and the
///   [`prefix`] of its network, or the offset of a block and zero.
/// - Lines: as a table, with the place of the first line or [`kind::NARROW`] instead of the usual
///   owner, and without slots.
pub(super) mod kind {
    /// Added to the class of the keys. Class 0 has 16 bits, the next ones have 32, 64 and 128.
    pub(crate) const FORK: u32 = 4;
    /// A table whose number is the count of skipped bits and, from the ninth bit on, of bits in the index.
    pub(crate) const TABLE: u32 = 8;
    /// The same for lines.
    pub(crate) const LINES: u32 = 12;
    /// Instead of the place of the first line: the lines are narrow ones.
    pub(crate) const NARROW: u32 = u32::MAX;
    /// The number of bits of the kind, and all of them.
    pub(crate) const BITS: u32 = 4;
    pub(crate) const MASK: u32 = 15;
    /// The bits that count what a table skips.
    pub(crate) const SKIP_BITS: u32 = 8;
}

/// The word at `at`.
#[inline(always)]
fn word(block: &[u8], at: usize) -> Option<u32> {
    u32::read(block.get(at..)?)
}

/// The offset in bytes of the word with this index.
#[inline(always)]
const fn words(count: usize) -> usize {
    count.wrapping_mul(4)
}

impl<T: Address> Trie<T> {
    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.len().saturating_add(size_of_val(&*self.lines)).saturating_add(self.narrow.heap_bytes())
    }

    /// The owner of the segment of `address`.
    #[inline(always)]
    pub(super) fn owner(&self, address: T) -> Owner {
        let top = &self.top;
        if address & top.mask != top.base {
            return self.owner_from(address, self.root);
        }
        let line = (address ^ top.base).last_index(top.below);
        let rest = address.without(top.read);
        let found = if self.narrow.is_empty() {
            let Some(line) = self.lines.get(line) else { return NO_NETWORK };
            line.find(rest.keys().1)
        } else {
            self.narrow.find(line, rest.keys().0)
        };
        match found {
            Found::Answer(owner) => owner,
            Found::Block(block) => self.owner_from(rest, words(block as usize)),
        }
    }

    /// Whether the segment of `address` has an owner.
    #[inline(always)]
    pub(super) fn any(&self, address: T) -> bool {
        let top = &self.top;
        if self.narrow.is_empty() || address & top.mask != top.base {
            return self.owner(address) != NO_NETWORK;
        }
        let rest = address.without(top.read);
        match self.narrow.any((address ^ top.base).last_index(top.below), rest.keys().0) {
            Found::Answer(any) => any,
            Found::Block(block) => self.owner_from(rest, words(block as usize)) != NO_NETWORK,
        }
    }

    #[inline(never)]
    fn owner_from(&self, rest: T, at: usize) -> Owner {
        self.walk(rest, at, |_| {}).unwrap_or(NO_NETWORK)
    }

    /// The owner of the segment of an address, from the block at an offset on. `rest` is what
    /// follows the bits that were read before it. Calls `visit` with the offset of each block.
    #[inline(always)]
    pub(super) fn walk(&self, mut rest: T, mut at: usize, mut visit: impl FnMut(usize)) -> Option<Owner> {
        loop {
            visit(at);
            let block = self.bytes.get(at..)?;
            let header = word(block, 0)?;
            let number = header >> kind::BITS;
            let class = header & kind::MASK;
            if class < kind::FORK {
                return bucket(block, class, number as usize, rest.keys());
            }
            if class < kind::TABLE {
                let position = position(block, class, number as usize, rest.keys());
                at = words(word(block, words(position))? as usize);
                continue;
            }
            let (skip, bits) = (number & 0xff, number >> kind::SKIP_BITS);
            let mut slots = words(4);
            if skip > 0 {
                let (found, wanted) = (rest.first(skip), read_prefix::<T>(block.get(slots..)?)?);
                if found != wanted {
                    return word(block, words(if found < wanted { 1 } else { 2 }));
                }
                slots = slots.wrapping_add(T::BITS as usize / 8);
            }
            rest = rest.without(skip);
            if class == kind::LINES {
                let (first, line) = (word(block, words(3))?, rest.index(bits));
                rest = rest.without(bits);
                let found = if first == kind::NARROW {
                    self.narrow.find(line, rest.keys().0)
                } else {
                    self.lines.get((first as usize).wrapping_add(line))?.find(rest.keys().1)
                };
                match found {
                    Found::Answer(owner) => return Some(owner),
                    Found::Block(block) => at = words(block as usize),
                }
                continue;
            }
            let slot = block.get(slots.wrapping_add(words(rest.index(bits).wrapping_mul(2)))..)?;
            let (target, network) = (word(slot, 0)?, word(slot, words(1))?);
            rest = rest.without(bits);
            if network != 0 {
                return Some(if prefix::holds(network, rest.keys().1) { target } else { word(block, words(3))? });
            }
            at = words(target as usize);
        }
    }
}

/// The prefix that a table skips, as a number.
#[inline(always)]
fn read_prefix<T: Address>(bytes: &[u8]) -> Option<T> {
    if T::BITS == 32 { u32::read(bytes).map(|bits| T::of(bits.into())) } else { u128::read(bytes).map(T::of) }
}

/// The place, from 1 on, of the last key that is at most the address. The first key is at most every address.
#[inline(always)]
fn position(block: &[u8], class: u32, count: usize, of: Keys) -> usize {
    let keys = block.get(words(count.wrapping_add(1))..).unwrap_or_default();
    match class & 3 {
        0 => of.0.rank(keys, count),
        1 => of.1.rank(keys, count),
        2 => of.2.rank(keys, count),
        _ => of.3.rank(keys, count),
    }
}

#[inline(always)]
fn bucket(block: &[u8], class: u32, count: usize, of: Keys) -> Option<Owner> {
    match class {
        0 => owner_in(block, count, of.0),
        1 => owner_in(block, count, of.1),
        2 => owner_in(block, count, of.2),
        _ => owner_in(block, count, of.3),
    }
}

#[inline(always)]
fn owner_in<K: Key>(block: &[u8], count: usize, key: K) -> Option<Owner> {
    let keys_at = words(count.wrapping_add(1));
    let keys = block.get(keys_at..)?;
    let rank = key.rank(keys, count);
    let last = rank.wrapping_sub(1);
    let start = K::read(keys.get(last.wrapping_mul(K::BYTES)..)?)?;
    let free = *keys.get(count.wrapping_mul(K::BYTES).wrapping_add(last))?;
    // Not a branch: which of both holds can't be predicted.
    let at = if key.agrees(start, free) { rank } else { 1 };
    word(block, words(at))
}
