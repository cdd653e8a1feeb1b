//! Tests of text and bytes.
//!
//! A test against a constant of up to 32 bytes is emitted inline: a comparison of lengths, then
//! loads of the bytes; or, if the host has a tag byte for the text, a comparison of that. Tests
//! against longer or unknown texts call a helper once the lengths allow a match.
//!
//! A wildcard pattern with one star or none is a test of a prefix and a suffix, or of the whole.
//! Where ASCII letters match in either case, the bit that tells the cases apart is set in what was
//! loaded, at those places only where the pattern has a letter.

use super::block::Edge;
use super::{Emitter, MEM, broken};
use crate::error::Error;
use crate::unit::INLINE;
use celero_ir::layout::value::{FIRST, SECOND, TAG, tag_of};
use celero_ir::layout::{Access, Field, Path};
use celero_ir::{Cmp, ConstId, Constant, Graph, Helper, NodeId, Op, Ty};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use smallvec::SmallVec;

/// Number of members of the largest set that is compared inline.
const SMALL_SET: usize = 4;

/// A load of 1, 2, 4 or 8 bytes, and the expected word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunk {
    offset: usize,
    /// Whether the load is at an offset from the end.
    at_end: bool,
    width: usize,
    expected: u64,
    /// Bits to set before the comparison.
    mask: u64,
}

/// How letters match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// As they are.
    Exact,
    /// ASCII letters in either case; the constant is in lower case.
    Folded,
}

/// Loads that cover exactly the bytes of a constant; the last may overlap the one before. In
/// `shared` code they are the same for many lengths: the first half of the loads is at the start,
/// the second half at the end.
fn chunks(bytes: &[u8], case: Case, shared: bool) -> Vec<Chunk> {
    let widest = match bytes.len() {
        0 => return Vec::new(),
        1 => 1,
        2 | 3 => 2,
        4..8 => 4,
        _ => 8,
    };
    let whole = bytes.len().checked_div(widest).unwrap_or(0);
    let mut offsets: Vec<usize> = (0..whole).map(|i| i.saturating_mul(widest)).collect();
    let tail = bytes.len().saturating_sub(widest);
    let mut from_start = usize::MAX;
    if shared && bytes.len() > 1 {
        from_start = if bytes.len() > 16 { 2 } else { 1 };
        offsets.truncate(from_start);
        offsets.extend((0..from_start).map(|n| tail.saturating_sub(n.saturating_mul(widest))));
    } else if offsets.last() != Some(&tail) {
        offsets.push(tail);
    }
    let chunk = |(number, offset): (usize, usize)| {
        let word = |of: fn(u8) -> u8| {
            let part = bytes.iter().skip(offset).take(widest).rev();
            part.fold(0_u64, |word, &byte| (word << 8) | u64::from(of(byte)))
        };
        let mask = if case == Case::Folded { word(|byte| if byte.is_ascii_lowercase() { 0x20 } else { 0 }) } else { 0 };
        Chunk { offset, at_end: number >= from_start, width: widest, expected: word(|byte| byte), mask }
    };
    offsets.into_iter().enumerate().map(chunk).collect()
}

/// A field of the host whose tag byte shows whether it is one of some texts.
struct Tagged<'a> {
    path: &'a Path,
    offset: u32,
    /// The tags of these texts, at least one.
    tags: SmallVec<[u8; SMALL_SET]>,
}

