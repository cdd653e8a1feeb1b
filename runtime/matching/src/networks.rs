//! Finds all networks that contain an IP address.
//!
//! Two networks are either nested or disjoint. So the addresses of a family are divided into intervals, each with the smallest
//! network that contains it, and each network has a parent: the next larger network around it. A lookup searches the interval
//! of the address and follows the parents.

use std::net::IpAddr;

/// Finds all networks (CIDR blocks) that contain an address.
///
/// Only networks of the address's own family match. An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) counts as IPv6: convert it
/// with [`IpAddr::to_canonical`] first if it should match IPv4 networks.
///
/// A lookup is a binary search of the intervals, for IPv4 only of those in the page of the address's upper bits, plus one step
/// for each network that contains the address. Memory: for each network about 20 bytes (IPv4) or 44 bytes (IPv6), plus at most
/// 256 KiB of pages.
///
/// ```
/// use celero_matching::NetworkMap;
///
/// let networks = NetworkMap::new(&[("10.0.0.0".parse()?, 8), ("10.1.0.0".parse()?, 16), ("2001:db8::".parse()?, 32)]);
/// let mut found = Vec::new();
/// networks.for_each("10.1.2.3".parse()?, |id| found.push(id));
/// assert_eq!(found, [1, 0]); // the smallest network first
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NetworkMap {
    v4: Intervals<u32>,
    /// Indexed by the upper bits of an IPv4 address: the interval that contains the first address of the page. One more entry is
    /// the last interval.
    pages: Box<[u32]>,
    /// Number of bits of an IPv4 address below those that select its page.
    page_bits: u32,
    v6: Intervals<u128>,
    /// Indexed by id: the next larger network that contains it, or [`NO_NETWORK`].
    parents: Box<[u32]>,
}

#[derive(Clone, Debug)]
struct Intervals<T> {
    /// Sorted; the first is 0. An interval ends before the next one starts.
    starts: Box<[T]>,
    /// The smallest network that contains each interval, or [`NO_NETWORK`].
    owners: Box<[u32]>,
}

/// The id where there is no network.
const NO_NETWORK: u32 = u32::MAX;
/// Binary logarithm of the largest number of pages.
const MAX_PAGES_LOG2: u32 = 16;

impl NetworkMap {
    /// Builds the map of `networks`, each an address and a prefix length, in O(n log n). The id of a network is its index. Bits of
    /// the address after the prefix are ignored; a prefix longer than an address counts as the whole address.
    #[must_use]
    pub fn new(networks: &[(IpAddr, u8)]) -> Self {
        let mut parents = vec![NO_NETWORK; networks.len()];
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for (id, (address, prefix)) in (0_u32..).zip(networks) {
            let (bits, width, family) = match address {
                IpAddr::V4(address) => (u128::from(address.to_bits()), 32_u32, &mut v4),
                IpAddr::V6(address) => (address.to_bits(), 128_u32, &mut v6),
            };
            let within = low_bits(width.saturating_sub(u32::from(*prefix)));
            family.push(Network { first: bits & !within, last: bits | within, id });
        }
        let v4 = Intervals::new(v4, &mut parents, |address| u32::try_from(address).ok());
        let v6 = Intervals::new(v6, &mut parents, Some);

        let page_bits = 32_u32.saturating_sub(v4.starts.len().ilog2().min(MAX_PAGES_LOG2));
        let pages = 1_u64.wrapping_shl(32_u32.saturating_sub(page_bits));
        let starts = (0..pages).map(|page| v4.interval_of((page << page_bits) as u32, 0, v4.starts.len()));
        let end = v4.starts.len().saturating_sub(1);
        let pages = starts.chain([end]).map(|interval| u32::try_from(interval).unwrap_or(NO_NETWORK)).collect();
        Self { v4, pages, page_bits, v6, parents: parents.into() }
    }

