//! Division by a constant as multiplication by its inverse: the machine's division instruction
//! takes several times as long.
//!
//! Source: T. Granlund and P. L. Montgomery, "Division by Invariant Integers using Multiplication",
//! PLDI 1994: figure 4.1 for unsigned and figure 5.2 for signed dividends, with words of 64 bits.

use super::Emitter;
use cranelift_codegen::ir::{InstBuilder, Value};

/// The least `l` with `2^l >= divisor`.
fn ceil_log2(divisor: u64) -> u32 {
    u64::BITS.saturating_sub(divisor.saturating_sub(1).leading_zeros())
}

/// `1 + floor(2^64 * factor / divisor)`, which fits a word where the figures use it.
fn inverse(factor: u64, divisor: u64) -> u64 {
    let floor = (u128::from(factor) << 64).checked_div(u128::from(divisor)).unwrap_or(0);
    (floor as u64).wrapping_add(1)
}

/// `m'` and the shift of figure 4.1. The divisor is at least 2.
fn unsigned(divisor: u64) -> (u64, u32) {
    let l = ceil_log2(divisor);
    let power = 1_u64.checked_shl(l).unwrap_or(0);
    (inverse(power.wrapping_sub(divisor), divisor), l.saturating_sub(1))
}

/// `m - 2^64` and the shift of figure 5.2. The divisor is at least 2, and less than 2^63.
fn signed(divisor: u64) -> (u64, u32) {
    let shift = ceil_log2(divisor).saturating_sub(1);
    // 2^(64 + shift) / divisor is at least 2^63 and less than 2^64: the inverse, cut to a word, is that less 2^64.
    (inverse(1_u64.checked_shl(shift).unwrap_or(0), divisor), shift)
}

impl Emitter<'_, '_> {
    /// The quotient of an `int` by a constant of at least 2.
    pub(super) fn quotient_signed(&mut self, n: Value, divisor: u64) -> Value {
        let (inverse, shift) = signed(divisor);
        let inverse = self.word(inverse.cast_signed());
        let high = self.builder.ins().smulhi(inverse, n);
        let sum = self.builder.ins().iadd(high, n);
        let shifted = self.builder.ins().sshr_imm_u(sum, i64::from(shift));
        let negative = self.builder.ins().ushr_imm_u(n, 63);
        self.builder.ins().iadd(shifted, negative)
    }

    /// The quotient of a `uint` by a constant of at least 2.
    pub(super) fn quotient_unsigned(&mut self, n: Value, divisor: u64) -> Value {
        let (inverse, shift) = unsigned(divisor);
        let inverse = self.word(inverse.cast_signed());
        let high = self.builder.ins().umulhi(inverse, n);
        let rest = self.builder.ins().isub(n, high);
        let half = self.builder.ins().ushr_imm_u(rest, 1);
        let sum = self.builder.ins().iadd(half, high);
        self.builder.ins().ushr_imm_u(sum, i64::from(shift))
    }
}
