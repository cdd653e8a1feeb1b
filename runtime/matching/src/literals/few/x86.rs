//! The pass over a text with the instructions of each level.

use super::{ANCHOR, FewLiterals, Search};
use crate::literals::level::LiteralLevel;
use std::arch::x86_64::*;

/// Steps of comparing that are allowed whatever the length of the text, and the bytes of text that
/// allow one more: comparing takes no more than a small multiple of the time of the pass.
const MIN_STEPS: u64 = 64;
const TEXT_PER_STEP: usize = 8;

/// Offsets that a long vector covers, and the bytes that are read for them.
const LONG: usize = 32;
const LONG_READ: usize = LONG + ANCHOR - 1;
/// The same of a short vector.
const SHORT: usize = 16;
const SHORT_READ: usize = SHORT + ANCHOR - 1;
/// The same of a vector of AVX-512.
const WIDE: usize = 64;
const WIDE_READ: usize = WIDE + ANCHOR - 1;

/// Searches a text that is not shorter than an anchor. Keys have anchors only from [`LiteralLevel::Avx2`] on.
#[inline(always)]
pub(super) fn search(keys: &FewLiterals, text: &[u8]) -> Search {
    match next(keys, text, 0) {
        (_, 0) => Search { found: 0, steps: 1 },
        (at, starts) => compare(keys, text, at, starts),
    }
}

/// Compares at the offsets of a block, and searches the blocks after it.
#[inline(never)]
fn compare(keys: &FewLiterals, text: &[u8], mut at: usize, mut starts: u64) -> Search {
    let steps = MIN_STEPS.saturating_add((text.len() / TEXT_PER_STEP) as u64);
    let mut search = Search { found: 0, steps };
    let width = if keys.level == LiteralLevel::Avx512 { WIDE } else { LONG };
    loop {
        keys.compare(text, at, starts, &mut search);
        if search.steps == 0 || keys.has_all(&search) {
            return search;
        }
        (at, starts) = next(keys, text, at.saturating_add(width));
        if starts == 0 {
            return search;
        }
    }
}

/// The first block, from offset `at` on, in which a group may have an anchor, and the offsets of
/// anchors there, as bits; none at the end of the text. The functions that it calls are not
/// inlined: the tables would be kept on the stack during comparisons.
#[inline(always)]
fn next(keys: &FewLiterals, text: &[u8], at: usize) -> (usize, u64) {
    // SAFETY: the level is one that the processor has, and keys are anchored only if it is one of these two.
    unsafe { if keys.level == LiteralLevel::Avx512 { wide(keys, text, at) } else { narrow(keys, text, at) } }
}

/// [`next`] with blocks of 64 bytes.
///
/// # Safety
/// The processor has these instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi1,bmi2")]
#[inline(never)]
unsafe fn wide(keys: &FewLiterals, text: &[u8], mut at: usize) -> (usize, u64) {
    // SAFETY: a table has 64 bytes.
    let table = |table: &[u8; 64]| unsafe { _mm512_loadu_si512(table.as_ptr().cast()) };
    let [a, b, c] = &keys.tables.by_byte;
    let [in_a, in_b, in_c] = [table(a), table(b), table(c)];
    let starts = |a: __m512i, b: __m512i, c: __m512i| {
        let all = _mm512_and_si512(_mm512_permutexvar_epi8(a, in_a), _mm512_permutexvar_epi8(b, in_b));
        _mm512_test_epi8_mask(all, _mm512_permutexvar_epi8(c, in_c))
    };
    let from = |at: usize| text.as_ptr().wrapping_add(at);
    let Some(last) = text.len().checked_sub(WIDE_READ) else {
        if at > 0 {
            return (at, 0);
        }
        // A text of one block. The offsets from which on it has `missing + 1` bytes, as bits.
        let offsets =
            |missing: usize| u64::MAX.wrapping_shr(WIDE.saturating_sub(text.len().wrapping_sub(missing)) as u32);
        let load = |next: usize| {
            // SAFETY: bytes that the mask excludes are not read; the others are in the text.
            unsafe { _mm512_maskz_loadu_epi8(offsets(next), from(next).cast()) }
        };
        return (0, starts(load(0), load(1), load(2)) & offsets(ANCHOR - 1));
    };
    while at.saturating_add(ANCHOR) <= text.len() {
        at = at.min(last);
        // SAFETY: `at` is at most `last`, and the block that begins there ends with the text.
        let load = |next: usize| unsafe { _mm512_loadu_si512(from(at.wrapping_add(next)).cast()) };
        let found = starts(load(0), load(1), load(2));
        if found != 0 {
            return (at, found);
        }
        at = at.wrapping_add(WIDE);
    }
    (at, 0)
}

