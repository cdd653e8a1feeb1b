//! The search loops, generic over the size of a vector.
//!
//! A *start* is an offset at which the needle could begin: there are `text - needle + 1` of them. A
//! start is a *candidate* if the two bytes of the pair match there. A block of consecutive starts
//! is checked by loading as many bytes from `first start + pair.first` and from
//! `first start + pair.second`. The last byte loaded belongs to the last start of the block, and
//! `last start + pair.second < last start + needle = text`, so a block that consists of starts is
//! inside the text.

use super::Pair;
use super::vector::Level;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::vector::{Half, Vector};

/// Wrong candidates of a block after which the rest of the text is left to `memchr`, whose time is
/// linear even if all starts are candidates.
const MAX_WRONG_STARTS: u32 = 8;
/// Blocks with wrong candidates after which the rest of the text is left to `memchr`.
const MAX_WRONG_BLOCKS: u32 = 4;

/// Whether `needle`, of two bytes or more, occurs in `text`, which is not shorter. `pair` must be
/// made from the needle, and `level` detected on this processor.
#[inline]
pub(super) fn contains(level: Level, text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    match level {
        // SAFETY: the processor has AVX2, BMI1 and BMI2. `Searcher` passes needles of two bytes or
        // more, texts that are not shorter, and the pair of the needle.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { contains_avx2(text, needle, pair) },
        // SAFETY: every processor of this architecture has SSE2; the rest as above.
        #[cfg(target_arch = "x86_64")]
        Level::Sse2 => unsafe { scan::<std::arch::x86_64::__m128i>(text, needle, pair) },
        // SAFETY: every processor of this architecture has NEON; the rest as above.
        #[cfg(target_arch = "aarch64")]
        Level::Neon => unsafe { scan::<std::arch::aarch64::uint8x16_t>(text, needle, pair) },
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Level::None => memchr::memmem::find(text, needle).is_some(),
    }
}

/// Longest text, in bytes, that is searched here for a single byte: as much as two vectors hold.
/// `memchr` searches longer ones.
const MAX_BYTE_SEARCH: usize = 64;

/// Whether `byte` occurs in `text`. `level` must be detected on this processor.
#[inline(never)] // Inlined, its calls would cost registers in the search for longer needles.
pub(super) fn contains_byte(level: Level, text: &[u8], byte: u8) -> bool {
    match level {
        _ if text.len() > MAX_BYTE_SEARCH => memchr::memchr(byte, text).is_some(),
        // SAFETY: the processor has AVX2, BMI1 and BMI2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2_byte(text, byte) },
        // SAFETY: every processor of this architecture has SSE2.
        #[cfg(target_arch = "x86_64")]
        Level::Sse2 => unsafe { one::<std::arch::x86_64::__m128i, std::arch::x86_64::__m128i>(text, byte) },
        // SAFETY: every processor of this architecture has NEON.
        #[cfg(target_arch = "aarch64")]
        Level::Neon => unsafe { one::<std::arch::aarch64::uint8x16_t, std::arch::aarch64::uint8x16_t>(text, byte) },
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Level::None => memchr::memchr(byte, text).is_some(),
    }
}

/// Number of offsets at which the needle could begin.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn starts(text: &[u8], needle: &[u8]) -> usize {
    text.len().wrapping_sub(needle.len()).wrapping_add(1)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn avx2_byte(text: &[u8], byte: u8) -> bool {
    // SAFETY: the contract is the same.
    unsafe { one::<std::arch::x86_64::__m256i, std::arch::x86_64::__m128i>(text, byte) }
}

