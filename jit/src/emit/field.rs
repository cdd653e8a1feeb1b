//! Fields of the host, each read as its layout says.

use super::block::{Edge, Words};
use super::call::{Attempted, Callee, Failure};
use super::{Emitter, MEM, broken};
use crate::error::Error;
use celero_ir::layout::value::SIZE;
use celero_ir::layout::{self, AbsentIf, Access, EnumTags, Path, Repr, ScalarAccessor, TO_BE_MADE};
use celero_ir::{ErrorKind, ErrorWord, Helper, NodeId, Op, Origin, Ty};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};

impl Emitter<'_, '_> {
    pub(super) fn field(&mut self, id: NodeId, index: u32) -> Result<Words, Error> {
        let field = self.unit.field(index).ok_or_else(|| broken("no such field"))?;
        for test in &field.absent_if {
            let present = self.is_not(test)?;
            self.fail_unless(present, ErrorKind::NoSuchKey, id);
        }
        match &field.access {
            Access::Load(path, repr) => {
                let (base, offset) = self.walk(self.host, path)?;
                self.load(field.ty, *repr, base, offset)
            }
            access @ (Access::Text(..) | Access::Tagged(..)) => {
                let words = self.access(id, index, access)?;
                let (address, _) = words.two()?;
                if field.optional && field.ty != Ty::Maybe {
                    self.fail_unless(address, ErrorKind::NoSuchKey, id);
                }
                Ok(words)
            }
            Access::MostlyText(path, accessor, make) => {
                let words = self.shown_or_made(id, index, path, *accessor, *make)?;
                self.fail_where_null(words, id, id)
            }
            Access::Scalar(path, accessor) => {
                let (status, slot) = self.access_scalar(id, index, path, *accessor)?;
                if field.optional || accessor.fails {
                    self.check_status(status, id);
                }
                let first = match field.ty {
                    Ty::Bool => self.builder.ins().stack_load(I64, I8, slot, 0),
                    Ty::Double => self.builder.ins().stack_load(I64, F64, slot, 0),
                    _ => self.builder.ins().stack_load(I64, I64, slot, 0),
                };
                Ok(match field.ty {
                    Ty::Timestamp => Words::Two(first, self.builder.ins().stack_load(I64, I64, slot, 8)),
                    _ => Words::One(first),
                })
            }
            Access::Filled(path, accessor) => {
                let (present, slot) = self.access_words(id, index, path, *accessor)?;
                if field.optional {
                    self.fail_unless(present, ErrorKind::NoSuchKey, id);
                }
                if field.ty == Ty::Value {
                    return Ok(Words::One(self.builder.ins().stack_addr(I64, slot, 0)));
                }
                let high = self.builder.ins().stack_load(I64, I64, slot, 0);
                Ok(Words::Two(high, self.builder.ins().stack_load(I64, I64, slot, 8)))
            }
            Access::Get => {
                let number = self.word(i64::from(index));
                if field.ty == Ty::Value {
                    return self.call_for(id, Helper::field_get, &[number]);
                }
                let value = self.call_within(id, Helper::field_get, &[number])?;
                self.unboxed(id, value, field.ty)
            }
        }
    }

    pub(super) fn has_field(&mut self, id: NodeId, index: u32) -> Result<Words, Error> {
        let field = self.unit.field(index).ok_or_else(|| broken("no such field"))?;
        let (last, before) = match (field.absent_if.as_slice(), &field.access) {
            ([], _) => return self.is_there(id, index),
            // The last test decides.
            ([before @ .., last], Access::Load(..)) => (Some(last), before),
            (all, _) => (None, all),
        };
        let (join, there) = self.merge_block(Ty::Bool);
        for test in before {
            let present = self.is_not(test)?;
            let next = self.builder.create_block();
            let no = self.builder.ins().iconst(I8, 0);
            self.brif(present, Edge::to(next), Edge::with(join, no));
            self.start(next);
        }
        let present = match last {
            Some(test) => self.is_not(test)?,
            None => self.is_there(id, index)?.one()?,
        };
        self.jump(Edge::with(join, present));
        self.start(join);
        Words::of(&there)
    }

    /// A truth value: that a test does not say that a field is absent.
    fn is_not(&mut self, test: &AbsentIf) -> Result<Value, Error> {
        let (base, offset) = self.walk(self.host, &test.path)?;
        let found = self.load(Ty::Uint, test.repr, base, offset)?.one()?;
        Ok(self.builder.ins().icmp_imm_s(IntCC::NotEqual, found, test.number.cast_signed()))
    }

