//! Host names, and all names below one.
//!
//! A lookup hashes the host, and its ends at the dots that have as many labels after them as some name with a star.

use super::strings::Strings;
use super::{EntrySet, Keys};
use crate::entry::{Key, MAX_HOST_BYTES};
use crate::error::TooLarge;
use celero_matching::TextIndex;
use std::sync::Arc;

/// A set of host names. Keys that begin with a star come first: no other byte of a host name sorts before it.
pub(crate) struct Hosts {
    /// `example.com` for `*.example.com`, by the number of that key.
    below: TextIndex<true>,
    /// The number of a name is that of its key, less `first_exact`.
    exact: TextIndex<true>,
    /// The number of the first key without a star.
    first_exact: u32,
    names: Strings,
    /// Bit n: a key with a star has n labels after it. Bit 127 stands for more, too.
    depths: u128,
}

/// Before the name of a key with a star.
const STAR: &[u8] = b"*.";
/// Bytes of a host whose dots are one bit each in a number.
const BLOCK: usize = 64;
/// Number of blocks of a host.
const BLOCKS: usize = MAX_HOST_BYTES.div_ceil(BLOCK);

impl EntrySet for Hosts {
    type Key = Arc<str>;
    type Value<'a> = &'a [u8];
    /// The name itself, then the longer name below which it is.
    type Rank = (bool, usize);

    fn build(keys: Vec<Arc<str>>) -> Result<Self, TooLarge> {
        let names = Strings::new(&keys).ok_or(TooLarge::Numbers)?;
        let (with_star, without) = keys.split_at(keys.partition_point(|key| key.starts_with('*')));
        let first_exact = u32::try_from(with_star.len()).map_err(|_| TooLarge::Numbers)?;
        // The star has a dot after it.
        let depths = with_star.iter().map(|key| depth_bit(key.bytes().filter(|byte| *byte == b'.').count()));
        Ok(Self {
            below: TextIndex::new(with_star.len(), |id| below(&names, id)),
            exact: TextIndex::new(without.len(), |number| exact(&names, first_exact, number)),
            first_exact,
            depths: depths.fold(0, |depths, depth| depths | depth),
            names,
        })
    }

    fn len(&self) -> usize {
        self.names.len()
    }

    fn key(&self, id: u32) -> Option<Arc<str>> {
        self.names.get(id).map(Arc::from)
    }

    fn any(&self, host: &[u8], counts: impl FnMut(u32) -> bool) -> bool {
        self.most_specific(host, counts).is_some()
    }

    fn most_specific(&self, host: &[u8], mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        let host = without_port(host);
        let host = host.strip_suffix(b".").unwrap_or(host);
        // A longer name is no host name.
        if host.len() > MAX_HOST_BYTES {
            return None;
        }
        if self.names.len() > self.first_exact as usize
            && let Some(number) = self.exact.find(host, |number| exact(&self.names, self.first_exact, number))
            && let id = self.first_exact.saturating_add(number)
            && counts(id)
        {
            return Some(id);
        }
        if self.depths == 0 {
            return None;
        }
        // The longest name first.
        let (dots, mut labels) = dots(host);
        for (block, mut dots) in dots.into_iter().enumerate() {
            while dots != 0 {
                let dot = block.wrapping_mul(BLOCK).wrapping_add(dots.trailing_zeros() as usize);
                // As many labels after this dot as dots from it on.
                let depth = labels;
                labels = labels.wrapping_sub(1);
                dots &= dots.wrapping_sub(1);
                // `.example.com` is not below `example.com`.
                if self.depths & depth_bit(depth) != 0
                    && dot > 0
                    && let Some(name) = host.get(dot.wrapping_add(1)..)
                    && let Some(id) = self.below.find(name, |id| below(&self.names, id))
                    && counts(id)
                {
                    return Some(id);
                }
            }
        }
        None
    }

    fn rank(&self, id: u32) -> (bool, usize) {
        (id >= self.first_exact, self.names.get(id).map_or(0, str::len))
    }

    fn id_of(&self, key: &Arc<str>) -> Option<u32> {
        self.names.position(key)
    }

