//! Cursors over lists, maps and sets of the host: two functions of the host's types, of which one
//! begins and the other gives the addresses of the next item. Their state is in a stack slot.

use super::block::Words;
use super::call::Callee;
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::layout::{Cursor, Item};
use celero_ir::{ErrorKind, NodeId, Op};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};

/// A cursor before its first item.
#[derive(Clone, Copy)]
pub(super) struct Begun<'a> {
    pub(super) cursor: &'a Cursor,
    /// The address of the state.
    state: Value,
    /// The number of items.
    pub(super) count: Value,
}

impl<'a> Emitter<'a, '_> {
    fn cursor_of(&self, field: u32) -> Result<&'a Cursor, Error> {
        let fields: &'a [celero_ir::layout::Field] = self.unit.fields;
        let cursor = fields.get(field as usize).and_then(|field| field.cursor.as_ref());
        cursor.ok_or_else(|| broken("a field without a cursor"))
    }

    /// The address of what a cursor goes over.
    pub(super) fn cursor(&mut self, field: u32) -> Result<Words, Error> {
        Ok(Words::One(self.end(&self.cursor_of(field)?.path)?))
    }

    /// Begins to go over the range that is this node.
    pub(super) fn begin_cursor(&mut self, range: NodeId) -> Result<Begun<'a>, Error> {
        let Op::Cursor(field) = self.unit.graph.op(range) else { return Err(broken("no cursor")) };
        let cursor = self.cursor_of(field)?;
        let at = self.value(range)?.one()?;
        let slot = self.slot(cursor.state);
        let state = self.builder.ins().stack_addr(I64, slot, 0);
        let count = self.call_accessor(Callee::Fill, cursor.begin, &[at, state])?.one()?;
        if self.unit.field(field).is_some_and(|field| field.optional) {
            let absent = self.address(Cursor::ABSENT);
            let absent = self.builder.ins().icmp(IntCC::Equal, count, absent);
            self.fail_if(absent, ErrorKind::NoSuchKey, range);
        }
        Ok(Begun { cursor, state, count })
    }

    /// The addresses of the next item: of an element, or of a key and its value.
    pub(super) fn next_of(&mut self, begun: Begun<'a>) -> Result<(Value, Value), Error> {
        self.call_accessor(Callee::Text, begun.cursor.next, &[begun.state])?.two()
    }

    /// The item at an address.
    pub(super) fn item(&mut self, item: &Item, at: Value) -> Result<Words, Error> {
        self.read_at(item.ty, &item.access, at)
    }
}
