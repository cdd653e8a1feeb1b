//! Where parameters may stand: where a constant of their kind may. And networks as words, against their definition.

use crate::common::fields;
use celero_ir::layout::{Network, ip_words};
use celero_ir::{NodeId, ParameterKind, Requirement, Ty, parse, verify};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The first violation of a graph whose last node is this, over operands of each type.
fn violation(line: &str) -> Option<(NodeId, Requirement)> {
    let text = format!(
        "v0: str = field 4\nv1: raw = field 6\nv2: ip = field 10\nv3: int = field 1\nv4: value = field 11\n\
         v5: bytes = field 5\nv6: {line}\n"
    );
    let graph = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(parse(&graph.to_string()).unwrap(), graph, "{line}");
    verify(&graph, &fields()).err().map(|violation| (violation.node, violation.requirement))
}

/// The operations that hold a prepared constant that can be a parameter, and its kind.
const PREPARED: &[(&str, ParameterKind, &str)] = &[
    ("contains_const", ParameterKind::Searcher, "v0"),
    ("matches_const", ParameterKind::Regex, "v0"),
    ("matches_const", ParameterKind::ByteRegex, "v5"),
    ("wildcard_const", ParameterKind::Wildcard, "v5"),
    ("in_str_set", ParameterKind::StrSet, "v0"),
    ("in_int_set", ParameterKind::IntSet, "v3"),
    ("in_cidr", ParameterKind::Cidr, "v2"),
];

/// The kinds that stand as a node, with its type.
const NODES: &[(ParameterKind, Ty)] = &[
    (ParameterKind::Int, Ty::Int),
    (ParameterKind::Uint, Ty::Uint),
    (ParameterKind::Double, Ty::Double),
    (ParameterKind::Str, Ty::Str),
    (ParameterKind::Bytes, Ty::Bytes),
    (ParameterKind::Value, Ty::Value),
];

#[test]
fn a_kind_stands_with_its_operation_alone() {
    for kind in ParameterKind::ALL {
        for &(op, takes, arg) in PREPARED {
            for plain in ["", "plain "] {
                let found = violation(&format!("bool = {op} parameter {plain}{} 3 {arg}", kind.name()));
                let expected = (kind != takes).then_some((NodeId(6), Requirement::Constant));
                assert_eq!(found, expected, "{op} with {kind:?}");
            }
        }
    }
}

#[test]
fn a_kind_is_a_node_of_its_type_alone() {
    for kind in ParameterKind::ALL {
        for ty in Ty::ALL {
            let stands = NODES.contains(&(kind, ty));
            for plain in ["", "plain "] {
                let found = violation(&format!("{ty} = const parameter {plain}{} 0", kind.name()));
                assert_eq!(found.is_none(), stands, "{kind:?} as {ty}: {found:?}");
                assert!(found.is_none_or(|(node, _)| node == NodeId(6)), "{kind:?} as {ty}");
            }
        }
    }
}

#[test]
fn no_parameter_is_part_of_a_constant_or_names_what_is_looked_up() {
    for kind in ParameterKind::ALL {
        let name = kind.name();
        for line in [
            format!("value = const [parameter {name} 0]"),
            format!("value = const [1, [parameter {name} 0]]"),
            format!("value = const {{1: parameter plain {name} 0}}"),
            format!("value = const {{parameter {name} 0: 1}}"),
            format!("maybe = header 12 parameter plain {name} 0"),
            format!("value = project parameter {name} 0 v5"),
            format!("found = find parameter {name} 0 v5"),
        ] {
            assert_eq!(violation(&line), Some((NodeId(6), Requirement::Constant)), "{line}");
        }
    }
}

#[test]
fn raw_text_meets_plain_parameters_alone() {
    for op in [
        "contains_const parameter {}searcher 0 v1",
        "in_str_set parameter {}str_set 0 v1",
        "wildcard_const parameter {}wildcard 0 v1",
    ] {
        let line = |plain: &str| format!("bool = {}", op.replace("{}", plain));
        assert_eq!(violation(&line("plain ")), None, "{op}");
        assert_eq!(violation(&line("")), Some((NodeId(6), Requirement::Raw)), "{op}");
        assert_eq!(violation(&line("").replace("v1", "v0")), None, "{op}, of text that is decoded");
    }
    for op in ["cmp.eq", "cmp.ne", "starts_with", "ends_with"] {
        for (plain, expected) in [("plain ", None), ("", Some((NodeId(7), Requirement::Raw)))] {
            let line = format!("str = const parameter {plain}str 2\nv7: bool = {op} v1, v6");
            assert_eq!(violation(&line), expected, "{line}");
            let decoded = line.replace("v1", "v0");
            assert_eq!(violation(&decoded), None, "{decoded}");
        }
    }
    // No pattern is asked about raw text, whatever its parameter says of itself.
    for plain in ["", "plain "] {
        for kind in ["regex", "byte_regex"] {
            assert!(violation(&format!("bool = matches_const parameter {plain}{kind} 0 v1")).is_some());
        }
    }
}