/// [`next`] with blocks of 16 or 32 bytes.
///
/// # Safety
/// The processor has AVX2, BMI1 and BMI2.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
unsafe fn narrow(keys: &FewLiterals, text: &[u8], at: usize) -> (usize, u64) {
    let starts = match text.len() {
        // SAFETY: the text has as many bytes as a block reads.
        LONG_READ.. => return unsafe { long(keys, text, at) },
        _ if at > 0 => 0,
        SHORT_READ.. => {
            let last = text.len().wrapping_sub(SHORT_READ);
            let block = |at: usize| {
                // SAFETY: both blocks end at the end of the text or before it.
                let from = |next: usize| unsafe { load(text, at.wrapping_add(next)) };
                short(keys, from(0), from(1), from(2))
            };
            block(0) | block(last).wrapping_shl(last as u32)
        }
        SHORT.. => {
            let mut starts = 0;
            for at in 0..=text.len().wrapping_sub(SHORT) {
                // SAFETY: the text has as many bytes from `at` on.
                let a = unsafe { load(text, at) };
                starts |= short(keys, a, _mm_srli_si128::<1>(a), _mm_srli_si128::<2>(a)).wrapping_shl(at as u32);
            }
            starts
        }
        _ => {
            let [low, high] = words(text);
            let a = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
            short(keys, a, _mm_srli_si128::<1>(a), _mm_srli_si128::<2>(a))
        }
    };
    (0, starts)
}

/// # Safety
/// `text` has 16 bytes from `at` on.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
unsafe fn load(text: &[u8], at: usize) -> __m128i {
    // SAFETY: the contract.
    unsafe { _mm_loadu_si128(text.as_ptr().add(at).cast()) }
}

/// A text of 3 to 15 bytes as two words, with zeros after its end.
#[inline(always)]
fn words(text: &[u8]) -> [u64; 2] {
    let bits = |missing: usize| missing.wrapping_mul(8) as u32;
    let number = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => {
            let last = u128::from(u64::from_le_bytes(*last));
            u128::from(u64::from_le_bytes(*first)) | last.wrapping_shl(bits(text.len().wrapping_sub(8)))
        }
        _ => match (text.first_chunk(), text.last_chunk()) {
            (Some(first), Some(last)) => {
                let last = u64::from(u32::from_le_bytes(*last));
                (u64::from(u32::from_le_bytes(*first)) | last.wrapping_shl(bits(text.len().wrapping_sub(4)))).into()
            }
            _ => text.iter().rev().fold(0, |bytes, byte| bytes << 8 | u128::from(*byte)),
        },
    };
    [number as u64, (number >> 64) as u64]
}

/// Looks up the bytes of 16 offsets: `a` has those at the offsets, `b` and `c` those one and two after them.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn short(keys: &FewLiterals, a: __m128i, b: __m128i, c: __m128i) -> u64 {
    let low = _mm_set1_epi8(15);
    // SAFETY: a table has 16 bytes.
    let table = |table: &[u8; 16]| unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
    let [a_low, a_high, b_low, b_high, c_low, c_high] = &keys.tables.by_half;
    let groups = |bytes: __m128i, lower: &[u8; 16], upper: &[u8; 16]| {
        let upper_half = _mm_and_si128(_mm_srli_epi16::<4>(bytes), low);
        let lower_half = _mm_and_si128(bytes, low);
        _mm_and_si128(_mm_shuffle_epi8(table(lower), lower_half), _mm_shuffle_epi8(table(upper), upper_half))
    };
    let all = _mm_and_si128(groups(a, a_low, a_high), groups(b, b_low, b_high));
    let all = _mm_and_si128(all, groups(c, c_low, c_high));
    let none = _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128())).cast_unsigned();
    u64::from(none ^ 0xffff)
}

/// [`next`] with blocks of 32 bytes. The last block overlaps the one before.
///
/// # Safety
/// `text` has at least [`LONG_READ`] bytes.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
unsafe fn long(keys: &FewLiterals, text: &[u8], mut at: usize) -> (usize, u64) {
    let low = _mm256_set1_epi8(15);
    // SAFETY: a table has 16 bytes.
    let table = |table: &[u8; 16]| unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) };
    let [a_low, a_high, b_low, b_high, c_low, c_high] = &keys.tables.by_half;
    let [a_low, a_high, b_low, b_high] = [table(a_low), table(a_high), table(b_low), table(b_high)];
    let [c_low, c_high] = [table(c_low), table(c_high)];
    let groups = |bytes: __m256i, lower: __m256i, upper: __m256i| {
        let upper_half = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low);
        let lower_half = _mm256_and_si256(bytes, low);
        _mm256_and_si256(_mm256_shuffle_epi8(lower, lower_half), _mm256_shuffle_epi8(upper, upper_half))
    };
    let last = text.len().wrapping_sub(LONG_READ);
    while at.saturating_add(ANCHOR) <= text.len() {
        at = at.min(last);
        // SAFETY: `at` is at most `last`, and the block that begins there ends with the text.
        let from = |next: usize| unsafe { _mm256_loadu_si256(text.as_ptr().add(at.wrapping_add(next)).cast()) };
        let all = _mm256_and_si256(groups(from(0), a_low, a_high), groups(from(1), b_low, b_high));
        let all = _mm256_and_si256(all, groups(from(2), c_low, c_high));
        let none = _mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_setzero_si256())).cast_unsigned();
        if none != u32::MAX {
            return (at, u64::from(!none));
        }
        at = at.wrapping_add(LONG);
    }
    (at, 0)
}
