//! Finds all literals that occur in a text.
//!
//! The usual search uses no automaton. Each key has an *anchor*: a few consecutive bytes of it that are rare in texts and shared with few
//! other keys. A scan reads *windows* of up to four bytes of the text at a fixed stride, and asks a filter, a table indexed by
//! hash, whether an anchor contains the window. An anchor is long enough that, wherever it is in the text, one of its windows
//! is read: with windows of four bytes and a stride of four it has seven bytes. The hashes of the anchors around a window that passes the
//! filter ask a second one, which few wrong anchors pass. Only then are anchors looked up, by a hash with a *fingerprint*, and their keys
//! compared. Each of these steps is taken for a block of windows at a time, so that what one finds decides no branch of the step before.
//! So the cost of a scan hardly depends on the number of keys.
//!
//! Keys too short for such an anchor have shorter ones, and a scan with a smaller stride: see [`AnchorLayout`]. If that reads windows of
//! four bytes too, it finds the long keys as well.
//!
//! Where the processor has vector instructions, one pass with them looks for the anchors of most maps, whatever the lengths of the keys:
//! see [`first_stage`]. Which keys are left to scans by hash depends on their number: see [`Plan`](build).
//!
//! The number of steps of verification is bounded by the length of the text. Where they do not suffice (only keys made for it need more,
//! or very many short ones), an [`automaton`] searches the text again. So the time is linear in the text whatever the text and the keys.

mod automaton;
mod build;
mod few;
mod filter;
mod first_stage;
mod level;
mod rarity;
mod single_bytes;
#[cfg(target_arch = "x86_64")]
mod vector;

use automaton::Automaton;
pub use few::FewLiterals;
use filter::{Filter, FilterHits};
use first_stage::{BATCH, BLOCK, FirstStage, LENGTHS};
pub use level::LiteralLevel;
use single_bytes::{SingleByte, SingleBytes};
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// Finds all literals that occur in a text. With `IGNORE_CASE`, ASCII letters match in either case.
///
/// A lookup takes time linear in the text, whatever the text and the keys. With AVX-512, up to 1,536 keys take one pass with vector
/// instructions; with AVX2 or SSSE3, up to 64 do. Otherwise long keys take a scan that reads a quarter of the text's windows, and keys of up
/// to six bytes take up to two more scans; that for keys of five and six bytes reads half of the windows, and finds the long ones as well. Memory: about 38 bytes for each key and the keys themselves, plus filters of at most
/// 256 KiB each.
///
/// Keys that match in either case and keys that match only in their own are found in one search by [`with_exact`](Self::with_exact): it looks
/// for the anchors of all without regard to case, and compares each key as it wants.
///
/// Keys that share most of their bytes, or very many short keys, can make a lookup search the text once more, with an automaton. The
/// first such lookup builds it, in time and memory linear in the keys (14 bytes for each of their bytes). Every lookup that uses the automaton allocates one bit for each key.
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
    /// The keys that are looked for with vector instructions.
    vector: Option<Box<VectorPass<IGNORE_CASE>>>,
    /// For long, medium and short keys of the others; only those that have keys.
    scans: Box<[(Filter<IGNORE_CASE>, Scan<IGNORE_CASE>)]>,
    /// Keys of one byte.
    single: SingleBytes,
    /// The keys of more than one byte, once a lookup needed too many steps: those whose case counts, and the others.
    automata: OnceLock<Box<[Automaton; 2]>>,
}

/// Keys that one pass with vector instructions looks for.
#[derive(Clone, Debug)]
struct VectorPass<const IGNORE_CASE: bool> {
    stage: FirstStage,
    /// For anchors of four bytes, of three and of two.
    scans: [Scan<IGNORE_CASE>; LENGTHS],
}