    /// Calls `hit` once with the id of each network that contains `address`, the smallest network first.
    #[inline]
    pub fn for_each(&self, address: IpAddr, mut hit: impl FnMut(u32)) {
        let owner = match address {
            IpAddr::V4(address) => {
                let page = u64::from(address.to_bits()).wrapping_shr(self.page_bits) as usize;
                let Some([from, to]) = self.pages.get(page..).and_then(<[u32]>::first_chunk) else { return };
                self.v4.owner(address.to_bits(), *from as usize, (*to as usize).saturating_add(1))
            }
            IpAddr::V6(address) => self.v6.owner(address.to_bits(), 0, self.v6.starts.len()),
        };
        let mut next = owner;
        while let Some(id) = next.filter(|id| *id != NO_NETWORK) {
            hit(id);
            next = self.parents.get(id as usize).copied();
        }
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let ids = [&*self.pages, &*self.parents].map(size_of_val);
        ids.into_iter().chain([self.v4.heap_bytes(), self.v6.heap_bytes()]).fold(0, usize::saturating_add)
    }
}

/// The first and the last address of a network, as numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Network {
    first: u128,
    last: u128,
    id: u32,
}

impl<T: Copy + Ord> Intervals<T> {
    /// Builds the intervals of the networks of one family, and stores each network's parent.
    fn new(mut networks: Vec<Network>, parents: &mut [u32], number: impl Fn(u128) -> Option<T>) -> Self {
        // A network comes after all networks that contain it.
        networks.sort_unstable_by_key(|network| (network.first, std::cmp::Reverse(network.last), network.id));
        let mut intervals: Vec<(u128, u32)> = vec![(0, NO_NETWORK)];
        let mut starts_with = |address, owner| match intervals.last_mut() {
            Some(last) if last.0 == address => last.1 = owner,
            _ => intervals.push((address, owner)),
        };
        let mut around: Vec<Network> = Vec::new();
        for network in networks {
            while let Some(ended) = around.pop_if(|outer| outer.last < network.first) {
                starts_with(ended.last.saturating_add(1), around.last().map_or(NO_NETWORK, |outer| outer.id));
            }
            if let Some((parent, outer)) = parents.get_mut(network.id as usize).zip(around.last()) {
                *parent = outer.id;
            }
            starts_with(network.first, network.id);
            around.push(network);
        }
        while let Some(ended) = around.pop() {
            // Nothing follows a network that ends with the last address.
            if let Some(next) = ended.last.checked_add(1) {
                starts_with(next, around.last().map_or(NO_NETWORK, |outer| outer.id));
            }
        }
        let (starts, owners): (Vec<T>, Vec<u32>) =
            intervals.into_iter().filter_map(|(address, owner)| number(address).zip(Some(owner))).unzip();
        Self { starts: starts.into(), owners: owners.into() }
    }

    /// The last interval that starts at `address` or before it. It must be one of `from..to`.
    #[inline(always)]
    fn interval_of(&self, address: T, from: usize, to: usize) -> usize {
        let among = self.starts.get(from..to).unwrap_or_default();
        from.saturating_add(among.partition_point(|start| *start <= address)).saturating_sub(1)
    }

    #[inline(always)]
    fn owner(&self, address: T, from: usize, to: usize) -> Option<u32> {
        self.owners.get(self.interval_of(address, from, to)).copied()
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.starts).saturating_add(size_of_val(&*self.owners))
    }
}

