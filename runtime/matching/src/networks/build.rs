//! Builds the trie of a family from its segments.

use super::bits::{Address, MOST_KEYS};
use super::segments::{NO_NETWORK, Owner, Segment};
use super::trie::{Trie, kind, prefix};

/// A table divides well if no block below it gets more than this part of the segments.
const DIVIDES_BY: usize = 8;
/// Most bits in the index of a table.
const MOST_INDEX_BITS: u32 = 20;

/// Builds the trie of `segments`, in time linear in their number for each level. The number of levels is logarithmic.
pub(super) fn build<T: Address>(segments: &[Segment<T>]) -> Trie<T> {
    let mut builder = Builder { bytes: Vec::new(), address: std::marker::PhantomData };
    // A set beyond `Networks::MOST` could exceed what a word counts: then there is no network rather than half a trie.
    let root = builder.block(segments, T::ZERO, 0).or_else(|| {
        builder.bytes.clear();
        builder.bucket(segments.get(..1)?, T::ZERO, 0)
    });
    // Keys are read as many as a block can have, whatever it has.
    builder.bytes.extend([0; 16 * MOST_KEYS]);
    Trie {
        bytes: builder.bytes.into(),
        root: root.map_or(0, |root| (root as usize).saturating_mul(4)),
        address: std::marker::PhantomData,
    }
}

struct Builder<T> {
    bytes: Vec<u8>,
    address: std::marker::PhantomData<T>,
}

/// A key of a bucket.
struct Entry<T> {
    start: T,
    /// The length of its prefix if the segment is a network that ends by itself.
    prefix: Option<u32>,
    owner: Owner,
}

impl<T: Address> Builder<T> {
    /// Adds the block of addresses that begin as `base` does, in the first `read` bits. The first segment is that of `base`, the others
    /// start after it. Returns the offset in words; `None` if it exceeds a word.
    fn block(&mut self, segments: &[Segment<T>], base: T, read: u32) -> Option<u32> {
        if let Some(bucket) = self.bucket(segments, base, read) {
            return Some(bucket);
        }
        let (first, last) = (segments.get(1)?, segments.last()?);
        let differ = first.start.number() ^ last.start.number();
        let same = differ.leading_zeros().saturating_sub(128_u32.saturating_sub(T::BITS)).min(T::BITS);
        let skip = same.checked_sub(read)?;
        let bits = segments.len().ilog2().saturating_sub(1).clamp(1, MOST_INDEX_BITS);
        let bits = bits.min(T::BITS.checked_sub(same)?);
        let index = |segment: &Segment<T>| segment.start.without(same).index(bits);
        let most = segments.get(1..)?.chunk_by(|a, b| index(a) == index(b)).map(<[_]>::len).max()?;
        if most <= segments.len() / DIVIDES_BY {
            self.table(segments, read, skip, bits)
        } else {
            self.fork(segments, base, read)
        }
    }

