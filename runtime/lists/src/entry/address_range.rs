//! Ranges of addresses as the networks that they consist of.

use super::{Entry, Key, MAX_ENTRY_BYTES, Network};
use crate::kind::Kind;
use std::net::IpAddr;

/// Reads a text of a list of this kind: one entry, or the networks of a range of addresses.
///
/// # Errors
/// Why it is none, without the text itself.
pub(crate) fn parse_all(kind: Kind, text: &str) -> Result<Vec<Entry>, String> {
    if kind == Kind::Addresses
        && text.len() <= MAX_ENTRY_BYTES
        && let Some(networks) = networks(text)
    {
        return networks;
    }
    Entry::parse(kind, text).map(|entry| vec![entry])
}

/// Returns the networks of a range `first..last` or `first-last`, both ends included: at most 254.
/// `None` if the text has no `..`, and no `-` after an address.
///
/// # Errors
/// An end is no address, or the ends are not of one family, or in the wrong order.
fn networks(text: &str) -> Option<Result<Vec<Entry>, String>> {
    let is_address = |text: &str| text.trim().parse::<IpAddr>().is_ok();
    let after_address = || text.split_once('-').filter(|(first, _)| is_address(first));
    let (first, last) = text.split_once("..").or_else(after_address)?;
    let (Ok(first), Ok(last)) = (first.trim().parse::<IpAddr>(), last.trim().parse::<IpAddr>()) else {
        return Some(Err("an end of the range is not an IP address".to_owned()));
    };
    let (first, last) = (first.to_canonical(), last.to_canonical());
    if first.is_ipv4() != last.is_ipv4() {
        return Some(Err("the ends of the range are of different families".to_owned()));
    }
    if first > last {
        return Some(Err("the range ends before it begins".to_owned()));
    }
    Some(Ok(cover(first, last)))
}

fn cover(first: IpAddr, last: IpAddr) -> Vec<Entry> {
    let networks = networks_of_range(first, last).into_iter();
    networks.map(|(address, prefix)| Entry(Key::Network(Network::new(address, prefix)))).collect()
}

/// Returns the largest networks that together are a range of addresses of one family, both ends
/// included, in order: at most 254, each with its first address and the length of its prefix.
#[must_use]
pub fn networks_of_range(first: IpAddr, last: IpAddr) -> Vec<(IpAddr, u8)> {
    let (bits, last) = (if first.is_ipv4() { 32_u32 } else { 128 }, number(last));
    let mut networks = Vec::new();
    let mut next = Some(number(first));
    while let Some(start) = next.filter(|start| *start <= last) {
        // As large as the alignment of the first address and the rest of the range allow.
        let (aligned, left) = (start.trailing_zeros().min(bits), last.wrapping_sub(start).checked_add(1));
        let fits = left.map_or(bits, |left| left.ilog2().min(bits));
        let hosts = aligned.min(fits);
        let address = if bits == 32 {
            IpAddr::V4(u32::try_from(start).unwrap_or(u32::MAX).into())
        } else {
            IpAddr::V6(start.into())
        };
        let prefix = u8::try_from(bits.saturating_sub(hosts)).unwrap_or(0);
        networks.push((address, prefix));
        next = 1_u128.checked_shl(hosts).and_then(|size| start.checked_add(size));
    }
    networks
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, String> {
        let entries = networks(text).unwrap_or(Ok(Vec::new()))?;
        Ok(entries.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_range_is_the_networks_that_it_consists_of() {
        for (range, networks) in [
            ("192.0.2.1..192.0.2.9", "192.0.2.1 192.0.2.2/31 192.0.2.4/30 192.0.2.8/31"),
            ("192.0.2.7..192.0.2.7", "192.0.2.7"),
            ("0.0.0.0..255.255.255.255", "0.0.0.0/0"),
            ("255.255.255.254..255.255.255.255", "255.255.255.254/31"),
            ("::..ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::/0"),
            ("2001:db8::1..2001:db8::2", "2001:db8::1 2001:db8::2"),
            ("::ffff:192.0.2.0..::ffff:192.0.2.3", "192.0.2.0/30"),
        ] {
            assert_eq!(shown(range).as_deref(), Ok(networks), "{range}");
        }
        let most = shown("::1..ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe").map(|networks| networks.split(' ').count());
        assert_eq!(most, Ok(254));
        for (range, reason) in [
            ("192.0.2.9..192.0.2.1", "ends before"),
            ("192.0.2.9..::1", "families"),
            ("192.0.2.9..", "not an IP address"),
            ("a..b", "not an IP address"),
            ("192.0.2.1-x", "an end of the range"),
        ] {
            assert!(shown(range).is_err_and(|error| error.contains(reason)), "{range}");
        }
        for text in ["ads-server.example", "2024-01-01", "-192.0.2.1"] {
            let reason = parse_all(Kind::Addresses, text).unwrap_err();
            assert!(!reason.contains("range"), "{text}: {reason}");
        }
    }
}