/// Keys with anchors of one length, by their anchors.
#[derive(Clone, Debug)]
struct Scan<const IGNORE_CASE: bool> {
    layout: AnchorLayout,
    /// See [`AnchorLayout::bits_after_anchor`].
    bits_after_anchor: u32,
    /// Indexed by the upper bits of an anchor's hash: the first entry of the bucket. One more marks the end of the last bucket.
    buckets: Box<[u32]>,
    bucket_shift: u32,
    entries: Box<[AnchorEntry]>,
    /// Bits indexed by the upper bits of an anchor's hash: whether a key has it. Far smaller than the entries, so that most anchors that no
    /// key has are found out without reading these.
    present: Box<[u64]>,
    present_shift: u32,
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
    /// Up to eight bytes of the key from its anchor on, with zeros after its end. With letters in one case if case is ignored.
    head: u64,
    /// The key's id.
    id: u32,
    /// Offset of the key in [`LiteralMap::bytes`].
    at: u32,
    /// Length of the key, in bytes.
    length: u32,
    /// Offset of the anchor in the key.
    anchor: u16,
    /// Whether the case of letters counts, although it does not in the search for anchors.
    exact: bool,
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
/// Steps of verification that are allowed whatever the length of the text; each byte of it allows one more.
const MIN_STEPS: usize = 64;
/// Anchors that are looked for between two verifications.
const ANCHORS: usize = 128;
/// Bytes of a key that are compared in the time of one step.
const BYTES_PER_STEP: u32 = 32;

impl<const IGNORE_CASE: bool> LiteralMap<IGNORE_CASE> {
    /// Calls `hit` with the id of each key that occurs in `text`, in no particular order, once or more for each key.
    #[inline]
    pub fn for_each(&self, text: &[u8], mut hit: impl FnMut(u32)) {
        self.for_each_place(text, |id, _| hit(id));
    }

    /// As [`for_each`](Self::for_each), for each place where a key occurs, with its offset in the text. Without an offset, the key occurs in
    /// places that were not reported.
    #[inline]
    pub(crate) fn for_each_place(&self, text: &[u8], mut hit: impl FnMut(u32, Option<usize>)) {
        let _ = self.search::<false>(text, |id, place| {
            hit(id, place);
            ControlFlow::Continue(())
        });
    }

    /// As [`for_each`](Self::for_each), until `hit` returns `Break`. Returns what it returned last. Use it where some match decides: the
    /// rest of the text is not searched.
    #[inline]
    pub fn try_for_each(&self, text: &[u8], mut hit: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        self.search::<true>(text, |id, _| hit(id))
    }

    /// Calls `hit` for each place where a key occurs, until it breaks. `MAY_END` if it may: then the start of the text is searched before the rest.
    #[inline]
    fn search<const MAY_END: bool>(
        &self,
        text: &[u8],
        mut hit: impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut steps = u32::try_from(text.len().saturating_add(MIN_STEPS)).unwrap_or(u32::MAX);
        match self.scan_within::<MAY_END>(text, &mut steps, &mut hit) {
            Ok(()) => ControlFlow::Continue(()),
            Err(End::Stopped) => ControlFlow::Break(()),
            Err(End::OutOfSteps) => self.search_linear(text, |id| hit(id, None)).0,
        }
    }

    /// Returns whether any key occurs in `text`. The search ends at the first.
    #[must_use]
    #[inline]
    pub fn any(&self, text: &[u8]) -> bool {
        self.try_for_each(text, |_| ControlFlow::Break(())).is_break()
    }

    /// Searches in time linear in the text whatever the keys. Also returns the number of steps of the automaton.
    #[cold]
    #[inline(never)]
    fn search_linear(&self, text: &[u8], mut hit: impl FnMut(u32) -> ControlFlow<()>) -> (ControlFlow<()>, usize) {
        let [exact, others] = &**self.automata.get_or_init(|| {
            let automaton = |exact| {
                let entries = self.all_scans().flat_map(|scan| &scan.entries).filter(|entry| entry.exact == exact);
                let key = |entry: &AnchorEntry| {
                    part(&self.bytes, entry.at as usize, entry.length as usize).zip(Some(entry.id))
                };
                Automaton::new(entries.filter_map(key).collect())
            };
            Box::new([automaton(true), automaton(false)])
        });
        if self.single.search(text, &mut hit).is_break() {
            return (ControlFlow::Break(()), 0);
        }
        let (end, steps) = exact.search(text, |byte| byte, &mut hit);
        if end.is_break() {
            return (end, steps);
        }
        let (end, more) = others.search(text, |byte| byte.to_ascii_lowercase(), hit);
        (end, steps.saturating_add(more))
    }

    fn all_scans(&self) -> impl Iterator<Item = &Scan<IGNORE_CASE>> {
        let vector = self.vector.iter().flat_map(|pass| &pass.scans);
        vector.chain(self.scans.iter().map(|(_, scan)| scan))
    }

