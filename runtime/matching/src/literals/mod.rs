//! Which of many literals occur in a text.
//!
//! There is no automaton. Each key has a *anchor*: a few of its bytes that hardly occur in texts and that few other keys have
//! too. A scan takes windows of four bytes at every fourth place of the text, and asks a filter, which is a table by hash,
//! whether a window is of any anchor. A anchor of seven bytes has four windows, and one of these is looked at wherever the anchor
//! lies. Only then the anchors around the window are looked up, and the keys that have them compared. So a scan costs the
//! same however many keys there are; a key is found once for each time that it occurs.
//!
//! Shorter keys have shorter anchors, and are scanned for by themselves, at more places: see [`Scan`].
//!
//! The worst case is a text full of anchors that many keys share. When that takes more steps than there are keys, the scan is
//! given up, and the keys are looked for one by one, each in time linear in the text.

mod build;
mod filter;
mod rarity;

use filter::Filter;

/// The literals. If `IGNORE_CASE`, the case of ASCII letters does not matter.
#[derive(Clone, Debug)]
pub struct LiteralMap<const IGNORE_CASE: bool> {
    /// The keys, one after the other.
    bytes: Box<[u8]>,
    /// Of the long, the middling and the short keys, without those that have none.
    scans: Box<[Scan<IGNORE_CASE>]>,
    /// Keys of one byte, and their ids.
    single: Box<[(u8, u32)]>,
}

/// What a text is scanned for at one go.
#[derive(Clone, Debug)]
struct Scan<const IGNORE_CASE: bool> {
    shape: ScanShape,
    /// Of eight bytes from the start of a anchor, the bits after it.
    bits_after_anchor: u32,
    filter: Filter<IGNORE_CASE>,
    /// By hash of a anchor where the entries start that have it, and one more.
    buckets: Box<[u32]>,
    bucket_shift: u32,
    entries: Box<[AnchorEntry]>,
}

/// How long windows and anchors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScanShape {
    /// Bytes of a window: two to four.
    window: usize,
    /// A window is looked at in one of so many places. A anchor is as long as so many windows that overlap in all but a byte.
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
    /// Of the hash of the anchor.
    fingerprint: u32,
    id: u32,
    /// Where the key lies.
    at: u32,
    length: u32,
    /// Where in the key the anchor is.
    anchor: u32,
}

/// Bits that make a letter of ASCII a small one. What it does to other bytes does not matter to a hash.
const SMALL: u64 = 0x2020_2020_2020_2020;
/// A scan is given up after so many steps for each key, but not before the least.
const STEPS_A_KEY: usize = 4;
const LEAST_STEPS: u32 = 4096;
/// Comparing so many bytes of a key costs as much as looking at an entry.
const BYTES_A_STEP: u32 = 32;

impl<const IGNORE_CASE: bool> LiteralMap<IGNORE_CASE> {
    /// Calls back with the id of each key that occurs in the text, perhaps repeatedly.
    #[inline]
    pub fn for_each(&self, text: &[u8], mut hit: impl FnMut(u32)) {
        let keys = self.scans.iter().fold(0, |sum: usize, scan| sum.saturating_add(scan.entries.len()));
        let steps = u32::try_from(keys.saturating_mul(STEPS_A_KEY)).unwrap_or(u32::MAX).max(LEAST_STEPS);
        if !self.within(text, steps, &mut hit) {
            self.one_by_one(text, hit);
        }
    }

    /// Looks for each key by itself.
    #[cold]
    fn one_by_one(&self, text: &[u8], mut hit: impl FnMut(u32)) {
        let small = if IGNORE_CASE { text.to_ascii_lowercase() } else { Vec::new() };
        let text = if IGNORE_CASE { &small } else { text };
        for entry in self.scans.iter().flat_map(|scan| &scan.entries) {
            let key = part(&self.bytes, entry.at as usize, entry.length as usize);
            if key.is_some_and(|key| memchr::memmem::find(text, key).is_some()) {
                hit(entry.id);
            }
        }
        self.bytes_alone(text, hit);
    }

    /// Looks for the keys of one byte.
    fn bytes_alone(&self, text: &[u8], mut hit: impl FnMut(u32)) {
        for (byte, id) in &self.single {
            let other = if IGNORE_CASE { byte.to_ascii_uppercase() } else { *byte };
            if memchr::memchr2(*byte, other, text).is_some() {
                hit(*id);
            }
        }
    }

