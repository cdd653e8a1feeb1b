//! Where strings of JSON end or are interrupted, found with the best vector instructions that the processor has.

/// Bytes that are looked at together.
pub const BLOCK_BYTES: usize = 64;

/// The processor's ways to look at a chunk.
pub trait Scanner: Copy {
    /// The bytes at which a look at a string must stop, a bit for each, the first in the lowest: quotes, backslashes, control
    /// characters, and all that is not ASCII.
    fn string_stops(self, chunk: &[u8; BLOCK_BYTES]) -> u64;

    /// Runs it as a function that is compiled for these ways.
    fn run<W: ScanTask>(self, task: W) -> W::Output;
}

/// Work that is compiled once for each way to look at chunks.
pub trait ScanTask {
    /// What it gives.
    type Output;

    /// Does it. To be inlined always: only so are the ways inlined into it.
    fn run_with<S: Scanner>(self, scanner: S) -> Self::Output;
}

/// Runs it with the best ways that this processor has.
#[inline]
pub fn run<W: ScanTask>(task: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = Avx2::detect() {
        return wide.run(task);
    }
    Baseline.run(task)
}

/// What every processor of the architecture has.
#[derive(Clone, Copy)]
pub struct Baseline;

impl Scanner for Baseline {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn string_stops(self, chunk: &[u8; BLOCK_BYTES]) -> u64 {
        let (quarters, _) = chunk.as_chunks::<16>();
        quarters.iter().rev().fold(0, |bits, quarter| {
            // SAFETY: SSE2 is part of every x86-64.
            (bits << 16) | u64::from(unsafe { stops_sse2(quarter) })
        })
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn string_stops(self, chunk: &[u8; BLOCK_BYTES]) -> u64 {
        stops_bytewise(chunk)
    }

    #[inline(never)]
    fn run<W: ScanTask>(self, task: W) -> W::Output {
        task.run_with(self)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn stops_sse2(chunk: &[u8; 16]) -> u16 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };
    let both = u128::from_le_bytes(*chunk).cast_signed();
    let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
    let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
    let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
    // What is not ASCII is negative.
    let control_or_high = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    let stops = _mm_or_si128(_mm_or_si128(quote, backslash), control_or_high);
    // Sixteen bits of it are set at most.
    (_mm_movemask_epi8(stops) & 0xffff) as u16
}

/// AVX2 and BMI. One of it exists only where the processor has them.
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
    fn string_stops(self, chunk: &[u8; BLOCK_BYTES]) -> u64 {
        let (halves, _) = chunk.as_chunks::<32>();
        halves.iter().rev().fold(0, |bits, half| {
            // SAFETY: the processor has AVX2, or there were no `self`.
            (bits << 32) | u64::from(unsafe { stops_avx2(half) })
        })
    }

    #[inline(always)]
    fn run<W: ScanTask>(self, task: W) -> W::Output {
        // SAFETY: the processor has these, or there were no `self`.
        unsafe { run_wide(self, task) }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn run_wide<W: ScanTask>(wide: Avx2, task: W) -> W::Output {
    task.run_with(wide)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn stops_avx2(half: &[u8; 32]) -> u32 {
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };
    // SAFETY: 32 bytes are readable there; no alignment is needed.
    let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
    let quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"'.cast_signed()));
    let backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\'.cast_signed()));
    // What is not ASCII is negative.
    let control_or_high = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes);
    let stops = _mm256_or_si256(_mm256_or_si256(quote, backslash), control_or_high);
    _mm256_movemask_epi8(stops).cast_unsigned()
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn stops_bytewise(chunk: &[u8; BLOCK_BYTES]) -> u64 {
    let stops = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f | 0x80..);
    chunk.iter().rev().fold(0, |bits, byte| (bits << 1) | u64::from(stops(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Look<'c>(&'c [u8; BLOCK_BYTES]);

    impl ScanTask for Look<'_> {
        type Output = u64;

        #[inline(always)]
        fn run_with<S: Scanner>(self, scanner: S) -> u64 {
            scanner.string_stops(self.0)
        }
    }

    #[test]
    fn chunks_are_classified_byte_by_byte() {
        for byte in 0..=255_u8 {
            for place in 0..BLOCK_BYTES {
                let mut chunk = [b'a'; BLOCK_BYTES];
                chunk[BLOCK_BYTES - 1 - place] = b'"';
                chunk[place] = byte;
                let wanted = stops_bytewise(&chunk);
                assert_eq!(Baseline.string_stops(&chunk), wanted, "{chunk:?}");
                assert_eq!(run(Look(&chunk)), wanted, "{chunk:?}");
            }
        }
    }
}