/// A number with the lowest `count` bits set.
fn low_bits(count: u32) -> u128 {
    u128::MAX.checked_shr(128_u32.saturating_sub(count)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, distinct};
    use std::net::{Ipv4Addr, Ipv6Addr};

    /// Whether the first `prefix` bits of both addresses are the same, and their families.
    fn contains(network: IpAddr, prefix: u8, address: IpAddr) -> bool {
        let common = match (network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => (network.to_bits() ^ address.to_bits()).leading_zeros(),
            (IpAddr::V6(network), IpAddr::V6(address)) => (network.to_bits() ^ address.to_bits()).leading_zeros(),
            _ => return false,
        };
        common >= u32::from(prefix)
    }

    fn check(networks: &[(IpAddr, u8)], addresses: impl IntoIterator<Item = IpAddr>) {
        let map = NetworkMap::new(networks);
        for address in addresses {
            let mut found = Vec::new();
            map.for_each(address, |id| found.push(id));
            let prefixes: Vec<u8> = found.iter().map(|id| networks[*id as usize].1).collect();
            assert!(prefixes.is_sorted_by(|a, b| a >= b), "{prefixes:?}");
            found.sort_unstable();
            let holds = |(_, (network, prefix)): &(u32, &(IpAddr, u8))| contains(*network, *prefix, address);
            let right: Vec<u32> = (0..).zip(networks).filter(holds).map(|(id, _)| id).collect();
            assert_eq!(found, right, "{address} in {networks:?}");
        }
    }

    /// The addresses at the ends of a network, and those next to them.
    fn around((address, prefix): (IpAddr, u8)) -> Vec<IpAddr> {
        let near = |bits: u128, width: u32| {
            let within = low_bits(width.saturating_sub(u32::from(prefix)));
            [bits & !within, bits | within].map(|end| [end.wrapping_sub(1), end, end.wrapping_add(1)]).concat()
        };
        match address {
            IpAddr::V4(v4) => {
                near(v4.to_bits().into(), 32).iter().map(|n| Ipv4Addr::from_bits(*n as u32).into()).collect()
            }
            IpAddr::V6(v6) => near(v6.to_bits(), 128).into_iter().map(|n| Ipv6Addr::from_bits(n).into()).collect(),
        }
    }

    #[test]
    fn agrees_with_a_comparison_of_bits_at_the_edges() {
        let networks = [
            ("0.0.0.0", 0),
            ("10.1.2.3", 0),
            ("10.0.0.0", 8),
            ("10.1.2.3", 8),
            ("10.1.2.3", 31),
            ("10.1.2.3", 32),
            ("10.1.2.2", 32),
            ("0.0.0.0", 32),
            ("255.255.255.255", 32),
            ("255.255.255.0", 24),
            ("128.0.0.0", 1),
            ("::", 0),
            ("::1", 0),
            ("::", 80),
            ("::", 96),
            ("::", 97),
            ("::ffff:0:0", 96),
            ("::ffff:a01:203", 104),
            ("::ffff:a01:203", 128),
            ("2001:db8::", 32),
            ("2001:db8::1", 64),
            ("2001:db8::1", 65),
            ("2001:db8::1", 128),
            ("::", 128),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 128),
        ]
        .map(|(address, prefix)| (address.parse::<IpAddr>().unwrap(), prefix));
        let addresses: Vec<IpAddr> = networks.into_iter().flat_map(around).collect();
        let canonical = addresses.iter().map(IpAddr::to_canonical);
        check(&networks, addresses.iter().copied().chain(canonical));
        for network in networks {
            check(&[network], addresses.iter().copied());
        }
        check(&[], addresses);
    }

    #[test]
    fn agrees_with_a_comparison_of_bits_on_random_networks() {
        let mut rng = Rng::new(1);
        for round in 0..300 {
            let mut network = || {
                let bits = (rng.word() & 0x0303_0303) as u32;
                let prefix = [0, 6, 7, 8, 15, 16, 22, 24, 30, 31, 32][rng.below(11)];
                if rng.below(2) == 0 {
                    (IpAddr::from(Ipv4Addr::from_bits(bits)), prefix)
                } else {
                    let bits = u128::from(bits) << [0, 32, 96][rng.below(3)];
                    (IpAddr::from(Ipv6Addr::from_bits(bits)), prefix * 4)
                }
            };
            let networks = distinct((0..round % 40).map(|_| network()));
            let others: Vec<_> = (0..20).map(|_| network()).collect();
            check(&networks, networks.iter().chain(&others).flat_map(|network| around(*network)));
        }
    }

    #[test]
    fn many_networks_are_small() {
        let networks: Vec<(IpAddr, u8)> = (0..100_000).map(|n| (Ipv4Addr::from_bits(n << 12).into(), 24)).collect();
        let map = NetworkMap::new(&networks);
        for (id, (address, _)) in (0..).zip(&networks) {
            let mut found = Vec::new();
            map.for_each(*address, |id| found.push(id));
            assert_eq!(found, [id]);
        }
        assert!(map.heap_bytes() < 24 * networks.len(), "{}", map.heap_bytes());
    }
}
