//! Lists from databases in the MaxMind DB format, written here: the format is described at
//! <https://maxmind.github.io/MaxMind-DB/>.

#![cfg(feature = "mmdb")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

use celero_lists::{Entries, Limits, ListType, Lists, RecordPaths, ScalarRef};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A value of a record.
#[derive(Clone)]
enum Data {
    Text(&'static str),
    U16(u16),
    U32(u32),
    I32(i32),
    U64(u64),
    Bool(bool),
    Double(f64),
    Map(Vec<(&'static str, Data)>),
    Array(Vec<Data>),
    /// A pointer to an offset of the data section.
    Pointer(u32),
}

fn write(data: &Data, out: &mut Vec<u8>) {
    let head = |out: &mut Vec<u8>, ty: u8, size: usize| {
        assert!(size < 29 + 256);
        let (short, more) = if size < 29 { (size as u8, None) } else { (29, Some((size - 29) as u8)) };
        if ty < 8 {
            out.push(ty << 5 | short)
        } else {
            out.extend([short, ty - 7])
        }
        out.extend(more);
    };
    match data {
        Data::Pointer(to) => out.extend([0x20 | 0x18, (to >> 24) as u8, (to >> 16) as u8, (to >> 8) as u8, *to as u8]),
        Data::Text(text) => {
            head(out, 2, text.len());
            out.extend(text.as_bytes());
        }
        Data::Double(number) => {
            head(out, 3, 8);
            out.extend(number.to_be_bytes());
        }
        Data::U16(number) => {
            head(out, 5, 2);
            out.extend(number.to_be_bytes());
        }
        Data::U32(number) => {
            head(out, 6, 4);
            out.extend(number.to_be_bytes());
        }
        Data::Map(members) => {
            head(out, 7, members.len());
            for (name, value) in members {
                write(&Data::Text(name), out);
                write(value, out);
            }
        }
        Data::I32(number) => {
            head(out, 8, 4);
            out.extend(number.to_be_bytes());
        }
        Data::U64(number) => {
            head(out, 9, 8);
            out.extend(number.to_be_bytes());
        }
        Data::Array(elements) => {
            head(out, 11, elements.len());
            elements.iter().for_each(|element| write(element, out));
        }
        Data::Bool(truth) => head(out, 14, usize::from(*truth)),
    }
}

/// A child in the search tree: a node, nothing, or a record by its number.
#[derive(Clone, Copy, PartialEq)]
enum Child {
    Node(u32),
    Nothing,
    Record(usize),
}

/// A database of IPv6, with those of IPv4 in `::/96`, from networks and the numbers of their records.
fn database(bits: u16, networks: &[(&str, usize)], records: &[Data]) -> Vec<u8> {
    let mut nodes = vec![[Child::Nothing; 2]];
    for (network, record) in networks {
        let (address, prefix) = network.split_once('/').unwrap();
        let (address, prefix): (u128, u32) = match address.parse().unwrap() {
            IpAddr::V4(address) => (address.to_bits().into(), 96 + prefix.parse::<u32>().unwrap()),
            IpAddr::V6(address) => (address.to_bits(), prefix.parse().unwrap()),
        };
        let mut node = 0;
        for depth in 0..prefix {
            let side = (address >> (127 - depth) & 1) as usize;
            if depth + 1 == prefix {
                nodes[node][side] = Child::Record(*record);
            } else if let Child::Node(next) = nodes[node][side] {
                node = next as usize;
            } else {
                // What was there is in both halves.
                let before = nodes[node][side];
                nodes.push([before; 2]);
                nodes[node][side] = Child::Node(nodes.len() as u32 - 1);
                node = nodes.len() - 1;
            }
        }
    }
    assemble(bits, &nodes, records)
}

fn assemble(bits: u16, nodes: &[[Child; 2]], records: &[Data]) -> Vec<u8> {
    let (mut data, mut offsets) = (Vec::new(), Vec::new());
    for record in records {
        offsets.push(data.len() as u32);
        write(record, &mut data);
    }
    let count = nodes.len() as u32;
    let number = |child: &Child| match child {
        Child::Node(node) => *node,
        Child::Nothing => count,
        Child::Record(record) => count + 16 + offsets[*record],
    };
    let mut out = Vec::new();
    for node in nodes {
        let [left, right] = [number(&node[0]).to_be_bytes(), number(&node[1]).to_be_bytes()];
        match bits {
            24 => out.extend([&left[1..], &right[1..]].concat()),
            28 => out.extend([&left[1..], &[left[0] << 4 | right[0]], &right[1..]].concat()),
            _ => out.extend([left, right].concat()),
        }
    }
    out.extend([0; 16]);
    out.extend(data);
    out.extend(b"\xab\xcd\xefMaxMind.com");
    let about = [
        ("binary_format_major_version", Data::U16(2)),
        ("binary_format_minor_version", Data::U16(0)),
        ("build_epoch", Data::U64(1_700_000_000)),
        ("database_type", Data::Text("Test")),
        ("description", Data::Map(vec![("en", Data::Text("a test"))])),
        ("ip_version", Data::U16(6)),
        ("languages", Data::Array(vec![])),
        ("node_count", Data::U32(count)),
        ("record_size", Data::U16(bits)),
    ];
    write(&Data::Map(about.to_vec()), &mut out);
    out
}

fn ty() -> ListType {
    "addresses:{country: string, asn: int, eu: bool, region: string}".parse().unwrap()
}

fn paths() -> RecordPaths {
    let paths = [("country", "country.iso_code"), ("asn", "traits.asn"), ("region", "subdivisions.0.iso_code")];
    RecordPaths::new(&ty(), paths).unwrap()
}

fn record(country: &'static str, asn: Data) -> Data {
    Data::Map(vec![
        ("other", Data::Map(vec![("deep", Data::Array(vec![Data::Double(0.5)]))])),
        ("country", Data::Map(vec![("geoname_id", Data::U32(7)), ("iso_code", Data::Text(country))])),
        ("traits", Data::Map(vec![("asn", asn)])),
    ])
}

fn parse(bytes: &[u8]) -> Result<Entries, String> {
    Entries::parse_mmdb(&ty(), &paths(), bytes, 1_000)
}

/// The fields of what a list says of an address.
type Fields = (Option<String>, Option<i64>, Option<bool>, Option<String>);

fn fields(lists: &Lists, address: IpAddr) -> Option<Fields> {
    let snapshot = lists.load();
    let (list, _) = snapshot.find("geo").unwrap();
    let entry = snapshot.find_address(list, address)?;
    let text = |field| match snapshot.value(list, entry, field)? {
        ScalarRef::Text(text) => Some(text.to_owned()),
        other => panic!("{other:?}"),
    };
    let asn = snapshot.value(list, entry, 1).map(|asn| if let ScalarRef::Int(asn) = asn { asn } else { panic!() });
    let eu = snapshot.value(list, entry, 2).map(|eu| if let ScalarRef::Bool(eu) = eu { eu } else { panic!() });
    Some((text(0), asn, eu, text(3)))
}

fn list(entries: Entries) -> Lists {
    let lists = Lists::new(Limits::default());
    lists.declare("geo", ty()).unwrap();
    lists.change().replace("geo", entries).commit().unwrap();
    lists
}

const NETWORKS: [(&str, usize); 7] = [
    ("192.0.2.0/24", 0),
    ("192.0.2.128/25", 1),
    ("198.51.100.0/25", 0),
    ("198.51.100.128/25", 0),
    ("2001:db8::/32", 2),
    ("203.0.113.0/24", 3),
    ("2001:db8:ffff::/48", 4),
];

fn records() -> Vec<Data> {
    let germany = record("DE", Data::U32(3320));
    let mut length = Vec::new();
    write(&germany, &mut length);
    let mut france = record("FR", Data::I32(-7));
    if let Data::Map(members) = &mut france {
        members.push(("eu", Data::Bool(true)));
        let region = Data::Map(vec![("iso_code", Data::Text("IDF"))]);
        members.push(("subdivisions", Data::Array(vec![region])));
    }
    // What none of the fields is found in is left out, and what a pointer leads to is found.
    vec![
        germany,
        france,
        Data::Map(vec![("eu", Data::Bool(false))]),
        record_without(),
        Data::Pointer(length.len() as u32),
    ]
}

fn record_without() -> Data {
    Data::Map(vec![("city", Data::Text("Bonn")), ("subdivisions", Data::Array(vec![]))])
}

#[test]
fn values_of_networks_are_found_at_their_paths() {
    let some = |country: &str, asn| Some((Some(country.to_owned()), Some(asn), None, None));
    for bits in [24, 28, 32] {
        let entries = parse(&database(bits, &NETWORKS, &records())).unwrap();
        // The halves of 198.51.100.0/24 are one entry.
        let shown: Vec<_> = entries.iter().map(ToString::to_string).collect();
        assert!(
            shown.contains(&"198.51.100.0/24".to_owned()) && !shown.contains(&"203.0.113.0/24".to_owned()),
            "{shown:?}"
        );
        let lists = list(entries);
        let at = |address: &str| fields(&lists, address.parse().unwrap());
        assert_eq!(at("192.0.2.1"), some("DE", 3320));
        assert_eq!(at("192.0.2.200"), Some((Some("FR".to_owned()), Some(-7), Some(true), Some("IDF".to_owned()))));
        assert_eq!(at("::ffff:198.51.100.200"), some("DE", 3320));
        assert_eq!(at("2001:db8::1"), Some((None, None, Some(false), None)));
        assert_eq!(at("2001:db8:ffff::1").and_then(|found| found.0).as_deref(), Some("FR"));
        assert_eq!((at("203.0.113.1"), at("8.8.8.8"), at("2001:db9::")), (None, None, None));
    }
    // A list of one value has it where its path leads.
    let ty: ListType = "addresses:string".parse().unwrap();
    let paths = RecordPaths::new(&ty, [("value", "country.iso_code")]).unwrap();
    let entries = Entries::parse_mmdb(&ty, &paths, &database(24, &NETWORKS[..2], &records()), 10).unwrap();
    assert_eq!(entries.len(), 2);
}

/// Random networks, against a search of the longest one.
#[test]
fn random_databases_agree_with_a_search() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..40 {
        let records: Vec<Data> =
            (0..6).map(|number| record(["A", "B", "C"][number % 3], Data::U32(number as u32))).collect();
        let mut networks: BTreeMap<(u8, Ipv4Addr), usize> = BTreeMap::new();
        for _ in 0..random.usize(1..60) {
            let prefix = random.u8(1..=32);
            let address = Ipv4Addr::from_bits(random.u32(..4096) << 20 & (u32::MAX << (32 - prefix)));
            networks.insert((prefix, address), random.usize(..6));
        }
        // The shorter prefixes first.
        let shown: Vec<_> = networks.iter().map(|((prefix, address), _)| format!("{address}/{prefix}")).collect();
        let named: Vec<_> = shown.iter().map(|text| &**text).zip(networks.values().copied()).collect();
        let lists = list(parse(&database(28, &named, &records)).unwrap());
        for _ in 0..300 {
            let address = random.u32(..4096) << 20 | random.u32(..2);
            let mut longest =
                networks.iter().filter(|((prefix, network), _)| (address ^ network.to_bits()) >> (32 - prefix) == 0);
            let expected = longest.next_back().map(|(_, record)| *record as i64);
            let found = fields(&lists, Ipv4Addr::from_bits(address).into()).and_then(|found| found.1);
            assert_eq!(found, expected, "{} in {shown:?}", Ipv4Addr::from_bits(address));
        }
    }
}

#[test]
fn wrong_types_and_paths_are_named() {
    let with = |asn| parse(&database(24, &[("192.0.2.0/24", 0)], &[record("DE", asn)])).unwrap_err();
    for asn in [Data::Text("3320"), Data::U64(u64::MAX), Data::Double(1.0), Data::Map(vec![]), Data::Array(vec![])] {
        assert_eq!(with(asn), "192.0.2.0/24: `asn`: not an int");
    }
    let flat = Data::Map(vec![("country", Data::Text("DE"))]);
    let error = parse(&database(24, &[("2001:db8::/32", 0)], &[flat])).unwrap_err();
    assert!(error.starts_with("2001:db8::/32: `country`: "), "{error}");
    let long: &str = "x".repeat(200).leak();
    assert!(parse(&database(24, &[("192.0.2.0/24", 0)], &[record(long, Data::U32(1))])).is_ok());
    let few = Entries::parse_mmdb(&ty(), &paths(), &database(24, &NETWORKS, &records()), 2).unwrap_err();
    assert_eq!(few, "more than 2 entries");

    let mistyped = RecordPaths::new(&ty(), [("country", "contry.iso_code"), ("asn", "a"), ("region", "b")]).unwrap();
    let none = Entries::parse_mmdb(&ty(), &mistyped, &database(24, &NETWORKS[..1], &records()), 10).unwrap_err();
    assert_eq!(none, "no record has a value at `contry.iso_code` or `a` or `eu` or `b`");

    for (ty, path, reason) in [
        ("addresses", ("a", "a"), "the list has no `values`"),
        ("hosts:{a: int}", ("a", "a"), "has addresses, not hosts"),
        ("addresses:{a: int}", ("b", "a"), "there is no field `b`; there are a"),
        ("addresses:{a: int}", ("a", "a..b"), "is no path"),
        ("addresses:{a: int}", ("a", ""), "is no path"),
        ("addresses:{a: int}", ("a", "1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1"), "of 1 to 16 names"),
    ] {
        let error = RecordPaths::new(&ty.parse().unwrap(), [path]).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    let other: ListType = "addresses:int".parse().unwrap();
    assert!(Entries::parse_mmdb(&other, &paths(), &database(24, &NETWORKS, &records()), 10).is_err());
}

#[test]
fn damaged_and_hostile_databases_are_refused() {
    let whole = database(24, &NETWORKS, &records());
    for length in 0..whole.len() {
        assert!(parse(&whole[..length]).is_err(), "{length} bytes of {}", whole.len());
    }
    // Whatever a byte becomes, nothing panics, and it ends.
    for at in 0..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= change;
            let _ = parse(&damaged);
        }
    }
    let data = records();
    // A tree of 128 nodes, both children of each being the next one: as many networks as there are addresses.
    let mut exponential: Vec<_> = (1..128).map(|next| [Child::Node(next); 2]).collect();
    exponential.push([Child::Nothing; 2]);
    // The same, behind the root, so that no node is that of all IPv4 addresses.
    let cycle = vec![[Child::Nothing, Child::Node(1)], [Child::Node(1), Child::Record(0)]];
    let root = vec![[Child::Node(0), Child::Record(0)]];
    let mut v4 = vec![[Child::Nothing; 2]; 130];
    for (node, children) in v4.iter_mut().enumerate().take(129) {
        *children = [Child::Node(node as u32 + 1), Child::Node(96)];
    }
    for nodes in [exponential, cycle, root] {
        let error = parse(&assemble(24, &nodes, &data)).unwrap_err();
        assert!(error.contains("the search tree is damaged"), "{error}");
    }
    // Aliases of the IPv4 addresses are read once, in loops too.
    let _ = parse(&assemble(24, &v4, &data));
    // Pointers in a loop, and one that leads out of the file.
    let looped = vec![Data::Pointer(0)];
    assert!(parse(&assemble(24, &[[Child::Record(0), Child::Nothing]], &looped)).is_err());
    let inner = Data::Map(vec![("country", Data::Pointer(0))]);
    // A record within itself has no end, but a path has one.
    let none = parse(&assemble(24, &[[Child::Record(0), Child::Nothing]], &[inner])).unwrap_err();
    assert!(none.starts_with("no record has a value at "), "{none}");
    let outside = Data::Map(vec![("country", Data::Pointer(1 << 20))]);
    assert!(parse(&assemble(24, &[[Child::Record(0), Child::Nothing]], &[outside])).is_err());
    assert!(parse(b"").is_err() && parse(&vec![0; 1 << 16]).is_err());
}

/// The databases of MaxMind lead from IPv6 prefixes such as 2002::/16 to those of IPv4. Records may
/// share what they point to, but not so that going through all of them takes far more time than
/// reading the file.
#[test]
fn the_work_of_a_database_is_bounded() {
    // 1,024 networks of 10 bits, each with a record of its own.
    let child = |number: u32| if number < 1_023 { Child::Node(number) } else { Child::Record(number as usize - 1_023) };
    let nodes: Vec<_> = (0..1_023).map(|node| [child(2 * node + 1), child(2 * node + 2)]).collect();
    let with = |members: usize| {
        let shared = Data::Map(vec![("x", Data::U16(1)); members]);
        let records: Vec<_> = [shared].into_iter().chain(vec![Data::Pointer(0); 1_023]).collect();
        parse(&assemble(24, &nodes, &records))
    };
    let none = with(2).unwrap_err();
    assert!(none.starts_with("no record has a value at "), "{none}");
    let error = with(284).unwrap_err();
    assert!(error.contains("lead through more values"), "{error}");
}

#[test]
fn aliases_of_ipv4_are_left_out() {
    let mut nodes: Vec<[Child; 2]> = (1..=96).map(|next| [Child::Node(next), Child::Nothing]).collect();
    nodes.push([Child::Record(0), Child::Nothing]);
    // 8000::/1 is another way to all IPv4 addresses.
    nodes[0][1] = Child::Node(96);
    let entries = parse(&assemble(32, &nodes, &records())).unwrap();
    assert_eq!(entries.iter().map(ToString::to_string).collect::<Vec<_>>(), ["0.0.0.0/1"]);
    assert_eq!(fields(&list(entries), IpAddr::V6(Ipv6Addr::from_bits(1 << 127))), None);
}
