//! Addresses: the standard library's, and their bits as numbers.

use super::{Judged, No, value};
use celero_frontend::stdlib::Builtin::{self as B};
use celero_tests::generate::Owned::{self, *};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address that text writes. A mapped address in the form with dots is refused, in the other
/// form it is the IPv4 address.
fn read(text: &str) -> Option<IpAddr> {
    let address: IpAddr = text.parse().ok()?;
    if address != address.to_canonical() && text.contains('.') {
        return None;
    }
    Some(address.to_canonical())
}

fn read_network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let written: IpAddr = address.parse().ok()?;
    let whole = length == "0" || (!length.starts_with('0') && !length.is_empty());
    let length: u8 = length.parse().ok().filter(|_| whole && length.bytes().all(|b| b.is_ascii_digit()))?;
    if usize::from(length) > width(written) || (written != written.to_canonical() && address.contains('.')) {
        return None;
    }
    // A network within the mapped addresses is a network of IPv4 addresses.
    match (written, written.to_canonical()) {
        (IpAddr::V6(_), mapped @ IpAddr::V4(_)) if length >= 96 => Some((mapped, length - 96)),
        _ => Some((written, length)),
    }
}

fn width(address: IpAddr) -> usize {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The bits of an address in order.
fn bits(address: IpAddr) -> Vec<bool> {
    let octets = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    octets.iter().flat_map(|octet| (0..8).map(move |bit| octet & (128 >> bit) != 0)).collect()
}

fn address(bits: &[bool]) -> IpAddr {
    let number = bits.iter().fold(0u128, |number, bit| number * 2 + u128::from(*bit));
    match u32::try_from(number) {
        Ok(number) if bits.len() == 32 => Ipv4Addr::from(number).into(),
        _ => Ipv6Addr::from(number).into(),
    }
}

fn contains((network, length): (IpAddr, u8), (other, longer): (IpAddr, usize)) -> bool {
    let length = usize::from(length);
    network.is_ipv4() == other.is_ipv4() && length <= longer && bits(network)[..length] == bits(other)[..length]
}

pub(super) fn judge(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    let truth = |truth| value(Bool(truth));
    Some(match (b, args) {
        (StringFromIp, [Ip(a)]) => value(String(a.to_string())),
        (StringFromCidr, [Cidr(a, n)]) => value(String(format!("{a}/{n}"))),
        (IpFromString, [String(s)]) => read(s).map(Ip).ok_or(No::Fails),
        (CidrFromString, [String(s)]) => read_network(s).map(|(a, n)| Cidr(a, n)).ok_or(No::Fails),
        (CidrContainsIp, [Cidr(a, n), Ip(other)]) => truth(contains((*a, *n), (*other, width(*other)))),
        (CidrContainsIpString, [Cidr(a, n), String(s)]) => {
            read(s).map(|other| Bool(contains((*a, *n), (other, width(other))))).ok_or(No::Fails)
        }
        (CidrContainsCidr, [Cidr(a, n), Cidr(other, m)]) => truth(contains((*a, *n), (*other, (*m).into()))),
        (CidrContainsCidrString, [Cidr(a, n), String(s)]) => {
            read_network(s).map(|(other, m)| Bool(contains((*a, *n), (other, m.into())))).ok_or(No::Fails)
        }
        (CidrIp, [Cidr(a, _)]) => value(Ip(*a)),
        (CidrMasked, [Cidr(a, n)]) => {
            let mut bits = bits(*a);
            bits[usize::from(*n)..].fill(false);
            value(Cidr(address(&bits), *n))
        }
        (CidrIsMask, [Cidr(a, n)]) => truth(bits(*a)[usize::from(*n)..].iter().all(|bit| !bit)),
        (CidrPrefixLength, [Cidr(_, n)]) => value(Int((*n).into())),
        (IsIp, [String(s)]) => truth(read(s).is_some()),
        (IsCidr, [String(s)]) => truth(read_network(s).is_some()),
        (IpIsCanonical, [String(s)]) => read(s).map(|a| Bool(a.to_string() == *s)).ok_or(No::Fails),
        (IpFamily, [Ip(a)]) => value(Int(if a.is_ipv4() { 4 } else { 6 })),
        (IpIsUnspecified, [Ip(a)]) => truth(["0.0.0.0", "::"].contains(&&*a.to_string())),
        (IpIsLoopback, [Ip(a)]) => truth(within("127.0.0.0/8", *a) || within("::1/128", *a)),
        // As Go's `netip.Addr`: not unspecified, loopback, multicast, link-local or the broadcast address.
        (IpIsGlobalUnicast, [Ip(a)]) => {
            let others = ["0.0.0.0/32", "::/128", "127.0.0.0/8", "::1/128", "224.0.0.0/4", "ff00::/8"];
            let more = ["169.254.0.0/16", "fe80::/10", "255.255.255.255/32"];
            truth(!others.iter().chain(&more).any(|network| within(network, *a)))
        }
        (IpIsLinkLocalMulticast, [Ip(a)]) => {
            truth(within("224.0.0.0/24", *a) || a.to_string().starts_with("ff") && a.to_string().as_bytes()[3] == b'2')
        }
        (IpIsLinkLocalUnicast, [Ip(a)]) => truth(within("169.254.0.0/16", *a) || within("fe80::/10", *a)),
        _ => return None,
    })
}

fn within(network: &str, address: IpAddr) -> bool {
    contains(read_network(network).unwrap(), (address, width(address)))
}
