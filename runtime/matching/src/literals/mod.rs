//! Finds all literals that occur in a text.
//!
//! There is no automaton. Each key has an *anchor*: a few consecutive bytes of it that are rare in texts and shared with few
//! other keys. A scan reads *windows* of up to four bytes of the text at a fixed stride, and asks a filter, a table indexed by
//! hash, whether an anchor contains the window. An anchor is long enough that, wherever it is in the text, one of its windows
//! is read: with windows of four bytes and a stride of four it has seven bytes. Only for windows that pass the filter are the
//! anchors around them looked up, by a hash with a *fingerprint*, and their keys compared. So the cost of a scan hardly depends
//! on the number of keys.
//!
//! Keys too short for such an anchor have shorter ones and a scan of their own, with a smaller stride: see [`AnchorLayout`].
//!
//! The worst case is a text full of anchors that many keys share. If verifying takes more steps than a small multiple of the
//! number of keys, the scan is abandoned and each key is searched for separately, in time linear in the text.

mod build;
mod few;
mod filter;
mod rarity;

pub use few::FewLiterals;
use filter::Filter;
use std::ops::ControlFlow;

/// Finds all literals that occur in a text. With `IGNORE_CASE`, ASCII letters match in either case.
///
/// A lookup takes time linear in the text. For long keys it reads a quarter of the text's windows, whatever the number of
/// keys; keys of up to six bytes need up to two scans more, and each key of one byte a search. On adversarial texts the time is
/// linear in the text for each key. Memory: about 30 bytes for each key and the keys themselves, plus filters of at most
/// 256 KiB each.
///
/// ```
/// use celero_matching::LiteralMap;
///
/// let bots = LiteralMap::<true>::new(&["curl/", "googlebot", "python-requests"]).ok_or("more than 4 GiB")?;
/// let mut found = Vec::new();
/// bots.for_each(b"Mozilla/5.0 (compatible; Googlebot/2.1)", |id| found.push(id));
/// assert_eq!(found, [1]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct LiteralMap<const IGNORE_CASE: bool> {
    /// The keys, one after the other.
    bytes: Box<[u8]>,
    /// For long, medium and short keys; only those that have keys.
    scans: Box<[Scan<IGNORE_CASE>]>,
    /// Keys of one byte, and their ids.
    single: Box<[(u8, u32)]>,
}

/// Keys that one pass over the text looks for.
#[derive(Clone, Debug)]
struct Scan<const IGNORE_CASE: bool> {
    layout: AnchorLayout,
    /// See [`AnchorLayout::bits_after_anchor`].
    bits_after_anchor: u32,
    filter: Filter<IGNORE_CASE>,
    /// Indexed by the upper bits of an anchor's hash: the first entry of the bucket. One more marks the end of the last bucket.
    buckets: Box<[u32]>,
    bucket_shift: u32,
    entries: Box<[AnchorEntry]>,
}

/// The lengths of windows and anchors, and the stride of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AnchorLayout {
    /// Length of a window in bytes: two to four.
    window: usize,
    /// Distance in bytes between the windows that are read. An anchor contains as many windows, each one byte after the other.
    stride: Stride,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stride {
    One,
    Two,
    Four,
}

#[derive(Clone, Copy, Debug)]
struct AnchorEntry {
    /// The lower bits of the anchor's hash.
    fingerprint: u32,
    /// The key's id.
    id: u32,
    /// Offset of the key in [`LiteralMap::bytes`].
    at: u32,
    /// Length of the key, in bytes.
    length: u32,
    /// Offset of the anchor in the key.
    anchor: u32,
}

/// Why a scan ends before the end of the text.
#[derive(Debug)]
enum End {
    /// The visitor of matches wants no more.
    Stopped,
    /// Verifying takes more steps than are allowed.
    OutOfSteps,
}

/// Setting these bits turns ASCII letters to lower case. It changes other bytes too, which a hash may ignore.
const LOWER_CASE: u64 = 0x2020_2020_2020_2020;
/// Steps of verification for each key after which a scan is abandoned.
const STEPS_PER_KEY: usize = 4;
/// Steps of verification that are always allowed.
const MIN_STEPS: u32 = 4096;
/// Bytes of a key that are compared in the time of one step.
const BYTES_PER_STEP: u32 = 32;

