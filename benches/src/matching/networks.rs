//! Networks that contain an address: 4,096 addresses, of which every second is in one of the networks for certain.

use super::{Contender, Workload};
use crate::rulesets::rng::Rng;
use celero_matching::Networks;
use ip_network_table_deps_treebitmap::IpLookupTable;
use iptrie::Ipv4Prefix;
use iptrie::map::RTrieMap;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;

/// `N1000` and the like: how many networks. `apart`: all have 24 bits. `nested`: of 16 to 32 bits,
/// a third within another one. `all` asks for all matches, `longest` for the longest one.
pub(super) const NAMES: &[&str] = &[
    "N1000_apart_all",
    "N1000_apart_longest",
    "N1000_nested_all",
    "N1000_nested_longest",
    "N100000_apart_all",
    "N100000_apart_longest",
    "N100000_nested_all",
    "N100000_nested_longest",
    "N1000000_nested_all",
    "N1000000_nested_longest",
];

/// An address and the length of a prefix.
pub(crate) type Network = (Ipv4Addr, u8);

pub(super) fn workload(name: &str) -> Workload<Ipv4Addr> {
    let mut parts = name.trim_start_matches('N').split('_');
    let count = parts.next().and_then(|count| count.parse().ok()).expect("a number of networks");
    let (nested, longest) = (parts.next() == Some("nested"), parts.next() == Some("longest"));
    let mut rng = Rng::new(17);
    let networks = Rc::new(generate(count, nested, &mut rng));
    let values = (0..4096).map(|n| {
        let (network, prefix) = if n % 2 == 0 { (Ipv4Addr::UNSPECIFIED, 0) } else { *rng.pick(&networks) };
        let within = u32::MAX.checked_shr(prefix.into()).unwrap_or(0);
        Ipv4Addr::from_bits(network.to_bits() | (rng.bits() as u32 & within))
    });
    let values = values.collect();
    let of = |networks: &Rc<Vec<Network>>| Rc::clone(networks);
    let list: Vec<(IpAddr, u8)> = networks.iter().map(|(address, prefix)| ((*address).into(), *prefix)).collect();
    let own = move || Networks::new(&list);
    let (for_bitmap, for_trie) = (of(&networks), of(&networks));
    let bitmap = move || {
        let mut table = IpLookupTable::with_capacity(for_bitmap.len());
        for (id, (address, prefix)) in (0_u32..).zip(&*for_bitmap) {
            table.insert(*address, u32::from(*prefix), id);
        }
        table
    };
    let contenders = if longest {
        let trie = move || {
            let prefix = |(address, length): &Network| Ipv4Prefix::new(*address, *length).expect("a prefix");
            // Its root contains all addresses; no network here does.
            let mut map = RTrieMap::with_root_and_capacity(u32::MAX, for_trie.len());
            for (id, network) in (0_u32..).zip(&*for_trie) {
                map.insert(prefix(network), id);
            }
            map.compress()
        };
        vec![
            Contender::new("celero", own, |map, address: &Ipv4Addr, found| {
                found.extend(map.longest((*address).into()))
            }),
            Contender::new("treebitmap", bitmap, |map, address, found| {
                found.extend(map.longest_match(*address).map(|(_, _, id)| *id));
            }),
            Contender::new("iptrie_lc", trie, |map, address, found| {
                found.extend(Some(*map.lookup(address).1).filter(|id| *id != u32::MAX));
            }),
        ]
    } else {
        vec![
            Contender::new("celero", own, |map, address: &Ipv4Addr, found| {
                found.extend(map.matches((*address).into()))
            }),
            Contender::new("treebitmap", bitmap, |map, address, found| {
                found.extend(map.matches(*address).map(|(_, _, id)| *id));
            }),
        ]
    };
    Workload { name: name.into(), values, contenders }
}

/// Different networks, in no order; if `nested`, with the lengths of prefixes of routing tables,
/// every third within another one.
pub(crate) fn generate(count: usize, nested: bool, rng: &mut Rng) -> Vec<Network> {
    let mut seen = BTreeSet::new();
    let mut networks: Vec<Network> = Vec::with_capacity(count);
    while networks.len() < count {
        let inside = nested && networks.len() % 3 == 2;
        let (around, least) = if inside { *rng.pick(&networks) } else { (Ipv4Addr::UNSPECIFIED, 0) };
        let prefix = match (nested, inside) {
            (false, _) => 24,
            (true, false) => *rng.pick(&[16, 18, 19, 20, 21, 22, 22, 23, 24, 24, 24, 24, 24, 28, 32]),
            (true, true) => least.saturating_add(1).saturating_add(rng.below(6) as u8).min(32),
        };
        let within = u32::MAX.checked_shr(least.into()).unwrap_or(0);
        let after = u32::MAX.checked_shr(prefix.into()).unwrap_or(0);
        let network = (Ipv4Addr::from_bits((around.to_bits() | (rng.bits() as u32 & within)) & !after), prefix);
        if seen.insert(network) {
            networks.push(network);
        }
    }
    networks
}
