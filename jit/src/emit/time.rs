//! Times: sums with a duration, and differences. A host's times may be out of range, with nanoseconds of any number:
//! results and errors are those of whole numbers of nanoseconds, but a sum of nanoseconds that needs more than 64
//! bits is an error.

use super::Emitter;
use super::block::Words;
use crate::error::Error;
use celero_ir::{ErrorKind, NodeId, TIMESTAMP_SECONDS};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I64, I128};
use cranelift_codegen::ir::{InstBuilder, Value};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Emitter<'_, '_> {
    /// A time that is a duration later, or `earlier`.
    pub(super) fn time_shifted(&mut self, id: NodeId, earlier: bool) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let [time, span] = self.two_args(args)?;
        let (seconds, nanos) = self.value(time)?.two()?;
        let span = self.value(span)?.one()?;
        self.locate(id);
        let (more_seconds, more_nanos) = self.in_seconds(span);
        let ins = self.builder.ins();
        let (nanos, lost) =
            if earlier { ins.ssub_overflow(nanos, more_nanos) } else { ins.sadd_overflow(nanos, more_nanos) };
        // Seconds that wrap here are far outside the range that is checked below.
        let ins = self.builder.ins();
        let seconds = if earlier { ins.isub(seconds, more_seconds) } else { ins.iadd(seconds, more_seconds) };
        let (carried, nanos) = self.in_seconds(nanos);
        let is_negative = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, nanos, 0);
        let (second, none) = (self.word(NANOS_PER_SECOND.cast_signed()), self.word(0));
        let lent = self.builder.ins().select(is_negative, second, none);
        let nanos = self.builder.ins().iadd(nanos, lent);
        let seconds = self.builder.ins().iadd(seconds, carried);
        let borrowed = self.builder.ins().uextend(I64, is_negative);
        let seconds = self.builder.ins().isub(seconds, borrowed);
        let (least, most) = TIMESTAMP_SECONDS.into_inner();
        let after = self.builder.ins().iadd_imm_s(seconds, least.saturating_neg());
        let range = self.word(most.saturating_sub(least));
        let outside = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, after, range);
        let fails = self.builder.ins().bor(lost, outside);
        self.fail_if(fails, ErrorKind::Overflow, id);
        Ok(Words::Two(seconds, nanos))
    }

    /// The duration from the second time to the first.
    pub(super) fn time_since(&mut self, id: NodeId) -> Result<Words, Error> {
        let (_, _, args) = self.parts(id);
        let [time, earlier] = self.two_args(args)?;
        let (time, earlier) = (self.value(time)?.two()?, self.value(earlier)?.two()?);
        self.locate(id);
        let difference = |this: &mut Self, a, b| {
            let (a, b) = (this.builder.ins().sextend(I128, a), this.builder.ins().sextend(I128, b));
            this.builder.ins().isub(a, b)
        };
        let (seconds, nanos) = (difference(self, time.0, earlier.0), difference(self, time.1, earlier.1));
        let second = self.word(NANOS_PER_SECOND.cast_signed());
        let second = self.builder.ins().sextend(I128, second);
        let all = self.builder.ins().imul(seconds, second);
        let all = self.builder.ins().iadd(all, nanos);
        let span = self.builder.ins().ireduce(I64, all);
        let again = self.builder.ins().sextend(I128, span);
        let lost = self.builder.ins().icmp(IntCC::NotEqual, all, again);
        self.fail_if(lost, ErrorKind::Overflow, id);
        Ok(Words::One(span))
    }

    /// Whole seconds in a number of nanoseconds, rounded toward zero, and the nanoseconds that remain.
    fn in_seconds(&mut self, nanos: Value) -> (Value, Value) {
        let seconds = self.quotient_signed(nanos, NANOS_PER_SECOND);
        let second = self.word(NANOS_PER_SECOND.cast_signed());
        let whole = self.builder.ins().imul(seconds, second);
        (seconds, self.builder.ins().isub(nanos, whole))
    }
}
