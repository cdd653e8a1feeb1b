//! Builds the trie of a family from its segments.

use super::bits::{Address, MAX_KEYS};
use super::lines::{LINE_NETWORKS, Line};
use super::narrow_lines::{MAX_BITS_LEFT, NARROW_LINE_BYTES, NarrowLines};
use super::prefix;
use super::segments::{NESTED, NO_NETWORK, Owner, Segment, last_bits};
use super::trie::{Top, Trie, kind};

/// A table divides well if no block below it gets more than this part of the segments.
const DIVIDES_BY: usize = 8;
/// Most bits in the index of a table.
const MAX_INDEX_BITS: u32 = 20;

/// Bytes of lines for each network: where some networks are in others, another four say in which one.
const LINE_BYTES: usize = 24;
const LINE_BYTES_NESTED: usize = 20;
/// The same at the root of sets of few networks, whose lines stay in the nearest cache with twice
/// as many: then few lines have too many networks.
const LINE_BYTES_FEW_NESTED: usize = 40;
const FEW_NETWORKS: usize = 1_024;
/// Most of the networks that lines may leave to blocks: one in so many.
const LEFT_BY_LINES: usize = 2;

/// Builds the trie of `segments`, in time linear in their number for each level. The number of
/// levels is logarithmic. `lengths` has the length of each network's prefix, by its id.
pub(super) fn build<T: Address>(segments: &[Segment<T>], lengths: &[u8]) -> Trie<T> {
    let nested = segments.iter().any(|segment| segment.owner != NO_NETWORK && segment.owner & NESTED != 0);
    let line_bytes = if nested { LINE_BYTES_NESTED } else { LINE_BYTES };
    let root_line_bytes = if nested && lengths.len() <= FEW_NETWORKS { LINE_BYTES_FEW_NESTED } else { line_bytes };
    let mut builder = Builder {
        bytes: Vec::new(),
        lines: Vec::new(),
        narrow: NarrowLines::default(),
        top: Top::none(),
        lengths,
        seen: vec![false; lengths.len()],
        line_bytes,
        root_line_bytes,
    };
    // A set beyond `Networks::MAX`, which no caller builds, could exceed what a word counts: then
    // there is no network rather than half a trie.
    let root = builder.block(segments, T::ZERO, 0).or_else(|| {
        (builder.bytes, builder.lines, builder.top) = (Vec::new(), Vec::new(), Top::none());
        builder.narrow = NarrowLines::default();
        builder.bucket(segments.get(..1)?, T::ZERO, 0)
    });
    // Keys are read as many as a block can have, whatever it has.
    builder.bytes.extend([0; 16 * MAX_KEYS]);
    Trie {
        bytes: builder.bytes.into(),
        lines: builder.lines.into(),
        narrow: builder.narrow,
        root: root.map_or(0, |root| (root as usize).saturating_mul(4)),
        top: builder.top,
    }
}

struct Builder<'l, T> {
    bytes: Vec<u8>,
    lines: Vec<Line>,
    narrow: NarrowLines,
    top: Top<T>,
    lengths: &'l [u8],
    /// By id, which networks were counted; none in the end.
    seen: Vec<bool>,
    line_bytes: usize,
    root_line_bytes: usize,
}

/// The lines of an index, and of each whether it has too many networks.
struct Lines {
    lines: Vec<Line>,
    full: Vec<bool>,
}

/// A key of a bucket.
struct Entry<T> {
    start: T,
    /// The length of its prefix if the segment is a network that ends by itself.
    prefix: Option<u32>,
    owner: Owner,
}

