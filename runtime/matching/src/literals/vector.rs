//! The first stage with the instructions of each level.
//!
//! Nothing is read outside the text: the last block is loaded with a mask (AVX-512), or copied to a buffer.
//!
//! Vectors are put into arrays one by one: where `array::map` is not inlined, and it often is not,
//! each vector goes through memory.

use super::first_stage::{
    BATCH, BLOCK, Bloom, Candidates, FirstStage, Groups, HASHES, LENGTHS, MATRICES, SELECTING, WINDOW,
};
use super::level::LiteralLevel;
use std::arch::x86_64::*;

/// Bytes that are read for a block.
const BLOCK_READ: usize = BLOCK + WINDOW - 1;

impl FirstStage {
    /// Fills in the candidates of up to [`BATCH`] blocks, from the first one on that has some, at
    /// offset `at` or further on. Returns its offset and the number of blocks: none at the end of
    /// the text.
    #[inline]
    pub(super) fn candidates(&self, text: &[u8], at: usize, blocks: &mut [Candidates; BATCH]) -> (usize, usize) {
        // SAFETY: the level is one that the processor has.
        unsafe { candidates(self, text, at, blocks) }
    }
}

/// See [`FirstStage::candidates`].
///
/// # Safety
/// The processor has the level of the stage.
#[inline]
unsafe fn candidates(stage: &FirstStage, text: &[u8], at: usize, blocks: &mut [Candidates; BATCH]) -> (usize, usize) {
    // SAFETY: the processor has the level.
    unsafe {
        match (stage.level, stage.bloom.as_deref()) {
            (LiteralLevel::Avx512, None) => avx512::<0>(stage, None, text, at, blocks),
            (LiteralLevel::Avx512, Some(bloom)) => match bloom.used {
                2 => avx512::<2>(stage, Some(bloom), text, at, blocks),
                3 => avx512::<3>(stage, Some(bloom), text, at, blocks),
                _ => avx512::<HASHES>(stage, Some(bloom), text, at, blocks),
            },
            (LiteralLevel::Avx2, _) => avx2(stage, text, at, blocks),
            (LiteralLevel::Ssse3, _) => ssse3(stage, text, at, blocks),
            (LiteralLevel::Scalar, _) => (at, 0),
        }
    }
}

