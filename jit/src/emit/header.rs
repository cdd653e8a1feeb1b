//! Header lookups: at most one for each header and evaluation.
//!
//! A header that is asked for again where the first lookup does not dominate gets a place on the stack: the first lookup,
//! though already emitted, is made to leave its answer there as well. In a loop the place is used from the start.

use super::block::{Edge, Words};
use super::call::{Attempt, Attempted, Failure};
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::{Helper, NodeId, Op};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value, ValueDef};

/// The length in a place that holds no answer yet.
const UNASKED: i64 = -1;

/// What is known of a header's lookups so far.
#[derive(Clone, Copy)]
pub(super) enum Lookup {
    /// One, whose answer is these values.
    Once(Value, Value),
    /// Its answer is kept here: address, length.
    Kept(StackSlot),
}

impl Emitter<'_, '_> {
    pub(super) fn header(&mut self, id: NodeId) -> Result<Words, Error> {
        let attempt = self.looked_up(id)?;
        self.settle(id, attempt)?;
        Ok(attempt.words)
    }

    /// The answer of the lookup, its failure not looked at.
    pub(super) fn looked_up(&mut self, id: NodeId) -> Result<Attempt, Error> {
        if let Some(attempt) = self.recall_attempt(Attempted::Node(id), id) {
            return Ok(attempt);
        }
        self.locate(id);
        let words = match self.headers.get(&id).copied() {
            None if self.loops == 0 => {
                let (address, length) = self.look_up(id)?;
                self.headers.insert(id, Lookup::Once(address, length));
                Words::Two(address, length)
            }
            Some(Lookup::Kept(slot)) => self.look_up_once(id, slot)?,
            before => {
                let slot = self.slot(16);
                if let Some(Lookup::Once(address, length)) = before {
                    self.keep_earlier(slot, address, length);
                }
                self.headers.insert(id, Lookup::Kept(slot));
                self.look_up_once(id, slot)?
            }
        };
        Ok(self.note_attempt(Attempted::Node(id), id, words, Failure::NullWithCode))
    }

    /// Makes a lookup that is already emitted leave its answer.
    fn keep_earlier(&mut self, slot: StackSlot, address: Value, length: Value) {
        let ValueDef::Result(call, _) = self.builder.func.dfg.value_def(address) else { return };
        let mut cursor = FuncCursor::new(self.builder.func).after_inst(call);
        cursor.ins().stack_store(I64, address, slot, 0);
        cursor.ins().stack_store(I64, length, slot, 8);
    }

    fn look_up_once(&mut self, id: NodeId, slot: StackSlot) -> Result<Words, Error> {
        let (ask, join) = (self.builder.create_block(), self.builder.create_block());
        let address = self.builder.append_block_param(join, I64);
        let length = self.builder.append_block_param(join, I64);
        let kept_length = self.builder.ins().stack_load(I64, I64, slot, 8);
        let kept = self.builder.create_block();
        let unasked = self.builder.ins().icmp_imm_s(IntCC::Equal, kept_length, UNASKED);
        self.brif(unasked, Edge::to(ask), Edge::to(kept));
        self.start(kept);
        let kept_address = self.builder.ins().stack_load(I64, I64, slot, 0);
        self.jump_with(join, &[kept_address, kept_length]);
        self.start(ask);
        let (new_address, new_length) = self.look_up(id)?;
        self.builder.ins().stack_store(I64, new_address, slot, 0);
        self.builder.ins().stack_store(I64, new_length, slot, 8);
        self.jump_with(join, &[new_address, new_length]);
        self.start(join);
        Ok(Words::Two(address, length))
    }

    fn look_up(&mut self, id: NodeId) -> Result<(Value, Value), Error> {
        let Op::Header { field, name } = self.unit.graph.op(id) else { return Err(broken("a header that is none")) };
        let headers = self.unit.field(field).and_then(|field| field.headers.as_ref());
        let headers = headers.ok_or_else(|| broken("a field without headers"))?;
        let name = self.unit.address(name).ok_or_else(|| broken("no address for a constant"))?;
        let map = self.end(headers)?;
        let name = self.address(name.data);
        self.call(Helper::header_get, &[map, name])?.0.two()
    }

    /// Marks all places as holding no answer yet.
    pub(super) fn forget_headers(&mut self) {
        let mut slots: Vec<StackSlot> = self
            .headers
            .values()
            .filter_map(|lookup| match lookup {
                Lookup::Kept(slot) => Some(*slot),
                Lookup::Once(..) => None,
            })
            .collect();
        // Hash order would make the code differ from run to run.
        slots.sort_unstable();
        for slot in slots {
            let unasked = self.word(UNASKED);
            self.builder.ins().stack_store(I64, unasked, slot, 8);
        }
    }
}
