//! The vector operations of each processor that a search needs.
//!
//! Invariant: no byte outside the text is read. Test:
//! `runtime/matching/src/search/tests.rs::nothing_outside_the_text_is_read`.

/// The vector instructions of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// AVX2, BMI1 and BMI2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// None that this module uses.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None,
}

impl Level {
    /// Returns the best level that this processor has.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        use std::arch::is_x86_feature_detected as has;
        #[cfg(target_arch = "x86_64")]
        return if has!("avx2") && has!("bmi1") && has!("bmi2") { Self::Avx2 } else { Self::Sse2 };
        #[cfg(target_arch = "aarch64")]
        return Self::Neon;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return Self::None;
    }
}

/// A vector of `BYTES` bytes, at most 32. Every function may be called only where the processor has such vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) trait Vector: Copy {
    const BYTES: usize;

    /// A vector with `byte` in every position.
    unsafe fn splat(byte: u8) -> Self;

    /// Loads `BYTES` bytes from an address, where they must be readable.
    unsafe fn load(from: *const u8) -> Self;

    /// All ones in each byte where `a` equals `x` and `b` equals `y`, and zeros in the others.
    unsafe fn both_equal(a: Self, x: Self, b: Self, y: Self) -> Self;

    /// Bitwise or.
    unsafe fn or(self, other: Self) -> Self;

    /// One bit for each byte, which must be all ones or zero. The first byte has the lowest bit.
    unsafe fn bits(self) -> u32;
}

/// A vector of 16 bytes, which can also be built from two words.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) trait Half: Vector {
    /// A vector of two words. The lowest byte of `low` is the first.
    unsafe fn of_words(low: u64, high: u64) -> Self;
}

// SAFETY of all functions below: the caller of the trait's function promises what the instruction
// needs: a processor that has it, and readable bytes for loads. All loads are unaligned loads.

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Half, Vector};
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128,
        _mm_set_epi64x, _mm_set1_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8,
    };

    impl Vector for __m128i {
        const BYTES: usize = 16;

        #[inline(always)]
        unsafe fn splat(byte: u8) -> Self {
            // SAFETY: see above.
            unsafe { _mm_set1_epi8(byte.cast_signed()) }
        }

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: see above.
            unsafe { _mm_loadu_si128(from.cast()) }
        }

        #[inline(always)]
        unsafe fn both_equal(a: Self, x: Self, b: Self, y: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm_and_si128(_mm_cmpeq_epi8(a, x), _mm_cmpeq_epi8(b, y)) }
        }

        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm_or_si128(self, other) }
        }

        #[inline(always)]
        unsafe fn bits(self) -> u32 {
            // SAFETY: see above.
            unsafe { _mm_movemask_epi8(self) }.cast_unsigned()
        }
    }

    impl Half for __m128i {
        #[inline(always)]
        unsafe fn of_words(low: u64, high: u64) -> Self {
            // SAFETY: see above.
            unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
        }
    }

    impl Vector for __m256i {
        const BYTES: usize = 32;

        #[inline(always)]
        unsafe fn splat(byte: u8) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_set1_epi8(byte.cast_signed()) }
        }

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }

        #[inline(always)]
        unsafe fn both_equal(a: Self, x: Self, b: Self, y: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_and_si256(_mm256_cmpeq_epi8(a, x), _mm256_cmpeq_epi8(b, y)) }
        }

        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm256_or_si256(self, other) }
        }

        #[inline(always)]
        unsafe fn bits(self) -> u32 {
            // SAFETY: see above.
            unsafe { _mm256_movemask_epi8(self) }.cast_unsigned()
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{Half, Vector};
    use std::arch::aarch64::{
        uint8x16_t, vaddv_u8, vandq_u8, vceqq_u8, vcombine_u64, vcreate_u64, vdupq_n_u8, vget_high_u8, vget_low_u8,
        vld1q_u8, vorrq_u8, vreinterpretq_u8_u64,
    };

    impl Vector for uint8x16_t {
        const BYTES: usize = 16;

        #[inline(always)]
        unsafe fn splat(byte: u8) -> Self {
            // SAFETY: see above.
            unsafe { vdupq_n_u8(byte) }
        }

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: see above.
            unsafe { vld1q_u8(from) }
        }

        #[inline(always)]
        unsafe fn both_equal(a: Self, x: Self, b: Self, y: Self) -> Self {
            // SAFETY: see above.
            unsafe { vandq_u8(vceqq_u8(a, x), vceqq_u8(b, y)) }
        }

        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { vorrq_u8(self, other) }
        }

        #[inline(always)]
        unsafe fn bits(self) -> u32 {
            const BITS: u64 = 0x8040_2010_0804_0201;
            // SAFETY: see above. Each byte keeps the bit of its place, and the sum of eight
            // different bits has all of them.
            let (low, high) = unsafe {
                let places = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(BITS), vcreate_u64(BITS)));
                let bits = vandq_u8(self, places);
                (vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits)))
            };
            u32::from(low) | u32::from(high) << 8
        }
    }

    impl Half for uint8x16_t {
        #[inline(always)]
        unsafe fn of_words(low: u64, high: u64) -> Self {
            // SAFETY: see above.
            unsafe { vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))) }
        }
    }
}
