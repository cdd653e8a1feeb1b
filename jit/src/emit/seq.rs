//! Lists of the host that are read in place: their size, which bytes have as well, an element, the search for one,
//! equality. A search is a loop, of numbers in vectors as far as none is equal. Its steps are charged together when
//! it is left, unless it compares texts by a call.

use super::block::{Edge, Words};
use super::call::Callee;
use super::{Emitter, MEM, broken};
use crate::error::Error;
use celero_ir::layout::{Access, Elements, Path, Place, Repr};
use celero_ir::{ConstId, ErrorKind, NodeId, Op, Ty};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64X2, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, Type, Value};

/// The bytes of a number that vectors hold.
const NUMBER: i32 = 8;

/// The vectors of two elements, if these are numbers of 64 bits that follow one another.
fn vectors_of(elements: &Elements) -> Option<Type> {
    let Access::Load(Path(steps), repr) = &elements.access else { return None };
    let lanes = match repr {
        Repr::I64 | Repr::U64 => I64X2,
        Repr::F64 => F64X2,
        _ => return None,
    };
    let is_number = matches!(elements.ty, Ty::Int | Ty::Uint | Ty::Double);
    (is_number && **steps == [0] && elements.stride == NUMBER.unsigned_abs()).then_some(lanes)
}

/// What a search compares elements with.
enum Sought<'a> {
    /// A text that is known.
    Text(&'a [u8], ConstId),
    /// Any other value.
    Words(Words),
}

impl<'a> Emitter<'a, '_> {
    pub(super) fn elements_of(&self, index: u32) -> Result<&'a Elements, Error> {
        let fields: &'a [celero_ir::layout::Field] = self.unit.fields;
        let field = fields.get(index as usize).ok_or_else(|| broken("no such field"))?;
        field.elements.as_ref().ok_or_else(|| broken("a field without elements"))
    }

    /// The elements of a field: the address of the first, and their number.
    pub(super) fn elements(&mut self, id: NodeId, index: u32) -> Result<Words, Error> {
        let elements = self.elements_of(index)?;
        let (first, count) = match elements.place {
            Place::Words(after) => {
                let (base, offset) = self.walk(self.host, &elements.path)?;
                let first = self.builder.ins().load(I64, MEM, base, offset);
                (first, self.builder.ins().load(I64, MEM, base, offset.saturating_add(after)))
            }
            Place::Here(count) => (self.end(&elements.path)?, self.word(i64::from(count))),
            Place::Call(accessor) => {
                let list = self.end(&elements.path)?;
                self.call_accessor(Callee::Text, accessor, &[list])?.two()?
            }
        };
        if self.unit.field(index).is_some_and(|field| field.optional) {
            self.fail_unless(first, ErrorKind::NoSuchKey, id);
        }
        Ok(Words::Two(first, count))
    }

    /// The element at an address.
    pub(super) fn element_at(&mut self, elements: &Elements, at: Value) -> Result<Words, Error> {
        match elements.ty {
            Ty::Record => Ok(Words::One(at)),
            ty => self.read_at(ty, &elements.access, at),
        }
    }

    /// A member of an element.
    pub(super) fn member(&mut self, args: &[NodeId], list: u32, member: u32) -> Result<Words, Error> {
        let at = self.value(self.one_arg(args)?)?.one()?;
        let member = self.elements_of(list)?.member(member).ok_or_else(|| broken("no such member"))?;
        self.read_at(member.ty, &member.access, at)
    }

    fn elements_in(&self, seq: NodeId) -> Result<&'a Elements, Error> {
        match self.unit.graph.op(seq) {
            Op::Elements(field) => self.elements_of(field),
            _ => Err(broken("elements that are not the field's own")),
        }
    }

    pub(super) fn seq_size(&mut self, args: &[NodeId]) -> Result<Words, Error> {
        let range = self.one_arg(args)?;
        let count = if self.unit.graph.ty(range) == Ty::Cursor {
            self.begin_cursor(range)?.count
        } else {
            self.value(range)?.two()?.1
        };
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
            let (charge, allowed) = self.begin_charge(first, count, None, id);
            (Some(charge), allowed)
        } else {
            (None, count)
        };
        let size = self.builder.ins().imul_imm_s(allowed, step);
        let end = self.builder.ins().iadd(first, size);
        let first = match (vectors_of(elements), &sought) {
            (Some(lanes), Sought::Words(wanted)) => self.skip_vectors(lanes, (first, allowed), wanted.one()?),
            _ => first,
        };
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

    /// Looks at four numbers at a time, in two vectors of these `lanes`, while at least four remain and none of them
    /// is equal. Returns the address of the first number that remains.
    fn skip_vectors(&mut self, lanes: Type, (first, count): (Value, Value), wanted: Value) -> Value {
        let wanted = self.builder.ins().splat(lanes, wanted);
        let fours = self.builder.ins().band_imm_s(count, !3);
        let size = self.builder.ins().imul_imm_s(fours, i64::from(NUMBER));
        let end = self.builder.ins().iadd(first, size);
        let (body, rest) = (self.builder.create_block(), self.builder.create_block());
        let (next, over) = (self.builder.create_block(), self.builder.create_block());
        let position = self.builder.append_block_param(body, I64);
        let left = self.builder.append_block_param(rest, I64);
        self.iterate_or_leave((first, end), None, body, over);
        self.start(body);
        let [low, high] = [0, 2 * NUMBER].map(|offset| {
            let pair = self.builder.ins().load(lanes, MEM, position, offset);
            if lanes == F64X2 {
                self.builder.ins().fcmp(FloatCC::Equal, pair, wanted)
            } else {
                self.builder.ins().icmp(IntCC::Equal, pair, wanted)
            }
        });
        let equal = self.builder.ins().bor(low, high);
        let is_any = self.builder.ins().vany_true(equal);
        self.brif(is_any, Edge::with(rest, position), Edge::to(next));
        self.start(next);
        let after = self.builder.ins().iadd_imm_s(position, i64::from(4 * NUMBER));
        self.iterate_or_leave((after, end), None, body, over);
        self.start(over);
        self.jump(Edge::with(rest, end));
        self.start(rest);
        left
    }

    /// Two lists of one length are compared element by element.
    pub(super) fn seq_equal(&mut self, id: NodeId, yes: Edge, no: Edge) -> Result<(), Error> {
        let (_, _, args) = self.parts(id);
        let [left, right] = self.two_args(args)?;
        let (of_left, of_right) = (self.elements_in(left)?, self.elements_in(right)?);
        let (first, count) = self.value(left)?.two()?;
        let (other, other_count) = self.value(right)?.two()?;
        self.locate(id);
        let same = self.builder.ins().icmp(IntCC::Equal, count, other_count);
        let (start, body, next) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let done = self.builder.create_block();
        let position = self.builder.append_block_param(body, I64);
        self.brif(same, Edge::to(start), no);
        self.start(start);
        let zero = self.word(0);
        self.iterate_or_leave((zero, count), None, body, done);
        self.start(body);
        self.charge_iteration(id);
        let mut element = |elements: &Elements, first| {
            let offset = self.builder.ins().imul_imm_s(position, i64::from(elements.stride));
            let at = self.builder.ins().iadd(first, offset);
            self.element_at(elements, at)
        };
        let (a, b) = (element(of_left, first)?, element(of_right, other)?);
        self.match_element(of_left.ty, a, &Sought::Words(b), Edge::to(next), no)?;
        self.start(next);
        let after = self.builder.ins().iadd_imm_s(position, 1);
        self.iterate_or_leave((after, count), None, body, done);
        self.start(done);
        self.jump(yes);
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