/// [`contains`] with AVX2, for callers that are compiled with it.
///
/// # Safety
/// The processor has AVX2, BMI1 and BMI2; `2 <= needle <= text`, and the pair is made from the needle.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) unsafe fn contains_avx2(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    // SAFETY: the contract, and each function gets as many starts as it requires.
    unsafe {
        match starts(text, needle) {
            ..16 => avx2_few(text, needle, pair),
            16..64 => avx2_short(text, needle, pair),
            64.. => long::<std::arch::x86_64::__m256i>(text, needle, pair),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
unsafe fn avx2_few(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    // SAFETY: the contract is the same.
    unsafe { few::<std::arch::x86_64::__m128i>(text, needle, pair) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
unsafe fn avx2_short(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    use std::arch::x86_64::{__m128i, __m256i};
    // SAFETY: the contract is the same.
    unsafe {
        if starts(text, needle) < 32 {
            short::<__m128i>(text, needle, pair)
        } else {
            short::<__m256i>(text, needle, pair)
        }
    }
}

/// A vector with a [`long_from`] that is not inlined, and is compiled for the processors that have the vector.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
trait LongFrom: Vector {
    /// # Safety
    /// That of [`long_from`].
    unsafe fn long_from(text: &[u8], needle: &[u8], pair: &Pair, bits: u64) -> bool;
}

#[cfg(target_arch = "x86_64")]
impl LongFrom for std::arch::x86_64::__m128i {
    #[inline(never)]
    unsafe fn long_from(text: &[u8], needle: &[u8], pair: &Pair, bits: u64) -> bool {
        // SAFETY: the contract is the same.
        unsafe { long_from::<Self>(text, needle, pair, bits) }
    }
}

#[cfg(target_arch = "x86_64")]
impl LongFrom for std::arch::x86_64::__m256i {
    #[inline(always)]
    unsafe fn long_from(text: &[u8], needle: &[u8], pair: &Pair, bits: u64) -> bool {
        // SAFETY: the contract is the same.
        unsafe { avx2_long_from(text, needle, pair, bits) }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
unsafe fn avx2_long_from(text: &[u8], needle: &[u8], pair: &Pair, bits: u64) -> bool {
    // SAFETY: the contract is the same.
    unsafe { long_from::<std::arch::x86_64::__m256i>(text, needle, pair, bits) }
}

#[cfg(target_arch = "aarch64")]
impl LongFrom for std::arch::aarch64::uint8x16_t {
    #[inline(never)]
    unsafe fn long_from(text: &[u8], needle: &[u8], pair: &Pair, bits: u64) -> bool {
        // SAFETY: the contract is the same.
        unsafe { long_from::<Self>(text, needle, pair, bits) }
    }
}

/// # Safety
/// That of [`few`], [`short`] and [`long`], without their bounds on starts.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe fn scan<H: Half + LongFrom>(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    // SAFETY: the contract is the same.
    unsafe {
        match starts(text, needle) {
            ..16 => few::<H>(text, needle, pair),
            16..32 => short::<H>(text, needle, pair),
            32.. => long::<H>(text, needle, pair),
        }
    }
}

/// The outcome of verifying candidates.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Wrong,
    Found,
    TooMany,
}

/// Compares the needle at the candidates: bit `i` stands for the start `base + i`.
///
/// # Safety
/// Each set bit must stand for a start.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn verify(text: &[u8], needle: &[u8], base: usize, mut candidates: u64) -> Verdict {
    let mut mistakes = MAX_WRONG_STARTS;
    while candidates != 0 {
        let start = base.wrapping_add(candidates.trailing_zeros() as usize);
        // SAFETY: `start` is a start, so that a needle's length of bytes can be read there.
        if unsafe { equal(text.as_ptr().add(start), needle.as_ptr(), needle.len()) } {
            return Verdict::Found;
        }
        mistakes = mistakes.wrapping_sub(1);
        if mistakes == 0 {
            return Verdict::TooMany;
        }
        candidates &= candidates.wrapping_sub(1);
    }
    Verdict::Wrong
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[cold]
#[inline(never)]
fn hand_over(text: &[u8], needle: &[u8], from: usize) -> bool {
    text.get(from..).is_some_and(|rest| memchr::memmem::find(rest, needle).is_some())
}

/// The addresses of the first and the second byte of the pair for the start 0.
///
/// # Safety
/// That of [`short`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn columns(text: &[u8], pair: &Pair) -> (*const u8, *const u8) {
    // SAFETY: both offsets are inside the needle, and so, from start 0, inside the text.
    unsafe { (text.as_ptr().add(usize::from(pair.first)), text.as_ptr().add(usize::from(pair.second))) }
}

/// Searches texts with at least two vectors of starts.
///
/// # Safety
/// `2 <= needle <= text`, `2 * V::BYTES <= starts`, the pair is made from the needle, and the
/// processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn long<V: LongFrom>(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    let block = V::BYTES.wrapping_mul(2);
    let end = starts(text, needle).wrapping_sub(block);
    let mut at = 0;
    // SAFETY: as in `long_from`; `at` is at most `end`, and the block that begins at `end` is inside the text.
    unsafe {
        let (first, second) = columns(text, pair);
        let (rare, also) = (V::splat(pair.rare), V::splat(pair.also));
        loop {
            let (low, high) = pieces::<V>(first.add(at), second.add(at), V::BYTES, rare, also);
            if low.or(high).bits() != 0 {
                return V::long_from(text.get_unchecked(at..), needle, pair, starts_of(low, high, V::BYTES));
            }
            if at == end {
                return false;
            }
            at = at.wrapping_add(block).min(end);
        }
    }
}

/// Continues [`long`] from a block that has candidates. Separate, because most texts have none, and
/// [`long`] without calls keeps its registers.
///
/// # Safety
/// That of [`long`]; each set bit stands for a start.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn long_from<V: Vector>(text: &[u8], needle: &[u8], pair: &Pair, mut candidates: u64) -> bool {
    let block = V::BYTES.wrapping_mul(2);
    let end = starts(text, needle).wrapping_sub(block);
    let (mut at, mut mistaken) = (0_usize, MAX_WRONG_BLOCKS);
    // SAFETY: the processor has the vectors. No block begins after `end`, so each ends with the
    // last start or before it. The last block overlaps the one before.
    unsafe {
        let (first, second) = columns(text, pair);
        let (rare, also) = (V::splat(pair.rare), V::splat(pair.also));
        loop {
            if candidates != 0 {
                mistaken = mistaken.wrapping_sub(1);
                match verify(text, needle, at, candidates) {
                    Verdict::Found => return true,
                    Verdict::Wrong if mistaken > 0 => {}
                    _ => return hand_over(text, needle, at),
                }
            }
            if at == end {
                return false;
            }
            at = at.wrapping_add(block).min(end);
            let (low, high) = pieces::<V>(first.add(at), second.add(at), V::BYTES, rare, also);
            candidates = starts_of(low, high, V::BYTES);
        }
    }
}

/// Searches texts whose starts fit into one or two vectors.
///
/// # Safety
/// `2 <= needle <= text`, `V::BYTES <= starts <= 2 * V::BYTES`, the pair is made from the needle,
/// and the processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn short<V: Vector>(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    // SAFETY: the processor has the vectors. Two pieces are read, for the first and for the last starts; there are at
    // least as many starts as a piece has bytes.
    let candidates = unsafe {
        let (first, second) = columns(text, pair);
        let between = starts(text, needle).wrapping_sub(V::BYTES);
        let (low, high) = pieces::<V>(first, second, between, V::splat(pair.rare), V::splat(pair.also));
        starts_of(low, high, between)
    };
    // SAFETY: only bits of starts are set.
    candidates != 0 && unsafe { verify_whole(text, needle, candidates) }
}

