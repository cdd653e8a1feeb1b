//! Addresses and networks by RFC 3986 and RFC 4632: dotted decimals; groups of hexadecimal digits, perhaps with a zone.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Whether text is an address of this version: 4, 6, or 0 for either.
pub(crate) fn is_ip(text: &str, version: i64) -> bool {
    match version {
        0 => v4(text).is_some() || v6(text).is_some(),
        4 => v4(text).is_some(),
        6 => v6(text).is_some(),
        _ => false,
    }
}

/// Whether text is an address, a slash and the length of a prefix; with `strict`, the address has only zeros behind the
/// prefix.
pub(crate) fn is_prefix(text: &str, version: i64, strict: bool) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let is_v4 = || {
        let (Some(address), Some(length)) = (v4(address), length_of(length, 32)) else { return false };
        !strict || u32::from(address).checked_shl(length).unwrap_or(0) == 0
    };
    let is_v6 = || {
        let (Some((address, false)), Some(length)) = (v6(address), length_of(length, 128)) else { return false };
        !strict || u128::from(address).checked_shl(length).unwrap_or(0) == 0
    };
    match version {
        0 => is_v4() || is_v6(),
        4 => is_v4(),
        6 => is_v6(),
        _ => false,
    }
}

fn length_of(text: &str, most: u32) -> Option<u32> {
    let is_written = text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    text.parse().ok().filter(|length| is_written && *length <= most)
}

/// The standard library reads exactly the grammar: four numbers without zeros in front.
fn v4(text: &str) -> Option<Ipv4Addr> {
    text.parse().ok()
}

/// An address, and whether it has a zone.
pub(super) fn v6(text: &str) -> Option<(Ipv6Addr, bool)> {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    // A zone is any text but the empty one.
    let is_zone = zone.is_none_or(|zone| !zone.is_empty() && !zone.contains('\0'));
    address.parse().ok().filter(|_| is_zone).map(|address| (address, zone.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_versions() {
        for (text, version) in [("1.2.3.4", 4), ("::", 6), ("::1%en0", 6), ("1:2:3:4:5:6:7.8.9.10", 6)] {
            assert!(is_ip(text, version) && is_ip(text, 0) && !is_ip(text, 10 - version) && !is_ip(text, 5), "{text}");
        }
        for other in ["", "1.2.3", "01.2.3.4", "1.2.3.256", ":::", "::1%", "1::2::3", "12345::", "fe80::/10"] {
            assert!(!is_ip(other, 0), "{other}");
        }
    }

    #[test]
    fn prefixes_may_be_strict() {
        for text in ["10.0.0.0/8", "0.0.0.0/0", "::/0", "2001:db8::/32", "1.2.3.4/32", "::1/128"] {
            assert!(is_prefix(text, 0, true), "{text}");
        }
        for text in ["10.0.0.1/8", "2001:db8::1/64", "::1/127"] {
            assert!(is_prefix(text, 0, false) && !is_prefix(text, 0, true), "{text}");
        }
        for other in ["1.2.3.4", "1.2.3.4/", "1.2.3.4/33", "1.2.3.4/08", "::/129", "::1%en0/64", "1.2.3.4/-1", "/8"] {
            assert!(!is_prefix(other, 0, false), "{other}");
        }
    }
}
