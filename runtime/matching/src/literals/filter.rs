//! Finds where in a text windows of anchors may be: the loop in which a scan spends its time.
//!
//! A table indexed by hash tells whether an anchor contains a window, with a few false positives.
//! Small tables have a byte for each hash, which takes half as many instructions to read as a bit.
//! Large tables have a bit, to stay in the processor's cache.

use super::{LOWER_CASE, Stride};

/// Length of the first part of a text that several passes read one after the other, in bytes: a
/// multiple of what the passes read at once. Each further part is as long as all before it.
pub(super) const FIRST_PART: usize = 256;

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
const MAX_WORDS: usize = 1 << 15;

/// Windows that are read at once, without a branch that depends on what is found.
const BATCH: usize = 8;
/// Windows that are read between two verifications. At the end of a text there may be some more.
const BLOCK: usize = 112;
/// Windows that are read before any others where a match may decide: it may be near the start of the text.
pub(super) const FIRST: usize = 4;
/// Bytes of the longest windows.
const WINDOW_BYTES: usize = 4;
/// Most windows that are read between two verifications.
const MAX: usize = 128;

/// Windows that anchors may contain.
pub(super) struct FilterHits {
    /// Offset from which the windows were read.
    pub(super) from: usize,
    /// Offsets of the windows, from there on.
    offsets: [u16; MAX],
    /// How many of them there are.
    count: usize,
    pub(super) progress: Progress,
    /// Windows from this offset on are not read, but for a few at the end of a text.
    end: usize,
}

/// How far a scan has read a text.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// Offset from which to continue. `None` at the end of the text.
    next: Option<usize>,
    /// Windows to read at once from there on, at most.
    windows: usize,
}

impl Default for Progress {
    #[inline]
    fn default() -> Self {
        Self { next: Some(0), windows: BLOCK }
    }
}

impl Progress {
    /// The bytes before this offset were read. Few windows are read at first, and then twice those
    /// that were read before: a match that decides may be near.
    #[inline]
    pub(super) fn after(read: usize) -> Self {
        Self { next: Some(read), windows: const { FIRST * 2 } }
    }

    /// Whether nothing was read.
    #[inline]
    pub(super) fn is_start(&self) -> bool {
        self.next == Some(0)
    }
}

impl FilterHits {
    #[inline]
    pub(super) fn new() -> Self {
        Self { from: 0, offsets: [0; MAX], count: 0, progress: Progress::default(), end: 0 }
    }

    /// Starts to read a text on, up to an offset.
    #[inline]
    pub(super) fn start(&mut self, progress: Progress, end: usize) {
        (self.progress, self.end) = (progress, end);
    }

    /// The offsets of the windows from `from` on, in ascending order.
    #[inline(always)]
    pub(super) fn offsets(&self) -> &[u16] {
        self.offsets.get(..self.count).unwrap_or_default()
    }
}

