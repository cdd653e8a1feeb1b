//! [`SmallestNetworks`]: the smallest network that contains an address.

use super::Networks;
use super::build::build;
use super::coverage::Coverage;
use super::segments::{NESTED, NO_NETWORK, Network, Owner, last_bits, segments};
use super::trie::Trie;
use std::net::IpAddr;

/// Finds the smallest of the networks that contain an address, and whether there are others:
/// [`Networks`] without those, which takes 4 bytes less for each network where some are nested. All
/// that is said there of families, lookups and memory holds here too.
///
/// ```
/// use celero_matching::SmallestNetworks;
///
/// let networks = SmallestNetworks::new(&[("10.0.0.0".parse()?, 8), ("10.1.0.0".parse()?, 16)]);
/// let found = networks.find("10.1.2.3".parse()?).unwrap();
/// assert_eq!((found.id, found.is_nested), (1, true));
/// assert!(!networks.any("192.0.2.1".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SmallestNetworks {
    pub(super) v4: Trie<u32>,
    pub(super) v6: Trie<u128>,
    pub(super) v4_coverage: Coverage,
}

/// A network that contains an address, and that no network in it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmallestNetwork {
    /// Its id.
    pub id: u32,
    /// Whether it is part of a larger one, or equal to another one.
    pub is_nested: bool,
}

impl SmallestNetwork {
    #[inline(always)]
    fn of(owner: Owner) -> Option<Self> {
        (owner != NO_NETWORK).then_some(Self { id: owner & !NESTED, is_nested: owner & NESTED != 0 })
    }
}

impl SmallestNetworks {
    /// Builds the set of `networks`, as [`Networks::new`] does. Of equal networks, the last one is found.
    #[must_use]
    pub fn new(networks: &[(IpAddr, u8)]) -> Self {
        Self::with_parents(networks, |_, _| {})
    }

    /// Builds the set. Calls `parent` with the id of each network that is in another one, and that one.
    pub(super) fn with_parents(networks: &[(IpAddr, u8)], mut parent: impl FnMut(u32, Owner)) -> Self {
        let (mut v4, mut v6): (Vec<Network<u32>>, Vec<Network<u128>>) = (Vec::new(), Vec::new());
        for (id, (address, prefix)) in (0..).zip(networks).take(Networks::MAX) {
            match address {
                IpAddr::V4(address) => {
                    let prefix = (*prefix).min(32);
                    let within = last_bits(32_u32.saturating_sub(prefix.into())) as u32;
                    v4.push((address.to_bits() & !within, prefix, id));
                }
                IpAddr::V6(address) => {
                    let prefix = (*prefix).min(128);
                    let within = last_bits(128_u32.saturating_sub(prefix.into()));
                    v6.push((address.to_bits() & !within, prefix, id));
                }
            }
        }
        let lengths: Vec<u8> = networks.iter().map(|(_, prefix)| *prefix).collect();
        let v4_networks = v4.len();
        let v4 = segments(v4, &mut parent);
        let v4_coverage = Coverage::new(&v4, v4_networks);
        let v6 = build(&segments(v6, &mut parent), &lengths);
        Self { v4: build(&v4, &lengths), v6, v4_coverage }
    }

    /// The smallest network that contains `address`, or [`NO_NETWORK`].
    #[inline]
    pub(super) fn owner(&self, address: IpAddr) -> Owner {
        match address {
            IpAddr::V4(address) => self.owner_v4(address.to_bits()),
            IpAddr::V6(address) => self.owner_v6(address.to_bits()),
        }
    }

    #[inline(always)]
    fn owner_v4(&self, address: u32) -> Owner {
        self.v4.owner(address)
    }

    #[inline(never)]
    fn owner_v6(&self, address: u128) -> Owner {
        self.v6.owner(address)
    }

    /// Returns the network with the longest prefix that contains `address`. Of equal networks, the last one.
    #[inline]
    #[must_use]
    pub fn find(&self, address: IpAddr) -> Option<SmallestNetwork> {
        SmallestNetwork::of(self.owner(address))
    }

    /// As [`find`](Self::find) of an address as the bits of an IPv6 address, an IPv4 address in its
    /// IPv4-mapped form (`::ffff:192.0.2.7`): a number that stays in registers. A network of IPv6
    /// never contains an IPv4 address.
    #[inline]
    #[must_use]
    pub fn find_mapped(&self, address: u128) -> Option<SmallestNetwork> {
        SmallestNetwork::of(match (address >> 32, address as u32) {
            (0xffff, v4) => self.owner_v4(v4),
            _ => self.owner_v6(address),
        })
    }

    /// Returns whether some network contains `address`.
    #[inline]
    #[must_use]
    pub fn any(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => self.any_v4(address.to_bits()),
            IpAddr::V6(address) => self.owner_v6(address.to_bits()) != NO_NETWORK,
        }
    }

    /// As [`any`](Self::any), of an address as for [`find_mapped`](Self::find_mapped).
    #[inline]
    #[must_use]
    pub fn any_mapped(&self, address: u128) -> bool {
        match (address >> 32, address as u32) {
            (0xffff, v4) => self.any_v4(v4),
            _ => self.owner_v6(address) != NO_NETWORK,
        }
    }

    /// Returns whether some network may contain an address as for
    /// [`find_mapped`](Self::find_mapped): `false` is certain, and known without looking for the
    /// network.
    #[inline]
    #[must_use]
    pub fn may_contain_mapped(&self, address: u128) -> bool {
        match (address >> 32, address as u32) {
            (0xffff, v4) => self.v4_coverage.contains(v4) != Some(false),
            _ => true,
        }
    }

    #[inline(always)]
    fn any_v4(&self, address: u32) -> bool {
        self.v4_coverage.contains(address).unwrap_or_else(|| self.v4.any(address))
    }

    /// Returns the bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.v4.heap_bytes().saturating_add(self.v6.heap_bytes()).saturating_add(self.v4_coverage.heap_bytes())
    }
}
