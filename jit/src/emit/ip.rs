//! Tests of IP addresses. An address is two words: an IPv6 number, for IPv4 in the mapped form (RFC
//! 4291, section 2.5.5.2).
//!
//! Several networks in which one address is looked for become disjoint ranges of numbers, and these
//! a tree of comparisons: it takes as many comparisons as the number of ranges has binary digits.

use super::block::{Edge, Words};
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::layout::Network;
use celero_ir::{ConstId, Constant, NodeId, Op, Parameter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use std::net::IpAddr;

/// Fewest networks for which a tree of comparisons replaces a test of each.
const MIN: usize = 4;

/// Networks in which an address is looked for.
pub(super) struct Networks {
    /// The first test.
    pub(super) first: NodeId,
    /// How many tests are made together.
    pub(super) count: usize,
    ranges: Vec<HighRange>,
}

/// Addresses whose upper words are in a range.
struct HighRange {
    from: u64,
    to: u64,
    /// The ranges of their lower words. None stands for all.
    low: Vec<(u64, u64)>,
}

/// The disjoint ranges of numbers that are in these networks, in order; adjacent ranges are joined.
fn joined(networks: &[(IpAddr, u8)]) -> Vec<(u128, u128)> {
    let number = |[high, low]: [u64; 2]| u128::from(high) << 64 | u128::from(low);
    let ipv4 = (number(Network::IPV4.bits), number(Network::IPV4.bits) | !number(Network::IPV4.mask));
    let mut ranges = Vec::with_capacity(networks.len());
    for &(ip, prefix) in networks {
        let network = Network::new(ip, prefix);
        let first = number(network.bits) & number(network.mask);
        let last = first | !number(network.mask);
        if network.around_ipv4 {
            ranges.push((first, last.min(ipv4.0.saturating_sub(1))));
            ranges.push((first.max(ipv4.1.saturating_add(1)), last));
        } else {
            ranges.push((first, last));
        }
    }
    ranges.retain(|(first, last)| first <= last);
    ranges.sort_unstable();
    ranges.dedup_by(|next, range| {
        let touches = range.1.checked_add(1).is_none_or(|after| next.0 <= after);
        if touches {
            range.1 = range.1.max(next.1);
        }
        touches
    });
    ranges
}

/// Ranges of numbers by their upper words.
fn by_high_word(ranges: &[(u128, u128)]) -> Vec<HighRange> {
    let mut found: Vec<HighRange> = Vec::new();
    let mut push = |from: u64, to: u64, low: (u64, u64)| {
        let low = if low == (0, u64::MAX) { None } else { Some(low) };
        match (found.last_mut(), low) {
            (Some(last), Some(low)) if last.from == from && last.to == to => last.low.push(low),
            (_, low) => found.push(HighRange { from, to, low: low.into_iter().collect() }),
        }
    };
    for &(first, last) in ranges {
        let ((high, low), (last_high, last_low)) = (words(first), words(last));
        if high == last_high {
            push(high, high, (low, last_low));
            continue;
        }
        let (mut from, mut to) = (Some(high), Some(last_high));
        if low != 0 {
            push(high, high, (low, u64::MAX));
            from = high.checked_add(1);
        }
        if last_low != u64::MAX {
            to = last_high.checked_sub(1);
        }
        if let (Some(from), Some(to)) = (from, to)
            && from <= to
        {
            push(from, to, (0, u64::MAX));
        }
        if last_low != u64::MAX {
            push(last_high, last_high, (0, last_low));
        }
    }
    found
}

fn words(number: u128) -> (u64, u64) {
    ((number >> 64) as u64, number as u64)
}

impl Emitter<'_, '_> {
    /// The tests at the start of these operands of an `or` that look for one address in networks,
    /// if there are enough of them.
    pub(super) fn networks(&self, operands: &[NodeId]) -> Option<Networks> {
        let graph = self.unit.graph;
        let test = |&id: &NodeId| match (graph.op(id), graph.args(id)) {
            (Op::InCidr(network), &[address]) => match graph.constant_at(network) {
                Some(&Constant::Cidr(ip, prefix)) => Some((graph.class(address), (ip, prefix))),
                _ => None,
            },
            _ => None,
        };
        let &first = operands.first()?;
        let (address, _) = test(&first)?;
        let same = operands.iter().map_while(|id| test(id).filter(|(of, _)| *of == address));
        let networks: Vec<(IpAddr, u8)> = same.map(|(_, network)| network).collect();
        let count = networks.len();
        (count >= MIN).then(|| Networks { first, count, ranges: by_high_word(&joined(&networks)) })
    }

    /// Jumps by whether an address is in one of several networks.
    pub(super) fn test_networks(&mut self, networks: &Networks, yes: Edge, no: Edge) -> Result<(), Error> {
        let (_, _, args) = self.parts(networks.first);
        let (high, low) = self.value(self.one_arg(args)?)?.two()?;
        self.locate(networks.first);
        let (inside, outside) = (self.builder.create_block(), self.builder.create_block());
        self.test_high(high, low, &networks.ranges, Edge::to(inside), Edge::to(outside));
        for (block, edge) in [(inside, yes), (outside, no)] {
            self.start(block);
            self.jump(edge);
        }
        Ok(())
    }

    fn test_high(&mut self, high: Value, low: Value, ranges: &[HighRange], yes: Edge, no: Edge) {
        match ranges {
            [] => self.jump(no),
            [one] if one.low.is_empty() => {
                let inside = self.in_range(high, one.from, one.to);
                self.brif(inside, yes, no);
            }
            // IPv4 addresses first: all have the upper word 0.
            [one, others @ ..] if others.is_empty() || one.to == 0 => {
                let (lower, other) = (self.builder.create_block(), self.builder.create_block());
                let inside = self.in_range(high, one.from, one.to);
                self.brif(inside, Edge::to(lower), Edge::to(other));
                self.start(lower);
                match one.low.as_slice() {
                    [] => self.jump(yes),
                    low_ranges => self.test_low(low, low_ranges, yes, no),
                }
                self.start(other);
                self.test_high(high, low, others, yes, no);
            }
            _ => {
                let (before, after) = ranges.split_at(ranges.len() / 2);
                let bound = after.first().map_or(0, |range| range.from);
                let [left, right] = self.fork(high, bound);
                self.start(left);
                self.test_high(high, low, before, yes, no);
                self.start(right);
                self.test_high(high, low, after, yes, no);
            }
        }
    }

    fn test_low(&mut self, low: Value, ranges: &[(u64, u64)], yes: Edge, no: Edge) {
        match *ranges {
            [] => self.jump(no),
            [(from, to)] => {
                let inside = self.in_range(low, from, to);
                self.brif(inside, yes, no);
            }
            _ => {
                let (before, after) = ranges.split_at(ranges.len() / 2);
                let bound = after.first().map_or(0, |range| range.0);
                let [left, right] = self.fork(low, bound);
                self.start(left);
                self.test_low(low, before, yes, no);
                self.start(right);
                self.test_low(low, after, yes, no);
            }
        }
    }

    /// Jumps to the first block if a word is below a bound, else to the second.
    fn fork(&mut self, word: Value, bound: u64) -> [Block; 2] {
        let blocks = [self.builder.create_block(), self.builder.create_block()];
        let bound = self.rule_word(bound);
        let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, word, bound);
        let [left, right] = blocks.map(Edge::to);
        self.brif(below, left, right);
        blocks
    }

    fn in_range(&mut self, word: Value, from: u64, to: u64) -> Value {
        if from == to {
            let only = self.rule_word(from);
            return self.builder.ins().icmp(IntCC::Equal, word, only);
        }
        let word = if from == 0 {
            word
        } else {
            let first = self.rule_word(from);
            self.builder.ins().isub(word, first)
        };
        let size = self.rule_word(to.wrapping_sub(from));
        self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, word, size)
    }

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
        let bits = self.rule_word(bits);
        let differs = self.builder.ins().bxor(word, bits);
        if mask == u64::MAX {
            return differs;
        }
        let mask = self.rule_word(mask);
        self.builder.ins().band(differs, mask)
    }
}