/// `PROBES` is the number of tables of the Bloom filter that are used; none if there is no filter.
///
/// # Safety
/// The processor has these instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni,bmi1,bmi2")]
unsafe fn avx512<const PROBES: usize>(
    stage: &FirstStage,
    bloom: Option<&Bloom>,
    text: &[u8],
    at: usize,
    blocks: &mut [Candidates; BATCH],
) -> (usize, usize) {
    let fold = _mm512_set1_epi8(stage.fold.cast_signed());
    let selectors = _mm512_broadcast_i32x4(_mm_set1_epi64x(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128])));
    let matrix = |matrix: u64| _mm512_set1_epi64(matrix.cast_signed());
    let ([l, m, n], [first, third]) = (MATRICES, SELECTING);
    let ([l, m, n], [first, third]) = ([matrix(l), matrix(m), matrix(n)], [matrix(first), matrix(third)]);
    let part = |table: *const u8, n: usize| {
        // SAFETY: a table has as many parts as the callers below load of it.
        unsafe { _mm512_loadu_si512(table.wrapping_add(n.wrapping_mul(BLOCK)).cast()) }
    };
    let tables = if let Some(bloom) = bloom {
        let four = |table: &[u8; 256]| {
            let from = table.as_ptr();
            [part(from, 0), part(from, 1), part(from, 2), part(from, 3)]
        };
        let [a, b, c, d] = &bloom.tables;
        Some([four(a), four(b), four(c), four(d)])
    } else {
        None
    };
    let groups = if let Some(groups) = stage.groups.as_deref() {
        let two = |table: &[u8; 128]| [part(table.as_ptr(), 0), part(table.as_ptr(), 1)];
        let [a, b, c, d] = &groups.by_byte;
        Some(([two(a), two(b), two(c), two(d)], groups.lengths))
    } else {
        None
    };
    in_blocks(text, at, blocks, |rest| {
        let whole = rest.len() >= BLOCK_READ;
        let load = |next: usize| {
            if whole {
                // SAFETY: the text has as many bytes from here on as the last of these loads reads.
                return unsafe { _mm512_loadu_si512(rest.as_ptr().wrapping_add(next).cast()) };
            }
            let missing = BLOCK.saturating_sub(rest.len().saturating_sub(next)) as u32;
            let mask = u64::MAX.checked_shr(missing).unwrap_or(0);
            // SAFETY: bytes that the mask excludes are not read; the others are in the text.
            unsafe { _mm512_maskz_loadu_epi8(mask, rest.as_ptr().wrapping_add(next).cast()) }
        };
        let folded = |next: usize| _mm512_or_si512(load(next), fold);
        let [a, b, c, d] = [folded(0), folded(1), folded(2), folded(3)];
        let mut block = [0; LENGTHS];
        if PROBES > 0
            && let Some(tables) = &tables
        {
            let product = |byte, matrix| _mm512_gf2p8affine_epi64_epi8::<0>(byte, matrix);
            let sum = |a, b| _mm512_xor_si512(a, b);
            let hash = |[a, b, c, d]: [__m512i; WINDOW]| sum(sum(a, product(b, l)), sum(product(c, m), product(d, n)));
            let mut bits = _mm512_shuffle_epi8(selectors, sum(product(a, first), product(c, third)));
            let begins = [[a, b, c, d], [b, c, d, a], [c, d, a, b], [d, a, b, c]];
            for (table, begin) in tables.iter().zip(begins).take(PROBES) {
                let (hash, [q, r, s, t]) = (hash(begin), *table);
                let lower = _mm512_permutex2var_epi8(q, hash, r);
                let upper = _mm512_permutex2var_epi8(s, hash, t);
                bits = _mm512_and_si512(bits, _mm512_mask_blend_epi8(_mm512_movepi8_mask(hash), lower, upper));
            }
            block[0] = _mm512_test_epi8_mask(bits, bits);
        }
        if let Some((tables, lengths)) = &groups {
            let lookup = |[lower, upper]: &[__m512i; 2], bytes| _mm512_permutex2var_epi8(*lower, bytes, *upper);
            let [of_a, of_b, of_c, of_d] = tables;
            let (a, b, c, d) = (lookup(of_a, a), lookup(of_b, b), lookup(of_c, c), lookup(of_d, d));
            let found = _mm512_and_si512(_mm512_and_si512(a, b), _mm512_and_si512(c, d));
            for (candidates, groups) in block.iter_mut().zip(lengths) {
                if *groups != 0 {
                    *candidates |= _mm512_test_epi8_mask(found, _mm512_set1_epi8(groups.cast_signed()));
                }
            }
        }
        block
    })
}

/// Runs `candidates` for each block, which gets the text from the block on, up to a batch that
/// begins with a block that has candidates, or with the last batch of the text. Returns the offset
/// of the batch and its number of blocks.
#[inline(always)]
fn in_blocks(
    text: &[u8],
    mut at: usize,
    blocks: &mut [Candidates; BATCH],
    candidates: impl Fn(&[u8]) -> Candidates,
) -> (usize, usize) {
    let (mut first, mut done) = (at, 0_usize);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty())
        && let Some(block) = blocks.get_mut(done)
    {
        *block = candidates(rest);
        at = at.saturating_add(BLOCK);
        // Nothing is skipped at the end, so that a short text takes the same way whatever it has.
        if done == 0 && rest.len() > BLOCK * BATCH && *block == [0; LENGTHS] {
            first = at;
        } else {
            done = done.wrapping_add(1);
        }
    }
    (first, done)
}

/// Runs `groups` for each part of a block: it gets the address of a part's bytes, of which it may
/// read as many as its vector has and three more, and returns the candidates of the part.
#[inline(always)]
fn in_parts<const PART: usize>(
    text: &[u8],
    at: usize,
    blocks: &mut [Candidates; BATCH],
    part: impl Fn(*const u8) -> [u32; LENGTHS],
) -> (usize, usize) {
    in_blocks(text, at, blocks, |rest| {
        let mut copy = [0_u8; BLOCK_READ];
        let (bytes, length) = match rest.first_chunk::<BLOCK_READ>() {
            Some(bytes) => (bytes, BLOCK),
            None => {
                copy.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                (&copy, rest.len().min(BLOCK))
            }
        };
        let mut block = [0; LENGTHS];
        for start in (0..length).step_by(PART) {
            for (all, found) in block.iter_mut().zip(part(bytes.as_ptr().wrapping_add(start))) {
                *all |= u64::from(found).wrapping_shl(start as u32);
            }
        }
        block
    })
}

