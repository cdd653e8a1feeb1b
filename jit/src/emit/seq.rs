//! Lists of the host that are read in place: their size, an element, the search for one. A search
//! is a loop. Its steps are charged together when it is left, unless it compares texts by a call.

use super::block::{Edge, Words};
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::layout::Elements;
use celero_ir::{ConstId, ErrorKind, NodeId, Op, Ty};
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::I64;

/// What a search compares elements with.
enum Sought<'a> {
    /// A text that is known.
    Text(&'a [u8], ConstId),
    /// Any other value.
    Words(Words),
}

impl<'a> Emitter<'a, '_> {
    fn elements_in(&self, seq: NodeId) -> Result<&'a Elements, Error> {
        match self.unit.graph.op(seq) {
            Op::Elements(field) => self.elements_of(field),
            _ => Err(broken("elements that are not the field's own")),
        }
    }

    pub(super) fn seq_size(&mut self, args: &[NodeId]) -> Result<Words, Error> {
        let (_, count) = self.value(self.one_arg(args)?)?.two()?;
        Ok(Words::One(count))
    }

    pub(super) fn seq_at(&mut self, id: NodeId) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let [seq, index] = self.two_args(args)?;
        let elements = self.elements_in(seq)?;
        let (first, count) = self.value(seq)?.two()?;
        let index = self.value(index)?.one()?;
        self.locate(id);
        // A negative index is a large number here.
        let inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.fail_unless(inside, ErrorKind::InvalidArgument, id);
        let offset = self.builder.ins().imul_imm_s(index, i64::from(elements.stride));
        let at = self.builder.ins().iadd(first, offset);
        self.element_at(elements, at)
    }

    pub(super) fn seq_has(&mut self, id: NodeId, yes: Edge, no: Edge) -> Result<(), Error> {
        let (_, _, args) = self.parts(id);
        let [wanted, seq] = self.two_args(args)?;
        let elements = self.elements_in(seq)?;
        let sought = match self.unit.text(wanted) {
            Some((bytes, constant)) => Sought::Text(bytes, constant),
            None => Sought::Words(self.value(wanted)?),
        };
        let (first, count) = self.value(seq)?.two()?;
        self.locate(id);
        let step = i64::from(elements.stride);
        let (charge, allowed) = if self.searches_quietly(id) {
            let (charge, allowed) = self.begin_charge(first, count);
            (Some(charge), allowed)
        } else {
            (None, count)
        };
        let size = self.builder.ins().imul_imm_s(allowed, step);
        let end = self.builder.ins().iadd(first, size);
        let (body, next, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let found = self.cold_block();
        let position = self.builder.append_block_param(body, I64);
        self.iterate_or_leave((first, end), None, body, done);
        self.start(body);
        if charge.is_none() {
            self.charge_iteration(id);
        }
        let element = self.element_at(elements, position)?;
        self.match_element(elements.ty, element, &sought, Edge::to(found), Edge::to(next))?;
        self.start(found);
        if let Some(charge) = charge {
            self.charge_through(charge, position, step);
        }
        self.jump(yes);
        self.start(next);
        let after = self.builder.ins().iadd_imm_s(position, step);
        self.iterate_or_leave((after, end), None, body, done);
        self.start(done);
        self.finish_charge(charge, end, step, id);
        self.jump(no);
        Ok(())
    }

    fn match_element(&mut self, ty: Ty, element: Words, sought: &Sought<'_>, yes: Edge, no: Edge) -> Result<(), Error> {
        let equal = match (ty, sought) {
            (_, Sought::Text(bytes, constant)) => {
                return self.match_constant(element.two()?, (bytes, *constant), yes, no);
            }
            (Ty::Str | Ty::Bytes, Sought::Words(words)) => {
                return self.match_texts(element.two()?, words.two()?, yes, no);
            }
            (Ty::Double, Sought::Words(words)) => self.builder.ins().fcmp(FloatCC::Equal, element.one()?, words.one()?),
            (_, Sought::Words(words)) => self.builder.ins().icmp(IntCC::Equal, element.one()?, words.one()?),
        };
        self.brif(equal, yes, no);
        Ok(())
    }
}
