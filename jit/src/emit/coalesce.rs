//! `coalesce` and `default`: the first operand with a value. An operand's error, if it is caught,
//! leads to the next operand.

use super::block::{Edge, ErrorTarget, Words};
use super::{Emitter, MEM, broken};
use crate::error::Error;
use celero_ir::layout::value::{TAG, tag};
use celero_ir::{Catch, ErrorKind, NodeId, Ty};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use smallvec::SmallVec;

/// Number of operands after which their values are passed on to another block: a block with
/// thousands of predecessors and a parameter costs the register allocator time quadratic in their
/// number.
const FAN_IN: usize = 16;

impl Emitter<'_, '_> {
    /// Where the last error may be the result, it is passed from block to block: a word that is 0 if there is none.
    pub(super) fn coalesce(&mut self, id: NodeId, catch: Catch) -> Result<Words, Error> {
        let (_, ty, args) = self.parts(id);
        let Some((&last, before)) = args.split_last() else { return Err(broken("an operand is missing")) };
        let (mut join, _) = self.merge_block(ty);
        let hands_on = catch == Catch::Any && ty == Ty::Value;
        let mut pending = hands_on.then(|| self.word(0));
        for (n, &operand) in (1..).zip(before) {
            let fails = self.plan.facts(operand).fails;
            let next = self.builder.create_block();
            let handed_on = hands_on.then(|| self.builder.append_block_param(next, I64));
            let caught = self.cold_block();
            let outer = self.target;
            if fails {
                self.target = ErrorTarget::to(caught);
            }
            let words = self.value(operand);
            self.target = outer;
            self.accept(words?, ty, join, Edge { block: next, arg: pending })?;
            if fails {
                let word = self.caught(caught);
                self.locate(operand);
                self.raise_unless_caught(word, operand, catch);
                self.jump(Edge { block: next, arg: hands_on.then_some(word) });
            } else if ty != Ty::Value {
                // It is always the result.
                self.start(join);
                return Words::of(self.builder.block_params(join));
            }
            if n % FAN_IN == 0 {
                let (wider, _) = self.merge_block(ty);
                self.start(join);
                let params: SmallVec<[Value; 2]> = self.builder.block_params(join).iter().copied().collect();
                self.jump_with(wider, &params);
                join = wider;
            }
            self.start(next);
            pending = handed_on;
        }
        let words = self.value(last)?;
        match pending {
            None => self.jump_with(join, &words.list()),
            Some(pending) => {
                let null = self.cold_block();
                self.accept(words, ty, join, Edge::to(null))?;
                self.start(null);
                self.raise_or(pending, Edge { block: join, arg: Some(words.one()?) });
            }
        }
        self.start(join);
        Words::of(self.builder.block_params(join))
    }

    /// Jumps to `join` with a value, or to `on` if it is null.
    fn accept(&mut self, words: Words, ty: Ty, join: Block, on: Edge) -> Result<(), Error> {
        if words.list().len() != ty.words() {
            return Err(broken("an operand of another type than its node"));
        }
        if ty == Ty::Value {
            let value = words.one()?;
            let found = self.builder.ins().uload8(I64, MEM, value, TAG);
            let is_null = self.builder.ins().icmp_imm_s(IntCC::Equal, found, i64::from(tag::NULL));
            self.brif(is_null, on, Edge::with(join, value));
        } else {
            self.jump_with(join, &words.list());
        }
        Ok(())
    }

    /// Continues if an operand's error is caught, and raises it otherwise.
    fn raise_unless_caught(&mut self, word: Value, operand: NodeId, catch: Catch) {
        match catch {
            Catch::Any => self.raise_if_final(word, operand),
            Catch::Absence => {
                let is_absence = self.is_of_kind(word, ErrorKind::NoSuchKey);
                let (other, go) = (self.cold_block(), self.cold_block());
                self.brif(is_absence, Edge::to(go), Edge::to(other));
                self.start(other);
                self.raise(word);
                self.start(go);
            }
        }
    }

    /// Ends the evaluation with an operand's error if it is final: nothing absorbs such an error.
    pub(super) fn raise_if_final(&mut self, word: Value, operand: NodeId) {
        if !self.plan.facts(operand).ends {
            return;
        }
        let is_final = self.is_of_kind(word, ErrorKind::OutOfBudget);
        let (end, go) = (self.cold_block(), self.cold_block());
        self.brif(is_final, Edge::to(end), Edge::to(go));
        self.start(end);
        self.raise_finally(word);
        self.start(go);
    }

    fn is_of_kind(&mut self, word: Value, kind: ErrorKind) -> Value {
        let found = self.builder.ins().ireduce(I8, word);
        self.builder.ins().icmp_imm_s(IntCC::Equal, found, i64::from(kind as u8))
    }
}