impl<'a> Emitter<'a, '_> {
    /// The field of a node, if its tag byte shows which of these texts it is.
    fn tagged(&self, text: NodeId, texts: &[&[u8]]) -> Option<Tagged<'a>> {
        let graph = self.unit.graph;
        // The bytes of a text are that text.
        let text = match (graph.op(text), graph.args(text)) {
            (Op::AsBytes, &[inner]) => inner,
            _ => text,
        };
        let Op::Field(index) = graph.op(text) else { return None };
        let fields: &'a [Field] = self.unit.fields;
        let field = fields.get(index as usize).filter(|field| !field.optional && !texts.is_empty())?;
        let Access::Tagged(path, names, _) = &field.access else { return None };
        let tag = |text: &&[u8]| names.texts.iter().find(|(_, name)| name.as_bytes() == *text).map(|(tag, _)| *tag);
        let tags = texts.iter().map(tag).collect::<Option<_>>()?;
        Some(Tagged { path, offset: names.tag, tags })
    }

    /// If one of two compared values is a constant text or bytes: the other value, and the type and
    /// the bytes of the constant.
    pub(super) fn known_text(&self, args: &[NodeId]) -> Option<(NodeId, Ty, &'a [u8])> {
        let graph: &'a Graph = self.unit.graph;
        let &[left, right] = args else { return None };
        [(left, right), (right, left)].into_iter().find_map(|(value, known)| {
            let text = match (graph.op(known), graph.args(known)) {
                (Op::Box, &[text]) => text,
                _ => known,
            };
            let Op::Const(id) = graph.op(text) else { return None };
            let (ty, bytes) = match graph.constant_at(id)? {
                Constant::Str(text) => (Ty::Str, text.as_bytes()),
                Constant::Bytes(bytes) => (Ty::Bytes, &**bytes),
                _ => return None,
            };
            (bytes.len() <= INLINE).then_some((value, ty, bytes))
        })
    }
}

impl Emitter<'_, '_> {
    /// Whether the operation is one that [`test_text`](Self::test_text) emits.
    pub(super) fn is_text_test(&self, op: Op, args: &[NodeId]) -> bool {
        let textual = |id: &NodeId| matches!(self.unit.graph.ty(*id), Ty::Str | Ty::Bytes | Ty::Raw);
        match op {
            Op::Cmp(Cmp::Eq | Cmp::Ne) => args.iter().all(textual),
            Op::StartsWith | Op::EndsWith => args.get(1).is_some_and(|&id| self.unit.text(id).is_some()),
            _ => false,
        }
    }

    pub(super) fn is_small_text_set(&self, set: ConstId) -> bool {
        match self.unit.graph.constant_at(set) {
            Some(Constant::StrSet(members)) => {
                members.len() <= SMALL_SET && members.iter().all(|member| member.len() <= INLINE)
            }
            _ => false,
        }
    }

    /// Whether a node is a constant with which text is compared inline.
    pub(super) fn is_inline(&self, id: NodeId) -> bool {
        self.unit.text(id).is_some_and(|(bytes, _)| bytes.len() <= INLINE)
    }

    pub(super) fn is_small_int_set(&self, set: ConstId) -> bool {
        matches!(self.unit.graph.constant_at(set), Some(Constant::IntSet(members)) if members.len() <= SMALL_SET)
    }

    pub(super) fn test_text(&mut self, id: NodeId, yes: Edge, no: Edge) -> Result<(), Error> {
        let (op, _, args) = self.parts(id);
        match op {
            Op::Cmp(Cmp::Eq) => self.equal(id, args, yes, no),
            Op::Cmp(Cmp::Ne) => self.equal(id, args, no, yes),
            Op::StartsWith | Op::EndsWith => {
                let [text, affix] = self.two_args(args)?;
                let (text, length) = self.value(text)?.two()?;
                let (bytes, constant) = self.unit.text(affix).ok_or_else(|| broken("an affix that is no constant"))?;
                self.locate(id);
                let (size, long) = (len(bytes)?, self.builder.create_block());
                let enough = self.compare_length(IntCC::UnsignedGreaterThanOrEqual, length, size);
                self.brif(enough, Edge::to(long), no);
                self.start(long);
                let start = if op == Op::EndsWith {
                    let end = self.builder.ins().iadd(text, length);
                    self.before(end, size)
                } else {
                    text
                };
                self.match_bytes(start, bytes, Some(constant), yes, no)
            }
            Op::WildcardConst(wildcard) => self.test_wildcard(id, wildcard, yes, no),
            Op::Call(Helper::value_equal) => self.value_equal(id, args, yes, no),
            Op::InStrSet(set) => self.test_text_set(id, set, yes, no),
            _ => Err(broken("the operation is not a test of text")),
        }
    }

