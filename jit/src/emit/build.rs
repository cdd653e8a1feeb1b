//! Lists and maps, and functions whose overload the operands' types choose. Elements are pushed
//! into a builder one by one, so few values are alive at once.

use super::block::Words;
use super::{Emitter, MEM, broken};
use crate::error::Error;
use celero_ir::{Helper, NodeId, Ty};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use smallvec::SmallVec;

impl Emitter<'_, '_> {
    pub(super) fn list(&mut self, id: NodeId) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let capacity = self.address(args.len());
        let builder = self.call_within(id, Helper::list_begin, &[capacity])?;
        for &arg in args {
            let element = self.element(arg)?;
            self.call_within(id, Helper::list_push, &[builder, element])?;
        }
        self.call_for(id, Helper::list_finish, &[builder])
    }

    pub(super) fn map(&mut self, id: NodeId) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let (entries, rest) = args.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(broken("a key without a value"));
        }
        let capacity = self.address(entries.len());
        let builder = self.call_within(id, Helper::map_begin, &[capacity])?;
        for &[key, value] in entries {
            let key = self.element(key)?;
            let value = self.element(value)?;
            self.call_within(id, Helper::map_insert, &[builder, key, value])?;
        }
        self.call_for(id, Helper::map_finish, &[builder])
    }

    /// The address of an operand that must be a value of any type.
    pub(super) fn element(&mut self, id: NodeId) -> Result<Value, Error> {
        if self.unit.graph.ty(id) != Ty::Value {
            return Err(broken("an element is not a value"));
        }
        self.value(id)?.one()
    }

    pub(super) fn dispatch(&mut self, id: NodeId, function: u32) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
        for &arg in args {
            operands.push(self.element(arg)?);
        }
        self.locate(id);
        // All dispatches share one slot: nothing is emitted between filling and reading it.
        let count = u32::try_from(args.len()).map_err(|_| broken("too many operands"))?;
        let (slot, most) = match self.operands {
            Some(known) => known,
            None => (self.slot(8), 1),
        };
        self.operands = Some((slot, most.max(count)));
        let at = self.builder.ins().stack_addr(I64, slot, 0);
        let mut offset = 0_i32;
        for operand in operands {
            self.builder.ins().store(MEM, operand, at, offset);
            offset = offset.saturating_add(8);
        }
        let (function, count) = (self.word(i64::from(function)), self.word(i64::from(count)));
        self.call_for(id, Helper::dispatch, &[function, at, count])
    }
}
