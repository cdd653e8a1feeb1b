//! Networks: compared as text with addresses, and written with an address inside them.

use super::{Lint, NETWORK_AS_TEXT, NETWORK_HOST_BITS};
use crate::fields::header_access;
use crate::library::{cidr_from_string, masked};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{BinaryOp, Expr, NodeId};

/// Whether a text is a network such as `10.0.0.0/8`.
pub(crate) fn is_network(text: &str) -> bool {
    cidr_from_string(text).is_ok()
}

/// What is said of the beginning of an address's text.
const BEGINNING: &str = "the text of an address is compared with a beginning; a network compares the address itself";

/// Returns the network whose addresses are those whose text begins with whole octets of IPv4: `10.0.0.0/8` for `10.`.
fn network_of(beginning: &str) -> Option<String> {
    let octets = beginning.strip_suffix('.')?;
    let is_octet = |octet: &str| octet.parse::<u8>().is_ok_and(|number| number.to_string() == octet);
    let count = octets.split('.').count();
    let missing = 4_usize.checked_sub(count).filter(|missing| *missing > 0)?;
    let zeros = ".0".repeat(missing);
    octets.split('.').all(is_octet).then(|| format!("{octets}{zeros}/{}", count.saturating_mul(8)))
}

/// What is said of the text of a network that is compared as it is.
pub(crate) const AS_TEXT: &str = "this is compared as text: no address equals the text of a network";

impl Lint<'_> {
    /// Returns the help for the text of a network that an address is compared with.
    pub(super) fn network_help(&self, address: NodeId, text: &str) -> String {
        format!("write `cidr(\"{text}\").containsIP({})`", self.source(address))
    }

    /// Warns about `source.address.startsWith("10.")`.
    pub(super) fn beginning_of_address(&mut self, id: NodeId, address: NodeId, text: &str) {
        if let Some(network) = network_of(text) {
            let help = self.network_help(address, &network);
            self.warn(NETWORK_AS_TEXT, self.ast.span(id), BEGINNING.to_owned(), &help);
        }
    }

    /// Warns about a header that is compared with the text of a network. A field that is an address is
    /// reported as one that never has this value.
    pub(super) fn network_as_text(&mut self, id: NodeId) {
        let Expr::Binary { op: op @ (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::In), left, right } = *self.ast.expr(id)
        else {
            return;
        };
        let is_header = matches!(self.ast.expr(left), Expr::Select { test: false, .. } | Expr::Index { .. })
            && header_access(self.checked, self.fields, left).is_some();
        if !is_header {
            return;
        }
        let texts = match self.ast.expr(right) {
            Expr::List { elements, .. } if op == BinaryOp::In => self.ast.children(*elements),
            _ if op == BinaryOp::In => return,
            _ => &[right],
        };
        for &node in texts {
            if let Some(text) = self.text(node).filter(|text| is_network(text)) {
                let help = self.network_help(left, &text);
                self.warn(NETWORK_AS_TEXT, self.ast.span(node), AS_TEXT.to_owned(), &help);
            }
        }
    }

    /// Warns about `cidr("10.0.0.1/8").containsIP(..)`, which asks about `10.0.0.0/8`.
    pub(super) fn host_bits(&mut self, id: NodeId) {
        let Some((builtin, operands)) = self.call(id) else { return };
        let asks = matches!(
            builtin,
            Builtin::CidrContainsIp
                | Builtin::CidrContainsIpString
                | Builtin::CidrContainsCidr
                | Builtin::CidrContainsCidrString
        );
        if !asks {
            return;
        }
        for &operand in &operands {
            let Some((Builtin::CidrFromString, texts)) = self.call(operand) else { continue };
            let Some(&text) = texts.first() else { continue };
            let Some((address, prefix)) = self.text(text).and_then(|text| cidr_from_string(&text).ok()) else {
                continue;
            };
            if let Ok(network) = masked(address, prefix)
                && network != address
            {
                let message = format!("`{address}/{prefix}` is written with an address inside `{network}/{prefix}`");
                let help = format!("write `{network}/{prefix}`, or `{address}` for that address alone");
                self.warn(NETWORK_HOST_BITS, self.ast.span(text), message, &help);
            }
        }
    }
}
