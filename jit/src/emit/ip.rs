//! Tests of IP addresses. An address is two words: an IPv6 number, for IPv4 in the mapped form (RFC 4291, section 2.5.5.2).

use super::block::Words;
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::layout::Network;
use celero_ir::{ConstId, Constant, NodeId, Parameter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

impl Emitter<'_, '_> {
    pub(super) fn in_cidr(&mut self, id: NodeId, network: ConstId) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let address = self.value(self.one_arg(args)?)?.two()?;
        self.locate(id);
        match self.unit.graph.constant_at(network) {
            Some(&Constant::Cidr(ip, prefix)) => {
                let network = Network::new(ip, prefix);
                let inside = self.agrees(address, &network);
                if !network.around_ipv4 {
                    return Ok(Words::One(inside));
                }
                let ipv4 = self.agrees(address, &Network::IPV4);
                Ok(Words::One(self.builder.ins().band_not(inside, ipv4)))
            }
            Some(&Constant::Parameter(Parameter { at, .. })) => {
                let word = |n: u16| at.saturating_add(n);
                let high = self.row_difference(address.0, word(0), word(2));
                let low = self.row_difference(address.1, word(1), word(3));
                Ok(Words::One(self.are_zero(high, low)))
            }
            _ => Err(broken("the constant is not a network")),
        }
    }

    fn row_difference(&mut self, word: Value, bits: u16, mask: u16) -> Value {
        let (bits, mask) = (self.row_word(bits), self.row_word(mask));
        let differs = self.builder.ins().bxor(word, bits);
        self.builder.ins().band(differs, mask)
    }

    fn are_zero(&mut self, high: Value, low: Value) -> Value {
        let differs = self.builder.ins().bor(high, low);
        self.builder.ins().icmp_imm_s(IntCC::Equal, differs, 0)
    }

    /// Whether an address has the bits of a network.
    fn agrees(&mut self, (high, low): (Value, Value), network: &Network) -> Value {
        let ([bits_high, bits_low], [mask_high, mask_low]) = (network.bits, network.mask);
        let high = self.difference(high, bits_high, mask_high);
        let low = self.difference(low, bits_low, mask_low);
        self.are_zero(high, low)
    }

    /// The masked bits in which a word differs.
    fn difference(&mut self, word: Value, bits: u64, mask: u64) -> Value {
        let bits = self.word(bits.cast_signed());
        let differs = self.builder.ins().bxor(word, bits);
        if mask == u64::MAX {
            return differs;
        }
        let mask = self.word(mask.cast_signed());
        self.builder.ins().band(differs, mask)
    }
}
