//! Addresses in ranges: as tests of networks.

use super::Lowering;
use celero_frontend::NodeId as TreeId;
use celero_frontend::filter::OrderOp;
use celero_ir::{Constant, NodeId, Op, Ty};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The IPv6 addresses in which IPv4 addresses are mapped (RFC 4291, section 2.5.5.2). A host's
/// address is never one of them: it is read as the IPv4 address.
const MAPPED: (u128, u128) = (0xffff_0000_0000, 0xffff_ffff_ffff);

impl Lowering<'_> {
    /// Whether the address is in one of these ranges, both ends included.
    pub(super) fn in_ranges(
        &mut self,
        address: NodeId,
        ranges: impl IntoIterator<Item = (IpAddr, IpAddr)>,
        at: TreeId,
    ) -> NodeId {
        let networks: Vec<(IpAddr, u8)> = ranges.into_iter().flat_map(|(first, last)| networks(first, last)).collect();
        let tests = networks.into_iter().map(|(address_bits, prefix)| {
            let network = self.lowered.graph.constant(Constant::Cidr(address_bits, prefix));
            self.add(Op::InCidr(network), Ty::Bool, &[address], at)
        });
        let tests: Vec<NodeId> = tests.collect();
        if tests.is_empty() {
            // The address is read, because a missing one decides otherwise.
            let everything = self.everything(address, at);
            return self.add(Op::Not, Ty::Bool, &[everything], at);
        }
        self.joined(Op::Or, tests, at)
    }

    /// True, if there is an address.
    fn everything(&mut self, address: NodeId, at: TreeId) -> NodeId {
        let all = [(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0), (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0)];
        let tests = all.map(|(address_bits, prefix)| {
            let network = self.lowered.graph.constant(Constant::Cidr(address_bits, prefix));
            self.add(Op::InCidr(network), Ty::Bool, &[address], at)
        });
        self.add(Op::Or, Ty::Bool, &tests, at)
    }

    /// How the address is ordered with another: within a family. Of two families, only `!=` is true.
    pub(super) fn ordered_address(&mut self, op: OrderOp, address: NodeId, other: IpAddr, at: TreeId) -> NodeId {
        let (lowest, highest): (IpAddr, IpAddr) = match other {
            IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::BROADCAST.into()),
            IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::from_bits(u128::MAX).into()),
        };
        let ranges = match op {
            OrderOp::Equal | OrderOp::NotEqual => Some((other, other)),
            OrderOp::GreaterEqual => Some((other, highest)),
            OrderOp::LessEqual => Some((lowest, other)),
            OrderOp::Greater => step(other, true).map(|next| (next, highest)),
            OrderOp::Less => step(other, false).map(|previous| (lowest, previous)),
        };
        let inside = self.in_ranges(address, ranges, at);
        if op == OrderOp::NotEqual { self.add(Op::Not, Ty::Bool, &[inside], at) } else { inside }
    }
}

/// The next or previous address of the family.
fn step(address: IpAddr, up: bool) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => {
            let bits = address.to_bits();
            let bits = if up { bits.checked_add(1) } else { bits.checked_sub(1) };
            bits.map(|bits| Ipv4Addr::from_bits(bits).into())
        }
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            let bits = if up { bits.checked_add(1) } else { bits.checked_sub(1) };
            bits.map(|bits| Ipv6Addr::from_bits(bits).into())
        }
    }
}

/// The fewest networks that hold a range of addresses, both ends included: at most twice as many as
/// an address has bits.
fn networks(first: IpAddr, last: IpAddr) -> Vec<(IpAddr, u8)> {
    match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => blocks(first.to_bits().into(), last.to_bits().into(), 32)
            .into_iter()
            .map(|(bits, prefix)| (Ipv4Addr::from_bits(u32::try_from(bits).unwrap_or(u32::MAX)).into(), prefix))
            .collect(),
        (IpAddr::V6(first), IpAddr::V6(last)) => {
            let (first, last) = (first.to_bits(), last.to_bits());
            // Networks around the mapped addresses do not hold IPv4 addresses; those inside would.
            let below = (first, last.min(MAPPED.0.saturating_sub(1)));
            let above = (first.max(MAPPED.1.saturating_add(1)), last);
            let whole = first < MAPPED.0 && last > MAPPED.1;
            let parts = if whole { vec![(first, last)] } else { vec![below, above] };
            parts
                .into_iter()
                .filter(|(first, last)| first <= last)
                .flat_map(|(first, last)| blocks(first, last, 128))
                .filter(|&(bits, prefix)| !(prefix >= 96 && (MAPPED.0..=MAPPED.1).contains(&bits)))
                .map(|(bits, prefix)| (Ipv6Addr::from_bits(bits).into(), prefix))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The aligned blocks of a range of numbers: their first number and the length of their prefix.
fn blocks(first: u128, last: u128, bits: u32) -> Vec<(u128, u8)> {
    let mut found = Vec::new();
    let mut at = first;
    loop {
        // The largest block that starts here, is aligned and does not pass the end.
        let mut free = at.trailing_zeros().min(bits);
        let end = |free: u32| {
            let mask = u128::MAX.checked_shr(128u32.saturating_sub(free)).unwrap_or(0);
            at | mask
        };
        while free > 0 && end(free) > last {
            free = free.saturating_sub(1);
        }
        found.push((at, u8::try_from(bits.saturating_sub(free)).unwrap_or(u8::MAX)));
        match end(free).checked_add(1) {
            Some(next) if next <= last => at = next,
            _ => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(first: &str, last: &str) -> String {
        let networks = networks(first.parse().unwrap(), last.parse().unwrap());
        networks.iter().map(|(address, prefix)| format!("{address}/{prefix}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ranges_are_networks() {
        assert_eq!(shown("10.0.0.0", "10.255.255.255"), "10.0.0.0/8");
        assert_eq!(shown("0.0.0.0", "255.255.255.255"), "0.0.0.0/0");
        assert_eq!(shown("192.0.2.1", "192.0.2.6"), "192.0.2.1/32 192.0.2.2/31 192.0.2.4/31 192.0.2.6/32");
        assert_eq!(shown("255.255.255.254", "255.255.255.255"), "255.255.255.254/31");
        assert_eq!(shown("2001:db8::", "2001:db8::ffff"), "2001:db8::/112");
        assert_eq!(shown("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), "::/0");
        assert_eq!(shown("::ffff:1.2.3.4", "::ffff:1.2.3.4"), "");
        assert_eq!(shown("::fffe:ffff:ffff", "::ffff:0.0.0.1"), "::fffe:ffff:ffff/128");
        assert_eq!(networks("0.0.0.1".parse().unwrap(), "255.255.255.254".parse().unwrap()).len(), 62);
    }
}
