//! The search itself, for vectors of any size.
//!
//! A *start* is a place where the needle could begin: there are `text - needle + 1`. A block of starts is looked at by
//! reading as many bytes from `start + pair.first` and from `start + pair.second` on. The last such byte is that of the last start, and
//! `last start + pair.second < last start + needle = text`: so reading blocks made of starts alone stays inside the text.

use super::Pair;
use super::vector::Level;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::vector::{Half, Vector};

/// So many starts of a block may look right and be wrong, and so many blocks may have such starts. Then the rest is
/// `memchr`'s, whose time is linear even if all starts look right.
const MOST_STARTS: u32 = 8;
const MOST_BLOCKS: u32 = 4;

/// Whether the needle, of two bytes or more, occurs in the text, which is not shorter. The pair is one of the needle's, the
/// level is what the processor has.
#[inline]
pub(super) fn contains(level: Level, text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    match level {
        // SAFETY: the processor has AVX2, BMI1 and BMI2. `Searcher` keeps the rest: it calls with needles that fit, and their own pairs.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { contains_avx2(text, needle, pair) },
        // SAFETY: all of this architecture have SSE2; the rest as above.
        #[cfg(target_arch = "x86_64")]
        Level::Sse2 => unsafe { scan::<std::arch::x86_64::__m128i>(text, needle, pair) },
        // SAFETY: all of this architecture have NEON; the rest as above.
        #[cfg(target_arch = "aarch64")]
        Level::Neon => unsafe { scan::<std::arch::aarch64::uint8x16_t>(text, needle, pair) },
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Level::None => memchr::memmem::find(text, needle).is_some(),
    }
}

/// Single bytes are found in longer texts by `memchr`: two vectors hold no more.
const MOST_AT_ONCE: usize = 64;

/// Whether a byte occurs in the text. The level is what the processor has.
#[inline(never)] // What searches for needles then has no calls in its way.
pub(super) fn contains_byte(level: Level, text: &[u8], byte: u8) -> bool {
    match level {
        _ if text.len() > MOST_AT_ONCE => memchr::memchr(byte, text).is_some(),
        // SAFETY: the processor has AVX2, BMI1 and BMI2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2_byte(text, byte) },
        // SAFETY: all of this architecture have SSE2.
        #[cfg(target_arch = "x86_64")]
        Level::Sse2 => unsafe { one::<std::arch::x86_64::__m128i, std::arch::x86_64::__m128i>(text, byte) },
        // SAFETY: all of this architecture have NEON.
        #[cfg(target_arch = "aarch64")]
        Level::Neon => unsafe { one::<std::arch::aarch64::uint8x16_t, std::arch::aarch64::uint8x16_t>(text, byte) },
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Level::None => memchr::memchr(byte, text).is_some(),
    }
}

/// In how many places the needle could begin.
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

/// [`contains`] with AVX2, for callers that are compiled with it themselves.
///
/// # Safety
/// The processor has AVX2, BMI1 and BMI2; `2 <= needle <= text`, and the pair is one of the needle's.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) unsafe fn contains_avx2(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    // SAFETY: the contract, and as many starts as each needs.
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
pub(super) unsafe fn avx2_long_from(text: &[u8], needle: &[u8], pair: &Pair, bits: u64) -> bool {
    // SAFETY: the contract is the same.
    unsafe { long_from::<std::arch::x86_64::__m256i>(text, needle, pair, bits) }
}

/// [`long_from`] for vectors that all processors of the architecture have.
///
/// # Safety
/// That of [`long_from`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(never)]
pub(super) unsafe fn common_long_from<V: Vector>(text: &[u8], needle: &[u8], pair: &Pair, bits: u64) -> bool {
    // SAFETY: the contract is the same.
    unsafe { long_from::<V>(text, needle, pair, bits) }
}

/// # Safety
/// That of [`few`], [`short`] and [`long`], without their bounds on starts.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe fn scan<H: Half>(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    // SAFETY: the contract is the same.
    unsafe {
        match starts(text, needle) {
            ..16 => few::<H>(text, needle, pair),
            16..32 => short::<H>(text, needle, pair),
            32.. => long::<H>(text, needle, pair),
        }
    }
}

/// What became of starts that look right.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Wrong,
    Found,
    TooMany,
}