    /// Compares a value of any type with a constant text or bytes: type, length, then content.
    fn value_equal(&mut self, id: NodeId, args: &[NodeId], yes: Edge, no: Edge) -> Result<(), Error> {
        let (value, ty, bytes) = self.known_text(args).ok_or_else(|| broken("no constant to compare with"))?;
        let tag = tag_of(ty).ok_or_else(|| broken("a type that has no values"))?;
        let at = self.value(value)?.one()?;
        self.locate(id);
        let found = self.builder.ins().uload8(I64, MEM, at, TAG);
        let alike = self.builder.ins().icmp_imm_s(IntCC::Equal, found, i64::from(tag));
        let (text, same) = (self.builder.create_block(), self.builder.create_block());
        self.brif(alike, Edge::to(text), no);
        self.start(text);
        let length = self.builder.ins().load(I64, MEM, at, SECOND);
        let equal = self.compare_length(IntCC::Equal, length, len(bytes)?);
        self.brif(equal, Edge::to(same), no);
        self.start(same);
        let address = self.builder.ins().load(I64, MEM, at, FIRST);
        self.match_bytes(address, bytes, None, yes, no)
    }

    fn equal(&mut self, id: NodeId, args: &[NodeId], yes: Edge, no: Edge) -> Result<(), Error> {
        let [left, right] = self.two_args(args)?;
        for (text, constant) in [(left, right), (right, left)] {
            if let Some((bytes, constant)) = self.unit.text(constant) {
                if let Some(tagged) = self.tagged(text, &[bytes]) {
                    return self.test_tag(&tagged, yes, no);
                }
                let text = self.value(text)?.two()?;
                self.locate(id);
                return self.match_constant(text, (bytes, constant), yes, no);
            }
        }
        let left = self.value(left)?.two()?;
        let right = self.value(right)?.two()?;
        self.locate(id);
        self.match_texts(left, right, yes, no)
    }

    /// Whether a text is a constant: its length, then its bytes.
    pub(super) fn match_constant(
        &mut self,
        (text, length): (Value, Value),
        (bytes, constant): (&[u8], ConstId),
        yes: Edge,
        no: Edge,
    ) -> Result<(), Error> {
        let same = self.builder.create_block();
        let equal = self.compare_length(IntCC::Equal, length, len(bytes)?);
        self.brif(equal, Edge::to(same), no);
        self.start(same);
        self.match_bytes(text, bytes, Some(constant), yes, no)
    }

    /// Whether two texts are equal: their lengths, then their bytes.
    pub(super) fn match_texts(
        &mut self,
        (a, a_len): (Value, Value),
        (b, b_len): (Value, Value),
        yes: Edge,
        no: Edge,
    ) -> Result<(), Error> {
        let same = self.builder.create_block();
        let equal = self.builder.ins().icmp(IntCC::Equal, a_len, b_len);
        self.brif(equal, Edge::to(same), no);
        self.start(same);
        let (equal, _) = self.call(Helper::bytes_equal, &[a, a_len, b, b_len])?;
        self.brif(equal.one()?, yes, no);
        Ok(())
    }

    /// A wildcard pattern with one star or none.
    fn test_wildcard(&mut self, id: NodeId, wildcard: ConstId, yes: Edge, no: Edge) -> Result<(), Error> {
        let (_, _, args) = self.parts(id);
        let (first, last, strict) = self
            .unit
            .inline_wildcard(wildcard)
            .ok_or_else(|| broken("a wildcard pattern that is not tested inline"))?;
        let case = if strict { Case::Exact } else { Case::Folded };
        let (text, length) = self.value(self.one_arg(args)?)?.two()?;
        self.locate(id);
        let (least, long) = (len(first)?.saturating_add(len(last.unwrap_or(&[]))?), self.builder.create_block());
        let fits = if last.is_some() { IntCC::UnsignedGreaterThanOrEqual } else { IntCC::Equal };
        let enough = self.builder.ins().icmp_imm_s(fits, length, least);
        self.brif(enough, Edge::to(long), no);
        self.start(long);
        let Some(last) = last.filter(|last| !last.is_empty()) else {
            return self.match_inline(text, first, case, yes, no);
        };
        // The end first: patterns of host names differ there.
        let rest = self.builder.create_block();
        let end = self.builder.ins().iadd(text, length);
        let end = self.builder.ins().iadd_imm_s(end, len(last)?.saturating_neg());
        self.match_inline(end, last, case, if first.is_empty() { yes } else { Edge::to(rest) }, no)?;
        if !first.is_empty() {
            self.start(rest);
            self.match_inline(text, first, case, yes, no)?;
        }
        Ok(())
    }

