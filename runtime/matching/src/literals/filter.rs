//! Finds where in a text windows of anchors may be: the loop in which a scan spends its time.
//!
//! A table indexed by hash tells whether an anchor contains a window, with a few false positives. Small tables have a byte for
//! each hash, which takes half as many instructions to read as a bit. Large tables have a bit, to stay in the processor's cache.

use super::{LOWER_CASE, Stride};

/// Tells whether an anchor may contain a window.
#[derive(Clone, Debug)]
pub(super) struct Filter<const IGNORE_CASE: bool> {
    table: FilterTable,
    /// Of four bytes, the bits that belong to a window.
    mask: u32,
}

/// The table; its number of bytes or words is one of the sizes below.
#[derive(Clone, Debug)]
enum FilterTable {
    Bytes(Box<[u8]>),
    Bits(Box<[u64]>),
}

// With constant sizes, which are powers of two, the loop needs no bounds checks.
const FEW_BYTES: usize = 1 << 12;
const SOME_BYTES: usize = 1 << 15;
const SOME_WORDS: usize = 1 << 13;
const MANY_WORDS: usize = 1 << 14;
const MOST_WORDS: usize = 1 << 15;

/// Windows that anchors may contain.
pub(super) struct FilterHits {
    /// Offset of the window of the lowest bit. The window of each further bit is one stride further on.
    pub(super) at: usize,
    /// One bit for each window.
    pub(super) windows: u32,
    /// Offset from which to continue.
    pub(super) next: usize,
}

/// Windows that are read between two branches.
const BATCH: usize = 8;

impl<const IGNORE_CASE: bool> Filter<IGNORE_CASE> {
    /// A filter for `windows` windows of `bytes` bytes each.
    pub(super) fn new(windows: usize, bytes: usize) -> Self {
        // At most 1/32 of a table of bytes is set, as of the smallest table of bits, and 1/16 of the next one.
        let table = match windows {
            ..128 => FilterTable::Bytes(vec![0; FEW_BYTES].into()),
            128..1024 => FilterTable::Bytes(vec![0; SOME_BYTES].into()),
            1024..16_384 => FilterTable::Bits(vec![0; SOME_WORDS].into()),
            16_384..65_536 => FilterTable::Bits(vec![0; MANY_WORDS].into()),
            65_536.. => FilterTable::Bits(vec![0; MOST_WORDS].into()),
        };
        Self { table, mask: u32::MAX.wrapping_shr(32_u32.saturating_sub((bytes as u32).wrapping_mul(8))) }
    }

    /// Adds a window of an anchor.
    pub(super) fn add(&mut self, window: u32) {
        let hash = hash_of_window::<IGNORE_CASE>(window & self.mask);
        match &mut self.table {
            FilterTable::Bytes(bytes) => {
                let place = hash.wrapping_shr(shift(bytes.len()));
                if let Some(byte) = bytes.get_mut(place as usize) {
                    *byte = 1;
                }
            }
            FilterTable::Bits(words) => {
                let place = hash.wrapping_shr(shift(words.len()).wrapping_sub(6));
                if let Some(word) = words.get_mut((place >> 6) as usize) {
                    *word |= 1_u64.wrapping_shl(place as u32);
                }
            }
        }
    }

    /// Returns the first batch of windows, from offset `from` on, that has some that anchors may contain.
    #[inline]
    pub(super) fn search(&self, stride: Stride, text: &[u8], from: usize) -> Option<FilterHits> {
        let mask = self.mask;
        match &self.table {
            FilterTable::Bytes(bytes) => match <&[u8; FEW_BYTES]>::try_from(&**bytes) {
                Ok(bytes) => search::<IGNORE_CASE, _>(in_bytes(bytes), mask, stride, text, from),
                Err(_) => {
                    search::<IGNORE_CASE, _>(in_bytes::<SOME_BYTES>(bytes.first_chunk()?), mask, stride, text, from)
                }
            },
            FilterTable::Bits(words) => match words.len() {
                SOME_WORDS => {
                    search::<IGNORE_CASE, _>(in_bits::<SOME_WORDS>(words.first_chunk()?), mask, stride, text, from)
                }
                MANY_WORDS => {
                    search::<IGNORE_CASE, _>(in_bits::<MANY_WORDS>(words.first_chunk()?), mask, stride, text, from)
                }
                _ => search::<IGNORE_CASE, _>(in_bits::<MOST_WORDS>(words.first_chunk()?), mask, stride, text, from),
            },
        }
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        match &self.table {
            FilterTable::Bytes(bytes) => size_of_val(&**bytes),
            FilterTable::Bits(words) => size_of_val(&**words),
        }
    }
}