impl<const IGNORE_CASE: bool> Filter<IGNORE_CASE> {
    /// A filter for `windows` windows of `bytes` bytes each.
    pub(super) fn new(windows: usize, bytes: usize) -> Self {
        // At most 1/32 of a table of bytes is set, as of the smallest table of bits, and 1/16 of the next one.
        let table = match windows {
            ..128 => FilterTable::Bytes(vec![0; FEW_BYTES].into()),
            128..1024 => FilterTable::Bytes(vec![0; SOME_BYTES].into()),
            1024..16_384 => FilterTable::Bits(vec![0; SOME_WORDS].into()),
            16_384..65_536 => FilterTable::Bits(vec![0; MANY_WORDS].into()),
            65_536.. => FilterTable::Bits(vec![0; MAX_WORDS].into()),
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

    /// Reads the first windows of a text, [`FIRST`] of them: a bit for each that anchors may
    /// contain, the first one is the lowest. `None` if the text has fewer.
    #[inline(always)]
    pub(super) fn first<const STRIDE: usize>(&self, text: &[u8]) -> Option<u64> {
        let text = text.get(..const { STRIDE * (FIRST - 1) + WINDOW_BYTES })?;
        let bit = |hash: u64| match &self.table {
            FilterTable::Bytes(bytes) => {
                bytes.get(hash.wrapping_shr(shift(bytes.len())) as usize).copied().unwrap_or(0).into()
            }
            FilterTable::Bits(words) => {
                let place = hash.wrapping_shr(shift(words.len()).wrapping_sub(6));
                words.get((place >> 6) as usize).copied().unwrap_or(0).wrapping_shr(place as u32)
            }
        };
        let mut found = 0_u64;
        for n in 0..FIRST {
            let window = text.get(n.wrapping_mul(STRIDE)..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; 4]);
            let hash = hash_of_window::<IGNORE_CASE>(u32::from_le_bytes(*window) & self.mask);
            found |= (bit(hash) & 1).wrapping_shl(n as u32);
        }
        Some(found)
    }

    /// Reads the next windows of a text. Returns whether there were some.
    #[inline]
    pub(super) fn search(&self, stride: Stride, text: &[u8], hits: &mut FilterHits) -> bool {
        let Some(from) = hits.progress.next.filter(|next| *next < hits.end) else { return false };
        (hits.from, hits.count) = (from, 0);
        let mask = self.mask;
        match &self.table {
            FilterTable::Bytes(bytes) => {
                if let Ok(bytes) = <&[u8; FEW_BYTES]>::try_from(&**bytes) {
                    search::<IGNORE_CASE, _>(in_bytes(bytes), mask, stride, text, hits);
                } else if let Some(bytes) = bytes.first_chunk() {
                    search::<IGNORE_CASE, _>(in_bytes::<SOME_BYTES>(bytes), mask, stride, text, hits);
                }
            }
            FilterTable::Bits(words) => {
                if let Ok(words) = <&[u64; SOME_WORDS]>::try_from(&**words) {
                    search::<IGNORE_CASE, _>(in_bits(words), mask, stride, text, hits);
                } else if let Ok(words) = <&[u64; MANY_WORDS]>::try_from(&**words) {
                    search::<IGNORE_CASE, _>(in_bits(words), mask, stride, text, hits);
                } else if let Some(words) = words.first_chunk() {
                    search::<IGNORE_CASE, _>(in_bits::<MAX_WORDS>(words), mask, stride, text, hits);
                }
            }
        }
        true
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
    hits: &mut FilterHits,
) {
    match stride {
        Stride::One => search_with::<IGNORE_CASE, T, 1, 11>(table, mask, text, hits),
        Stride::Two => search_with::<IGNORE_CASE, T, 2, 18>(table, mask, text, hits),
        Stride::Four => search_with::<IGNORE_CASE, T, 4, 32>(table, mask, text, hits),
    }
}

/// `SPAN` is the number of bytes that the windows of a batch cover.
#[inline(never)]
fn search_with<const IGNORE_CASE: bool, T: Fn(u64) -> u64, const STRIDE: usize, const SPAN: usize>(
    table: T,
    mask: u32,
    text: &[u8],
    hits: &mut FilterHits,
) {
    let bit = |bytes: &[u8; WINDOW_BYTES]| table(hash_of_window::<IGNORE_CASE>(u32::from_le_bytes(*bytes) & mask));
    let text = text.get(hits.from..).unwrap_or_default();
    let (offsets, mut count, mut at) = (&mut hits.offsets, 0_usize, 0_usize);
    // Stores every offset, and counts those that stay: what is found decides no branch.
    let mut push = |offset: usize, found: u64| {
        if let Some(place) = offsets.get_mut(count & const { MAX - 1 }) {
            *place = offset as u16;
        }
        count = count.wrapping_add((found & 1) as usize);
    };
    let most = if hits.from == 0 { FIRST_PART } else { hits.end.saturating_sub(hits.from) };
    let end = hits.progress.windows.wrapping_mul(STRIDE).min(most);
    while at < end
        && let Some(batch) = text.get(at..).and_then(<[u8]>::first_chunk::<SPAN>)
    {
        for n in 0..BATCH {
            let start = n.wrapping_mul(STRIDE);
            let window = batch.get(start..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; 4]);
            push(at.wrapping_add(start), bit(window));
        }
        at = at.wrapping_add(const { STRIDE * BATCH });
    }
    if at < end {
        // Fewer windows than a batch are left.
        while let Some(start @ [_, _, ..]) = text.get(at..) {
            let found = match start.first_chunk() {
                Some(bytes) => bit(bytes),
                None => bit(&[0, 1, 2, 3].map(|at| start.get(at).copied().unwrap_or(0))),
            };
            push(at, found);
            at = at.wrapping_add(STRIDE);
        }
        hits.progress.next = None;
    } else {
        hits.progress.next = Some(hits.from.wrapping_add(at));
        hits.progress.windows = hits.progress.windows.wrapping_mul(2).min(BLOCK);
    }
    hits.count = count;
}

/// The hash of a window. Its upper bits are the better ones.
#[inline(always)]
pub(super) fn hash_of_window<const IGNORE_CASE: bool>(window: u32) -> u64 {
    let lower_case = if IGNORE_CASE { LOWER_CASE as u32 } else { 0 };
    u64::from(window | lower_case).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