    /// Calls `hit` with the id of each key that occurs in `text`, once for each occurrence (keys of one byte once).
    ///
    /// Ends early if verifying the keys whose anchors may occur would take more than `steps`: one for each candidate of the first stage,
    /// one for each key that is compared, and one for each 32 bytes of it. The ids passed to `hit` until then are correct.
    #[inline]
    fn scan_within<const MAY_END: bool>(
        &self,
        text: &[u8],
        steps: &mut u32,
        mut hit: impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        if let Some(pass) = &self.vector {
            self.run_vector_pass(pass, text, steps, &mut hit)?;
        }
        for (filter, scan) in &self.scans {
            match scan.layout.stride {
                Stride::One => self.run_scan::<MAY_END, 1>(filter, scan, text, steps, &mut hit)?,
                Stride::Two => self.run_scan::<MAY_END, 2>(filter, scan, text, steps, &mut hit)?,
                Stride::Four => self.run_scan::<MAY_END, 4>(filter, scan, text, steps, &mut hit)?,
            }
        }
        if self.single.is_empty() {
            return Ok(());
        }
        if self.single.search(text, |id| hit(id, None)).is_break() { Err(End::Stopped) } else { Ok(()) }
    }

    /// Runs the pass with vector instructions and verifies its candidates.
    #[inline]
    fn run_vector_pass(
        &self,
        pass: &VectorPass<IGNORE_CASE>,
        text: &[u8],
        steps: &mut u32,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        let (mut at, mut blocks) = (0_usize, [[0; LENGTHS]; BATCH]);
        loop {
            let (first, done) = pass.stage.candidates(text, at, &mut blocks);
            at = first;
            for block in blocks.iter().take(done) {
                for (scan, candidates) in pass.scans.iter().zip(block) {
                    let mut candidates = *candidates;
                    while candidates != 0 {
                        let place = at.wrapping_add(candidates.trailing_zeros() as usize);
                        self.verify(scan, text, place, steps, hit)?;
                        candidates &= candidates.wrapping_sub(1);
                    }
                }
                at = at.wrapping_add(BLOCK);
            }
            if done == 0 || at >= text.len() {
                return Ok(());
            }
        }
    }

    /// Runs a scan and verifies what its filter finds: first all anchors that may contain the windows of a block, then their keys, so that the
    /// processor does not wait for each by itself.
    #[inline(always)]
    fn run_scan<const MAY_END: bool, const STRIDE: usize>(
        &self,
        filter: &Filter<IGNORE_CASE>,
        scan: &Scan<IGNORE_CASE>,
        text: &[u8],
        steps: &mut u32,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        let mut found = FilterHits::new();
        if MAY_END && let Some(mut windows) = filter.first::<STRIDE>(text) {
            while windows != 0 {
                let window = (windows.trailing_zeros() as usize).wrapping_mul(STRIDE);
                for at in (0..STRIDE).map_while(|before| window.checked_sub(before)) {
                    self.verify(scan, text, at, steps, hit)?;
                }
                windows &= windows.wrapping_sub(1);
            }
            found = FilterHits::after(const { filter::FIRST * STRIDE });
        }
        // Offsets from one stride before the block on: an anchor begins less than that before its window.
        let mut anchors = [0_u16; ANCHORS];
        while filter.search(scan.layout.stride, text, &mut found) {
            for windows in found.offsets().chunks(const { ANCHORS / STRIDE }) {
                *steps = steps.checked_sub(windows.len() as u32).ok_or(End::OutOfSteps)?;
                let mut count = 0_usize;
                for window in windows {
                    let window = found.from.wrapping_add(usize::from(*window));
                    for before in 0..STRIDE {
                        let Some(at) = window.checked_sub(before) else { break };
                        let hash = hash_of_anchor::<IGNORE_CASE>(eight_bytes(text, at), scan.bits_after_anchor);
                        if let Some(place) = anchors.get_mut(count & const { ANCHORS - 1 }) {
                            *place = at.wrapping_add(STRIDE).wrapping_sub(found.from) as u16;
                        }
                        count = count.wrapping_add(usize::from(scan.may_have(hash)));
                    }
                }
                for anchor in anchors.get(..count).unwrap_or_default() {
                    let at = found.from.wrapping_add(usize::from(*anchor)).wrapping_sub(STRIDE);
                    let bytes = eight_bytes(text, at);
                    let hash = hash_of_anchor::<IGNORE_CASE>(bytes, scan.bits_after_anchor);
                    self.verify_anchor((scan, hash), text, (at, bytes), steps, hit)?;
                }
            }
        }
        Ok(())
    }

