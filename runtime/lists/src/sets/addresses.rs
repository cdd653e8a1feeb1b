//! Networks of both families.

use super::column::{Column, V4Firsts};
use super::{EntrySet, Keys};
use crate::entry::{Key, Network};
use crate::error::TooLarge;
use celero_matching::SmallestNetworks;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A set of networks. Their numbers are in the order of their first addresses, those of IPv4 first.
pub(crate) struct Addresses {
    networks: SmallestNetworks,
    v4: Column<V4Firsts>,
    v6: Column<Box<[u128]>>,
}

impl From<Network> for Key {
    fn from(network: Network) -> Self {
        Self::Network(network)
    }
}

impl EntrySet for Addresses {
    type Key = Network;
    /// The bits of IPv6; an address of IPv4 in its IPv4-mapped form. A number is passed in
    /// registers: an `IpAddr` is written to memory byte by byte, and reading it as a whole waits
    /// for that.
    type Value<'a> = u128;
    /// The length of the prefix.
    type Rank = u8;

    fn build(keys: Vec<Network>) -> Result<Self, TooLarge> {
        let pairs: Vec<(IpAddr, u8)> = keys.into_iter().map(|key| (key.address, key.prefix)).collect();
        let v4 = pairs.iter().filter_map(|(address, prefix)| match address {
            IpAddr::V4(address) => Some((address.to_bits(), *prefix)),
            IpAddr::V6(_) => None,
        });
        let v6 = pairs.iter().filter_map(|(address, prefix)| match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some((address.to_bits(), *prefix)),
        });
        Ok(Self { networks: SmallestNetworks::new(&pairs), v4: Column::new(v4), v6: Column::new(v6) })
    }

    fn len(&self) -> usize {
        self.v4.len().saturating_add(self.v6.len())
    }

    fn key(&self, id: u32) -> Option<Network> {
        let index = id as usize;
        let (address, prefix): (IpAddr, u8) = match index.checked_sub(self.v4.len()) {
            None => self.v4.get(index).map(|(first, prefix)| (Ipv4Addr::from_bits(first).into(), prefix))?,
            Some(index) => self.v6.get(index).map(|(first, prefix)| (Ipv6Addr::from_bits(first).into(), prefix))?,
        };
        Some(Network { address, prefix })
    }

    #[inline]
    fn contains(&self, address: u128) -> bool {
        self.networks.any_mapped(address)
    }

    #[inline]
    fn any(&self, address: u128, counts: impl FnMut(u32) -> bool) -> bool {
        self.networks.may_contain_mapped(address) && self.most_specific(address, counts).is_some()
    }

    #[inline]
    fn most_specific(&self, address: u128, mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        let found = self.networks.find_mapped(address)?;
        if counts(found.id) {
            return Some(found.id);
        }
        if found.is_nested { self.around(found.id, counts) } else { None }
    }

    fn rank(&self, id: u32) -> u8 {
        self.key(id).map_or(0, |network| network.prefix)
    }

    fn id_of(&self, key: &Network) -> Option<u32> {
        let position = match key.address {
            IpAddr::V4(first) => self.v4.position(first.to_bits(), key.prefix)?,
            IpAddr::V6(first) => self.v6.position(first.to_bits(), key.prefix)?.checked_add(self.v4.len())?,
        };
        u32::try_from(position).ok()
    }

    fn is_among(&self, id: u32, keys: &Keys<Network>) -> bool {
        self.key(id).is_some_and(|key| keys.contains(&key))
    }

    fn key_of(key: Key) -> Option<Network> {
        if let Key::Network(network) = key { Some(network) } else { None }
    }

    fn heap_bytes(&self) -> usize {
        let columns = self.v4.heap_bytes().saturating_add(self.v6.heap_bytes());
        columns.saturating_add(self.networks.heap_bytes())
    }
}

impl Addresses {
    /// The smallest network that `counts` of those that contain the network of a number.
    #[inline(never)]
    fn around(&self, id: u32, mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        let (index, of_v4) = (id as usize, self.v4.len());
        let mut counted = |place: usize| u32::try_from(place).ok().filter(|id| counts(*id));
        match index.checked_sub(of_v4) {
            None => self.v4.around(index).find_map(counted),
            Some(index) => self.v6.around(index).find_map(|place| counted(place.saturating_add(of_v4))),
        }
    }
}