/// Searches texts with fewer starts than any vector holds.
///
/// # Safety
/// `2 <= needle <= text`, `starts < 16`, the pair is made from the needle, and the processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn few<H: Half>(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    let starts = starts(text, needle);
    // SAFETY: the contract; only bits of starts are set.
    unsafe {
        // The needle is as long as the text.
        if starts == 1 {
            return equal(text.as_ptr(), needle.as_ptr(), needle.len());
        }
        let candidates = match starts {
            8.. => ends::<H, u64>(text, pair, starts),
            4.. => ends::<H, u32>(text, pair, starts),
            _ => ends::<H, u16>(text, pair, starts),
        };
        candidates != 0 && verify_whole(text, needle, candidates.into())
    }
}

/// The candidates among the first and the last starts, of each as many as `T` has bytes.
///
/// # Safety
/// Both bytes of the pair can be read for all `starts` starts, `T` has at most as many bytes as
/// there are starts, and at most eight, and the processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn ends<H: Half, T: Into<u64>>(text: &[u8], pair: &Pair, starts: usize) -> u32 {
    let between = starts.wrapping_sub(size_of::<T>());
    // SAFETY: the processor has the vectors. Two pieces are read, for the first starts and for the last, which begin
    // `between` bytes later; there are at least as many starts as a piece has bytes, and any bytes are a valid number.
    let bits = unsafe {
        let read = |from: *const u8| from.cast::<T>().read_unaligned().into();
        let column = |from: *const u8| H::of_words(read(from), read(from.add(between)));
        let (first, second) = columns(text, pair);
        H::both_equal(column(first), H::splat(pair.rare), column(second), H::splat(pair.also)).bits()
    };
    let mask = u32::MAX.wrapping_shr(32_u32.wrapping_sub(size_of::<T>() as u32));
    bits & mask | ((bits >> 8) & mask).wrapping_shl(between as u32)
}