    /// Adds a table that skips `skip` bits after the first `read`, and has an index of `bits` bits.
    fn table(&mut self, segments: &[Segment<T>], read: u32, skip: u32, bits: u32) -> Option<u32> {
        let (before, inner, after) = (segments.first()?.owner, segments.get(1)?.start, segments.last()?.owner);
        let number = skip | bits.checked_shl(kind::SKIP_BITS)?;
        let offset = self.header(kind::TABLE, number)?;
        self.word(before);
        self.word(after);
        let usual = usual_owner(segments);
        self.word(usual);
        if skip > 0 {
            let prefix = inner.without(read).first(skip).number().to_le_bytes();
            self.bytes.extend(prefix.get(..T::BITS as usize / 8)?);
        }
        let slots = self.bytes.len();
        let count = 1_usize.checked_shl(bits)?;
        self.bytes.resize(slots.checked_add(count.checked_mul(8)?)?, 0);

        let read = read.checked_add(skip)?;
        // The last bits of an address, below the index.
        let below = T::BITS.checked_sub(read)?.checked_sub(bits)?;
        let common = inner.number() & !super::segments::last_bits(T::BITS.checked_sub(read)?);
        let mut rest = segments;
        for slot in 0..count {
            let base = common | (slot as u128).checked_shl(below)?;
            let next = base | super::segments::last_bits(below);
            while rest.get(1).is_some_and(|segment| segment.start.number() <= base) {
                rest = rest.get(1..)?;
            }
            let inside = rest.iter().skip(1).take_while(|segment| segment.start.number() <= next).count();
            let part = rest.get(..inside.checked_add(1)?)?;
            let only = only_network(part, base, below, usual);
            let (target, network) =
                match only.and_then(|(owner, bits, length)| Some((owner, prefix::write(bits, length)?))) {
                    Some(only) => only,
                    None => (self.block(part, T::of(base), read.checked_add(bits)?)?, 0),
                };
            let at = slots.checked_add(slot.checked_mul(8)?)?;
            let words = u64::from(target) | u64::from(network).wrapping_shl(32);
            self.bytes.get_mut(at..)?.first_chunk_mut().map(|bytes| *bytes = words.to_le_bytes())?;
            rest = rest.get(inside..)?;
        }
        Some(offset)
    }

    /// Adds a fork that gives each of its blocks equally many segments.
    fn fork(&mut self, segments: &[Segment<T>], base: T, read: u32) -> Option<u32> {
        let parts = segments.chunks(segments.len().div_ceil(MOST_KEYS).max(MOST_KEYS));
        let starts =
            || parts.clone().enumerate().filter_map(|(n, part)| Some(if n == 0 { base } else { part.first()?.start }));
        let class = starts().map(|start| class(significant(start, read))).max()?;
        let offset = self.header(kind::FORK | class, parts.len() as u32)?;
        let words = self.bytes.len();
        parts.clone().for_each(|_| self.word(0));
        starts().for_each(|start| self.key(start.without(read), class));
        self.align();
        for (n, (part, start)) in parts.clone().zip(starts()).enumerate() {
            let block = self.block(part, start, read)?;
            let at = words.checked_add(n.checked_mul(4)?)?;
            self.bytes.get_mut(at..)?.first_chunk_mut().map(|bytes| *bytes = block.to_le_bytes())?;
        }
        Some(offset)
    }

    /// Adds a bucket, if it has few enough keys.
    fn bucket(&mut self, segments: &[Segment<T>], base: T, read: u32) -> Option<u32> {
        // Each key says at most where two segments start.
        if segments.len() > MOST_KEYS.saturating_mul(2) {
            return None;
        }
        let candidates = [segments.first(), segments.get(1), segments.last()];
        let entries = candidates.into_iter().flatten().map(|segment| entries(segments, base, segment.owner));
        let entries = entries.min_by_key(Vec::len).filter(|entries| entries.len() <= MOST_KEYS)?;
        let bits = |entry: &Entry<T>| {
            entry.prefix.map_or_else(|| significant(entry.start, read), |prefix| prefix.saturating_sub(read))
        };
        let class = entries.iter().map(|entry| class(bits(entry))).max()?;
        let offset = self.header(class, entries.len() as u32)?;
        entries.iter().for_each(|entry| self.word(entry.owner));
        entries.iter().for_each(|entry| self.key(entry.start.without(read), class));
        let width = 16_u32.checked_shl(class)?;
        let free =
            |entry: &Entry<T>| entry.prefix.map_or(width, |prefix| width.saturating_sub(prefix.saturating_sub(read)));
        self.bytes.extend(entries.iter().map(|entry| free(entry) as u8));
        self.align();
        Some(offset)
    }

    /// Begins a block; returns its offset.
    fn header(&mut self, kind: u32, number: u32) -> Option<u32> {
        let offset = u32::try_from(self.bytes.len() / 4).ok()?;
        self.word(kind | number.checked_shl(kind::BITS)?);
        Some(offset)
    }