#[test]
fn words_are_counted_and_bad_parameters_refused() {
    let of = |kinds: &[ParameterKind]| kinds.iter().map(|kind| kind.words()).collect::<Vec<_>>();
    assert_eq!(of(&[ParameterKind::Str, ParameterKind::Bytes, ParameterKind::Cidr]), [2, 2, 4]);
    let is_long = |kind| matches!(kind, ParameterKind::Str | ParameterKind::Bytes | ParameterKind::Cidr);
    let others = ParameterKind::ALL.into_iter().filter(|kind| !is_long(*kind));
    assert!(of(&others.collect::<Vec<_>>()).iter().all(|words| *words == 1));
    for (text, reason) in [
        ("v0: int = const parameter number 0", "no kind of parameter is called `number`"),
        ("v0: int = const parameter int 65536", "`65536` is not an integer of that size"),
        ("v0: int = const parameter int -1", "`-1` is not an integer of that size"),
    ] {
        assert_eq!(parse(text).unwrap_err().reason, reason, "{text}");
    }
    assert!(parse("v0: int = const parameter int 65535").is_ok());
}

/// The first bits of an address as one of its family, IPv4 ones in their mapped form being of IPv4.
fn bits(ip: IpAddr) -> (usize, Vec<bool>) {
    match ip {
        IpAddr::V4(ip) => (4, (0..32).rev().map(|bit| ip.to_bits() >> bit & 1 == 1).collect()),
        IpAddr::V6(ip) => (6, (0..128).rev().map(|bit| ip.to_bits() >> bit & 1 == 1).collect()),
    }
}

/// Whether a network holds an address, by definition.
fn holds(network: IpAddr, prefix: u8, address: IpAddr) -> bool {
    let ((of, network), (family, address)) = (bits(network), bits(address.to_canonical()));
    of == family && network.iter().zip(&address).take(prefix.into()).all(|(a, b)| a == b)
}

/// Whether a network as words holds an address.
fn has(network: &Network, address: IpAddr) -> bool {
    let agrees = |network: &Network| {
        let words = ip_words(address).into_iter().zip(network.bits).zip(network.mask);
        words.into_iter().all(|((word, bits), mask)| (word ^ bits) & mask == 0)
    };
    agrees(network) && !(network.around_ipv4 && agrees(&Network::IPV4))
}

/// An address with one bit, counted from the first, turned over.
fn flipped(ip: IpAddr, bit: u32) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => Ipv4Addr::from_bits(ip.to_bits() ^ (1 << 31_u32.saturating_sub(bit % 32))).into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() ^ (1 << 127_u32.saturating_sub(bit % 128))).into(),
    }
}

#[test]
fn networks_hold_what_they_should() {
    let addresses: Vec<IpAddr> = [
        "0.0.0.0",
        "10.1.2.3",
        "127.255.255.255",
        "128.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "::10.1.2.3",
        "::fffe:ffff:ffff",
        "::ffff:0:0",
        "::ffff:10.1.2.3",
        "::ffff:255.255.255.255",
        "::1:0:0:0",
        "0:0:0:1::",
        "2001:db8::1",
        "8000::",
        "ffff:ffff:ffff:ffff::",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ]
    .iter()
    .map(|text| text.parse().unwrap())
    .collect();
    let (mut held, mut not) = (0, 0);
    for &ip in &addresses {
        for prefix in 0..=if ip.is_ipv4() { 32 } else { 128_u8 } {
            let network = Network::new(ip, prefix);
            let near = (0..128).map(|bit| flipped(ip, bit));
            for address in addresses.iter().copied().chain(near) {
                let expected = holds(ip, prefix, address);
                assert_eq!(has(&network, address), expected, "{address} in {ip}/{prefix}: {network:x?}");
                *if expected { &mut held } else { &mut not } += 1;
            }
            let mask = u128::from(network.mask[0]) << 64 | u128::from(network.mask[1]);
            let around = match ip {
                IpAddr::V4(_) => false,
                IpAddr::V6(ip) => {
                    let ipv4 = Ipv4Addr::UNSPECIFIED.to_ipv6_mapped().to_bits();
                    let (first, last) = (ip.to_bits() & mask, ip.to_bits() | !mask);
                    first <= ipv4 | 0xffff_ffff && last >= ipv4
                }
            };
            assert_eq!(network.around_ipv4, around, "{ip}/{prefix}");
            let shared = u32::from(prefix) + if ip.is_ipv4() { 96 } else { 0 };
            assert_eq!((mask.leading_ones(), mask.count_ones()), (shared, shared), "{ip}/{prefix}");
        }
    }
    assert!(held > 10_000 && not > 10_000, "{held} held, {not} not");
    assert!((0..=32).all(|n| !Network::new(IpAddr::V4(Ipv4Addr::LOCALHOST), n).around_ipv4));
    assert_eq!(Network::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0), Network::IPV4);
}
