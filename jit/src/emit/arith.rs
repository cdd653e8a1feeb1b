//! Arithmetic, which fails where a result is out of range, and comparisons.
//!
//! Invariant: no instruction traps, and no signal handler is installed. Code checks for overflow and for a divisor of 0
//! first, and returns an error word. Test: `jit/tests/native/arith.rs::signed_integers_at_every_edge`.

use super::block::Words;
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::{Arith, Cmp, Constant, ErrorKind, NodeId, Op, Ty};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};

impl Emitter<'_, '_> {
    pub(super) fn arith(&mut self, id: NodeId, op: Arith) -> Result<Words, Error> {
        let (_, ty, args) = self.parts(id);
        let [left, right] = self.two_args(args)?;
        let a = self.value(left)?.one()?;
        let b = self.value(right)?.one()?;
        self.locate(id);
        let ins = self.builder.ins();
        if ty == Ty::Double {
            return Ok(Words::One(match op {
                Arith::Add => ins.fadd(a, b),
                Arith::Sub => ins.fsub(a, b),
                Arith::Mul => ins.fmul(a, b),
                Arith::Div => ins.fdiv(a, b),
                Arith::Rem => return Err(broken("a remainder of doubles")),
            }));
        }
        let (value, overflow) = match (ty, op) {
            (Ty::Int | Ty::Duration, Arith::Add) => ins.sadd_overflow(a, b),
            (Ty::Int | Ty::Duration, Arith::Sub) => ins.ssub_overflow(a, b),
            (Ty::Int, Arith::Mul) => ins.smul_overflow(a, b),
            (Ty::Uint, Arith::Add) => ins.uadd_overflow(a, b),
            (Ty::Uint, Arith::Sub) => ins.usub_overflow(a, b),
            (Ty::Uint, Arith::Mul) => ins.umul_overflow(a, b),
            (Ty::Int | Ty::Uint, Arith::Div | Arith::Rem) => return self.divide(id, op, (a, b), right),
            _ => return Err(broken("arithmetic of a type that has none")),
        };
        self.fail_if(overflow, ErrorKind::Overflow, id);
        Ok(Words::One(value))
    }

    fn divide(&mut self, id: NodeId, op: Arith, (a, b): (Value, Value), divisor: NodeId) -> Result<Words, Error> {
        let signed = self.unit.graph.ty(id) == Ty::Int;
        let constant = match self.unit.graph.op(divisor) {
            Op::Const(id) => self.unit.graph.constant_at(id),
            _ => None,
        };
        let by = match constant {
            Some(Constant::Int(n)) if signed => u64::try_from(*n).ok(),
            Some(Constant::Uint(n)) if !signed => Some(*n),
            _ => None,
        };
        if let Some(by) = by.filter(|by| *by >= 2) {
            let quotient = if signed { self.quotient_signed(a, by) } else { self.quotient_unsigned(a, by) };
            if op == Arith::Div {
                return Ok(Words::One(quotient));
            }
            let multiple = self.builder.ins().imul(quotient, b);
            return Ok(Words::One(self.builder.ins().isub(a, multiple)));
        }
        let (safe, not_minus_one) = match constant {
            Some(Constant::Int(n)) => (*n != 0, *n != -1),
            Some(Constant::Uint(n)) => (*n != 0, true),
            _ => (false, false),
        };
        if !safe {
            let kind = if op == Arith::Div { ErrorKind::DivideByZero } else { ErrorKind::ModulusByZero };
            self.fail_unless(b, kind, id);
        }
        if signed && !not_minus_one {
            // MIN / -1 is out of range; the machine's remainder traps with it.
            let least = self.word(i64::MIN);
            let least = self.builder.ins().icmp(IntCC::Equal, a, least);
            let minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
            let both = self.builder.ins().band(least, minus_one);
            self.fail_if(both, ErrorKind::Overflow, id);
        }
        let ins = self.builder.ins();
        Ok(Words::One(match (op, signed) {
            (Arith::Div, true) => ins.sdiv(a, b),
            (Arith::Div, false) => ins.udiv(a, b),
            (_, true) => ins.srem(a, b),
            (_, false) => ins.urem(a, b),
        }))
    }

