//! Finds the bytes at which reading a JSON string must stop, 64 bytes at a time, with the best
//! vector instructions of the processor.
//!
//! A parser implements [`ScanTask`] and passes itself to [`run`], which calls it with a [`Scanner`]
//! for this processor. The whole task is compiled once for each scanner, so that no call in its
//! loop is indirect.
//!
//! ```
//! use celero_matching::json_simd::{BLOCK_BYTES, ScanTask, Scanner, run};
//!
//! /// Length of the prefix of a block that contains no quote, backslash, control character or byte above 127.
//! struct PlainPrefix<'b>(&'b [u8; BLOCK_BYTES]);
//!
//! impl ScanTask for PlainPrefix<'_> {
//!     type Output = u32;
//!
//!     #[inline(always)]
//!     fn run_with<S: Scanner>(self, scanner: S) -> u32 {
//!         scanner.string_stops(self.0).trailing_zeros()
//!     }
//! }
//!
//! let mut block = [b'a'; BLOCK_BYTES];
//! block[20] = b'"';
//! assert_eq!(run(PlainPrefix(&block)), 20);
//! ```

/// Number of bytes that are examined together.
pub const BLOCK_BYTES: usize = 64;

/// Examines blocks with one set of vector instructions.
pub trait Scanner: Copy {
    /// Returns one bit for each byte of a block, the first byte in the lowest bit. A bit is set if
    /// reading a string must stop at its byte: a quote, a backslash, a control character, or a byte
    /// that is not ASCII.
    fn string_stops(self, block: &[u8; BLOCK_BYTES]) -> u64;

    /// Runs a task in a function that is compiled for the instructions of this scanner.
    fn run<W: ScanTask>(self, task: W) -> W::Output;
}

/// Work that is compiled once for each scanner.
pub trait ScanTask {
    /// The result.
    type Output;

    /// Does the work. Mark the implementation `#[inline(always)]`: only then is the scanner inlined into it.
    fn run_with<S: Scanner>(self, scanner: S) -> Self::Output;
}

/// Runs a task with the best scanner for this processor.
#[inline]
pub fn run<W: ScanTask>(task: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(scanner) = Avx2::detect() {
        return scanner.run(task);
    }
    Baseline.run(task)
}

/// The scanner for instructions that every processor of the architecture has.
#[derive(Clone, Copy)]
pub struct Baseline;

impl Scanner for Baseline {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn string_stops(self, block: &[u8; BLOCK_BYTES]) -> u64 {
        let (quarters, _) = block.as_chunks::<16>();
        quarters.iter().rev().fold(0, |bits, quarter| {
            // SAFETY: SSE2 is part of every x86-64.
            (bits << 16) | u64::from(unsafe { stops_sse2(quarter) })
        })
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn string_stops(self, block: &[u8; BLOCK_BYTES]) -> u64 {
        stops_bytewise(block)
    }

    #[inline(never)]
    fn run<W: ScanTask>(self, task: W) -> W::Output {
        task.run_with(self)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn stops_sse2(block: &[u8; 16]) -> u16 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };
    let both = u128::from_le_bytes(*block).cast_signed();
    let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
    let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
    let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
    // Bytes that are not ASCII are negative.
    let control_or_high = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    let stops = _mm_or_si128(_mm_or_si128(quote, backslash), control_or_high);
    // At most the lower 16 bits are set.
    (_mm_movemask_epi8(stops) & 0xffff) as u16
}

/// The scanner for AVX2, BMI1 and BMI2. A value exists only where the processor has these.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    #[inline]
    fn detect() -> Option<Self> {
        use std::arch::is_x86_feature_detected as has;
        (has!("avx2") && has!("bmi1") && has!("bmi2")).then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Scanner for Avx2 {
    #[inline(always)]
    fn string_stops(self, block: &[u8; BLOCK_BYTES]) -> u64 {
        let (halves, _) = block.as_chunks::<32>();
        halves.iter().rev().fold(0, |bits, half| {
            // SAFETY: the processor has AVX2: `Avx2::detect` returned this value.
            (bits << 32) | u64::from(unsafe { stops_avx2(half) })
        })
    }

    #[inline(always)]
    fn run<W: ScanTask>(self, task: W) -> W::Output {
        // SAFETY: the processor has AVX2, BMI1 and BMI2: `Avx2::detect` returned this value.
        unsafe { run_avx2(self, task) }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn run_avx2<W: ScanTask>(scanner: Avx2, task: W) -> W::Output {
    task.run_with(scanner)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn stops_avx2(half: &[u8; 32]) -> u32 {
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };
    // SAFETY: the array has 32 bytes; the load needs no alignment.
    let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
    let quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"'.cast_signed()));
    let backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\'.cast_signed()));
    // Bytes that are not ASCII are negative.
    let control_or_high = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes);
    let stops = _mm256_or_si256(_mm256_or_si256(quote, backslash), control_or_high);
    _mm256_movemask_epi8(stops).cast_unsigned()
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn stops_bytewise(block: &[u8; BLOCK_BYTES]) -> u64 {
    let stops = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f | 0x80..);
    block.iter().rev().fold(0, |bits, byte| (bits << 1) | u64::from(stops(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::STRIDE;

    struct Look<'c>(&'c [u8; BLOCK_BYTES]);

    impl ScanTask for Look<'_> {
        type Output = u64;

        #[inline(always)]
        fn run_with<S: Scanner>(self, scanner: S) -> u64 {
            scanner.string_stops(self.0)
        }
    }

    #[test]
    fn blocks_are_classified_byte_by_byte() {
        for byte in (0..=255_u8).step_by(STRIDE) {
            for place in 0..BLOCK_BYTES {
                let mut block = [b'a'; BLOCK_BYTES];
                block[BLOCK_BYTES - 1 - place] = b'"';
                block[place] = byte;
                let wanted = stops_bytewise(&block);
                assert_eq!(Baseline.string_stops(&block), wanted, "{block:?}");
                assert_eq!(run(Look(&block)), wanted, "{block:?}");
            }
        }
    }
}