/// The shift that makes a hash an index below `places`, a power of two.
const fn shift(places: usize) -> u32 {
    64_u32.wrapping_sub(places.trailing_zeros())
}

/// A function from a hash to a number whose lowest bit tells whether a window may have that hash.
#[inline(always)]
fn in_bytes<const SIZE: usize>(bytes: &[u8; SIZE]) -> impl Fn(u64) -> u64 {
    |hash| bytes.get(hash.wrapping_shr(const { shift(SIZE) }) as usize).copied().unwrap_or(0).into()
}

/// As [`in_bytes`], for a table of bits.
#[inline(always)]
fn in_bits<const SIZE: usize>(words: &[u64; SIZE]) -> impl Fn(u64) -> u64 {
    |hash| {
        let word = words.get(hash.wrapping_shr(const { shift(SIZE) }) as usize).copied().unwrap_or(0);
        word.wrapping_shr(hash.wrapping_shr(const { shift(SIZE) - 6 }) as u32)
    }
}

#[inline(always)]
fn search<const IGNORE_CASE: bool, T: Fn(u64) -> u64>(
    table: T,
    mask: u32,
    stride: Stride,
    text: &[u8],
    from: usize,
) -> Option<FilterHits> {
    match stride {
        Stride::One => search_with::<IGNORE_CASE, T, 1, 11>(table, mask, text, from),
        Stride::Two => search_with::<IGNORE_CASE, T, 2, 18>(table, mask, text, from),
        Stride::Four => search_with::<IGNORE_CASE, T, 4, 32>(table, mask, text, from),
    }
}

/// `SPAN` is the number of bytes that the windows of a batch cover.
#[inline(never)]
fn search_with<const IGNORE_CASE: bool, T: Fn(u64) -> u64, const STRIDE: usize, const SPAN: usize>(
    table: T,
    mask: u32,
    text: &[u8],
    from: usize,
) -> Option<FilterHits> {
    let bit = |bytes: &[u8; 4]| table(hash_of_window::<IGNORE_CASE>(u32::from_le_bytes(*bytes) & mask));
    let mut at = from;
    while let Some(block) = text.get(at..).and_then(<[u8]>::first_chunk::<SPAN>) {
        let window = |n: usize| block.get(n.wrapping_mul(STRIDE)..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; 4]);
        let any = (0..BATCH).fold(0, |any, n| any | bit(window(n)));
        let next = at.wrapping_add(const { STRIDE * BATCH });
        if any & 1 != 0 {
            let windows = (0..BATCH).fold(0, |all, n| all | (bit(window(n)) as u32 & 1).wrapping_shl(n as u32));
            return Some(FilterHits { at, windows, next });
        }
        at = next;
    }
    let rest = text.get(at..)?;
    let mut windows = 0_u32;
    for n in 0..SPAN.div_ceil(STRIDE) {
        let Some(start @ [_, _, ..]) = rest.get(STRIDE.wrapping_mul(n)..) else { break };
        let found = match start.first_chunk() {
            Some(bytes) => bit(bytes),
            None => bit(&[0, 1, 2, 3].map(|at| start.get(at).copied().unwrap_or(0))),
        };
        windows |= (found as u32 & 1).wrapping_shl(n as u32);
    }
    (windows != 0).then_some(FilterHits { at, windows, next: usize::MAX })
}

/// The hash of a window. Its upper bits are the better ones.
#[inline(always)]
pub(super) fn hash_of_window<const IGNORE_CASE: bool>(window: u32) -> u64 {
    let lower_case = if IGNORE_CASE { LOWER_CASE as u32 } else { 0 };
    u64::from(window | lower_case).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
