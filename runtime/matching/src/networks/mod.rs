//! Finds the networks that contain an IP address.
//!
//! Two networks are either nested or disjoint. So the addresses of a family are divided into
//! segments, each with the smallest network that contains it (`segments.rs`), and each network has
//! a parent: the next larger network around it. A lookup finds the segment of the address in a trie
//! (`trie.rs`) and follows the parents. Whether there is a network at all is mostly known without
//! the trie (`coverage.rs`).

mod bits;
mod build;
mod coverage;
mod lines;
mod narrow_lines;
mod prefix;
mod segments;
mod smallest;
mod trie;

#[cfg(test)]
mod tests;

use segments::{NESTED, NO_NETWORK, Owner};
pub use smallest::{SmallestNetwork, SmallestNetworks};
use std::net::IpAddr;

/// Finds the networks (CIDR blocks) that contain an address.
///
/// Only networks of the address's own family match. An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`)
/// counts as IPv6: convert it with [`IpAddr::to_canonical`] first if it should match IPv4 networks.
///
/// A lookup reads one or two cache lines in most sets, else a few blocks of a trie, and for all
/// matches one word for each network that contains the address but the smallest. The number of
/// blocks is at most logarithmic in the number of networks, whatever they are. In sets of 16,384
/// IPv4 networks and more, [`any`](Self::any) reads only two bits for most addresses, of at most
/// one MiB.
///
/// Memory: 14 to 28 bytes for an IPv4 network in sets of 1,000 to 1,000,000, 4 of them only if some
/// networks are nested; twice that in sets of up to 1,024 networks of which some are nested; more
/// for IPv6 networks with many bits. Sets that are chosen to be large take at most 48 bytes for
/// each IPv4 network, and 64 for each one of IPv6 or of such a small set.
///
/// ```
/// use celero_matching::Networks;
///
/// let networks = Networks::new(&[("10.0.0.0".parse()?, 8), ("10.1.0.0".parse()?, 16), ("2001:db8::".parse()?, 32)]);
/// assert!(networks.matches("10.1.2.3".parse()?).eq([1, 0])); // the smallest network first
/// assert_eq!(networks.longest("10.1.2.3".parse()?), Some(1));
/// assert!(!networks.any("192.0.2.1".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Networks {
    smallest: SmallestNetworks,
    /// Indexed by id: the next larger network that contains it. Empty if no network is in another one.
    parents: Box<[Owner]>,
}

/// The ids of the networks that contain an address, the smallest network first; see [`Networks::matches`].
#[derive(Clone, Debug)]
pub struct Matches<'n> {
    next: Owner,
    parents: &'n [Owner],
}

impl Networks {
    /// The largest number of networks. The blocks of so many can be counted whatever they are.
    pub const MAX: usize = 1 << 28;

    /// Builds the set of `networks`, each an address and a prefix length, in O(n log n). The id of
    /// a network is its index. Bits of the address after the prefix are ignored; a prefix longer
    /// than an address counts as the whole address. Of equal networks all match. Networks after the
    /// first [`Networks::MAX`] do not match.
    #[must_use]
    pub fn new(networks: &[(IpAddr, u8)]) -> Self {
        let mut parents = Vec::new();
        let smallest = SmallestNetworks::with_parents(networks, |id, outer| {
            if parents.is_empty() {
                parents.resize(networks.len(), NO_NETWORK);
            }
            if let Some(parent) = parents.get_mut(id as usize) {
                *parent = outer;
            }
        });
        Self { smallest, parents: parents.into() }
    }

    /// The ids of all networks that contain `address`, each once, the smallest network first.
    #[inline]
    #[must_use]
    pub fn matches(&self, address: IpAddr) -> Matches<'_> {
        Matches { next: self.smallest.owner(address), parents: &self.parents }
    }

    /// Calls `hit` once with the id of each network that contains `address`, the smallest network first.
    #[inline]
    pub fn for_each(&self, address: IpAddr, hit: impl FnMut(u32)) {
        self.matches(address).for_each(hit);
    }

    /// The id of the smallest network that contains `address`: the one with the longest prefix. Of
    /// equal networks, the last one.
    #[inline]
    #[must_use]
    pub fn longest(&self, address: IpAddr) -> Option<u32> {
        self.smallest.find(address).map(|found| found.id)
    }

    /// Whether some network contains `address`.
    #[inline]
    #[must_use]
    pub fn any(&self, address: IpAddr) -> bool {
        self.smallest.any(address)
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.smallest.heap_bytes().saturating_add(size_of_val(&*self.parents))
    }
}

impl Iterator for Matches<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let owner = self.next;
        if owner == NO_NETWORK {
            return None;
        }
        let id = owner & !NESTED;
        self.next = if owner == id { NO_NETWORK } else { self.parents.get(id as usize).copied().unwrap_or(NO_NETWORK) };
        Some(id)
    }
}

impl std::iter::FusedIterator for Matches<'_> {}