    /// Verifies the keys of the anchor that may be at offset `at`.
    #[inline(always)]
    fn verify(
        &self,
        scan: &Scan<IGNORE_CASE>,
        text: &[u8],
        at: usize,
        steps: &mut u32,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        *steps = steps.checked_sub(1).ok_or(End::OutOfSteps)?;
        let bytes = eight_bytes(text, at);
        let hash = hash_of_anchor::<IGNORE_CASE>(bytes, scan.bits_after_anchor);
        if scan.may_have(hash) { self.verify_anchor((scan, hash), text, (at, bytes), steps, hit) } else { Ok(()) }
    }

    /// Verifies the keys whose anchor has this hash, and may be at offset `at`, where the text has these bytes.
    #[inline(never)]
    fn verify_anchor(
        &self,
        (scan, hash): (&Scan<IGNORE_CASE>, u64),
        text: &[u8],
        (at, bytes): (usize, u64),
        steps: &mut u32,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        for entry in scan.bucket(hash) {
            *steps = steps.checked_sub(1).ok_or(End::OutOfSteps)?;
            if !entry.may_be::<IGNORE_CASE>(bytes) {
                continue;
            }
            let compared = entry.length.wrapping_div(BYTES_PER_STEP);
            *steps = steps.checked_sub(compared).ok_or(End::OutOfSteps)?;
            if let Some(start) = self.is_at(entry, text, at)
                && hit(entry.id, Some(start)).is_break()
            {
                return Err(End::Stopped);
            }
        }
        Ok(())
    }

    /// The offset of the key of an entry in a text, if it is there with its anchor at offset `at`, where its [first
    /// bytes](AnchorEntry::may_be) are.
    #[inline(always)]
    fn is_at(&self, entry: &AnchorEntry, text: &[u8], at: usize) -> Option<usize> {
        let length = entry.length as usize;
        let start = at.checked_sub(entry.anchor as usize)?;
        let there = part(text, start, length)?;
        if !IGNORE_CASE && entry.anchor == 0 && length <= 8 {
            return Some(start);
        }
        let own = part(&self.bytes, entry.at as usize, length).unwrap_or_default();
        let same = if !IGNORE_CASE || entry.exact { own == there } else { own.eq_ignore_ascii_case(there) };
        same.then_some(start)
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let parts = [self.bytes.len(), size_of_val(&*self.scans), self.single.heap_bytes()];
        let of_scan = |scan: &Scan<IGNORE_CASE>| {
            [size_of_val(&*scan.buckets), size_of_val(&*scan.entries), size_of_val(&*scan.present)]
        };
        let filters = self.scans.iter().map(|(filter, _)| filter.heap_bytes());
        let vector = self.vector.iter().map(|pass| size_of_val(&**pass).saturating_add(pass.stage.heap_bytes()));
        let automata = self.automata.get().into_iter().flat_map(|automata| automata.iter());
        let automata = automata.map(|automaton| size_of_val(automaton).saturating_add(automaton.heap_bytes()));
        let more = self.all_scans().flat_map(of_scan).chain(filters).chain(vector).chain(automata);
        parts.into_iter().chain(more).fold(0, usize::saturating_add)
    }
}

impl AnchorEntry {
    /// Whether the bytes of the key from its anchor on, up to eight, may be the first of `bytes`. Without `IGNORE_CASE`, whether they are.
    #[inline(always)]
    fn may_be<const IGNORE_CASE: bool>(&self, bytes: u64) -> bool {
        let lower_case = if IGNORE_CASE { LOWER_CASE } else { 0 };
        let known = self.length.wrapping_sub(self.anchor.into()).min(8);
        let after = 64_u32.wrapping_sub(known.wrapping_mul(8));
        ((bytes | lower_case) ^ self.head).wrapping_shl(after) == 0
    }
}

impl<const IGNORE_CASE: bool> Scan<IGNORE_CASE> {
    /// Whether an anchor of this hash may be a key's.
    #[inline(always)]
    fn may_have(&self, hash: u64) -> bool {
        let place = hash.wrapping_shr(self.present_shift);
        let word = self.present.get(place.wrapping_shr(6) as usize).copied().unwrap_or(0);
        word.wrapping_shr(place as u32) & 1 != 0
    }

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
mod hostile_tests;
#[cfg(test)]
mod tests;