    /// Whether the bytes at an address are these. There are as many, which the caller has checked.
    fn match_bytes(
        &mut self,
        at: Value,
        bytes: &[u8],
        constant: Option<ConstId>,
        yes: Edge,
        no: Edge,
    ) -> Result<(), Error> {
        if bytes.len() > INLINE {
            let address = constant.and_then(|id| self.unit.address(id));
            let address = address.ok_or_else(|| broken("no address for a constant"))?;
            let (other, size) = (self.rule_word(address.data as u64), self.rule_word(bytes.len() as u64));
            let (equal, _) = self.call(Helper::bytes_equal, &[at, size, other, size])?;
            self.brif(equal.one()?, yes, no);
            return Ok(());
        }
        self.match_inline(at, bytes, Case::Exact, yes, no)
    }

    fn match_inline(&mut self, at: Value, bytes: &[u8], case: Case, yes: Edge, no: Edge) -> Result<(), Error> {
        // Most texts differ in the first chunk. Differences in the other chunks are combined, so
        // that one jump tests them.
        let chunks = chunks(bytes, case, self.row.is_some());
        let length = len(bytes)?;
        let Some((first, others)) = chunks.split_first() else {
            self.jump(yes);
            return Ok(());
        };
        let loaded = self.load_chunk(at, length, first)?;
        let expected = self.rule_word(first.expected);
        let equal = self.builder.ins().icmp(IntCC::Equal, loaded, expected);
        if others.is_empty() {
            self.brif(equal, yes, no);
            return Ok(());
        }
        let begun = if self.is_cold(yes.block) { self.cold_block() } else { self.builder.create_block() };
        self.brif(equal, Edge::to(begun), no);
        self.start(begun);
        let mut difference: Option<Value> = None;
        for chunk in others {
            let loaded = self.load_chunk(at, length, chunk)?;
            let expected = self.rule_word(chunk.expected);
            let differs = self.builder.ins().bxor(loaded, expected);
            difference = Some(match difference {
                Some(before) => self.builder.ins().bor(before, differs),
                None => differs,
            });
        }
        match difference {
            Some(difference) => self.brif(difference, no, yes),
            None => self.jump(yes),
        }
        Ok(())
    }

    /// Compares the length of a text with that of a constant.
    fn compare_length(&mut self, how: IntCC, length: Value, constant: i64) -> Value {
        if self.row.is_none() {
            return self.builder.ins().icmp_imm_s(how, length, constant);
        }
        let constant = self.rule_word(constant.cast_unsigned());
        self.builder.ins().icmp(how, length, constant)
    }

    /// The address that is a constant's length before another.
    fn before(&mut self, end: Value, constant: i64) -> Value {
        if self.row.is_none() {
            return self.builder.ins().iadd_imm_s(end, constant.saturating_neg());
        }
        let constant = self.rule_word(constant.cast_unsigned());
        self.builder.ins().isub(end, constant)
    }

    /// Loads a chunk of the `length` bytes at an address.
    fn load_chunk(&mut self, at: Value, length: i64, chunk: &Chunk) -> Result<Value, Error> {
        let too_long = |_| broken("a constant too long to be compared in line");
        let mut offset = i32::try_from(chunk.offset).map_err(too_long)?;
        let mut at = at;
        if chunk.at_end {
            let length_word = self.rule_word(length.cast_unsigned());
            at = self.builder.ins().iadd(at, length_word);
            offset = offset.saturating_sub(i32::try_from(length).map_err(too_long)?);
        }
        let ins = self.builder.ins();
        let loaded = match chunk.width {
            1 => ins.uload8(I64, MEM, at, offset),
            2 => ins.uload16(I64, MEM, at, offset),
            4 => ins.uload32(MEM, at, offset),
            _ => ins.load(I64, MEM, at, offset),
        };
        if chunk.mask == 0 {
            return Ok(loaded);
        }
        let mask = self.rule_word(chunk.mask);
        Ok(self.builder.ins().bor(loaded, mask))
    }