    /// Whether a field is present for which no test says that it is absent.
    fn is_there(&mut self, id: NodeId, index: u32) -> Result<Words, Error> {
        let field = self.unit.field(index).ok_or_else(|| broken("no such field"))?;
        match &field.access {
            Access::Load(..) => Ok(Words::One(self.builder.ins().iconst(I8, 1))),
            Access::MostlyText(path, accessor, make) => {
                let (address, length) = self.shown_or_made(id, index, path, *accessor, *make)?.two()?;
                // A text that could not be made is present.
                let present = self.builder.ins().bor(address, length);
                Ok(Words::One(self.builder.ins().icmp_imm_s(IntCC::NotEqual, present, 0)))
            }
            access @ (Access::Text(..) | Access::Tagged(..)) => {
                let (address, _) = self.access(id, index, access)?.two()?;
                Ok(Words::One(self.builder.ins().icmp_imm_s(IntCC::NotEqual, address, 0)))
            }
            Access::Scalar(path, accessor) => {
                let (status, _) = self.access_scalar(id, index, path, *accessor)?;
                // A value that exists but can't be read is present.
                let absent = i64::from(ErrorKind::NoSuchKey as u8);
                Ok(Words::One(self.builder.ins().icmp_imm_s(IntCC::NotEqual, status, absent)))
            }
            Access::Filled(path, accessor) => {
                let (present, _) = self.access_words(id, index, path, *accessor)?;
                Ok(Words::One(self.builder.ins().icmp_imm_s(IntCC::NotEqual, present, 0)))
            }
            Access::Get => {
                let number = self.word(i64::from(index));
                Ok(self.call(Helper::field_has, &[number])?.0)
            }
        }
    }

    /// The result of the accessor, which is called once for presence and value.
    fn access(&mut self, id: NodeId, index: u32, access: &Access) -> Result<Words, Error> {
        if let Some(attempt) = self.recall_attempt(Attempted::Field(index), id) {
            return Ok(attempt.words);
        }
        let words = self.text_at(access, self.host)?;
        self.note_attempt(Attempted::Field(index), id, words, Failure::Never);
        Ok(words)
    }

    /// The text at the end of a path, which starts at an address.
    fn text_at(&mut self, access: &Access, from: Value) -> Result<Words, Error> {
        match access {
            Access::Text(path, accessor) => {
                let at = self.end_from(from, path)?;
                self.call_accessor(Callee::Text, *accessor, &[at])
            }
            Access::Tagged(path, names, accessor) => {
                let at = self.end_from(from, path)?;
                self.named(*names, *accessor, at)
            }
            _ => Err(broken("an access that gives no text")),
        }
    }

    /// The text that an accessor returns or, where it says so, that is made: once, for presence and
    /// value. A null address with a length that is not 0 is the failure of that code.
    fn shown_or_made(
        &mut self,
        id: NodeId,
        index: u32,
        path: &Path,
        accessor: usize,
        make: usize,
    ) -> Result<Words, Error> {
        if let Some(attempt) = self.recall_attempt(Attempted::Field(index), id) {
            return Ok(attempt.words);
        }
        let source = self.end(path)?;
        let (address, length) = self.call_accessor(Callee::Text, accessor, &[source])?.two()?;
        let (known, make_it, join) = (self.builder.create_block(), self.cold_block(), self.builder.create_block());
        let at = self.builder.append_block_param(join, I64);
        let size = self.builder.append_block_param(join, I64);
        let to_be_made = self.builder.ins().icmp_imm_s(IntCC::Equal, address, TO_BE_MADE as i64);
        self.brif(to_be_made, Edge::to(make_it), Edge::to(known));
        self.start(known);
        self.jump_with(join, &[address, length]);
        self.start(make_it);
        let make = self.address(make);
        let (made, _) = self.call(Helper::text_made, &[make, source])?;
        self.jump_with(join, &made.list());
        self.start(join);
        let words = Words::Two(at, size);
        self.note_attempt(Attempted::Field(index), id, words, Failure::NullWithCode);
        Ok(words)
    }

