//! Header lookups: at most one for each header and evaluation.
//!
//! A header that is needed again where the first lookup does not dominate gets a stack slot: a
//! store of the answer is inserted after the first lookup, which is already emitted. In a loop the
//! slot is used from the start.
//!
//! Headers of a batch are looked up with one call when the first of them is needed, and have stack
//! slots from the start.

use super::block::{Edge, Words};
use super::call::{Attempt, Failure};
use super::{Emitter, broken};
use crate::dominators::DominatorNode;
use crate::error::Error;
use crate::unit::HeaderBatch;
use celero_ir::{Helper, NodeId, Op};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value, ValueDef};

/// The length in a slot that has no answer yet.
const NOT_LOOKED_UP: i64 = -1;

/// The lookups of a header so far.
#[derive(Clone, Copy)]
pub(super) enum Lookup {
    /// One lookup, whose answer is these values.
    Once(Value, Value),
    /// The answer is in this slot: address, length.
    Kept(StackSlot),
}

/// Headers that are looked up together.
pub(super) struct Batch {
    /// Address of their names.
    names: usize,
    /// Their answers. The length of the first is [`NOT_LOOKED_UP`] before the lookup.
    answers: StackSlot,
    /// A block that is reached only after the lookup.
    asked: Option<DominatorNode>,
}

impl Emitter<'_, '_> {
    pub(super) fn prepare_batches(&mut self, headers: &[HeaderBatch<'_>]) {
        for header in headers {
            let size = u32::try_from(header.lookups.len()).unwrap_or(u32::MAX).saturating_mul(16);
            let answers = self.slot(size);
            let number = self.batches.len();
            self.batched.extend(header.lookups.iter().zip((0..).step_by(16)).map(|(&id, at)| (id, (number, at))));
            self.batches.push(Batch { names: header.names, answers, asked: None });
        }
    }

    /// The answer of a lookup that its batch makes.
    fn look_up_together(&mut self, id: NodeId, number: usize, at: i32) -> Result<Words, Error> {
        let Some(&Batch { names, answers, asked }) = self.batches.get(number) else {
            return Err(broken("the operation is not a header of a batch"));
        };
        if !asked.is_some_and(|asked| self.tree.dominates(asked, self.place)) {
            let (ask, go) = (self.cold_block(), self.builder.create_block());
            let first = self.builder.ins().stack_load(I64, I64, answers, 8);
            let unasked = self.builder.ins().icmp_imm_s(IntCC::Equal, first, NOT_LOOKED_UP);
            self.brif(unasked, Edge::to(ask), Edge::to(go));
            self.start(ask);
            let map = self.header_map(id)?;
            let names = self.address(names);
            let space = self.builder.ins().stack_addr(I64, answers, 0);
            self.call(Helper::headers_get, &[map, names, space])?;
            self.jump(Edge::to(go));
            self.start(go);
            let here = self.place;
            if let Some(batch) = self.batches.get_mut(number) {
                batch.asked = Some(here);
            }
        }
        let address = self.builder.ins().stack_load(I64, I64, answers, at);
        let length = self.builder.ins().stack_load(I64, I64, answers, at.saturating_add(8));
        Ok(Words::Two(address, length))
    }

    /// Text of the host as valid UTF-8. A header whose bytes nothing else reads is looked up and decoded by one call.
    pub(super) fn decode(&mut self, id: NodeId, args: &[NodeId]) -> Result<Words, Error> {
        let required = self.one_arg(args)?;
        let Some(header) = self.header_for_one(required) else { return self.call_node(id, Helper::text_decode) };
        let (address, length) = self.look_up(header, Helper::header_text)?;
        self.fail_where_null(Words::Two(address, length), header, required)
    }

    /// The lookup of a header that must be present, if it has one reader and is made on its own.
    fn header_for_one(&self, required: NodeId) -> Option<NodeId> {
        let graph = self.unit.graph;
        let &[header] = graph.args(required) else { return None };
        let alone = [required, header].iter().all(|&id| !self.plan.facts(id).shared);
        let lookup = matches!((graph.op(required), graph.op(header)), (Op::Require, Op::Header { .. }));
        (lookup && alone && self.loops == 0 && !self.batched.contains_key(&header)).then_some(header)
    }

    pub(super) fn header(&mut self, id: NodeId) -> Result<Words, Error> {
        let attempt = self.looked_up(id)?;
        self.check_failure(id, attempt)?;
        Ok(attempt.words)
    }

    /// The answer of the lookup; its failure is not checked.
    pub(super) fn looked_up(&mut self, id: NodeId) -> Result<Attempt, Error> {
        if let Some(attempt) = self.recall_attempt(self.attempted(id), id) {
            return Ok(attempt);
        }
        self.locate(id);
        if let Some(&(number, at)) = self.batched.get(&id) {
            let words = self.look_up_together(id, number, at)?;
            return Ok(self.note_attempt(self.attempted(id), id, words, Failure::NullWithCode));
        }
        let words = match self.headers.get(&id).copied() {
            None if self.loops == 0 => {
                let (address, length) = self.look_up(id, Helper::header_get)?;
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
        Ok(self.note_attempt(self.attempted(id), id, words, Failure::NullWithCode))
    }

    /// Stores the answer of a lookup that is already emitted.
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
        let unasked = self.builder.ins().icmp_imm_s(IntCC::Equal, kept_length, NOT_LOOKED_UP);
        self.brif(unasked, Edge::to(ask), Edge::to(kept));
        self.start(kept);
        let kept_address = self.builder.ins().stack_load(I64, I64, slot, 0);
        self.jump_with(join, &[kept_address, kept_length]);
        self.start(ask);
        let (new_address, new_length) = self.look_up(id, Helper::header_get)?;
        self.builder.ins().stack_store(I64, new_address, slot, 0);
        self.builder.ins().stack_store(I64, new_length, slot, 8);
        self.jump_with(join, &[new_address, new_length]);
        self.start(join);
        Ok(Words::Two(address, length))
    }

    fn look_up(&mut self, id: NodeId, helper: Helper) -> Result<(Value, Value), Error> {
        let Op::Header { name, .. } = self.unit.graph.op(id) else {
            return Err(broken("the operation is not a header"));
        };
        let name = self.unit.address(name).ok_or_else(|| broken("no address for a constant"))?;
        let map = self.header_map(id)?;
        let name = self.rule_word(name.data as u64);
        self.call(helper, &[map, name])?.0.two()
    }

    /// The address of the header map that a lookup is in.
    fn header_map(&mut self, id: NodeId) -> Result<Value, Error> {
        let Op::Header { field, .. } = self.unit.graph.op(id) else {
            return Err(broken("the operation is not a header"));
        };
        let headers = self.unit.field(field).and_then(|field| field.headers.as_ref());
        self.end(headers.ok_or_else(|| broken("a field without headers"))?)
    }

    /// Marks all slots as having no answer yet.
    pub(super) fn forget_headers(&mut self) {
        let mut slots: Vec<StackSlot> = self
            .headers
            .values()
            .filter_map(|lookup| match lookup {
                Lookup::Kept(slot) => Some(*slot),
                Lookup::Once(..) => None,
            })
            .collect();
        // In hash order the code would differ from run to run.
        slots.sort_unstable();
        slots.extend(self.batches.iter().map(|batch| batch.answers));
        for slot in slots {
            let unasked = self.word(NOT_LOOKED_UP);
            self.builder.ins().stack_store(I64, unasked, slot, 8);
        }
    }
}