impl<const IGNORE_CASE: bool> LiteralMap<IGNORE_CASE> {
    /// Calls `hit` with the id of each key that occurs in `text`, in no particular order, once or more for each key.
    #[inline]
    pub fn for_each(&self, text: &[u8], mut hit: impl FnMut(u32)) {
        let _ = self.try_for_each(text, |id| {
            hit(id);
            ControlFlow::Continue(())
        });
    }

    /// As [`for_each`](Self::for_each), until `hit` returns `Break`. Returns what it returned last. Use it where some match decides: the
    /// rest of the text is not searched.
    #[inline]
    pub fn try_for_each(&self, text: &[u8], mut hit: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        let keys = self.scans.iter().fold(0, |sum: usize, scan| sum.saturating_add(scan.entries.len()));
        let steps = u32::try_from(keys.saturating_mul(STEPS_PER_KEY)).unwrap_or(u32::MAX).max(MIN_STEPS);
        match self.scan_within(text, steps, &mut hit) {
            Ok(()) => ControlFlow::Continue(()),
            Err(End::Stopped) => ControlFlow::Break(()),
            Err(End::OutOfSteps) => self.search_each(text, hit),
        }
    }

    /// Returns whether any key occurs in `text`. The search ends at the first.
    #[must_use]
    #[inline]
    pub fn any(&self, text: &[u8]) -> bool {
        self.try_for_each(text, |_| ControlFlow::Break(())).is_break()
    }

    /// Searches for each key separately.
    #[cold]
    fn search_each(&self, text: &[u8], mut hit: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        let small = if IGNORE_CASE { text.to_ascii_lowercase() } else { Vec::new() };
        let text = if IGNORE_CASE { &small } else { text };
        for entry in self.scans.iter().flat_map(|scan| &scan.entries) {
            let key = part(&self.bytes, entry.at as usize, entry.length as usize);
            if key.is_some_and(|key| memchr::memmem::find(text, key).is_some()) {
                hit(entry.id)?;
            }
        }
        self.search_single_bytes(text, hit)
    }

