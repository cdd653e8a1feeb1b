//! Where in a text the windows of anchors may be: the loop that a scan's time goes to.
//!
//! A table by hash says whether a anchor has a window. It says so of a few that no anchor has, too. Small tables have a byte for
//! each hash, which is read in half as many instructions as a bit; large ones have a bit, or they would leave the cache.

use super::{SMALL, Stride};

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Filter<const IGNORE_CASE: bool> {
    table: FilterTable,
    /// The bits of four bytes that are of a window.
    mask: u32,
}

/// Of as many bytes or words as one of the sizes below.
#[derive(Clone, Debug)]
enum FilterTable {
    Bytes(Box<[u8]>),
    Bits(Box<[u64]>),
}

/// With sizes that are known, the loop needs no checks. They are powers of two.
const FEW_BYTES: usize = 1 << 12;
const SOME_BYTES: usize = 1 << 15;
const MANY_WORDS: usize = 1 << 13;
const MOST_WORDS: usize = 1 << 15;

/// Windows of anchors, a bit each.
pub(super) struct FilterHits {
    /// Where the first window is that has a bit. The others are further on by as much as the scan's stride.
    pub(super) at: usize,
    pub(super) windows: u32,
    /// Where to go on.
    pub(super) next: usize,
}

/// Windows that are looked at between two decisions.
const AT_ONCE: usize = 8;

impl<const IGNORE_CASE: bool> Filter<IGNORE_CASE> {
    /// For so many windows of so many bytes.
    pub(super) fn new(windows: usize, bytes: usize) -> Self {
        // At most a part in thirty-two of a table of bytes is set, and an eighth of the smaller one of bits.
        let table = match windows {
            ..128 => FilterTable::Bytes(vec![0; FEW_BYTES].into()),
            128..1024 => FilterTable::Bytes(vec![0; SOME_BYTES].into()),
            1024..65_536 => FilterTable::Bits(vec![0; MANY_WORDS].into()),
            65_536.. => FilterTable::Bits(vec![0; MOST_WORDS].into()),
        };
        Self { table, mask: u32::MAX.wrapping_shr(32_u32.saturating_sub((bytes as u32).wrapping_mul(8))) }
    }

    /// Adds a window of a anchor.
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

    /// The first windows, from a place on, that anchors may have.
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
            FilterTable::Bits(words) => match <&[u64; MANY_WORDS]>::try_from(&**words) {
                Ok(words) => search::<IGNORE_CASE, _>(in_bits(words), mask, stride, text, from),
                Err(_) => {
                    search::<IGNORE_CASE, _>(in_bits::<MOST_WORDS>(words.first_chunk()?), mask, stride, text, from)
                }
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

/// How far a hash is shifted to be a place among so many, a power of two.
const fn shift(places: usize) -> u32 {
    64_u32.wrapping_sub(places.trailing_zeros())
}

/// Gives a number whose lowest bit says whether a window may have a hash.
#[inline(always)]
fn in_bytes<const SIZE: usize>(bytes: &[u8; SIZE]) -> impl Fn(u64) -> u64 {
    |hash| bytes.get(hash.wrapping_shr(const { shift(SIZE) }) as usize).copied().unwrap_or(0).into()
}

/// As [`in_bytes`].
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

/// `SPAN` is how many bytes the windows looked at between two decisions cover.
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
        let any = (0..AT_ONCE).fold(0, |any, n| any | bit(window(n)));
        let next = at.wrapping_add(const { STRIDE * AT_ONCE });
        if any & 1 != 0 {
            let windows = (0..AT_ONCE).fold(0, |all, n| all | (bit(window(n)) as u32 & 1).wrapping_shl(n as u32));
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

/// The hash of a window, the better the higher the bits.
#[inline(always)]
pub(super) fn hash_of_window<const IGNORE_CASE: bool>(window: u32) -> u64 {
    let small = if IGNORE_CASE { SMALL as u32 } else { 0 };
    u64::from(window | small).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