/// Tries the starts from `base` on whose bits are set.
///
/// # Safety
/// Each bit must be that of a start.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn verify(text: &[u8], needle: &[u8], base: usize, mut looks_right: u64) -> Verdict {
    let mut mistakes = MOST_STARTS;
    while looks_right != 0 {
        let start = base.wrapping_add(looks_right.trailing_zeros() as usize);
        // SAFETY: `start` is a start, so that a needle's length of bytes can be read there.
        if unsafe { equal(text.as_ptr().add(start), needle.as_ptr(), needle.len()) } {
            return Verdict::Found;
        }
        mistakes = mistakes.wrapping_sub(1);
        if mistakes == 0 {
            return Verdict::TooMany;
        }
        looks_right &= looks_right.wrapping_sub(1);
    }
    Verdict::Wrong
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[cold]
#[inline(never)]
fn hand_over(text: &[u8], needle: &[u8], from: usize) -> bool {
    text.get(from..).is_some_and(|rest| memchr::memmem::find(rest, needle).is_some())
}

/// Where the bytes begin that stand first and second of the pair at the starts.
///
/// # Safety
/// That of [`short`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn columns(text: &[u8], pair: &Pair) -> (*const u8, *const u8) {
    // SAFETY: both places lie inside the needle, and so, from start 0, inside the text.
    unsafe { (text.as_ptr().add(usize::from(pair.first)), text.as_ptr().add(usize::from(pair.second))) }
}

/// For at least two vectors of starts.
///
/// # Safety
/// `2 <= needle <= text`, `2 * V::BYTES <= starts`, the pair is one of the needle's, and the processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn long<V: Vector>(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    let block = V::BYTES.wrapping_mul(2);
    let end = starts(text, needle).wrapping_sub(block);
    let mut at = 0;
    // SAFETY: as in `long_from`; `at` is at most `end`, which lies inside the text with the block that begins there.
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

/// [`long`] from a block on that has starts which look right. Apart from it, because most texts have none, and it calls
/// nothing till then.
///
/// # Safety
/// That of [`long`]; the bits are those of starts.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn long_from<V: Vector>(text: &[u8], needle: &[u8], pair: &Pair, mut looks_right: u64) -> bool {
    let block = V::BYTES.wrapping_mul(2);
    let end = starts(text, needle).wrapping_sub(block);
    let (mut at, mut mistaken) = (0_usize, MOST_BLOCKS);
    // SAFETY: the processor has the vectors. Every block begins at `end` at the latest, and so ends with the last start or
    // before it. The last one overlaps the one before.
    unsafe {
        let (first, second) = columns(text, pair);
        let (rare, also) = (V::splat(pair.rare), V::splat(pair.also));
        loop {
            if looks_right != 0 {
                mistaken = mistaken.wrapping_sub(1);
                match verify(text, needle, at, looks_right) {
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
            looks_right = starts_of(low, high, V::BYTES);
        }
    }
}

/// For starts that one or two vectors hold.
///
/// # Safety
/// `2 <= needle <= text`, `V::BYTES <= starts <= 2 * V::BYTES`, the pair is one of the needle's, and the processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn short<V: Vector>(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    // SAFETY: the processor has the vectors. Two pieces are read, of which there are as many starts or more: the first ones
    // and the last ones.
    let looks_right = unsafe {
        let (first, second) = columns(text, pair);
        let between = starts(text, needle).wrapping_sub(V::BYTES);
        let (low, high) = pieces::<V>(first, second, between, V::splat(pair.rare), V::splat(pair.also));
        starts_of(low, high, between)
    };
    // SAFETY: bits were made for starts only.
    looks_right != 0 && unsafe { settle(text, needle, looks_right) }
}

/// For fewer starts than any vector holds.
///
/// # Safety
/// `2 <= needle <= text`, `starts < 16`, the pair is one of the needle's, and the processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn few<H: Half>(text: &[u8], needle: &[u8], pair: &Pair) -> bool {
    let starts = starts(text, needle);
    // SAFETY: the contract; bits are made for starts only.
    unsafe {
        // The texts are equally long.
        if starts == 1 {
            return equal(text.as_ptr(), needle.as_ptr(), needle.len());
        }
        let looks_right = match starts {
            8.. => ends::<H, u64>(text, pair, starts),
            4.. => ends::<H, u32>(text, pair, starts),
            _ => ends::<H, u16>(text, pair, starts),
        };
        looks_right != 0 && settle(text, needle, looks_right.into())
    }
}