    fn is_among(&self, id: u32, keys: &Keys<Arc<str>>) -> bool {
        self.names.get(id).is_some_and(|name| keys.contains(name))
    }

    fn key_of(key: Key) -> Option<Arc<str>> {
        if let Key::Text(text) = key { Some(text) } else { None }
    }

    fn heap_bytes(&self) -> usize {
        let indexes = self.below.heap_bytes().saturating_add(self.exact.heap_bytes());
        indexes.saturating_add(self.names.heap_bytes())
    }
}

/// The name after the star of a key.
#[inline(always)]
fn below(names: &Strings, id: u32) -> Option<&[u8]> {
    names.bytes(id)?.strip_prefix(STAR)
}

/// The key of a number among those without a star.
#[inline(always)]
fn exact(names: &Strings, first_exact: u32, number: u32) -> Option<&[u8]> {
    names.bytes(first_exact.checked_add(number)?)
}

#[inline(always)]
fn depth_bit(labels: usize) -> u128 {
    1_u128.wrapping_shl(labels.min(127) as u32)
}

/// Where a host has dots, a bit for each of its first 256 bytes, and how many.
#[inline(always)]
fn dots(host: &[u8]) -> ([u64; BLOCKS], usize) {
    let mut blocks = [0; BLOCKS];
    let mut count = 0_usize;
    for (block, bytes) in blocks.iter_mut().zip(host.chunks(BLOCK)) {
        *block = dots_of_block(bytes);
        count = count.wrapping_add(block.count_ones() as usize);
    }
    (blocks, count)
}

/// A bit for each of up to [`BLOCK`] bytes: whether it is a dot.
#[inline(always)]
fn dots_of_block(bytes: &[u8]) -> u64 {
    let Some(last) = bytes.last_chunk() else {
        return (0..).zip(bytes).fold(0, |dots, (index, byte)| dots | u64::from(*byte == b'.').wrapping_shl(index));
    };
    // The last word covers what the whole words leave.
    let mut dots = dots_of_word(*last).wrapping_shl((bytes.len() as u32).wrapping_sub(8));
    for (shift, word) in (0..).step_by(8).zip(bytes.as_chunks().0) {
        dots |= dots_of_word(*word).wrapping_shl(shift);
    }
    dots
}

/// A bit for each of eight bytes: whether it is a dot.
#[inline(always)]
fn dots_of_word(word: [u8; 8]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let other = u64::from_le_bytes(word) ^ u64::from_le_bytes([b'.'; 8]);
    // The highest bit of each byte that is 0: the sum of each byte stays within it.
    let same = !((other & LOW).wrapping_add(LOW) | other | LOW);
    // Gathers these bits in the highest byte, in order.
    (same >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The host of an authority: `example.com` of `example.com:8080`.
#[inline(always)]
fn without_port(host: &[u8]) -> &[u8] {
    if !host.last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b':') {
        return host;
    }
    let digits = host.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let Some((name, _)) = host.split_at_checked(host.len().saturating_sub(digits)) else { return host };
    name.strip_suffix(b":").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dot_is_one_bit() {
        let mut rng = fastrand::Rng::with_seed(1);
        for length in 0..=MAX_HOST_BYTES {
            let host: Vec<u8> = (0..length).map(|_| *rng.choice(b".a-\xae\0\x2f\x2d\xff").unwrap()).collect();
            let (blocks, count) = dots(&host);
            assert_eq!(count, host.iter().filter(|byte| **byte == b'.').count());
            for (index, byte) in host.iter().enumerate() {
                assert_eq!(blocks[index / BLOCK] >> (index % BLOCK) & 1 == 1, *byte == b'.', "{index} of {host:?}");
            }
        }
    }

    #[test]
    fn names_of_every_depth_are_found() {
        let name = |labels: usize| vec!["a"; labels].join(".");
        for depth in 1..=126 {
            let hosts = Hosts::build(vec![format!("*.{}", name(depth)).into()]).unwrap();
            for labels in 0..=127 {
                let found = hosts.most_specific(name(labels).as_bytes(), |_| true);
                assert_eq!(found.is_some(), labels > depth, "{labels} labels below {depth}");
            }
        }
    }
}
