//! The network library (cel-spec's network extension): addresses and networks.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::standard::conversions::scanned;
use celero_ir::ErrorKind;
use ipnet::IpNet;
use std::net::IpAddr;

/// Parses an address without a zone. IPv4 addresses in IPv6 notation (`::ffff:192.0.2.1`) are `invalid_argument`.
pub(crate) fn ip_from_string(text: &str) -> EvalResult<IpAddr> {
    let address: IpAddr = text.parse().map_err(|_| ErrorKind::InvalidArgument)?;
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() && text.contains('.') => Err(ErrorKind::InvalidArgument),
        _ => Ok(address),
    }
}

/// Parses a network `address/length`. Bits after the prefix may be set; they are kept.
pub(crate) fn cidr_from_string(text: &str) -> EvalResult<(IpAddr, u8)> {
    let (address, length) = text.split_once('/').ok_or(ErrorKind::InvalidArgument)?;
    let address = ip_from_string(address)?;
    let plain = length == "0" || length.starts_with(|c: char| c.is_ascii_digit() && c != '0');
    let length = length.parse().ok().filter(|_| plain).ok_or(ErrorKind::InvalidArgument)?;
    IpNet::new(address, length).map(|_| (address, length)).map_err(|_| ErrorKind::InvalidArgument)
}

/// Returns whether a network contains an address. Addresses of the other family are never contained.
#[inline]
pub(crate) fn cidr_contains(network: IpAddr, prefix: u8, address: IpAddr) -> bool {
    let common = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => (network.to_bits() ^ address.to_bits()).leading_zeros(),
        (IpAddr::V6(network), IpAddr::V6(address)) => (network.to_bits() ^ address.to_bits()).leading_zeros(),
        _ => return false,
    };
    common >= u32::from(prefix)
}

/// Returns the canonical text of an address (RFC 5952 for IPv6).
#[inline]
pub(crate) fn ip_text<'a>(cx: &Cx<'a>, address: IpAddr) -> EvalResult<&'a str> {
    cx.arena().format_ip(address)
}

/// Returns the text of a network: `address/prefix`.
pub(crate) fn cidr_text<'a>(cx: &Cx<'a>, address: IpAddr, prefix: u8) -> EvalResult<&'a str> {
    cx.arena().format(format_args!("{address}/{prefix}"))
}

/// As [`cidr_contains`], with the address as text.
pub(crate) fn cidr_contains_string(network: IpAddr, prefix: u8, address: &str) -> EvalResult<bool> {
    ip_from_string(address).map(|address| cidr_contains(network, prefix, address))
}

/// Returns whether a network contains another one.
pub(crate) fn cidr_contains_cidr(network: (IpAddr, u8), other: (IpAddr, u8)) -> bool {
    other.1 >= network.1 && cidr_contains(network.0, network.1, other.0)
}

/// Returns the address of a network with the bits after the prefix cleared.
pub(crate) fn masked(address: IpAddr, prefix: u8) -> EvalResult<IpAddr> {
    IpNet::new(address, prefix).map(|network| network.network()).map_err(|_| ErrorKind::InvalidArgument)
}

/// Returns whether the text of an address is its canonical text.
pub(crate) fn is_canonical<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<bool> {
    let address = ip_from_string(scanned(cx, text)?)?;
    Ok(ip_text(cx, address)? == text)
}

pub(crate) fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

pub(crate) fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => matches!(v4.octets(), [224, 0, 0, _]),
        IpAddr::V6(v6) => matches!(v6.octets(), [0xff, second, ..] if second & 0x0f == 2),
    }
}

/// Returns whether an address is unicast and neither loopback nor link-local. Private addresses are global in this sense.
pub(crate) fn is_global_unicast(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    let other = address.is_unspecified() || address.is_loopback() || address.is_multicast();
    !broadcast && !other && !is_link_local_unicast(address)
}
