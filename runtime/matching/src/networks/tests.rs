//! Answers against a comparison of bits, and bounds on memory and on blocks read.

use super::bits::MAX_KEYS;
use super::segments::last_bits;
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
    let map = Networks::new(networks);
    for address in addresses {
        let mut found: Vec<u32> = map.matches(address).collect();
        assert_eq!(map.longest(address), found.first().copied());
        assert_eq!(map.any(address), !found.is_empty());
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
        let within = last_bits(width.saturating_sub(u32::from(prefix)));
        [bits & !within, bits | within].map(|end| [end.wrapping_sub(1), end, end.wrapping_add(1)]).concat()
    };
    match address {
        IpAddr::V4(v4) => near(v4.to_bits().into(), 32).iter().map(|n| Ipv4Addr::from_bits(*n as u32).into()).collect(),
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
    let map = Networks::new(&networks);
    for (id, (address, _)) in (0..).zip(&networks) {
        let mut found = Vec::new();
        map.for_each(*address, |id| found.push(id));
        assert_eq!(found, [id]);
    }
    assert!(map.heap_bytes() < 24 * networks.len(), "{}", map.heap_bytes());
}

#[test]
fn agrees_with_a_comparison_of_bits_on_many_networks() {
    let mut rng = Rng::new(2);
    for (count, spread) in [(300, 0x0f03_ffff), (1_500, 0x3fff_ffff), (1_500, 0x0001_ffff)] {
        for v6 in [false, true] {
            let mut network = || {
                let bits = (rng.word() & spread) as u32;
                let prefix = 12 + rng.below(21) as u8;
                if v6 {
                    // Some differ in the first bits only, some in the last ones.
                    let bits = u128::from(bits) << [0, 40, 80, 96][rng.below(4)] | 0x2001 << 112;
                    (IpAddr::from(Ipv6Addr::from_bits(bits)), prefix * 4)
                } else {
                    (IpAddr::from(Ipv4Addr::from_bits(bits)), prefix)
                }
            };
            let mut networks: Vec<_> = (0..count).map(|_| network()).collect();
            networks.extend_from_within(..5);
            let some: Vec<_> = networks.iter().step_by(7).copied().collect();
            let others: Vec<_> = (0..100).map(|_| network()).collect();
            check(&networks, some.iter().chain(&others).flat_map(|network| around(*network)));
        }
    }
}

/// Sets of networks that are chosen to make the trie deep or large, as numbers of 32 bits and lengths.
#[expect(clippy::arithmetic_side_effects, reason = "tests")]
fn hostile_sets() -> Vec<(&'static str, Vec<(u32, u8)>)> {
    let mut rng = Rng::new(3);
    let count = 20_000;
    // In each step one of two halves has all but a few networks.
    let chain = (0..32).flat_map(|n| [(0, n + 1), (1_u32 << (31 - n), 32), (u32::MAX << n, 32 - n)]);
    let halves = (0..count).map(|n| ((rng.word() as u32 & 0xffff) >> (n % 16), 32));
    let mut rng = Rng::new(4);
    let one_slot = (0..count).map(|_| (rng.word() as u32 & 0x0000_3fff, 32)).chain([(1 << 31, 1), (1 << 30, 9)]);
    let mut rng = Rng::new(5);
    let skewed = (0..count).map(|n| (rng.word() as u32 >> (n % 29), 32 - (n % 7) as u8));
    let pairs = (0..count).map(|n| ((n / 2) << 14 | (n % 2) << 13, 19));
    // Half of these few networks are left to lines below the root's.
    let crowded = (0..31).flat_map(|slot| (0..13).map(move |n| (slot << 23 | n << 19, 24)));
    let few_nested = crowded.chain((31..447).map(|slot| (slot << 23, 16))).chain([(31 << 23, 24)]);
    vec![
        ("chain", chain.collect()),
        ("halves", halves.collect()),
        ("one slot", one_slot.collect()),
        ("skewed", skewed.collect()),
        ("pairs", pairs.collect()),
        ("few nested", few_nested.collect()),
    ]
}