/// Whether `byte` occurs in `text`. Every offset is a start.
///
/// # Safety
/// The processor has both vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn one<V: Vector, H: Half>(text: &[u8], byte: u8) -> bool {
    let (starts, pair) = (text.len(), Pair { first: 0, second: 0, rare: byte, also: byte });
    let all = text.as_ptr();
    // SAFETY: the processor has the vectors, and the text has at least as many bytes as each arm
    // loads at once: it loads the first and the last ones.
    unsafe {
        match starts {
            ..2 => text.first() == Some(&byte),
            2..4 => ends::<H, u16>(text, &pair, starts) != 0,
            4..8 => ends::<H, u32>(text, &pair, starts) != 0,
            8..16 => ends::<H, u64>(text, &pair, starts) != 0,
            16..=32 => {
                let (low, high) = pieces::<H>(all, all, starts.wrapping_sub(16), H::splat(byte), H::splat(byte));
                low.or(high).bits() != 0
            }
            _ if starts <= V::BYTES.wrapping_mul(2) => {
                let (low, high) = pieces::<V>(all, all, starts.wrapping_sub(V::BYTES), V::splat(byte), V::splat(byte));
                low.or(high).bits() != 0
            }
            _ => memchr::memchr(byte, text).is_some(),
        }
    }
}

/// Compares the needle at the candidates of a text that has no others.
///
/// # Safety
/// Each set bit must stand for a start.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn verify_whole(text: &[u8], needle: &[u8], candidates: u64) -> bool {
    let start = candidates.trailing_zeros() as usize;
    // SAFETY: `start` is a start, so that a needle's length of bytes can be read there.
    if unsafe { equal(text.as_ptr().add(start), needle.as_ptr(), needle.len()) } {
        return true;
    }
    let others = candidates & candidates.wrapping_sub(1);
    // SAFETY: the contract is the same.
    others != 0 && unsafe { settle_others(text, needle, others) }
}

/// Not inlined: inlined, it would make the search save registers.
///
/// # Safety
/// That of [`verify_whole`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(never)]
unsafe fn settle_others(text: &[u8], needle: &[u8], candidates: u64) -> bool {
    // SAFETY: the contract is the same.
    match unsafe { verify(text, needle, 0, candidates) } {
        Verdict::Found => true,
        Verdict::Wrong => false,
        Verdict::TooMany => hand_over(text, needle, 0),
    }
}

/// The candidates among the first `V::BYTES` starts, and among as many starts from `between` on.
/// The bytes of the pair are loaded from `a` and `b` on.
///
/// # Safety
/// From both addresses `between + V::BYTES` bytes are readable, `between <= V::BYTES`, and the
/// processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn pieces<V: Vector>(a: *const u8, b: *const u8, between: usize, rare: V, also: V) -> (V, V) {
    // SAFETY: the contract.
    unsafe {
        let low = V::both_equal(V::load(a), rare, V::load(b), also);
        (low, V::both_equal(V::load(a.add(between)), rare, V::load(b.add(between)), also))
    }
}

/// The candidates of two pieces as bits. A start that is in both pieces has one bit.
///
/// # Safety
/// The processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn starts_of<V: Vector>(low: V, high: V, between: usize) -> u64 {
    // SAFETY: the contract.
    let (low, high) = unsafe { (low.bits(), high.bits()) };
    u64::from(low) | u64::from(high).wrapping_shl(between as u32)
}

/// Whether two byte sequences are equal. They are read in words, of which the last may overlap the
/// one before: for a usual needle this is faster than a call of `memcmp`.
///
/// # Safety
/// `length` is two or more, and `length` bytes are readable at both addresses.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn equal(a: *const u8, b: *const u8, length: usize) -> bool {
    /// Whether the words of type `T` at offset `at` are equal. `at + size_of::<T>()` bytes must be readable.
    #[inline(always)]
    unsafe fn same<T: Eq>(a: *const u8, b: *const u8, at: usize) -> bool {
        // SAFETY: the contract; any bytes are a valid number.
        unsafe { a.add(at).cast::<T>().read_unaligned() == b.add(at).cast::<T>().read_unaligned() }
    }
    // SAFETY: each word ends with the last byte or before it.
    unsafe {
        if length >= 16 {
            let end = length.wrapping_sub(16);
            let mut at = 0;
            while at < end {
                if !same::<u128>(a, b, at) {
                    return false;
                }
                at = at.wrapping_add(16);
            }
            same::<u128>(a, b, end)
        } else if length >= 8 {
            same::<u64>(a, b, 0) && same::<u64>(a, b, length.wrapping_sub(8))
        } else if length >= 4 {
            same::<u32>(a, b, 0) && same::<u32>(a, b, length.wrapping_sub(4))
        } else {
            same::<u16>(a, b, 0) && same::<u16>(a, b, length.wrapping_sub(2))
        }
    }
}
