//! Searches for several literals in one text: when the first of them is needed, one call finds all.
//!
//! The result, one bit for each literal, is used wherever the call dominates. It is also in a stack
//! slot, for places that may be reached without the call. The call costs the budget what one search
//! costs, so it may leave literals open: these are searched for one by one, where they are needed
//! and paid for.

use super::block::{Edge, Words};
use super::{Emitter, MEM, broken};
use crate::dominators::DominatorNode;
use crate::error::Error;
use celero_ir::layout::{frame, literals};
use celero_ir::{ConstId, ErrorKind, Helper, NodeId, Op};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};

/// What is in a slot before the search. A batch has too few [literals](literals::MAX) for a result to be this.
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

    /// If the search for a literal has been made here: its result, and the literal's bit.
    fn searched(&self, id: NodeId) -> Option<(Value, u32)> {
        let (batch, bit) = self.unit.literal(id)?;
        let (found, place) = self.literals.get(batch)?.found?;
        self.tree.dominates(place, self.place).then_some((found, bit))
    }

    /// Jumps to `no` if a search that has been made shows that a condition is false: it is a search
    /// that does not fail for another reason, or one whose failure is `false`.
    pub(super) fn leave_if_missing(&mut self, condition: NodeId, no: Edge) {
        let default = self.default_of(condition);
        let search = default.map_or(condition, |(search, _)| search);
        let fails = || self.unit.graph.args(search).iter().any(|&text| self.plan.facts(text).fails);
        let Some((found, bit)) = self.searched(search) else { return };
        if default.map_or_else(fails, |(_, default)| default) {
            return;
        }
        let next = self.builder.create_block();
        let maybe = self.found_or_open(found, bit);
        self.brif(maybe, Edge::to(next), no);
        self.start(next);
    }

    /// A word that is 0 if a literal is not in the text.
    fn found_or_open(&mut self, found: Value, bit: u32) -> Value {
        let bits = self.word(literals::INCOMPLETE.cast_signed() | 1_i64.wrapping_shl(bit));
        self.builder.ins().band(found, bits)
    }

    /// Jumps to `yes` if a text contains a literal of a batch. A literal that the search of the
    /// batch left open is searched for by itself.
    pub(super) fn test_literal(&mut self, id: NodeId, literal: ConstId, yes: Edge, no: Edge) -> Result<(), Error> {
        if let Some(known) = self.recall(id) {
            self.brif(known.one()?, yes, no);
            return Ok(());
        }
        let (batch, bit) = self.unit.literal(id).ok_or_else(|| broken("a literal of no batch"))?;
        let found = self.find_literals(id, batch)?;
        self.locate(id);
        let (maybe, open) = (self.builder.create_block(), self.cold_block());
        let word = self.found_or_open(found, bit);
        self.brif(word, Edge::to(maybe), no);
        self.start(maybe);
        let bit = self.word(1_i64.wrapping_shl(bit));
        let hit = self.builder.ins().band(found, bit);
        self.brif(hit, yes, Edge::to(open));
        self.start(open);
        let contains = self.call_prepared(id, Helper::searcher_find, literal)?.one()?;
        self.brif(contains, yes, no);
        Ok(())
    }

    /// The result of the search of a batch in the text of one of its literals. Afterwards the text is known.
    fn find_literals(&mut self, id: NodeId, batch: usize) -> Result<Value, Error> {
        let (_, _, args) = self.parts(id);
        let text = self.one_arg(args)?;
        let graph = self.unit.graph;
        let bare = if graph.op(text) == Op::AsBytes { self.one_arg(graph.args(text))? } else { text };
        let header = match (graph.op(bare), graph.args(bare)) {
            (Op::Require, &[maybe]) if matches!(graph.op(maybe), Op::Header { .. }) => Some(maybe),
            _ => None,
        };
        match header {
            // Searched before absence is an error, so that the result is known after the error too.
            Some(header) => {
                let words = self.looked_up(header)?.words;
                let found = self.search_literals(id, batch, words)?;
                self.value(text)?;
                Ok(found)
            }
            None => {
                let words = self.value(text)?;
                self.search_literals(id, batch, words)
            }
        }
    }

    /// The bits of the literals of a batch that a text contains.
    fn search_literals(&mut self, id: NodeId, batch: usize, text: Words) -> Result<Value, Error> {
        let (Some(search), Some(unit)) = (self.literals.get(batch), self.unit.literals.get(batch)) else {
            return Err(broken("no such batch of literals"));
        };
        let (slot, set) = (search.slot, unit.set);
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
        let set = self.rule_word(set as u64);
        let (found, _) = self.call(Helper::literals_find, &[set, address, length])?;
        let found = found.one()?;
        self.builder.ins().stack_store(I64, found, slot, 0);
        Ok(found)
    }

    /// Fails if the search has exhausted the budget. Its result leaves all literals open then.
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