    /// The text in the table for the value's tag, or else the accessor's result.
    fn named(&mut self, names: EnumTags, accessor: usize, at: Value) -> Result<Words, Error> {
        let offset = i32::try_from(names.tag).map_err(|_| broken("an offset over 2 GiB"))?;
        let (known, ask, join) = (self.builder.create_block(), self.cold_block(), self.builder.create_block());
        let address = self.builder.append_block_param(join, I64);
        let length = self.builder.append_block_param(join, I64);
        let tag = self.builder.ins().uload8(I64, MEM, at, offset);
        let row = self.builder.ins().ishl_imm_u(tag, 4);
        let table = self.address(names.table);
        let row = self.builder.ins().iadd(table, row);
        let text = self.builder.ins().load(I64, MEM, row, 0);
        self.brif(text, Edge::to(known), Edge::to(ask));
        self.start(known);
        let size = self.builder.ins().load(I64, MEM, row, 8);
        self.jump_with(join, &[text, size]);
        self.start(ask);
        let (other, size) = self.call_accessor(Callee::Text, accessor, &[at])?.two()?;
        self.jump_with(join, &[other, size]);
        self.start(join);
        Ok(Words::Two(address, length))
    }

    /// The status of an accessor of a scalar, and where it left the words.
    fn access_scalar(
        &mut self,
        id: NodeId,
        index: u32,
        path: &Path,
        accessor: ScalarAccessor,
    ) -> Result<(Value, StackSlot), Error> {
        let known = self.recall_attempt(Attempted::Field(index), id).is_some();
        let (status, slot) = self.access_words(id, index, path, accessor.address)?;
        if accessor.contains && !known {
            self.end_after_panic(status);
        }
        Ok((status, slot))
    }

    /// If a call without a frame returned [`PANICKED`](ScalarAccessor::PANICKED): ends the evaluation, or notes the
    /// panic in the frame after all.
    pub(super) fn end_after_panic(&mut self, status: Value) {
        let (panicked, after) = (self.cold_block(), self.builder.create_block());
        let is_panic = self.builder.ins().icmp_imm_s(IntCC::Equal, status, ScalarAccessor::PANICKED.cast_signed());
        self.brif(is_panic, Edge::to(panicked), Edge::to(after));
        self.start(panicked);
        if self.has_places {
            // Nobody knows where.
            let word = self.word(ErrorWord::new(ErrorKind::Host, Origin::default()).0.cast_signed());
            self.raise_finally(word);
        } else {
            let (frame, yes) = (self.frame(), self.builder.ins().iconst(I8, 1));
            self.builder.ins().store(MEM, yes, frame, layout::frame::PANICKED);
            self.jump(Edge::to(after));
        }
        self.start(after);
    }

    /// The answer of an accessor that fills two words or a value, and where it left them.
    fn access_words(
        &mut self,
        id: NodeId,
        index: u32,
        path: &Path,
        accessor: usize,
    ) -> Result<(Value, StackSlot), Error> {
        // One place a field: whatever call filled it, it holds the same.
        let slot = match self.filled.get(&index).copied() {
            Some(slot) => slot,
            None => {
                let is_value = self.unit.field(index).is_some_and(|field| field.ty == Ty::Value);
                self.slot(if is_value { SIZE } else { 16 })
            }
        };
        self.filled.insert(index, slot);
        if let Some(attempt) = self.recall_attempt(Attempted::Field(index), id) {
            return Ok((attempt.words.one()?, slot));
        }
        let at = self.end(path)?;
        let room = self.builder.ins().stack_addr(I64, slot, 0);
        let present = self.call_accessor(Callee::Fill, accessor, &[at, room])?;
        self.note_attempt(Attempted::Field(index), id, present, Failure::Never);
        Ok((present.one()?, slot))
    }

    /// The place at the end of a path: a base and an offset.
    pub(super) fn walk(&mut self, from: Value, path: &Path) -> Result<(Value, i32), Error> {
        let mut base = from;
        let mut steps = path.0.iter().map(|&step| i32::try_from(step).map_err(|_| broken("an offset over 2 GiB")));
        let mut offset = steps.next().unwrap_or(Ok(0))?;
        for step in steps {
            base = self.builder.ins().load(I64, MEM, base, offset);
            offset = step?;
        }
        Ok((base, offset))
    }

    /// The address at the end of a path from the host's data.
    pub(super) fn end(&mut self, path: &Path) -> Result<Value, Error> {
        self.end_from(self.host, path)
    }

    fn end_from(&mut self, from: Value, path: &Path) -> Result<Value, Error> {
        let (base, offset) = self.walk(from, path)?;
        Ok(if offset == 0 { base } else { self.builder.ins().iadd_imm_s(base, i64::from(offset)) })
    }