    /// Searches for the keys of one byte.
    fn search_single_bytes(&self, text: &[u8], mut hit: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        for (byte, id) in &self.single {
            let other = if IGNORE_CASE { byte.to_ascii_uppercase() } else { *byte };
            if memchr::memchr2(*byte, other, text).is_some() {
                hit(*id)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Calls `hit` with the id of each key that occurs in `text`, once for each occurrence (keys of one byte once).
    ///
    /// Ends early if verifying the keys whose anchors occur would take more than `steps`: one for each key, and one for each
    /// 32 bytes that are compared. The ids passed to `hit` until then are correct.
    #[inline]
    fn scan_within(&self, text: &[u8], steps: u32, mut hit: impl FnMut(u32) -> ControlFlow<()>) -> Result<(), End> {
        let mut steps = steps;
        for scan in &self.scans {
            match scan.layout.stride {
                Stride::One => self.run_scan::<1>(scan, text, &mut steps, &mut hit)?,
                Stride::Two => self.run_scan::<2>(scan, text, &mut steps, &mut hit)?,
                Stride::Four => self.run_scan::<4>(scan, text, &mut steps, &mut hit)?,
            }
        }
        if self.search_single_bytes(text, hit).is_break() { Err(End::Stopped) } else { Ok(()) }
    }

    /// Runs a scan and verifies what its filter finds.
    #[inline(always)]
    fn run_scan<const STRIDE: usize>(
        &self,
        scan: &Scan<IGNORE_CASE>,
        text: &[u8],
        steps: &mut u32,
        hit: &mut impl FnMut(u32) -> ControlFlow<()>,
    ) -> Result<(), End> {
        let mut next = 0;
        while let Some(mut found) = scan.filter.search(scan.layout.stride, text, next) {
            while found.windows != 0 {
                let place = found.at.wrapping_add(STRIDE.wrapping_mul(found.windows.trailing_zeros() as usize));
                self.verify::<STRIDE>(scan, text, place, steps, hit)?;
                found.windows &= found.windows.wrapping_sub(1);
            }
            next = found.next;
        }
        Ok(())
    }

    /// Verifies the keys of all anchors that may contain the window at offset `window`.
    #[inline(never)]
    fn verify<const STRIDE: usize>(
        &self,
        scan: &Scan<IGNORE_CASE>,
        text: &[u8],
        window: usize,
        steps: &mut u32,
        hit: &mut impl FnMut(u32) -> ControlFlow<()>,
    ) -> Result<(), End> {
        for before in 0..STRIDE {
            let Some(at) = window.checked_sub(before) else { break };
            let hash = hash_of_anchor::<IGNORE_CASE>(eight_bytes(text, at), scan.bits_after_anchor);
            for entry in scan.bucket(hash) {
                *steps = steps.checked_sub(1).ok_or(End::OutOfSteps)?;
                if entry.fingerprint != hash as u32 {
                    continue;
                }
                let Some(start) = at.checked_sub(entry.anchor as usize) else { continue };
                let compared = entry.length.wrapping_div(BYTES_PER_STEP);
                *steps = steps.checked_sub(compared).ok_or(End::OutOfSteps)?;
                let own = part(&self.bytes, entry.at as usize, entry.length as usize);
                let there = part(text, start, entry.length as usize);
                let same = |(own, there): (&[u8], &[u8])| {
                    if IGNORE_CASE { own.eq_ignore_ascii_case(there) } else { own == there }
                };
                if own.zip(there).is_some_and(same) && hit(entry.id).is_break() {
                    return Err(End::Stopped);
                }
            }
        }
        Ok(())
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let parts = [self.bytes.len(), size_of_val(&*self.scans), size_of_val(&*self.single)];
        let of_scan = |scan: &Scan<IGNORE_CASE>| {
            [scan.filter.heap_bytes(), size_of_val(&*scan.buckets), size_of_val(&*scan.entries)]
        };
        parts.into_iter().chain(self.scans.iter().flat_map(of_scan)).fold(0, usize::saturating_add)
    }
}

impl<const IGNORE_CASE: bool> Scan<IGNORE_CASE> {
    /// The entries of the anchors whose hashes share their upper bits with `hash`.
    #[inline(always)]
    fn bucket(&self, hash: u64) -> &[AnchorEntry] {
        let bucket = self.buckets.get(hash.wrapping_shr(self.bucket_shift) as usize..);
        let Some([from, to]) = bucket.and_then(<[u32]>::first_chunk) else { return &[] };
        self.entries.get(*from as usize..*to as usize).unwrap_or_default()
    }
}

impl AnchorLayout {
    /// Length of an anchor, in bytes.
    fn anchor_bytes(self) -> usize {
        self.window.wrapping_add(self.windows()).wrapping_sub(1)
    }

    /// Of the eight bytes from the start of an anchor, the number of bits after the anchor.
    fn bits_after_anchor(self) -> u32 {
        64_u32.saturating_sub((self.anchor_bytes() as u32).wrapping_mul(8))
    }

    /// Number of windows in an anchor.
    fn windows(self) -> usize {
        match self.stride {
            Stride::One => 1,
            Stride::Two => 2,
            Stride::Four => 4,
        }
    }
}

/// The hash of an anchor: of the eight bytes from its start, without the last `after` bits. The upper bits of the hash select a
/// bucket, the lower ones are the fingerprint.
#[inline(always)]
fn hash_of_anchor<const IGNORE_CASE: bool>(bytes: u64, after: u32) -> u64 {
    let lower_case = if IGNORE_CASE { LOWER_CASE } else { 0 };
    let product = u128::from((bytes | lower_case).wrapping_shl(after)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product >> 64) as u64 ^ product as u64
}

/// The eight bytes of `text` from offset `at` on, with zeros after its end.
#[inline(always)]
fn eight_bytes(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    match (rest.first_chunk(), text.last_chunk()) {
        (Some(bytes), _) => u64::from_le_bytes(*bytes),
        (None, Some(last)) => {
            let missing = 8_usize.wrapping_sub(rest.len()).wrapping_mul(8);
            u64::from_le_bytes(*last).checked_shr(missing as u32).unwrap_or(0)
        }
        (None, None) => rest.iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)),
    }
}

#[inline(always)]
fn part(of: &[u8], start: usize, length: usize) -> Option<&[u8]> {
    of.get(start..start.wrapping_add(length))
}

#[cfg(test)]
mod tests;
