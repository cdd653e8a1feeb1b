//! The network library (cel-spec's network extension): addresses and networks.
//!
//! An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) is the IPv4 address:
//! `ip("::ffff:c0a8:1")` makes an IPv4 address. Values that the host makes may still hold the
//! mapped form, so every function converts its operands.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::standard::conversions::FORMAT_STEPS;
use crate::value::{canonical_network, network_text};
use celero_ir::ErrorKind;
use ipnet::IpNet;
use std::fmt::{self, Write as _};
use std::net::IpAddr;

/// Charges the budget for parsing an address or a network and returns the text.
#[inline]
pub(crate) fn charged<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<&'a str> {
    cx.charge((text.len() / 64).saturating_add(1)).map(|()| text)
}

/// Parses an address without a zone. An IPv4-mapped address in hexadecimal (`::ffff:c0a8:1`) gives
/// the IPv4 address; with dots (`::ffff:192.168.0.1`) it is `invalid_argument`.
pub(crate) fn ip_from_string(text: &str) -> EvalResult<IpAddr> {
    parsed(text).map(|address| address.to_canonical())
}

fn parsed(text: &str) -> EvalResult<IpAddr> {
    let address: IpAddr = text.parse().map_err(|_| ErrorKind::InvalidArgument)?;
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() && text.contains('.') => Err(ErrorKind::InvalidArgument),
        _ => Ok(address),
    }
}

/// Parses a network `address/length`. Bits after the prefix may be set; they are kept. A network of
/// IPv4-mapped addresses gives the IPv4 network.
pub(crate) fn cidr_from_string(text: &str) -> EvalResult<(IpAddr, u8)> {
    let (address, length) = text.split_once('/').ok_or(ErrorKind::InvalidArgument)?;
    let address = parsed(address)?;
    let plain = length == "0" || length.starts_with(|c: char| c.is_ascii_digit() && c != '0');
    let length = length.parse().ok().filter(|_| plain).ok_or(ErrorKind::InvalidArgument)?;
    IpNet::new(address, length).map_err(|_| ErrorKind::InvalidArgument)?;
    Ok(canonical_network(address, length))
}

/// Returns whether a network contains an address. Addresses of the other family are never contained.
#[inline]
pub(crate) fn cidr_contains(network: IpAddr, prefix: u8, address: IpAddr) -> bool {
    let (network, prefix) = canonical_network(network, prefix);
    share_prefix(network, address.to_canonical(), prefix)
}

/// Returns whether two addresses are of one family and have the same first bits.
#[inline]
fn share_prefix(a: IpAddr, b: IpAddr, bits: u8) -> bool {
    let common = match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
        _ => return false,
    };
    common >= u32::from(bits)
}

/// Returns the canonical text of an address (RFC 5952 for IPv6).
#[inline]
pub(crate) fn ip_text<'a>(cx: &Cx<'a>, address: IpAddr) -> EvalResult<&'a str> {
    let address = address.to_canonical();
    if address.is_ipv6() {
        cx.charge(FORMAT_STEPS)?;
    }
    cx.arena().format_ip(address)
}

/// Returns the text of a network: `address/prefix`.
pub(crate) fn cidr_text<'a>(cx: &Cx<'a>, address: IpAddr, prefix: u8) -> EvalResult<&'a str> {
    cx.charge(FORMAT_STEPS)?;
    network_text(address, prefix, |text| cx.arena().format(text))
}

/// As [`cidr_contains`], with the address as text.
pub(crate) fn cidr_contains_string(network: IpAddr, prefix: u8, address: &str) -> EvalResult<bool> {
    ip_from_string(address).map(|address| cidr_contains(network, prefix, address))
}

/// Returns whether a network contains another one.
pub(crate) fn cidr_contains_cidr(network: (IpAddr, u8), other: (IpAddr, u8)) -> bool {
    let ((network, prefix), (other, length)) =
        (canonical_network(network.0, network.1), canonical_network(other.0, other.1));
    length >= prefix && share_prefix(network, other, prefix)
}

/// Returns the address of a network with the bits after the prefix cleared.
pub(crate) fn masked(address: IpAddr, prefix: u8) -> EvalResult<IpAddr> {
    IpNet::new(address, prefix).map(|network| network.network()).map_err(|_| ErrorKind::InvalidArgument)
}

/// Returns whether the text of an address is its canonical text: the one that [`ip_text`] gives, compared as it is
/// formatted, so that it takes no memory.
pub(crate) fn is_canonical<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<bool> {
    match ip_from_string(charged(cx, text)?)?.to_canonical() {
        // Only one text in decimal is accepted for an IPv4 address.
        IpAddr::V4(_) => Ok(!text.contains(':')),
        address => {
            cx.charge(FORMAT_STEPS)?;
            let mut rest = Rest(text);
            Ok(write!(rest, "{address}").is_ok() && rest.0.is_empty())
        }
    }
}

/// A text without what was written so far. To write what it does not start with is an error.
struct Rest<'t>(&'t str);

impl fmt::Write for Rest<'_> {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(written).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// Returns 4 or 6.
pub(crate) fn family(address: IpAddr) -> i64 {
    if address.to_canonical().is_ipv4() { 4 } else { 6 }
}

pub(crate) fn is_link_local_unicast(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

pub(crate) fn is_link_local_multicast(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => matches!(v4.octets(), [224, 0, 0, _]),
        IpAddr::V6(v6) => matches!(v6.octets(), [0xff, second, ..] if second & 0x0f == 2),
    }
}

/// Returns whether an address is unicast and neither loopback nor link-local. Private addresses are
/// global in this sense.
pub(crate) fn is_global_unicast(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    let other = address.is_unspecified() || address.is_loopback() || address.is_multicast();
    !broadcast && !other && !is_link_local_unicast(address)
}