impl<T: Address> Builder<'_, T> {
    /// Adds the block of addresses that begin as `base` does, in the first `read` bits. The first
    /// segment is that of `base`, the others start after it. Returns the offset in words; `None` if
    /// it exceeds a word.
    fn block(&mut self, segments: &[Segment<T>], base: T, read: u32) -> Option<u32> {
        if let Some(bucket) = self.bucket(segments, base, read) {
            return Some(bucket);
        }
        let (first, last) = (segments.get(1)?, segments.last()?);
        let differ = first.start.number() ^ last.start.number();
        let same = differ.leading_zeros().saturating_sub(128_u32.saturating_sub(T::BITS)).min(T::BITS);
        let skip = same.checked_sub(read)?;
        if let Some((bits, lines)) = self.lines_of(segments, same) {
            if self.bytes.is_empty() {
                self.top = top(segments, same, bits);
            }
            return self.lines(segments, read, skip, bits, lines);
        }
        let bits = segments.len().ilog2().saturating_sub(1).clamp(1, MAX_INDEX_BITS);
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
        let usual = usual_owner(segments);
        let offset = self.index(kind::TABLE, segments, read, skip, bits, usual)?;
        let slots = self.bytes.len();
        let count = 1_usize.checked_shl(bits)?;
        self.bytes.resize(slots.checked_add(count.checked_mul(8)?)?, 0);

        let read = read.checked_add(skip)?;
        let below = T::BITS.checked_sub(read)?.checked_sub(bits)?;
        for (slot, (base, part)) in parts(segments, read, bits).enumerate() {
            let only = only_network(part, base, below, usual);
            let (target, network) =
                match only.and_then(|(owner, bits, length)| Some((owner, prefix::write(bits, length)?))) {
                    Some(only) => only,
                    None => (self.block(part, T::of(base), read.checked_add(bits)?)?, 0),
                };
            let at = slots.checked_add(slot.checked_mul(8)?)?;
            let words = u64::from(target) | u64::from(network).wrapping_shl(32);
            self.bytes.get_mut(at..)?.first_chunk_mut().map(|bytes| *bytes = words.to_le_bytes())?;
        }
        Some(offset)
    }

    /// Begins a block that skips `skip` bits after the first `read`, and has an index of `bits`
    /// bits; returns its offset. `word` is its last word.
    fn index(&mut self, kind: u32, segments: &[Segment<T>], read: u32, skip: u32, bits: u32, word: u32) -> Option<u32> {
        let (before, inner, after) = (segments.first()?.owner, segments.get(1)?.start, segments.last()?.owner);
        let offset = self.header(kind, skip | bits.checked_shl(kind::SKIP_BITS)?)?;
        [before, after, word].into_iter().for_each(|word| self.word(word));
        if skip > 0 {
            let prefix = inner.without(read).first(skip).number().to_le_bytes();
            self.bytes.extend(prefix.get(..T::BITS as usize / 8)?);
        }
        Some(offset)
    }

    /// The lines of `segments`, which share the first `read` bits, and the number of bits in their
    /// index. There are no lines if too many networks would not be in one, or if they would not
    /// divide well.
    fn lines_of(&mut self, segments: &[Segment<T>], read: u32) -> Option<(u32, Lines)> {
        let networks = self.networks_of(segments);
        let line_bytes = if self.bytes.is_empty() { self.root_line_bytes } else { self.line_bytes };
        let (bytes, bits_left) = (networks.checked_mul(line_bytes)?, T::BITS.checked_sub(read)?);
        let index = |of_line| Some(bytes.checked_div(of_line)?.checked_ilog2()?.min(MAX_INDEX_BITS).min(bits_left));
        let narrow = index(NARROW_LINE_BYTES).filter(|bits| self.are_narrow(read.saturating_add(*bits)));
        let bits = narrow.or_else(|| index(size_of::<Line>()))?;
        if bits == 0 {
            return None;
        }
        let mut left = 0_usize;
        let mut lines = Lines { lines: Vec::with_capacity(1_usize.checked_shl(bits)?), full: Vec::new() };
        for (_, part) in parts(segments, read, bits) {
            let line = self.line(part, read.checked_add(bits)?);
            if line.is_none() {
                left = left.checked_add(self.networks_of(part))?;
                if left > networks / LEFT_BY_LINES || part.len() > segments.len() / DIVIDES_BY {
                    return None;
                }
            }
            lines.full.push(line.is_none());
            lines.lines.push(line.unwrap_or_else(|| Line::new(&[])));
        }
        Some((bits, lines))
    }

    /// Adds lines, and the blocks of those that have too many networks.
    fn lines(
        &mut self,
        segments: &[Segment<T>],
        read: u32,
        skip: u32,
        bits: u32,
        Lines { mut lines, full }: Lines,
    ) -> Option<u32> {
        let read_in_line = read.checked_add(skip)?.checked_add(bits)?;
        let narrow = self.are_narrow(read_in_line);
        let first = self.lines.len();
        let word = if narrow { kind::NARROW } else { u32::try_from(first).ok()? };
        let offset = self.index(kind::LINES, segments, read, skip, bits, word)?;
        if !narrow {
            self.lines.append(&mut lines);
        }
        let parts = parts(segments, read.checked_add(skip)?, bits);
        for (at, ((base, part), full)) in (0_usize..).zip(parts.zip(full)) {
            if full {
                let block = Line::to_block(self.block(part, T::of(base), read_in_line)?);
                let line = if narrow { lines.get_mut(at) } else { self.lines.get_mut(first.checked_add(at)?) };
                *line? = block;
            }
        }
        if narrow {
            self.narrow = NarrowLines::new(&lines);
        }
        Some(offset)
    }

    /// Whether the lines of the next block are narrow ones, if their index ends after the first
    /// `read` bits: those of the first block, if few bits are left.
    fn are_narrow(&self, read: u32) -> bool {
        self.bytes.is_empty() && T::BITS.saturating_sub(read) <= MAX_BITS_LEFT
    }

    /// The line of the networks in `segments`, which share the first `read` bits; `None` if they
    /// are too many, or one is too small.
    fn line(&self, segments: &[Segment<T>], read: u32) -> Option<Line> {
        let mut networks = [(0_u32, 0_u32, NO_NETWORK); LINE_NETWORKS];
        let mut count = 0_usize;
        for Segment { start, owner } in segments {
            let known = networks.get(..count).unwrap_or_default().iter().any(|(_, _, known)| known == owner);
            if *owner == NO_NETWORK || known {
                continue;
            }
            let length = self.length(*owner).saturating_sub(read);
            *networks.get_mut(count)? = (length, prefix::write(start.without(read).keys().1, length)?, *owner);
            count = count.checked_add(1)?;
        }
        let networks = networks.get_mut(..count)?;
        networks.sort_unstable();
        let mut line = [(0, NO_NETWORK); LINE_NETWORKS];
        line.iter_mut().zip(&*networks).for_each(|(to, (_, prefix, owner))| *to = (*prefix, *owner));
        Some(Line::new(line.get(..count)?))
    }

    /// The length of a network's prefix.
    fn length(&self, owner: Owner) -> u32 {
        self.lengths.get((owner & !NESTED) as usize).map_or(0, |length| u32::from(*length).min(T::BITS))
    }

    /// The number of networks that have a segment.
    fn networks_of(&mut self, segments: &[Segment<T>]) -> usize {
        let mut count = 0_usize;
        for segment in segments {
            if let Some(seen) = self.seen.get_mut((segment.owner & !NESTED) as usize) {
                count = count.saturating_add(usize::from(!*seen));
                *seen = true;
            }
        }
        for segment in segments {
            if let Some(seen) = self.seen.get_mut((segment.owner & !NESTED) as usize) {
                *seen = false;
            }
        }
        count
    }

    /// Adds a fork that gives each of its blocks equally many segments.
    fn fork(&mut self, segments: &[Segment<T>], base: T, read: u32) -> Option<u32> {
        let parts = segments.chunks(segments.len().div_ceil(MAX_KEYS).max(MAX_KEYS));
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
        if segments.len() > MAX_KEYS.saturating_mul(2) {
            return None;
        }
        let candidates = [segments.first(), segments.get(1), segments.last()];
        let entries = candidates.into_iter().flatten().map(|segment| entries(segments, base, segment.owner));
        let entries = entries.min_by_key(Vec::len).filter(|entries| entries.len() <= MAX_KEYS)?;
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

/// The addresses of lines whose index has `bits` bits after the first `read`, which all segments but the first share.
fn top<T: Address>(segments: &[Segment<T>], read: u32, bits: u32) -> Top<T> {
    let after = T::BITS.saturating_sub(read);
    let mask = !last_bits(after) & last_bits(T::BITS);
    let inner = segments.get(1).map_or(0, |inner| inner.start.number());
    let below = after.saturating_sub(bits);
    Top { base: T::of(inner & mask), mask: T::of(mask), read: read.saturating_add(bits), below }
}

/// The segments of each value of an index of `bits` bits, with the first address that has it. The
/// segments but the first share the first `read` bits; the first segment of a part may begin before
/// the address.
fn parts<T: Address>(segments: &[Segment<T>], read: u32, bits: u32) -> impl Iterator<Item = (u128, &[Segment<T>])> {
    let after = T::BITS.saturating_sub(read);
    // The last bits of an address, below the index.
    let below = after.saturating_sub(bits);
    let common = segments.get(1).map_or(0, |inner| inner.start.number() & !last_bits(after));
    let mut rest = segments;
    (0..1_u128.wrapping_shl(bits)).map(move |slot| {
        let base = common | slot.wrapping_shl(below);
        let last = base | last_bits(below);
        while let [_, after @ ..] = rest
            && after.first().is_some_and(|segment| segment.start.number() <= base)
        {
            rest = after;
        }
        let inside = rest.iter().skip(1).take_while(|segment| segment.start.number() <= last).count();
        let part = rest.get(..inside.saturating_add(1)).unwrap_or(rest);
        rest = rest.get(inside..).unwrap_or_default();
        (base, part)
    })
}

/// The owner of more segments than all others together, if there is one; the owner of gaps
/// otherwise, as a rule: it alone has several.
fn usual_owner<T>(segments: &[Segment<T>]) -> Owner {
    // The majority vote of Boyer and Moore.
    let vote = |(owner, votes): (Owner, usize), segment: &Segment<T>| match votes {
        0 => (segment.owner, 1),
        _ if segment.owner == owner => (owner, votes.saturating_add(1)),
        _ => (owner, votes.saturating_sub(1)),
    };
    segments.iter().fold((NO_NETWORK, 1), vote).0
}

/// The owner in a slot that holds one network, and besides it only what belongs to the usual owner;
/// with the first bits of the network within the slot, and its length there. The slot has the
/// addresses from `base` on that agree but for the last `below` bits.
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