/// The starts that look right among the first ones and the last ones, of each as many as `T` has bytes.
///
/// # Safety
/// Both places of the pair lie in all of the so many starts, `T` has no more bytes than there are starts, and eight at most,
/// and the processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn ends<H: Half, T: Into<u64>>(text: &[u8], pair: &Pair, starts: usize) -> u32 {
    let between = starts.wrapping_sub(size_of::<T>());
    // SAFETY: the processor has the vectors. Two pieces are read, of which there are as many starts or more: the first ones
    // and the last ones, which begin `between` later; any bytes are a number.
    let bits = unsafe {
        let read = |from: *const u8| from.cast::<T>().read_unaligned().into();
        let column = |from: *const u8| H::of_words(read(from), read(from.add(between)));
        let (first, second) = columns(text, pair);
        H::both_equal(column(first), H::splat(pair.rare), column(second), H::splat(pair.also)).bits()
    };
    let mask = u32::MAX.wrapping_shr(32_u32.wrapping_sub(size_of::<T>() as u32));
    bits & mask | ((bits >> 8) & mask).wrapping_shl(between as u32)
}

/// Whether a byte occurs in the text, each place of which is a start.
///
/// # Safety
/// The processor has both vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn one<V: Vector, H: Half>(text: &[u8], byte: u8) -> bool {
    let (starts, pair) = (text.len(), Pair { first: 0, second: 0, rare: byte, also: byte });
    let all = text.as_ptr();
    // SAFETY: the processor has the vectors, and there are as many starts as each reads: once and once more, up to the last.
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

/// Tries the starts whose bits are set, of a text that has no others that look right.
///
/// # Safety
/// Each bit must be that of a start.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn settle(text: &[u8], needle: &[u8], looks_right: u64) -> bool {
    let start = looks_right.trailing_zeros() as usize;
    // SAFETY: `start` is a start, so that a needle's length of bytes can be read there.
    if unsafe { equal(text.as_ptr().add(start), needle.as_ptr(), needle.len()) } {
        return true;
    }
    let others = looks_right & looks_right.wrapping_sub(1);
    // SAFETY: the contract is the same.
    others != 0 && unsafe { settle_others(text, needle, others) }
}

/// Not inlined: the search itself then saves no registers.
///
/// # Safety
/// That of [`settle`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(never)]
unsafe fn settle_others(text: &[u8], needle: &[u8], looks_right: u64) -> bool {
    // SAFETY: the contract is the same.
    match unsafe { verify(text, needle, 0, looks_right) } {
        Verdict::Found => true,
        Verdict::Wrong => false,
        Verdict::TooMany => hand_over(text, needle, 0),
    }
}

/// Which of the first `V::BYTES` starts look right, and which of as many from `between` on, where the needle's bytes would be
/// read from `a` and `b` on.
///
/// # Safety
/// From both addresses `between + V::BYTES` bytes are readable, `between <= V::BYTES`, and the processor has the vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn pieces<V: Vector>(a: *const u8, b: *const u8, between: usize, rare: V, also: V) -> (V, V) {
    // SAFETY: the contract.
    unsafe {
        let low = V::both_equal(V::load(a), rare, V::load(b), also);
        (low, V::both_equal(V::load(a.add(between)), rare, V::load(b.add(between)), also))
    }
}

/// The starts of two pieces as bits. Those of starts that both hold fall together.
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

/// Whether two runs of bytes are the same. Read in words of which the last may overlap the one before: a call of `memcmp`
/// would take longer than a usual needle does.
///
/// # Safety
/// `length` is two or more, and as many bytes are readable at both addresses.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn equal(a: *const u8, b: *const u8, length: usize) -> bool {
    /// Whether a word of type `T` is the same at `at` from both addresses. `at + size_of::<T>()` bytes must be readable.
    #[inline(always)]
    unsafe fn same<T: Eq>(a: *const u8, b: *const u8, at: usize) -> bool {
        // SAFETY: the contract; any bytes are a number.
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
