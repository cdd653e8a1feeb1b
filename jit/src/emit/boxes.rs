//! Boxing of typed values into values of any type, and unboxing.

use super::block::Words;
use super::{Emitter, MEM, broken};
use crate::error::Error;
use celero_ir::layout::value::{FIRST, SECOND, SIZE, TAG, tag_of};
use celero_ir::{ErrorKind, Helper, NodeId, Op, Ty, Types};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I8, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use smallvec::SmallVec;

impl Emitter<'_, '_> {
    /// Boxes a value on the stack, or in the arena if there are many boxes. Each emission has its
    /// own slot: the same node under another binding of its variables is another value, and both
    /// may be alive.
    pub(super) fn boxed(&mut self, id: NodeId) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let arg = self.one_arg(args)?;
        let ty = self.unit.graph.ty(arg);
        let words = self.value(arg)?;
        self.locate(id);
        if !self.plan.facts(id).on_stack {
            let (tag, mut parts) = self.value_words(ty, words)?;
            if ty == Ty::Double
                && let Some(part) = parts.first_mut()
            {
                *part = self.builder.ins().bitcast(I64, MemFlagsData::new(), *part);
            }
            let second = self.word(0);
            let args = [Some(tag), parts.first().copied(), Some(parts.get(1).copied().unwrap_or(second))];
            let args: Vec<Value> = args.into_iter().flatten().collect();
            return self.call_for(id, Helper::value_new, &args);
        }
        Ok(Words::One(self.boxed_on_stack(ty, words)?))
    }

    /// The tag of a value of this type, and its words as they are in a box.
    fn value_words(&mut self, ty: Ty, words: Words) -> Result<(Value, SmallVec<[Value; 2]>), Error> {
        let tag = tag_of(ty).ok_or_else(|| broken("a type that has no values"))?;
        let tag = self.word(i64::from(tag));
        let mut parts = words.list();
        if ty == Ty::Bool
            && let Some(part) = parts.first_mut()
        {
            *part = self.builder.ins().uextend(I64, *part);
        }
        Ok((tag, parts))
    }

    /// The address of a box in a stack slot of its own.
    pub(super) fn boxed_on_stack(&mut self, ty: Ty, words: Words) -> Result<Value, Error> {
        let slot = self.slot(SIZE);
        let at = self.builder.ins().stack_addr(I64, slot, 0);
        self.box_at(at, ty, words)?;
        Ok(at)
    }

    /// Writes a node's value, which is of any type, to an address, as a value of 32 bytes.
    pub(super) fn write_value(&mut self, id: NodeId, to: Value) -> Result<(), Error> {
        let (op, _, args) = self.parts(id);
        if op == Op::Box {
            let arg = self.one_arg(args)?;
            let words = self.value(arg)?;
            return self.box_at(to, self.unit.graph.ty(arg), words);
        }
        let from = self.element(id)?;
        for at in (0..SIZE.cast_signed()).step_by(8) {
            let word = self.builder.ins().load(I64, MEM, from, at);
            self.builder.ins().store(MEM, word, to, at);
        }
        Ok(())
    }

    /// Makes a box at an address.
    fn box_at(&mut self, at: Value, ty: Ty, words: Words) -> Result<(), Error> {
        let (tag, parts) = self.value_words(ty, words)?;
        self.builder.ins().store(MEM, tag, at, TAG);
        for (&word, offset) in parts.iter().zip([FIRST, SECOND]) {
            self.builder.ins().store(MEM, word, at, offset);
        }
        Ok(())
    }

    /// Whether each operand is of the type in its place.
    pub(super) fn has_types(&mut self, id: NodeId, types: Types) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let mut tested: SmallVec<[(Value, Ty); Types::MAX]> = SmallVec::new();
        for (&arg, ty) in args.iter().zip(types.iter()) {
            let words = self.value(arg)?;
            if self.unit.graph.ty(arg) == Ty::Value && ty != Ty::Value {
                tested.push((words.one()?, ty));
            }
        }
        self.locate(id);
        let mut all = None;
        for (at, ty) in tested {
            let same = self.has_type(at, ty)?;
            all = Some(all.map_or(same, |before| self.builder.ins().band(before, same)));
        }
        Ok(Words::One(all.unwrap_or_else(|| self.builder.ins().iconst(I8, 1))))
    }

    /// Whether the value at an address is of a type.
    fn has_type(&mut self, at: Value, ty: Ty) -> Result<Value, Error> {
        let tag = tag_of(ty).ok_or_else(|| broken("a type that has no values"))?;
        let found = self.builder.ins().uload8(I64, MEM, at, TAG);
        Ok(self.builder.ins().icmp_imm_s(IntCC::Equal, found, i64::from(tag)))
    }

    /// Emits what is evaluated only if a condition is true: what the condition shows of the types of
    /// values is not tested again.
    pub(super) fn where_true<T>(
        &mut self,
        condition: NodeId,
        emit: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let known = self.shown.len();
        if let (Op::HasTypes(types), _, args) = self.parts(condition) {
            for (&arg, ty) in args.iter().zip(types.iter()) {
                // Its address is that of the test, which dominates this place.
                if let Some(Words::One(at)) = self.recall(arg) {
                    self.shown.push((at, ty));
                }
            }
        }
        let emitted = emit(self);
        self.shown.truncate(known);
        emitted
    }

    /// The typed value in the value at an address. Fails with an error of this node if it has another type.
    pub(super) fn unboxed(&mut self, id: NodeId, at: Value, ty: Ty) -> Result<Words, Error> {
        if !self.shown.contains(&(at, ty)) {
            let same = self.has_type(at, ty)?;
            self.fail_unless(same, ErrorKind::NoSuchOverload, id);
        }
        Ok(match ty {
            Ty::Bool => Words::One(self.builder.ins().load(I8, MEM, at, FIRST)),
            Ty::Double => Words::One(self.builder.ins().load(F64, MEM, at, FIRST)),
            Ty::Timestamp | Ty::Str | Ty::Bytes => {
                let first = self.builder.ins().load(I64, MEM, at, FIRST);
                Words::Two(first, self.builder.ins().load(I64, MEM, at, SECOND))
            }
            _ => Words::One(self.builder.ins().load(I64, MEM, at, FIRST)),
        })
    }
}
