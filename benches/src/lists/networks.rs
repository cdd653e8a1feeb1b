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
use std::net::Ipv4Addr;

/// How many addresses are asked in turn: more than the processor's caches hold of a large list.
const ADDRESSES: usize = 262_144;

pub(super) fn measure(size: usize, options: &Options, say: &mut dyn FnMut(&str)) -> Result<Vec<Value>, String> {
    let mut rng = Rng::new(23);
    let networks = generate_networks(size, true, &mut rng);
    let texts = networks.iter().map(|(address, prefix)| format!("{address}/{prefix}"));
    let entries = Entries::from_texts(Kind::Addresses, texts).map_err(|error| error.to_string())?;
    let name = format!("{size} networks");

    let lists = RefCell::new(None);
    let own = Contender::new(
        "crate",
        || {
            // A copy: what it frees was counted.
            let (made, id) = list_of(Kind::Addresses, entries.clone());
            *lists.borrow_mut() = Some(made.clone());
            (made, id)
        },
        |(lists, id), address: &Ipv4Addr| lists.load().contains_address(*id, (*address).into()),
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
        || bitmap(&networks),
        |table, address: &Ipv4Addr| table.longest_match(*address).is_some(),
    );
    let trie =
        Contender::new("iptrie_lc", || trie(&networks), |map, address: &Ipv4Addr| *map.lookup(address).1 != u32::MAX);
    let contenders = [native, own, loaded, bitmap, trie];

    for number in 0..options.answers {
        let address = Ipv4Addr::from_bits(rng.bits() as u32);
        let first = contenders.first().is_some_and(|contender| (contender.ask)(&address));
        if let Some(other) = contenders.iter().find(|contender| (contender.ask)(&address) != first) {
            return Err(format!("{name}: address {number}, {address}: {} says {}, celero {first}", other.name, !first));
        }
    }
    say(&format!("{name}: {} random addresses, equal answers", options.answers));
    let random = (0..ADDRESSES).map(|_| Ipv4Addr::from_bits(rng.bits() as u32)).collect();
    let present = (0..ADDRESSES).map(|_| within(*rng.pick(&networks), rng.bits() as u32)).collect();
    let groups = [Values { name: "random", values: random }, Values { name: "present", values: present }];
    time(&name, size, &contenders, &groups, options.rounds, say)
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