    /// A value that is read in place; paths start at this address.
    pub(super) fn read_at(&mut self, ty: Ty, access: &Access, at: Value) -> Result<Words, Error> {
        match access {
            Access::Load(path, repr) => {
                let (base, offset) = self.walk(at, path)?;
                self.load(ty, *repr, base, offset)
            }
            access @ (Access::Text(..) | Access::Tagged(..)) => self.text_at(access, at),
            Access::MostlyText(..) | Access::Filled(..) | Access::Scalar(..) | Access::Get => {
                Err(broken("a part of a list or map that can't be read in place"))
            }
        }
    }

    fn load(&mut self, ty: Ty, repr: Repr, base: Value, at: i32) -> Result<Words, Error> {
        let ins = self.builder.ins();
        let value = match (ty, repr) {
            (Ty::Str | Ty::Bytes | Ty::Raw | Ty::Maybe, Repr::Slice(after)) => {
                let address = ins.load(I64, MEM, base, at);
                let length = self.builder.ins().load(I64, MEM, base, at.saturating_add(after));
                return Ok(Words::Two(address, length));
            }
            (Ty::Bool, Repr::Bool) => {
                let byte = ins.load(I8, MEM, base, at);
                self.builder.ins().icmp_imm_s(IntCC::NotEqual, byte, 0)
            }
            (Ty::Value, Repr::Value) if at == 0 => base,
            (Ty::Value, Repr::Value) => ins.iadd_imm_s(base, i64::from(at)),
            (Ty::Double, Repr::F64) => ins.load(F64, MEM, base, at),
            (Ty::Double, Repr::F32) => {
                let single = ins.load(F32, MEM, base, at);
                self.builder.ins().fpromote(F64, single)
            }
            (Ty::Int | Ty::Uint | Ty::Duration, repr) => match repr {
                Repr::I8 => ins.sload8(I64, MEM, base, at),
                Repr::I16 => ins.sload16(I64, MEM, base, at),
                Repr::I32 => ins.sload32(MEM, base, at),
                Repr::U8 => ins.uload8(I64, MEM, base, at),
                Repr::U16 => ins.uload16(I64, MEM, base, at),
                Repr::U32 => ins.uload32(MEM, base, at),
                Repr::I64 | Repr::U64 => ins.load(I64, MEM, base, at),
                Repr::F32 | Repr::F64 | Repr::Bool | Repr::Slice(_) | Repr::Value => {
                    return Err(broken("a field's type and form differ"));
                }
            },
            _ => return Err(broken("a field's type and form differ")),
        };
        Ok(Words::One(value))
    }

    pub(super) fn is_present(&mut self, args: &[NodeId]) -> Result<Words, Error> {
        let (address, _) = self.value(self.one_arg(args)?)?.two()?;
        Ok(Words::One(self.builder.ins().icmp_imm_s(IntCC::NotEqual, address, 0)))
    }

    /// A text that may be absent, which is an error here. Only the error path distinguishes absence
    /// from a failed header lookup.
    pub(super) fn require(&mut self, id: NodeId, args: &[NodeId]) -> Result<Words, Error> {
        let arg = self.one_arg(args)?;
        let header = matches!(self.unit.graph.op(arg), Op::Header { .. });
        let words = match self.recall(arg) {
            None if header => self.looked_up(arg)?.words,
            known => {
                let words = known.map_or_else(|| self.value(arg), Ok)?;
                let (address, _) = words.two()?;
                self.locate(id);
                self.fail_unless(address, ErrorKind::NoSuchKey, id);
                return Ok(words);
            }
        };
        self.locate(id);
        self.fail_where_null(words, arg, id)
    }

    /// Fails if the address is null: with a length that is not 0, with that code at the place of
    /// `read`; else because there is no text, at that of `id`.
    pub(super) fn fail_where_null(&mut self, words: Words, read: NodeId, id: NodeId) -> Result<Words, Error> {
        let (address, code) = words.two()?;
        let (null, failed, absent) = (self.cold_block(), self.cold_block(), self.cold_block());
        let present = self.builder.create_block();
        self.brif(address, Edge::to(present), Edge::to(null));
        self.start(null);
        self.brif(code, Edge::to(failed), Edge::to(absent));
        self.fail_with(failed, code, read);
        self.fail_in(absent, ErrorKind::NoSuchKey, id);
        self.start(present);
        Ok(words)
    }
}