    fn test_text_set(&mut self, id: NodeId, set: ConstId, yes: Edge, no: Edge) -> Result<(), Error> {
        let (_, _, args) = self.parts(id);
        let Some(Constant::StrSet(members)) = self.unit.graph.constant_at(set) else {
            return Err(broken("the constant is not a set"));
        };
        let texts: SmallVec<[&[u8]; SMALL_SET]> = members.iter().map(|member| &**member).collect();
        if let Some(tagged) = self.tagged(self.one_arg(args)?, &texts) {
            return self.test_tag(&tagged, yes, no);
        }
        let (text, length) = self.value(self.one_arg(args)?)?.two()?;
        self.locate(id);
        for member in members.iter() {
            let (same, next) = (self.builder.create_block(), self.builder.create_block());
            let equal = self.compare_length(IntCC::Equal, length, len(member)?);
            self.brif(equal, Edge::to(same), Edge::to(next));
            self.start(same);
            self.match_bytes(text, member, None, yes, Edge::to(next))?;
            self.start(next);
        }
        self.jump(no);
        Ok(())
    }

    fn test_tag(&mut self, tagged: &Tagged<'_>, yes: Edge, no: Edge) -> Result<(), Error> {
        let offset = i32::try_from(tagged.offset).map_err(|_| broken("an offset over 2 GiB"))?;
        let at = self.end(tagged.path)?;
        let found = self.builder.ins().uload8(I64, MEM, at, offset);
        let mut left = tagged.tags.iter();
        while let Some(&tag) = left.next() {
            let next = if left.len() == 0 { no } else { Edge::to(self.builder.create_block()) };
            let equal = self.builder.ins().icmp_imm_s(IntCC::Equal, found, i64::from(tag));
            self.brif(equal, yes, next);
            if left.len() > 0 {
                self.start(next.block);
            }
        }
        Ok(())
    }

    pub(super) fn test_int_set(&mut self, args: &[NodeId], set: ConstId, yes: Edge, no: Edge) -> Result<(), Error> {
        let number = self.value(self.one_arg(args)?)?.one()?;
        let Some(Constant::IntSet(members)) = self.unit.graph.constant_at(set) else {
            return Err(broken("the constant is not a set"));
        };
        for &member in members.iter() {
            let next = self.builder.create_block();
            let member = self.rule_word(member.cast_unsigned());
            let equal = self.builder.ins().icmp(IntCC::Equal, number, member);
            self.brif(equal, yes, Edge::to(next));
            self.start(next);
        }
        self.jump(no);
        Ok(())
    }

    /// A test for a prefix or suffix that is not a constant.
    pub(super) fn affix(&mut self, id: NodeId) -> Result<super::Words, Error> {
        let helper = match self.unit.graph.op(id) {
            Op::EndsWith => Helper::bytes_ends_with,
            _ => Helper::bytes_starts_with,
        };
        self.call_node(id, helper)
    }
}

fn len(bytes: &[u8]) -> Result<i64, Error> {
    i64::try_from(bytes.len()).map_err(|_| broken("a constant larger than the address space"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_byte_and_no_other() {
        for n in 0..=INLINE {
            let bytes: Vec<u8> = (1..=n as u8).collect();
            for shared in [false, true] {
                let mut covered = vec![false; n];
                for chunk in chunks(&bytes, Case::Exact, shared) {
                    let mut word = [0; 8];
                    word[..chunk.width].copy_from_slice(&bytes[chunk.offset..chunk.offset + chunk.width]);
                    assert_eq!((chunk.expected, chunk.mask), (u64::from_le_bytes(word), 0));
                    covered[chunk.offset..chunk.offset + chunk.width].fill(true);
                }
                assert!(covered.iter().all(|&c| c), "{n}");
            }
        }
    }

    #[test]
    fn shared_loads_have_one_shape_for_many_lengths() {
        for lengths in [1..=1, 2..=3, 4..=7, 8..=16, 17..=INLINE] {
            let shape = |n: usize| -> Vec<_> {
                let bytes = vec![b'a'; n];
                let place = |chunk: &Chunk| chunk.offset as i64 - if chunk.at_end { n as i64 } else { 0 };
                let chunks = chunks(&bytes, Case::Exact, true);
                chunks.iter().map(|chunk| (place(chunk), chunk.at_end, chunk.width)).collect()
            };
            assert!(lengths.clone().all(|n| shape(n) == shape(*lengths.start())), "{lengths:?}");
        }
    }
}
