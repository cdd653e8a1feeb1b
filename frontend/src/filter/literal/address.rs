//! Addresses, networks and ranges of addresses.

use super::scanner::{Read, Scanner, fault, fault_with_help, span};
use crate::filter::codes;
use crate::span::Span;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An item of a set of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpItem {
    /// A network; a single address is one of all its bits.
    Network(IpAddr, u8),
    /// A range of addresses of one family, both ends included.
    Range(IpAddr, IpAddr),
}

impl IpItem {
    /// The first and the last address.
    #[must_use]
    pub fn bounds(&self) -> (IpAddr, IpAddr) {
        match *self {
            Self::Range(first, last) => (first, last),
            Self::Network(IpAddr::V4(first), prefix) => {
                let hosts = u32::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
                (first.into(), Ipv4Addr::from_bits(first.to_bits() | hosts).into())
            }
            Self::Network(IpAddr::V6(first), prefix) => {
                let hosts = u128::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
                (first.into(), Ipv6Addr::from_bits(first.to_bits() | hosts).into())
            }
        }
    }
}

/// The length of an address in bits.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

const SYNTAX: &str = "couldn't parse address in network: invalid IP address syntax";

impl<'s> Scanner<'s> {
    fn address_characters(&mut self) -> Read<&'s str> {
        let chunk = self.take_while(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.' | '/'));
        if chunk.is_empty() {
            self.expected_without_quotes(codes::ADDRESS, "IP address character", "an address")
        } else {
            Ok(chunk)
        }
    }

    /// Reads a single address.
    pub(crate) fn address(&mut self) -> Read<IpAddr> {
        let start = self.at();
        let chunk = self.address_characters()?;
        let place = self.span_from(start);
        chunk.parse().map_err(|_| {
            let help = if chunk.contains('/') || chunk.contains("..") {
                format!("networks and ranges are compared with `in {{{chunk}}}`")
            } else {
                return fault(codes::ADDRESS, place, SYNTAX);
            };
            fault_with_help(codes::ADDRESS, place, SYNTAX, help)
        })
    }

    /// Reads an address, a network or a range of addresses.
    pub(crate) fn address_item(&mut self) -> Read<IpItem> {
        let start = self.at();
        let chunk = self.address_characters()?;
        let whole = self.span_from(start);
        let part = |from: usize, to: usize| span(start.saturating_add(from), start.saturating_add(to));
        if let Some((first, last)) = chunk.split_once("..") {
            let split = first.len();
            let error = |place| fault(codes::ADDRESS, place, SYNTAX);
            let first: IpAddr = first.parse().map_err(|_| error(part(0, split)))?;
            let last: IpAddr = last.parse().map_err(|_| error(part(split.saturating_add(2), chunk.len())))?;
            if first.is_ipv4() != last.is_ipv4() || last < first {
                return Err(fault(codes::RANGE, whole, "incompatible range bounds"));
            }
            return Ok(IpItem::Range(first, last));
        }
        let (written, prefix) = chunk.rsplit_once('/').map_or((chunk, None), |(a, p)| (a, Some(p)));
        let place = part(0, written.len());
        let address = match written.parse() {
            Ok(address) => address,
            Err(_) => self.lenient_address(written, place)?,
        };
        let Some(prefix) = prefix else { return Ok(IpItem::Network(address, bits(address))) };
        let prefix_place = part(written.len().saturating_add(1), chunk.len());
        let length = prefix.parse::<u8>().map_err(|error| {
            let message = format!("couldn't parse length in network: {error}");
            fault(codes::ADDRESS, prefix_place, message)
        })?;
        let most = bits(address);
        if length > most {
            let family = if address.is_ipv4() { "Ipv4" } else { "Ipv6" };
            let message = format!(
                "invalid length for network: Network length {length} is too long for {family} (maximum: {most})"
            );
            return Err(fault(codes::ADDRESS, whole, message));
        }
        let network = first_address(address, length);
        if network != address {
            let help = format!("write the network as `{network}/{length}`");
            return Err(fault_with_help(codes::ADDRESS, place, "host part of address was not zero", help));
        }
        Ok(IpItem::Network(address, length))
    }

    /// In a network, IPv4 addresses may have leading zeros, which do not make a number octal
    /// (`1.1.1.01`), and lack numbers at their end, which are 0 then (`10/8`).
    fn lenient_address(&mut self, written: &str, place: Span) -> Read<IpAddr> {
        let mut octets = [0u8; 4];
        let mut parts = written.split('.');
        for octet in &mut octets {
            let Some(part) = parts.next() else { break };
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            let number = part.parse::<u8>().ok().filter(|_| digits);
            *octet = number.ok_or_else(|| fault(codes::ADDRESS, place, SYNTAX))?;
        }
        if parts.next().is_some() {
            return Err(fault(codes::ADDRESS, place, SYNTAX));
        }
        let address = IpAddr::from(octets);
        let help = "other programs read such addresses in other ways: write four numbers without leading zeros";
        self.warn_if_strict(codes::LENIENT_ADDRESS, place, format!("an unusual address: this is `{address}`"), help);
        Ok(address)
    }
}

/// The first address of a network.
fn first_address(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let hosts = u32::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
            Ipv4Addr::from_bits(v4.to_bits() & !hosts).into()
        }
        IpAddr::V6(v6) => {
            let hosts = u128::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
            Ipv6Addr::from_bits(v6.to_bits() & !hosts).into()
        }
    }
}
