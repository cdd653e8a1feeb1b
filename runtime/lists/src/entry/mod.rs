//! [`Entry`]: one entry of a list, and how it is written.

mod address_range;
pub(crate) mod pattern_text;

pub use address_range::networks_of_range;
pub(crate) use address_range::parse_all;

use crate::kind::Kind;
use pattern_text::{check_pattern, wildcard_pieces};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// Longest text of an entry, in bytes.
pub const MAX_ENTRY_BYTES: usize = 4096;
/// Longest host name, in bytes (RFC 1035, section 2.3.4).
pub(crate) const MAX_HOST_BYTES: usize = 253;
/// Longest label of a host name, in bytes.
const MAX_LABEL_BYTES: usize = 63;

/// One entry of a list, in its canonical form: equal entries contain the same values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry(pub(crate) Key);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    Network(Network),
    /// A text; a host name in lower case, with `*.` before a name whose subdomains are meant.
    /// Shared by what an entry passes through on its way into a list.
    Text(Arc<str>),
    Range(Range),
}

/// The first address of a network, never IPv4-mapped, and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Network {
    pub(crate) address: IpAddr,
    pub(crate) prefix: u8,
}

/// The least and the greatest number of a range.
pub(crate) type Range = (i64, i64);

impl Entry {
    /// Reads an entry of a list of this kind. Spaces around it are ignored, except in texts, patterns and wildcards.
    ///
    /// In a network, bits after the prefix are ignored: `10.1.2.3/8` is `10.0.0.0/8`.
    ///
    /// # Errors
    /// Why it is none, without the text itself.
    pub fn parse(kind: Kind, text: &str) -> Result<Self, String> {
        if text.len() > MAX_ENTRY_BYTES {
            return Err(format!("{} bytes long, more than the limit of {MAX_ENTRY_BYTES}", text.len()));
        }
        let key = match kind {
            Kind::Addresses => Key::Network(network(text.trim())?),
            Kind::Texts => Key::Text(non_empty(text)?.into()),
            Kind::TextsIgnoringCase => Key::Text(non_empty(text)?.to_ascii_lowercase().into()),
            Kind::Hosts => Key::Text(host(text.trim())?.into()),
            Kind::Integers => Key::Range(range(text.trim())?),
            Kind::Patterns => {
                check_pattern(non_empty(text)?)?;
                Key::Text(text.into())
            }
            Kind::Wildcards => {
                wildcard_pieces(non_empty(text)?)?;
                Key::Text(text.into())
            }
        };
        Ok(Self(key))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Key::Network(Network { address, prefix }) if *prefix == width(*address) => write!(f, "{address}"),
            Key::Network(Network { address, prefix }) => write!(f, "{address}/{prefix}"),
            Key::Text(text) => f.write_str(text),
            Key::Range((least, greatest)) if least == greatest => write!(f, "{least}"),
            Key::Range((least, greatest)) => write!(f, "{least}..{greatest}"),
        }
    }
}

fn non_empty(text: &str) -> Result<&str, String> {
    if text.is_empty() { Err("empty".to_owned()) } else { Ok(text) }
}

/// The number of bits of an address.
fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// An address or a network.
fn network(text: &str) -> Result<Network, String> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let address: IpAddr =
        address.parse().map_err(|_| "not an IP address or a network such as 192.0.2.0/24".to_owned())?;
    let bits = width(address);
    let prefix = match prefix {
        None => bits,
        Some(digits) => digits
            .parse::<u8>()
            .ok()
            .filter(|prefix| *prefix <= bits && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .ok_or_else(|| format!("the length of the prefix is not a number from 0 to {bits}"))?,
    };
    Ok(Network::new(address, prefix))
}

impl Network {
    /// The network of this prefix that contains the address; one of IPv4-mapped addresses as a network of IPv4.
    pub(crate) fn new(address: IpAddr, prefix: u8) -> Self {
        match (address, address.to_canonical()) {
            (IpAddr::V6(_), IpAddr::V4(mapped)) if prefix >= 96 => Self::new(mapped.into(), prefix.saturating_sub(96)),
            (IpAddr::V4(address), _) => {
                let mask = u32::MAX.checked_shl(32_u32.saturating_sub(prefix.into())).unwrap_or(0);
                Self { address: Ipv4Addr::from_bits(address.to_bits() & mask).into(), prefix }
            }
            (IpAddr::V6(address), _) => {
                let mask = u128::MAX.checked_shl(128_u32.saturating_sub(prefix.into())).unwrap_or(0);
                Self { address: Ipv6Addr::from_bits(address.to_bits() & mask).into(), prefix }
            }
        }
    }
}

