//! Entries of maps and sets of the host: one call finds an entry, and its value is read where it is.

use super::block::Words;
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::layout::{Access, Entries, value};
use celero_ir::{ErrorKind, Helper, NodeId, Ty};
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;

impl<'a> Emitter<'a, '_> {
    fn entries_of(&self, field: u32) -> Result<&'a Entries, Error> {
        let fields: &'a [celero_ir::layout::Field] = self.unit.fields;
        let entries = fields.get(field as usize).and_then(|field| field.entries.as_ref());
        entries.ok_or_else(|| broken("a field without entries"))
    }

    /// The address of the value that the map has for a key, or 0.
    pub(super) fn entry(&mut self, id: NodeId, field: u32) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let entries = self.entries_of(field)?;
        let key = self.one_arg(args)?;
        let ty = self.unit.graph.ty(key);
        let words = self.value(key)?;
        let map = self.end(&entries.path)?;
        let find = self.address(entries.find);
        if ty == Ty::Str {
            let (address, length) = words.two()?;
            return self.call_for(id, Helper::entry_of_text, &[find, map, address, length]);
        }
        let tag = value::tag_of(ty).ok_or_else(|| broken("a key of a type that has no values"))?;
        let tag = self.word(i64::from(tag));
        let word = words.one()?;
        let word = if ty == Ty::Bool { self.builder.ins().uextend(I64, word) } else { word };
        self.call_for(id, Helper::entry_of_number, &[find, map, tag, word])
    }

    pub(super) fn has_entry(&mut self, args: &[NodeId]) -> Result<Words, Error> {
        let entry = self.value(self.one_arg(args)?)?.one()?;
        Ok(Words::One(self.builder.ins().icmp_imm_s(IntCC::NotEqual, entry, 0)))
    }

    pub(super) fn entry_value(&mut self, id: NodeId, field: u32) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let value = self.entries_of(field)?.value.as_ref().ok_or_else(|| broken("an entry of a set has no value"))?;
        let at = self.value(self.one_arg(args)?)?.one()?;
        self.locate(id);
        self.fail_unless(at, ErrorKind::NoSuchKey, id);
        if value.access == Access::Get {
            let make = self.address(value.make);
            if value.ty == Ty::Value {
                return self.call_for(id, Helper::entry_value, &[make, at]);
            }
            let made = self.call_within(id, Helper::entry_value, &[make, at])?;
            return self.unboxed(id, made, value.ty);
        }
        self.read_at(value.ty, &value.access, at)
    }
}