    pub(super) fn negate(&mut self, id: NodeId) -> Result<Words, Error> {
        let (_, ty, args) = self.parts(id);
        let a = self.value(self.one_arg(args)?)?.one()?;
        self.locate(id);
        if ty == Ty::Double {
            return Ok(Words::One(self.builder.ins().fneg(a)));
        }
        let zero = self.word(0);
        let (value, overflow) = self.builder.ins().ssub_overflow(zero, a);
        self.fail_if(overflow, ErrorKind::Overflow, id);
        Ok(Words::One(value))
    }

    /// Comparisons other than equality of text.
    pub(super) fn compare(&mut self, id: NodeId, cmp: Cmp) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let [left, right] = self.two_args(args)?;
        let ty = self.unit.graph.ty(left);
        let a = self.value(left)?;
        let b = self.value(right)?;
        self.locate(id);
        let value = match ty {
            Ty::Str | Ty::Bytes | Ty::Raw => {
                let ((a, a_len), (b, b_len)) = (a.two()?, b.two()?);
                let (order, _) = self.call(celero_ir::Helper::bytes_compare, &[a, a_len, b, b_len])?;
                self.builder.ins().icmp_imm_s(signed(cmp), order.one()?, 0)
            }
            Ty::Timestamp => self.compare_times(cmp, a.two()?, b.two()?),
            Ty::Double => {
                let condition = match cmp {
                    Cmp::Eq => FloatCC::Equal,
                    Cmp::Ne => FloatCC::NotEqual,
                    Cmp::Lt => FloatCC::LessThan,
                    Cmp::Le => FloatCC::LessThanOrEqual,
                    Cmp::Gt => FloatCC::GreaterThan,
                    Cmp::Ge => FloatCC::GreaterThanOrEqual,
                };
                self.builder.ins().fcmp(condition, a.one()?, b.one()?)
            }
            Ty::Int | Ty::Duration => self.builder.ins().icmp(signed(cmp), a.one()?, b.one()?),
            Ty::Uint | Ty::Bool => self.builder.ins().icmp(signed(cmp).unsigned(), a.one()?, b.one()?),
            Ty::Maybe | Ty::Ip | Ty::Seq | Ty::Cursor | Ty::Value | Ty::Found | Ty::Entry | Ty::Record => {
                return Err(broken("a comparison of a type that has none"));
            }
        };
        Ok(Words::One(value))
    }

    /// Seconds first, then nanoseconds.
    fn compare_times(&mut self, cmp: Cmp, a: (Value, Value), b: (Value, Value)) -> Value {
        let same = self.builder.ins().icmp(IntCC::Equal, a.0, b.0);
        match cmp {
            Cmp::Eq => {
                let nanos = self.builder.ins().icmp(IntCC::Equal, a.1, b.1);
                self.builder.ins().band(same, nanos)
            }
            Cmp::Ne => {
                let seconds = self.builder.ins().icmp(IntCC::NotEqual, a.0, b.0);
                let nanos = self.builder.ins().icmp(IntCC::NotEqual, a.1, b.1);
                self.builder.ins().bor(seconds, nanos)
            }
            _ => {
                let seconds = self.builder.ins().icmp(signed(cmp), a.0, b.0);
                let nanos = self.builder.ins().icmp(signed(cmp), a.1, b.1);
                self.builder.ins().select(same, nanos, seconds)
            }
        }
    }
}

fn signed(cmp: Cmp) -> IntCC {
    match cmp {
        Cmp::Eq => IntCC::Equal,
        Cmp::Ne => IntCC::NotEqual,
        Cmp::Lt => IntCC::SignedLessThan,
        Cmp::Le => IntCC::SignedLessThanOrEqual,
        Cmp::Gt => IntCC::SignedGreaterThan,
        Cmp::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}