/// # Safety
/// The processor has these instructions.
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn avx2(stage: &FirstStage, text: &[u8], at: usize, blocks: &mut [Candidates; BATCH]) -> (usize, usize) {
    let Some(Groups { by_half, lengths, .. }) = stage.groups.as_deref() else { return (at, 0) };
    let (low, fold) = (_mm256_set1_epi8(15), _mm256_set1_epi8(stage.fold.cast_signed()));
    // SAFETY: a table has 16 bytes.
    let table = |table: &[u8; 16]| unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) };
    let halves = |[lower, upper]: &[[u8; 16]; 2]| [table(lower), table(upper)];
    let [a, b, c, d] = by_half;
    let tables = [halves(a), halves(b), halves(c), halves(d)];
    let mask = |groups: u8| _mm256_set1_epi8(groups.cast_signed());
    let [short, medium, long] = *lengths;
    let [short, medium, long] = [mask(short), mask(medium), mask(long)];
    in_parts::<32>(text, at, blocks, |from| {
        let mut found = _mm256_set1_epi8(-1);
        for (next, [lower, upper]) in tables.iter().enumerate() {
            // SAFETY: 35 bytes are readable.
            let bytes = unsafe { _mm256_loadu_si256(from.wrapping_add(next).cast()) };
            let bytes = _mm256_or_si256(bytes, fold);
            let lower = _mm256_shuffle_epi8(*lower, _mm256_and_si256(bytes, low));
            let upper = _mm256_shuffle_epi8(*upper, _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low));
            found = _mm256_and_si256(found, _mm256_and_si256(lower, upper));
        }
        let places = |mask| {
            let none = _mm256_cmpeq_epi8(_mm256_and_si256(found, mask), _mm256_setzero_si256());
            !_mm256_movemask_epi8(none).cast_unsigned()
        };
        [places(short), places(medium), places(long)]
    })
}

/// # Safety
/// The processor has these instructions.
#[target_feature(enable = "ssse3")]
unsafe fn ssse3(stage: &FirstStage, text: &[u8], at: usize, blocks: &mut [Candidates; BATCH]) -> (usize, usize) {
    let Some(Groups { by_half, lengths, .. }) = stage.groups.as_deref() else { return (at, 0) };
    let (low, fold) = (_mm_set1_epi8(15), _mm_set1_epi8(stage.fold.cast_signed()));
    // SAFETY: a table has 16 bytes.
    let table = |table: &[u8; 16]| unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
    let halves = |[lower, upper]: &[[u8; 16]; 2]| [table(lower), table(upper)];
    let [a, b, c, d] = by_half;
    let tables = [halves(a), halves(b), halves(c), halves(d)];
    let mask = |groups: u8| _mm_set1_epi8(groups.cast_signed());
    let [short, medium, long] = *lengths;
    let [short, medium, long] = [mask(short), mask(medium), mask(long)];
    in_parts::<16>(text, at, blocks, |from| {
        let mut found = _mm_set1_epi8(-1);
        for (next, [lower, upper]) in tables.iter().enumerate() {
            // SAFETY: 19 bytes are readable.
            let bytes = _mm_or_si128(unsafe { _mm_loadu_si128(from.wrapping_add(next).cast()) }, fold);
            let lower = _mm_shuffle_epi8(*lower, _mm_and_si128(bytes, low));
            let upper = _mm_shuffle_epi8(*upper, _mm_and_si128(_mm_srli_epi16::<4>(bytes), low));
            found = _mm_and_si128(found, _mm_and_si128(lower, upper));
        }
        let places = |mask| {
            let none = _mm_cmpeq_epi8(_mm_and_si128(found, mask), _mm_setzero_si128());
            !_mm_movemask_epi8(none).cast_unsigned() & 0xffff
        };
        [places(short), places(medium), places(long)]
    })
}
