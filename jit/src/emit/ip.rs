//! Tests of addresses: two words, the address as an IPv6 number, IPv4 ones in their mapped form (RFC 4291, section 2.5.5.2).

use super::block::Words;
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::layout::ip_words;
use celero_ir::{ConstId, Constant, NodeId};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use std::net::IpAddr;

/// The bits that all mapped IPv4 addresses share.
const BLOCK: [u64; 2] = [u64::MAX, !0xffff_ffff];

fn split(number: u128) -> [u64; 2] {
    [(number >> 64) as u64, number as u64]
}

/// The bits that an address shares with all others of its network, as a mask.
fn mask(ip: IpAddr, prefix: u8) -> [u64; 2] {
    let free = match ip {
        IpAddr::V4(_) => 32_u32,
        IpAddr::V6(_) => 128,
    };
    split(u128::MAX.checked_shl(free.saturating_sub(u32::from(prefix))).unwrap_or(0))
}

impl Emitter<'_, '_> {
    pub(super) fn in_cidr(&mut self, id: NodeId, network: ConstId) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let address = self.value(self.one_arg(args)?)?.two()?;
        self.locate(id);
        let Some(&Constant::Cidr(ip, prefix)) = self.unit.graph.constant_at(network) else {
            return Err(broken("a network that is none"));
        };
        let mask = mask(ip, prefix);
        let inside = self.agrees(address, ip_words(ip), mask);
        // IPv4 addresses have numbers in the middle of the others, and lie in no IPv6 network.
        let block = ip_words(IpAddr::from([0, 0, 0, 0]));
        let bits = ip_words(ip).into_iter().zip(block).map(|(ip, block)| ip ^ block);
        let apart = bits.zip(mask).zip(BLOCK).any(|((bits, mask), block)| bits & mask & block != 0);
        if ip.is_ipv4() || apart {
            return Ok(Words::One(inside));
        }
        let mapped = self.agrees(address, block, BLOCK);
        Ok(Words::One(self.builder.ins().band_not(inside, mapped)))
    }

    /// Whether an address has these bits where the mask has ones.
    fn agrees(&mut self, (high, low): (Value, Value), bits: [u64; 2], mask: [u64; 2]) -> Value {
        let ([bits_high, bits_low], [mask_high, mask_low]) = (bits, mask);
        let high = self.difference(high, bits_high, mask_high);
        let low = self.difference(low, bits_low, mask_low);
        let differs = self.builder.ins().bor(high, low);
        self.builder.ins().icmp_imm_s(IntCC::Equal, differs, 0)
    }

    /// The bits in which a word differs, of those where the mask has ones.
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