    fn word(&mut self, word: u32) {
        self.bytes.extend(word.to_le_bytes());
    }

    /// Adds the first bits of `start` as a key of this class.
    fn key(&mut self, start: T, class: u32) {
        let keys = start.keys();
        match class {
            0 => self.bytes.extend(keys.0.to_le_bytes()),
            1 => self.bytes.extend(keys.1.to_le_bytes()),
            2 => self.bytes.extend(keys.2.to_le_bytes()),
            _ => self.bytes.extend(keys.3.to_le_bytes()),
        }
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// The owner of more segments than all others together, if there is one; the owner of gaps otherwise, as a rule: it alone has several.
fn usual_owner<T>(segments: &[Segment<T>]) -> Owner {
    // The majority vote of Boyer and Moore.
    let vote = |(owner, votes): (Owner, usize), segment: &Segment<T>| match votes {
        0 => (segment.owner, 1),
        _ if segment.owner == owner => (owner, votes.saturating_add(1)),
        _ => (owner, votes.saturating_sub(1)),
    };
    segments.iter().fold((NO_NETWORK, 1), vote).0
}

/// The owner in a slot that holds one network, and besides it only what belongs to the usual owner; with the first bits of the network
/// within the slot, and its length there. The slot has the addresses from `base` on that agree but for the last `below` bits.
fn only_network<T: Address>(
    segments: &[Segment<T>],
    base: u128,
    below: u32,
    usual: Owner,
) -> Option<(Owner, u32, u32)> {
    let start = |segment: &Segment<T>| segment.start.number().max(base);
    let end = base.wrapping_add(1_u128.checked_shl(below).unwrap_or(0));
    let (network, next) = match segments {
        [only] => return Some((only.owner, 0, 0)),
        [network, after] if after.owner == usual => (network, start(after)),
        [before, network] if before.owner == usual => (network, end),
        [before, network, after] if before.owner == usual && after.owner == usual => (network, start(after)),
        _ => return None,
    };
    let from = start(network);
    let size = next.wrapping_sub(from);
    if !size.is_power_of_two() || from.trailing_zeros() < size.trailing_zeros() {
        return None;
    }
    let bits = T::of(from).without(T::BITS.saturating_sub(below)).keys().1;
    Some((network.owner, bits, below.saturating_sub(size.trailing_zeros())))
}

/// How many bits of `start` after the first `read` are followed by zeros only.
fn significant<T: Address>(start: T, read: u32) -> u32 {
    T::BITS.saturating_sub(start.number().trailing_zeros()).saturating_sub(read)
}

/// The class of keys with this many bits.
fn class(bits: u32) -> u32 {
    bits.max(16).next_power_of_two().ilog2().saturating_sub(u16::BITS.ilog2())
}

/// The keys of a bucket in which `first` is the first owner.
fn entries<T: Address>(segments: &[Segment<T>], base: T, first: Owner) -> Vec<Entry<T>> {
    let mut entries = Vec::with_capacity(segments.len().saturating_add(1));
    entries.push(Entry { start: base, prefix: None, owner: first });
    let mut rest = segments;
    while let [segment, after @ ..] = rest {
        rest = after;
        let start = segment.start.max(base);
        if entries.len() == 1 && segment.owner == first && start == base {
            continue;
        }
        let prefix = after.first().and_then(|next| {
            let size = next.start.number().checked_sub(start.number())?;
            let is_network = size.is_power_of_two() && start.number().trailing_zeros() >= size.trailing_zeros();
            (next.owner == first && is_network).then(|| T::BITS.saturating_sub(size.trailing_zeros()))
        });
        if prefix.is_some() {
            rest = after.get(1..).unwrap_or_default();
        }
        entries.push(Entry { start, prefix, owner: segment.owner });
    }
    entries
}
