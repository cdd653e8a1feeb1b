//! Lists of networks: whether one contains an address.

use super::{Contender, Data, Options, Values, list_of, rule, time};
use crate::matching::{Network, generate_networks};
use crate::rulesets::rng::Rng;
use celero::lists::{Entries, Kind};
use ip_network_table_deps_treebitmap::IpLookupTable;
use iptrie::Ipv4Prefix;
use iptrie::map::RTrieMap;
use serde_json::Value;
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};

/// How many addresses are asked in turn: more than the processor's caches hold of a large list.
const ADDRESSES: usize = 262_144;
/// Number of networks of 24 bits.
const BLOCKS: u32 = 1 << 24;

/// Measures a list of generated networks.
pub(super) fn measure(size: usize, options: &Options, say: &mut dyn FnMut(&str)) -> Result<Vec<Value>, String> {
    let mut rng = Rng::new(23);
    let networks = generate_networks(size, true, &mut rng);
    measure_list(&format!("{size} networks"), &networks, &mut rng, options, say)
}

/// Measures a list of the networks of all countries.
pub(super) fn measure_countries(options: &Options, say: &mut dyn FnMut(&str)) -> Result<Vec<Value>, String> {
    let networks = country_networks();
    measure_list("networks of countries", &networks, &mut Rng::new(29), options, say)
}

/// The networks of 24 bits and less that registries have given to one country, as large as they can
/// be, in order. From the statistics of the registries as the crate `iptocc` has them, which is
/// asked for the first address of each network of 24 bits.
fn country_networks() -> Vec<Network> {
    let country_of = |block: u32| iptocc::country_code(IpAddr::from(Ipv4Addr::from_bits(block << 8)));
    let mut networks = Vec::new();
    let mut block = 0_u32;
    while block < BLOCKS {
        let country = country_of(block);
        let from = block;
        while block < BLOCKS && country_of(block) == country {
            block = block.saturating_add(1);
        }
        if country.is_some() {
            add_range(from, block, &mut networks);
        }
    }
    networks
}

/// Adds the largest networks that together are the networks of 24 bits from `from` to `end`, which is not one of them.
fn add_range(mut from: u32, end: u32, networks: &mut Vec<Network>) {
    while let Some(left) = end.checked_sub(from).and_then(u32::checked_ilog2) {
        let bits = from.trailing_zeros().min(left);
        networks.push((Ipv4Addr::from_bits(from << 8), 24_u8.saturating_sub(bits as u8)));
        from = from.saturating_add(1_u32.checked_shl(bits).unwrap_or(BLOCKS));
    }
}

fn measure_list(
    name: &str,
    networks: &[Network],
    rng: &mut Rng,
    options: &Options,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Value>, String> {
    let texts = networks.iter().map(|(address, prefix)| format!("{address}/{prefix}"));
    let entries = Entries::from_texts(Kind::Addresses, texts).map_err(|error| error.to_string())?;

    let lists = RefCell::new(None);
    let own = Contender::new(
        "crate",
        || {
            // A copy: what it frees was counted.
            let (made, id) = list_of(Kind::Addresses, entries.clone());
            *lists.borrow_mut() = Some(made.clone());
            (made, id)
        },
        |(lists, id), address: &Ipv4Addr| lists.with_view(|view| view.contains_address(*id, (*address).into())),
    );
    let lists = lists.into_inner().ok_or("no lists")?;
    let program = rule(&lists, "peer in lists.list");
    let native = Contender::again("native", &own, move |address: &Ipv4Addr| {
        program.test(&Data { peer: (*address).into(), text: "" }).expect("an answer")
    });
    let snapshot = (*lists.load()).clone();
    let (id, _) = snapshot.find("list").ok_or("no list")?;
    let loaded =
        Contender::again("loaded", &own, move |address: &Ipv4Addr| snapshot.contains_address(id, (*address).into()));
    let bitmap = Contender::new(
        "treebitmap",
        || bitmap(networks),
        |table, address: &Ipv4Addr| table.longest_match(*address).is_some(),
    );
    let trie =
        Contender::new("iptrie_lc", || trie(networks), |map, address: &Ipv4Addr| *map.lookup(address).1 != u32::MAX);
    let read = one_read(loaded.bytes);
    let contenders = [native, own, loaded, bitmap, trie, read];

    for number in 0..options.answers {
        let address = Ipv4Addr::from_bits(rng.bits() as u32);
        let first = contenders.first().is_some_and(|contender| (contender.ask)(&address));
        let wrong = |contender: &&Contender<Ipv4Addr>| contender.answers && (contender.ask)(&address) != first;
        if let Some(other) = contenders.iter().find(wrong) {
            return Err(format!("{name}: address {number}, {address}: {} says {}, celero {first}", other.name, !first));
        }
    }
    say(&format!("{name}: {} random addresses, equal answers", options.answers));
    let random: Vec<_> = (0..ADDRESSES).map(|_| Ipv4Addr::from_bits(rng.bits() as u32)).collect();
    let present = (0..ADDRESSES).map(|_| within(*rng.pick(networks), rng.bits() as u32)).collect();
    let groups = [
        Values { name: "random", values: random.clone(), in_turn: false },
        Values { name: "random, in turn", values: random, in_turn: true },
        Values { name: "present", values: present, in_turn: false },
    ];
    time(name, networks.len(), &contenders, &groups, options.rounds, say)
}

/// Reads a byte at a place that depends on the address, of as many bytes as the list has: what a
/// lookup costs at least, if it needs more of the list than the caches hold.
fn one_read(bytes: usize) -> Contender<Ipv4Addr> {
    Contender {
        answers: false,
        ..Contender::new(
            "one_read",
            || vec![1_u8; bytes],
            |table: &Vec<u8>, address: &Ipv4Addr| {
                let place = u64::from(address.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                let at = place.wrapping_mul(table.len() as u64) >> 32;
                table.get(at as usize).is_some_and(|byte| *byte == 1)
            },
        )
    }
}

/// An address of a network.
fn within((network, prefix): Network, bits: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(network.to_bits() | (bits & u32::MAX.checked_shr(prefix.into()).unwrap_or(0)))
}

fn bitmap(networks: &[Network]) -> IpLookupTable<Ipv4Addr, u32> {
    let mut table = IpLookupTable::with_capacity(networks.len());
    for (id, (address, prefix)) in (0_u32..).zip(networks) {
        table.insert(*address, u32::from(*prefix), id);
    }
    table
}

fn trie(networks: &[Network]) -> iptrie::map::LCTrieMap<Ipv4Prefix, u32> {
    // Its root contains all addresses; no network here does.
    let mut map = RTrieMap::with_root_and_capacity(u32::MAX, networks.len());
    for (id, (address, length)) in (0_u32..).zip(networks) {
        map.insert(Ipv4Prefix::new(*address, *length).expect("a prefix"), id);
    }
    map.compress()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_have_disjoint_networks_that_cover_their_ranges() {
        let mut networks = Vec::new();
        add_range(5, 19, &mut networks);
        let written: Vec<String> = networks.iter().map(|(first, prefix)| format!("{first}/{prefix}")).collect();
        assert_eq!(written, ["0.0.5.0/24", "0.0.6.0/23", "0.0.8.0/21", "0.0.16.0/23", "0.0.18.0/24"]);
        networks.clear();
        add_range(0, BLOCKS, &mut networks);
        assert_eq!(networks, [(Ipv4Addr::UNSPECIFIED, 0)]);
        add_range(7, 7, &mut networks);
        assert_eq!(networks.len(), 1);
    }
}
