//! Addresses that the host holds as numbers, tested without a value: `cidr("..").containsIP(address)`,
//! `ip(address).isLoopback()`, `ip(address) == ip("..")`. Each test is whether an address is in networks.

use super::Lowering;
use celero_frontend::{Expr, NodeId as AstId, Reference, stdlib::Builtin};
use celero_ir::{Constant, NodeId, Op, Ty};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network: its first address and the length of its prefix.
type Network = (IpAddr, u8);

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Network {
    (IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix)
}

const fn v6(first: u16, last: u16, prefix: u8) -> Network {
    (IpAddr::V6(Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, last)), prefix)
}

const IPV4: [Network; 1] = [v4(0, 0, 0, 0, 0)];
const UNSPECIFIED: [Network; 2] = [v4(0, 0, 0, 0, 32), v6(0, 0, 128)];
const LOOPBACK: [Network; 2] = [v4(127, 0, 0, 0, 8), v6(0, 1, 128)];
const LINK_LOCAL: [Network; 2] = [v4(169, 254, 0, 0, 16), v6(0xfe80, 0, 10)];
const NOT_GLOBAL: [Network; 9] = [
    UNSPECIFIED[0],
    UNSPECIFIED[1],
    LOOPBACK[0],
    LOOPBACK[1],
    LINK_LOCAL[0],
    LINK_LOCAL[1],
    v4(224, 0, 0, 0, 4),
    v6(0xff00, 0, 8),
    v4(255, 255, 255, 255, 32),
];

impl Lowering<'_> {
    /// `cidr("..").containsIP(address)` with a network that is known.
    pub(super) fn network_test(&mut self, id: AstId, network: AstId, address: AstId) -> Option<NodeId> {
        if !self.is_builtin(id, &[Builtin::CidrContainsIpString]) {
            return None;
        }
        let text = self.only_argument(network, Builtin::CidrFromString)?;
        let network = crate::library::cidr_from_string(self.literal_text(text)?).ok()?;
        let address = self.address(address)?;
        Some(self.in_networks(id, address, &[network]))
    }

    /// A property of `ip(address)`.
    pub(super) fn address_property(&mut self, id: AstId, ip: AstId) -> Option<NodeId> {
        let networks: &[Network] = if self.is_builtin(id, &[Builtin::IpFamily]) {
            &IPV4
        } else if self.is_builtin(id, &[Builtin::IpIsUnspecified]) {
            &UNSPECIFIED
        } else if self.is_builtin(id, &[Builtin::IpIsLoopback]) {
            &LOOPBACK
        } else if self.is_builtin(id, &[Builtin::IpIsLinkLocalUnicast]) {
            &LINK_LOCAL
        } else if self.is_builtin(id, &[Builtin::IpIsGlobalUnicast]) {
            &NOT_GLOBAL
        } else {
            return None;
        };
        let text = self.only_argument(ip, Builtin::IpFromString)?;
        let address = self.address(text)?;
        let inside = self.in_networks(id, address, networks);
        if self.is_builtin(id, &[Builtin::IpFamily]) {
            let families = [4, 6].map(|family| self.constant(Constant::Int(family), Ty::Int, id));
            return Some(self.add(Op::Cond, Ty::Int, &[inside, families[0], families[1]], id));
        }
        let negated = self.is_builtin(id, &[Builtin::IpIsGlobalUnicast]);
        Some(if negated { self.add(Op::Not, Ty::Bool, &[inside], id) } else { inside })
    }

    /// `ip(address) == ip("..")` or `!=`, in either order.
    pub(super) fn same_address(&mut self, id: AstId, left: AstId, right: AstId) -> Option<NodeId> {
        let equal = self.is_builtin(id, &[Builtin::Equal]);
        if !equal && !self.is_builtin(id, &[Builtin::NotEqual]) {
            return None;
        }
        let [left, right] = [left, right].map(|ip| self.only_argument(ip, Builtin::IpFromString));
        let (left, right) = (left?, right?);
        let (text, known) = match (self.literal_text(left), self.literal_text(right)) {
            (None, Some(known)) => (left, known),
            (Some(known), None) => (right, known),
            _ => return None,
        };
        let known = crate::library::ip_from_string(known).ok()?;
        let address = self.address(text)?;
        let same = self.in_networks(id, address, &[(known, if known.is_ipv4() { 32 } else { 128 })]);
        Some(if equal { same } else { self.add(Op::Not, Ty::Bool, &[same], id) })
    }

    /// The argument of a call of this function, which has one.
    fn only_argument(&self, id: AstId, function: Builtin) -> Option<AstId> {
        let Expr::Call { args, .. } = self.ast.expr(id) else { return None };
        match self.ast.children(*args) {
            &[only] if self.is_builtin(id, &[function]) => Some(only),
            _ => None,
        }
    }

    /// The number of an address that the host holds as one.
    fn address(&mut self, text: AstId) -> Option<NodeId> {
        let Reference::Variable(field) = *self.checked.reference(text) else { return None };
        if self.ast.expr(text).is_test() || self.field(field)?.ty != Ty::Ip {
            return None;
        }
        Some(self.add(Op::Field(field), Ty::Ip, &[], text))
    }

    /// Whether an address is in one of these networks.
    fn in_networks(&mut self, id: AstId, address: NodeId, networks: &[Network]) -> NodeId {
        let mut tests = Vec::with_capacity(networks.len());
        for &(ip, prefix) in networks {
            let network = self.graph.constant(Constant::Cidr(ip, prefix));
            tests.push(self.add(Op::InCidr(network), Ty::Bool, &[address], id));
        }
        match tests.as_slice() {
            &[only] => only,
            tests => self.add(Op::Or, Ty::Bool, tests, id),
        }
    }
}
