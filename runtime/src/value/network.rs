//! Networks of IPv4-mapped IPv6 addresses (RFC 4291, section 2.5.5.2), which are IPv4 networks.

use std::fmt;
use std::net::IpAddr;

/// The length of the prefix that all IPv4-mapped addresses share.
const MAPPED_PREFIX: u8 = 96;

/// Returns a network whose addresses are all IPv4-mapped as the IPv4 network, any other unchanged.
#[inline]
pub(crate) fn canonical_network(address: IpAddr, prefix: u8) -> (IpAddr, u8) {
    match (address, prefix.checked_sub(MAPPED_PREFIX)) {
        (IpAddr::V6(v6), Some(rest)) => v6.to_ipv4_mapped().map_or((address, prefix), |v4| (v4.into(), rest)),
        _ => (address, prefix),
    }
}

/// Passes on the text of a network, which rules can read: `address/prefix`.
#[inline]
pub(crate) fn network_text<R>(address: IpAddr, prefix: u8, write: impl FnOnce(fmt::Arguments<'_>) -> R) -> R {
    match canonical_network(address, prefix) {
        // With dots it would be no valid text of a network.
        (IpAddr::V6(mapped), prefix) if mapped.to_ipv4_mapped().is_some() => {
            let [.., high, low] = mapped.segments();
            write(format_args!("::ffff:{high:x}:{low:x}/{prefix}"))
        }
        (address, prefix) => write(format_args!("{address}/{prefix}")),
    }
}
