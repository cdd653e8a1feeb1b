//! Searches for several literals in one text: when the first of them is needed, one call finds all.
//!
//! The result, one bit for each literal, is used wherever the call dominates. It is also in a stack slot, for places that may be reached
//! without the call.

use super::block::{Edge, Words};
use super::{Emitter, MEM, broken};
use crate::dominators::DominatorNode;
use crate::error::Error;
use celero_ir::layout::frame;
use celero_ir::{ErrorKind, Helper, NodeId, Op};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};

/// What is in a slot before the search. A batch has fewer literals than a word has bits, so no result is this.
const NOT_SEARCHED: i64 = -1;

/// The search of a batch.
pub(super) struct LiteralSearch {
    /// The result, or [`NOT_SEARCHED`].
    slot: StackSlot,
    /// The result, and a block that is reached only after the search.
    found: Option<(Value, DominatorNode)>,
}

impl Emitter<'_, '_> {
    pub(super) fn prepare_literals(&mut self) {
        for _ in self.unit.literals {
            let slot = self.slot(8);
            self.literals.push(LiteralSearch { slot, found: None });
        }
    }

    /// Whether the search for a literal has been made here.
    pub(super) fn is_searched(&self, id: NodeId) -> bool {
        let search = self.unit.literal(id).and_then(|(batch, _)| self.literals.get(batch));
        search.and_then(|search| search.found).is_some_and(|(_, place)| self.tree.dominates(place, self.place))
    }

    /// Whether a text contains a literal of a batch.
    pub(super) fn literal(&mut self, id: NodeId, batch: usize, bit: u32) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let text = self.one_arg(args)?;
        let graph = self.unit.graph;
        let bare = if graph.op(text) == Op::AsBytes { self.one_arg(graph.args(text))? } else { text };
        let header = match (graph.op(bare), graph.args(bare)) {
            (Op::Require, &[maybe]) if matches!(graph.op(maybe), Op::Header { .. }) => Some(maybe),
            _ => None,
        };
        let found = match header {
            // Searched before absence is an error, so that the result is known after the error too.
            Some(header) => {
                let words = self.looked_up(header)?.words;
                let found = self.search_literals(id, batch, words)?;
                self.value(text)?;
                found
            }
            None => {
                let words = self.value(text)?;
                self.search_literals(id, batch, words)?
            }
        };
        self.locate(id);
        let bit = self.word(1_i64.wrapping_shl(bit));
        let hit = self.builder.ins().band(found, bit);
        Ok(Words::One(self.builder.ins().icmp_imm_s(IntCC::NotEqual, hit, 0)))
    }

    /// The bits of the literals of a batch that a text contains.
    fn search_literals(&mut self, id: NodeId, batch: usize, text: Words) -> Result<Value, Error> {
        let (Some(search), Some(literals)) = (self.literals.get(batch), self.unit.literals.get(batch)) else {
            return Err(broken("no such batch of literals"));
        };
        let (slot, set) = (search.slot, literals.set);
        let found = match search.found {
            Some((found, place)) if self.tree.dominates(place, self.place) => return Ok(found),
            // No code that was emitted before has made the search.
            None if self.loops == 0 => {
                let found = self.call_literals(set, text, slot)?;
                let place = self.place;
                if let Some(search) = self.literals.get_mut(batch) {
                    search.found = Some((found, place));
                }
                self.fail_if_spent(id);
                return Ok(found);
            }
            _ => {
                let (ask, join) = (self.cold_block(), self.builder.create_block());
                let found = self.builder.append_block_param(join, I64);
                let kept = self.builder.ins().stack_load(I64, I64, slot, 0);
                let unknown = self.builder.ins().icmp_imm_s(IntCC::Equal, kept, NOT_SEARCHED);
                self.brif(unknown, Edge::to(ask), Edge::with(join, kept));
                self.start(ask);
                let now = self.call_literals(set, text, slot)?;
                self.fail_if_spent(id);
                self.jump(Edge::with(join, now));
                self.start(join);
                found
            }
        };
        let place = self.place;
        if let Some(search) = self.literals.get_mut(batch) {
            search.found = Some((found, place));
        }
        Ok(found)
    }

    fn call_literals(&mut self, set: usize, text: Words, slot: StackSlot) -> Result<Value, Error> {
        let (address, length) = text.two()?;
        let set = self.address(set);
        let (found, _) = self.call(Helper::literals_find, &[set, address, length])?;
        let found = found.one()?;
        self.builder.ins().stack_store(I64, found, slot, 0);
        Ok(found)
    }

    /// Fails if the search has exhausted the budget; its result is not complete then. The caller of a function of several rules discards all
    /// results if one of them exhausts its budget, so no other rule uses this one.
    fn fail_if_spent(&mut self, id: NodeId) {
        let given = self.frame();
        let left = self.builder.ins().load(I64, MEM, given, frame::FUEL);
        let spent = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.fail_if(spent, ErrorKind::OutOfBudget, id);
    }

    /// Marks all batches as not searched.
    pub(super) fn forget_literals(&mut self) {
        let slots: Vec<StackSlot> = self.literals.iter().map(|search| search.slot).collect();
        for slot in slots {
            let unknown = self.word(NOT_SEARCHED);
            self.builder.ins().stack_store(I64, unknown, slot, 0);
        }
    }
}