/// A host name in lower case, with `*.` before it if its subdomains are meant.
fn host(text: &str) -> Result<String, String> {
    let lower = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let name = lower.strip_prefix("*.").unwrap_or(&lower);
    if name.is_empty() {
        return Err("empty".to_owned());
    }
    if name.len() > MAX_HOST_BYTES {
        return Err(format!("{} bytes long, more than the limit of {MAX_HOST_BYTES} of host names", name.len()));
    }
    if let Some(wrong) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))) {
        return Err(match wrong {
            ':' => "a host name has no port".to_owned(),
            '*' => "a star is allowed only at the beginning, as in *.example.com".to_owned(),
            '/' => "a host name has no path".to_owned(),
            wrong if !wrong.is_ascii() => "an international name is written in ASCII, as xn--..".to_owned(),
            wrong => format!("a host name has no {wrong:?}"),
        });
    }
    match name.split('.').find(|label| label.is_empty() || label.len() > MAX_LABEL_BYTES) {
        Some("") => Err("a label is empty".to_owned()),
        Some(_) => Err(format!("a label is longer than {MAX_LABEL_BYTES} bytes")),
        None => Ok(lower),
    }
}

/// An integer, or two with `..` between them.
fn range(text: &str) -> Result<Range, String> {
    let number = |text: &str| {
        text.parse::<i64>().map_err(|_| "not an integer of 64 bits or a range such as 8000..8999".to_owned())
    };
    let (least, greatest) = match text.split_once("..") {
        Some((least, greatest)) => (number(least.trim())?, number(greatest.trim())?),
        None => (number(text)?, number(text)?),
    };
    if least > greatest { Err("the range ends before it begins".to_owned()) } else { Ok((least, greatest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_one_form() {
        for (kind, text, shown) in [
            (Kind::Addresses, "192.0.2.7", "192.0.2.7"),
            (Kind::Addresses, " 10.1.2.3/8 ", "10.0.0.0/8"),
            (Kind::Addresses, "10.1.2.3/32", "10.1.2.3"),
            (Kind::Addresses, "::ffff:10.1.2.3", "10.1.2.3"),
            (Kind::Addresses, "::ffff:10.1.2.3/104", "10.0.0.0/8"),
            (Kind::Addresses, "::/0", "::/0"),
            (Kind::Addresses, "2001:DB8:1::1/32", "2001:db8::/32"),
            (Kind::Texts, " A ", " A "),
            (Kind::TextsIgnoringCase, "AbÄ", "abÄ"),
            (Kind::Hosts, "WWW.Example.com.", "www.example.com"),
            (Kind::Hosts, "*.Example.com", "*.example.com"),
            (Kind::Integers, "-5", "-5"),
            (Kind::Integers, "-5 .. 7", "-5..7"),
            (Kind::Integers, "7..7", "7"),
        ] {
            assert_eq!(Entry::parse(kind, text).map(|entry| entry.to_string()).as_deref(), Ok(shown), "{text}");
        }
    }

    #[test]
    fn what_is_no_entry_says_why() {
        for (kind, text, reason) in [
            (Kind::Addresses, "300.0.0.1", "not an IP address"),
            (Kind::Addresses, "10.0.0.0/33", "from 0 to 32"),
            (Kind::Addresses, "10.0.0.0/+8", "from 0 to 32"),
            (Kind::Addresses, "::/129", "from 0 to 128"),
            (Kind::Addresses, "fe80::1%eth0", "not an IP address"),
            (Kind::Texts, "", "empty"),
            (Kind::Hosts, "*.", "only at the beginning"),
            (Kind::Hosts, "a..b", "a label is empty"),
            (Kind::Hosts, "a.*.b", "only at the beginning"),
            (Kind::Hosts, "example.com:80", "no port"),
            (Kind::Hosts, "https", ""),
            (Kind::Hosts, "münchen.de", "xn--"),
            (Kind::Integers, "8000-8999", "8000..8999"),
            (Kind::Integers, "9..8", "ends before it begins"),
            (Kind::Integers, "9223372036854775808", "64 bits"),
        ] {
            match Entry::parse(kind, text) {
                Ok(_) => assert!(reason.is_empty(), "{text}"),
                Err(error) => assert!(!reason.is_empty() && error.contains(reason), "{text}: {error}"),
            }
        }
        assert!(Entry::parse(Kind::Texts, &"x".repeat(MAX_ENTRY_BYTES + 1)).is_err());
        assert!(Entry::parse(Kind::Hosts, &"x".repeat(64)).is_err_and(|error| error.contains("63")));
    }
}