#[test]
fn hostile_sets_are_neither_deep_nor_large() {
    for (name, set) in hostile_sets() {
        let set = distinct(set.into_iter());
        for shift in [0, 30, 64, 96] {
            let v4: Vec<(IpAddr, u8)> = set.iter().map(|(a, p)| (Ipv4Addr::from_bits(*a).into(), *p)).collect();
            let at = |a: u32| IpAddr::from(Ipv6Addr::from_bits(u128::from(a) << shift));
            let v6: Vec<(IpAddr, u8)> = set.iter().map(|(a, p)| (at(*a), p + 96 - shift as u8)).collect();
            let map = Networks::new(&[v4.clone(), v6].concat());
            let blocks = |address: IpAddr| {
                let mut blocks = 0_u32;
                let found = match address {
                    IpAddr::V4(address) => {
                        map.smallest.v4.walk(address.to_bits(), map.smallest.v4.root, |_| blocks += 1)
                    }
                    IpAddr::V6(address) => {
                        map.smallest.v6.walk(address.to_bits(), map.smallest.v6.root, |_| blocks += 1)
                    }
                };
                assert!(found.is_some(), "{name}");
                blocks
            };
            let most = set.iter().flat_map(|(a, _)| [blocks(Ipv4Addr::from_bits(*a).into()), blocks(at(*a))]).max();
            // Each block leaves at most an eighth of the segments.
            let bound = (set.len() * 2 / MAX_KEYS).max(1).ilog(8) + 3;
            assert!(most.unwrap() <= bound, "{name}: {most:?} blocks of at most {bound}");
            // A set of both families may be no small one.
            let alone = Networks::new(&v4).smallest.v4.heap_bytes();
            let (v4, v6) = (map.smallest.v4.heap_bytes(), map.smallest.v6.heap_bytes());
            let most_alone = if name == "few nested" { 52 } else { 48 };
            for (family, bytes, most) in [("v4", v4, 48), ("v4 alone", alone, most_alone), ("v6", v6, 64)] {
                let bound = most * set.len() + 1024;
                assert!(
                    bytes <= bound,
                    "{name} shifted by {shift}: {family} has {bytes} bytes for {} networks",
                    set.len()
                );
            }
        }
    }
}

#[test]
fn the_last_address_has_a_place_in_a_table() {
    let last = IpAddr::from([0xff; 16]);
    let mut networks: Vec<(IpAddr, u8)> =
        (0..31_u128).map(|n| (Ipv6Addr::from_bits((n << 123) | (1 << 100)).into(), 128)).collect();
    networks.push((last, 128));
    assert_eq!(Networks::new(&networks).longest(last), Some(31));
    networks.push(("ffff::".parse().unwrap(), 16));
    assert!(Networks::new(&networks).matches(last).eq([31, 32]));
}

#[test]
fn most_addresses_take_one_line() {
    let mut rng = Rng::new(6);
    // Of few nested networks, fewer take more than one.
    for (nested, count, beyond, bytes) in [(false, 2_000, 3, 26), (true, 2_000, 3, 26), (true, 1_000, 12, 48)] {
        let mut networks: Vec<(IpAddr, u8)> = Vec::new();
        for n in 0..count {
            let (address, prefix) = match networks.last() {
                Some((IpAddr::V4(around), prefix)) if nested && n % 3 == 0 => (around.to_bits(), prefix + 2),
                _ => (rng.word() as u32, 16 + rng.below(9) as u8),
            };
            networks.push((Ipv4Addr::from_bits(address).into(), prefix));
        }
        let map = Networks::new(&networks);
        let more = networks.iter().filter(|(address, _)| {
            let IpAddr::V4(address) = address else { return false };
            let mut blocks = 0_u32;
            map.smallest.v4.walk(address.to_bits(), map.smallest.v4.root, |_| blocks += 1).unwrap();
            blocks > 1
        });
        let more = more.count();
        assert!(more < networks.len() / beyond, "{more} of {count}, nested: {nested}");
        assert!(map.heap_bytes() < bytes * networks.len(), "{}", map.heap_bytes());
    }
}

/// The smallest network alone is that of the whole set, with whether there are others.
#[test]
fn the_smallest_network_is_the_first_of_all() {
    let mut rng = Rng::new(7);
    for (_, set) in hostile_sets() {
        let networks: Vec<(IpAddr, u8)> = set.iter().map(|(a, p)| (Ipv4Addr::from_bits(*a).into(), *p)).collect();
        let (all, smallest) = (Networks::new(&networks), SmallestNetworks::new(&networks));
        let addresses = networks.iter().map(|(address, _)| *address);
        for address in addresses.chain((0..1_000).map(|_| Ipv4Addr::from_bits(rng.word() as u32).into())) {
            let mut found = all.matches(address);
            let right = found.next().map(|id| (id, found.next().is_some()));
            assert_eq!(smallest.find(address).map(|network| (network.id, network.is_nested)), right, "{address}");
            assert_eq!(smallest.any(address), right.is_some());
        }
        assert!(smallest.heap_bytes() <= all.heap_bytes());
    }
}

