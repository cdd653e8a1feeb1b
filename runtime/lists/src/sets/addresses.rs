//! Networks of both families.

use super::{EntrySet, Keys};
use crate::entry::{Key, Network};
use celero_matching::Networks;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A set of networks. Their numbers are in the order of their first addresses, those of IPv4 first.
pub(crate) struct Addresses {
    networks: Networks,
    v4: Column<u32>,
    v6: Column<u128>,
}

/// The networks of one family, in order.
struct Column<T> {
    first: Box<[T]>,
    prefix: Box<[u8]>,
}

impl<T: Copy + Ord> Column<T> {
    fn new(networks: impl Iterator<Item = (T, u8)>) -> Self {
        let (first, prefix): (Vec<T>, Vec<u8>) = networks.unzip();
        Self { first: first.into(), prefix: prefix.into() }
    }

    fn get(&self, index: usize) -> Option<(T, u8)> {
        Some((*self.first.get(index)?, *self.prefix.get(index)?))
    }

    fn position(&self, first: T, prefix: u8) -> Option<usize> {
        let from = self.first.partition_point(|other| *other < first);
        let mut same =
            (from..).map_while(|index| Some((index, self.get(index)?))).take_while(|(_, own)| own.0 == first);
        same.find(|(_, own)| own.1 == prefix).map(|(index, _)| index)
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.first).saturating_add(self.prefix.len())
    }
}

impl From<Network> for Key {
    fn from(network: Network) -> Self {
        Self::Network(network)
    }
}

impl EntrySet for Addresses {
    type Key = Network;
    type Value<'a> = IpAddr;
    /// The length of the prefix.
    type Rank = u8;

    fn build(keys: Vec<Network>) -> Option<Self> {
        let pairs: Vec<(IpAddr, u8)> = keys.iter().map(|key| (key.address, key.prefix)).collect();
        let v4 = pairs.iter().filter_map(|(address, prefix)| match address {
            IpAddr::V4(address) => Some((address.to_bits(), *prefix)),
            IpAddr::V6(_) => None,
        });
        let v6 = pairs.iter().filter_map(|(address, prefix)| match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some((address.to_bits(), *prefix)),
        });
        Some(Self { networks: Networks::new(&pairs), v4: Column::new(v4), v6: Column::new(v6) })
    }

    fn len(&self) -> usize {
        self.v4.first.len().saturating_add(self.v6.first.len())
    }

    fn key(&self, id: u32) -> Option<Network> {
        let index = id as usize;
        let (address, prefix): (IpAddr, u8) = match index.checked_sub(self.v4.first.len()) {
            None => self.v4.get(index).map(|(first, prefix)| (Ipv4Addr::from_bits(first).into(), prefix))?,
            Some(index) => self.v6.get(index).map(|(first, prefix)| (Ipv6Addr::from_bits(first).into(), prefix))?,
        };
        Some(Network { address, prefix })
    }

    #[inline]
    fn any(&self, address: IpAddr, counts: impl FnMut(u32) -> bool) -> bool {
        self.networks.matches(address.to_canonical()).any(counts)
    }

    #[inline]
    fn most_specific(&self, address: IpAddr, mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        // The smallest network comes first.
        self.networks.matches(address.to_canonical()).find(|id| counts(*id))
    }

    fn rank(&self, id: u32) -> u8 {
        self.key(id).map_or(0, |network| network.prefix)
    }

    fn id_of(&self, key: &Network) -> Option<u32> {
        let position = match key.address {
            IpAddr::V4(first) => self.v4.position(first.to_bits(), key.prefix)?,
            IpAddr::V6(first) => self.v6.position(first.to_bits(), key.prefix)?.checked_add(self.v4.first.len())?,
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