    /// Calls back with the id of each key that occurs in the text, once for each time that it does (keys of one byte once).
    ///
    /// Gives up and returns false when it would take more than `steps` to look at keys whose anchors occur: one for each, and
    /// one for each 32 bytes of those that are compared. Ids that were called back until then are right.
    #[inline]
    fn within(&self, text: &[u8], steps: u32, mut hit: impl FnMut(u32)) -> bool {
        let mut steps = steps;
        for scan in &self.scans {
            let whole = match scan.shape.stride {
                Stride::One => self.follow::<1>(scan, text, &mut steps, &mut hit),
                Stride::Two => self.follow::<2>(scan, text, &mut steps, &mut hit),
                Stride::Four => self.follow::<4>(scan, text, &mut steps, &mut hit),
            };
            if whole.is_none() {
                return false;
            }
        }
        self.bytes_alone(text, hit);
        true
    }

    /// Looks at what a scan finds. None if the steps don't suffice.
    #[inline(always)]
    fn follow<const STRIDE: usize>(
        &self,
        scan: &Scan<IGNORE_CASE>,
        text: &[u8],
        steps: &mut u32,
        hit: &mut impl FnMut(u32),
    ) -> Option<()> {
        let mut next = 0;
        while let Some(mut found) = scan.filter.search(scan.shape.stride, text, next) {
            while found.windows != 0 {
                let place = found.at.wrapping_add(STRIDE.wrapping_mul(found.windows.trailing_zeros() as usize));
                self.look::<STRIDE>(scan, text, place, steps, hit)?;
                found.windows &= found.windows.wrapping_sub(1);
            }
            next = found.next;
        }
        Some(())
    }

    /// Looks for anchors around a window that starts at a place.
    #[inline(never)]
    fn look<const STRIDE: usize>(
        &self,
        scan: &Scan<IGNORE_CASE>,
        text: &[u8],
        window: usize,
        steps: &mut u32,
        hit: &mut impl FnMut(u32),
    ) -> Option<()> {
        for before in 0..STRIDE {
            let Some(at) = window.checked_sub(before) else { break };
            let anchor = hash_of_anchor::<IGNORE_CASE>(eight_bytes(text, at), scan.bits_after_anchor);
            for entry in scan.bucket(anchor) {
                *steps = steps.checked_sub(1)?;
                if entry.fingerprint != anchor as u32 {
                    continue;
                }
                let Some(start) = at.checked_sub(entry.anchor as usize) else { continue };
                *steps = steps.checked_sub(entry.length.wrapping_div(BYTES_A_STEP))?;
                let own = part(&self.bytes, entry.at as usize, entry.length as usize);
                let there = part(text, start, entry.length as usize);
                let same = |(own, there): (&[u8], &[u8])| {
                    if IGNORE_CASE { own.eq_ignore_ascii_case(there) } else { own == there }
                };
                if own.zip(there).is_some_and(same) {
                    hit(entry.id);
                }
            }
        }
        Some(())
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        let parts = [self.bytes.len(), size_of_val(&*self.scans), size_of_val(&*self.single)];
        let of_scan = |scan: &Scan<IGNORE_CASE>| {
            [scan.filter.heap_bytes(), size_of_val(&*scan.buckets), size_of_val(&*scan.entries)]
        };
        parts.into_iter().chain(self.scans.iter().flat_map(of_scan)).fold(0, usize::saturating_add)
    }
}

impl<const IGNORE_CASE: bool> Scan<IGNORE_CASE> {
    /// The entries of this anchor, and of others.
    #[inline(always)]
    fn bucket(&self, anchor: u64) -> &[AnchorEntry] {
        let bucket = self.buckets.get(anchor.wrapping_shr(self.bucket_shift) as usize..);
        let Some([from, to]) = bucket.and_then(<[u32]>::first_chunk) else { return &[] };
        self.entries.get(*from as usize..*to as usize).unwrap_or_default()
    }
}

impl ScanShape {
    /// Bytes of a anchor.
    fn anchor(self) -> usize {
        self.window.wrapping_add(self.windows()).wrapping_sub(1)
    }

    /// Of eight bytes from the start of a anchor, the bits after it.
    fn bits_after_anchor(self) -> u32 {
        64_u32.saturating_sub((self.anchor() as u32).wrapping_mul(8))
    }

    /// Windows of a anchor.
    fn windows(self) -> usize {
        match self.stride {
            Stride::One => 1,
            Stride::Two => 2,
            Stride::Four => 4,
        }
    }
}

/// The hash of a anchor, given eight bytes from its start and the number of those bits that are after it. The upper bits number
/// a bucket, the lower ones are the fingerprint.
#[inline(always)]
fn hash_of_anchor<const IGNORE_CASE: bool>(bytes: u64, after: u32) -> u64 {
    let small = if IGNORE_CASE { SMALL } else { 0 };
    let product = u128::from((bytes | small).wrapping_shl(after)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product >> 64) as u64 ^ product as u64
}

/// Eight bytes of a text from a place on, with zeros after its end.
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