/// Networks that begin with the same 16 bits: few bits follow the index of the lines.
#[test]
fn narrow_lines_agree_with_a_comparison_of_bits() {
    let mut rng = Rng::new(8);
    for count in [100_usize, 400, 1_000] {
        let mut network = || {
            let prefix = [24, 26, 28, 30, 31, 32, 32, 32][rng.below(8)];
            // More of them in an eighth of the addresses, so that some lines are too small.
            let bits = rng.word() as u32 & if rng.below(8) == 0 { 0x1fff } else { 0xffff };
            (IpAddr::from(Ipv4Addr::from_bits(0x0a01_0000 | bits)), prefix)
        };
        let networks: Vec<_> = (0..count).map(|_| network()).collect();
        let v4 = &SmallestNetworks::new(&networks).v4;
        assert!(!v4.narrow.is_empty(), "{count}");
        assert!(count < 1_000 || v4.bytes.len() > 1_000);
        let outside = ["10.0.255.255", "10.2.0.0", "::ffff:10.1.0.0"].map(|address| address.parse().unwrap());
        let some = networks.iter().step_by(count / 50);
        check(&networks, some.flat_map(|network| around(*network)).chain(outside));
        // The same in IPv6, after 112 bits.
        let wide = |address: u32| Ipv6Addr::from_bits(0x2001 << 112 | u128::from(address & 0xffff));
        let of_v6: Vec<(IpAddr, u8)> = networks
            .iter()
            .filter_map(|(address, prefix)| match address {
                IpAddr::V4(address) => Some((IpAddr::from(wide(address.to_bits())), prefix + 96)),
                IpAddr::V6(_) => None,
            })
            .collect();
        let set = SmallestNetworks::new(&of_v6);
        assert!(!set.v6.narrow.is_empty());
        let outside = IpAddr::from(Ipv6Addr::from_bits(0x2001 << 112 | 0x1_0000));
        check(&of_v6, of_v6.iter().step_by(count / 50).flat_map(|network| around(*network)).chain([outside]));
        let mapped = |address: &IpAddr| if let IpAddr::V6(address) = address { address.to_bits() } else { 0 };
        assert!(
            of_v6.iter().all(|(address, _)| set.any_mapped(mapped(address)) && set.may_contain_mapped(mapped(address)))
        );
        assert!(!set.any_mapped(mapped(&outside)));
        // What is beside the prefixes and the owners of the root is found by blocks as well.
        for (address, _) in &networks {
            let IpAddr::V4(address) = address else { continue };
            let address = address.to_bits();
            assert_eq!(v4.walk(address, v4.root, |_| {}), Some(v4.owner(address)));
        }
    }
}

/// Of a large set, cells say whether some network contains an address.
#[test]
fn cells_agree_with_the_trie() {
    let mut rng = Rng::new(9);
    let lengths: [&[u8]; 4] = [&[32], &[24], &[16, 20, 24, 28, 32], &[19, 30]];
    for lengths in lengths {
        let network = || (IpAddr::from(Ipv4Addr::from_bits(rng.word() as u32)), lengths[rng.below(lengths.len())]);
        let mut networks: Vec<_> = std::iter::repeat_with(network).take(20_000).collect();
        networks
            .extend([("0.0.0.0", 32), ("255.255.255.255", 32)].map(|(first, prefix)| (first.parse().unwrap(), prefix)));
        let set = SmallestNetworks::new(&networks);
        let (mut cells, mut all) = (0_usize, 0_usize);
        let others = (0..20_000).map(|_| IpAddr::from(Ipv4Addr::from_bits(rng.word() as u32))).collect::<Vec<_>>();
        for address in networks.iter().flat_map(|network| around(*network)).chain(others) {
            let IpAddr::V4(v4) = address else { continue };
            let right = set.v4.owner(v4.to_bits()) != NO_NETWORK;
            let known = set.v4_coverage.contains(v4.to_bits());
            assert!(known.is_none_or(|known| known == right), "{address}");
            assert!(!right || set.may_contain_mapped(v4.to_ipv6_mapped().to_bits()), "{address}");
            assert_eq!((set.any(address), set.any_mapped(v4.to_ipv6_mapped().to_bits())), (right, right), "{address}");
            (cells, all) = (cells + usize::from(known.is_some()), all + 1);
        }
        assert!(cells > 0 && cells < all, "{cells} of {all}");
    }
}

#[test]
fn a_million_networks_take_20_bytes_each() {
    let mut rng = Rng::new(10);
    let network = || (IpAddr::from(Ipv4Addr::from_bits(rng.word() as u32)), 18 + rng.below(15) as u8);
    let networks: Vec<_> = std::iter::repeat_with(network).take(1_000_000).collect();
    let set = SmallestNetworks::new(&networks);
    assert!(!set.v4.narrow.is_empty());
    assert!(set.heap_bytes() < 20 * networks.len(), "{}", set.heap_bytes());
}
