//! Runs the passes over a text, and verifies what they find.

use super::filter::{self, FIRST_PART, Filter, FilterHits, Progress};
use super::first_stage::{BATCH, BLOCK, LENGTHS, WINDOW};
use super::steps::{BYTES_PER_STEP, End, Steps};
use super::{AnchorEntry, LiteralMap, Scan, Stride, VectorPass, eight_bytes, hash_of_anchor, part};
use std::ops::{ControlFlow, Range};

/// Scans by hash: for long, medium and short keys.
const SCANS: usize = 3;
/// Anchors that are looked for between two verifications.
const ANCHORS: usize = 128;

/// What a scan finds in a block.
struct ScanBuffers {
    windows: FilterHits,
    /// Offsets of anchors, from one stride before the block on: an anchor begins less than that before its window.
    anchors: [u16; ANCHORS],
}

impl ScanBuffers {
    #[inline(always)]
    fn new() -> Self {
        Self { windows: FilterHits::new(), anchors: [0; ANCHORS] }
    }
}

impl<const IGNORE_CASE: bool> LiteralMap<IGNORE_CASE> {
    /// Calls `hit` with the id of each key that occurs in `text`, once for each occurrence (keys of one byte once).
    ///
    /// Ends early if verifying the keys whose anchors may occur takes too many steps. The ids
    /// passed to `hit` until then are correct.
    #[inline]
    pub(super) fn scan_within<const MAY_END: bool>(
        &self,
        text: &[u8],
        steps: &mut Steps,
        mut hit: impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        let several = usize::from(self.vector.is_some()).saturating_add(self.scans.len()) > 1;
        if several && text.len() > FIRST_PART {
            self.scan_in_parts::<MAY_END>(text, steps, &mut hit)?;
        } else {
            if several {
                steps.allow_up_to(text.len());
            }
            match self.scan_whole::<MAY_END>(text, steps, &mut hit) {
                Err(End::OutOfSteps(_)) if several => return Err(End::OutOfSteps(0)),
                end => end?,
            }
        }
        if self.single.is_empty() {
            return Ok(());
        }
        if self.single.search(text, |id| hit(id, None)).is_break() { Err(End::Stopped) } else { Ok(()) }
    }

    /// Runs one pass over a text after the other.
    #[inline(always)]
    fn scan_whole<const MAY_END: bool>(
        &self,
        text: &[u8],
        steps: &mut Steps,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        if let Some(pass) = &self.vector {
            self.run_vector_pass::<false>(pass, text, 0..text.len(), steps, hit)?;
        }
        if self.scans.is_empty() {
            return Ok(());
        }
        let mut found = ScanBuffers::new();
        for scan in &self.scans {
            found.windows.start(Progress::default(), text.len());
            self.run_scan::<MAY_END>(scan, text, &mut found, steps, hit)?;
        }
        Ok(())
    }

    /// Runs several passes over one part of a text after the other, so that all are at about the
    /// same place when no steps are left.
    #[inline(never)]
    fn scan_in_parts<const MAY_END: bool>(
        &self,
        text: &[u8],
        steps: &mut Steps,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        let (mut found, mut progress) = (ScanBuffers::new(), [Progress::default(); SCANS]);
        let mut part = 0..FIRST_PART;
        loop {
            steps.allow_up_to(part.end);
            let mut run = || {
                if let Some(pass) = &self.vector {
                    self.run_vector_pass::<true>(pass, text, part.clone(), steps, hit)?;
                }
                for (scan, progress) in self.scans.iter().zip(&mut progress) {
                    found.windows.start(*progress, part.end);
                    self.run_scan::<MAY_END>(scan, text, &mut found, steps, hit)?;
                    *progress = found.windows.progress;
                }
                Ok(())
            };
            match run() {
                Err(End::OutOfSteps(_)) => return Err(End::OutOfSteps(part.start)),
                end => end?,
            }
            if part.end == text.len() {
                return Ok(());
            }
            part = part.end..part.end.saturating_mul(2).min(text.len());
        }
    }

    /// Runs the pass with vector instructions over a text, or with `IN_PARTS` a part of it, and
    /// verifies its candidates.
    #[inline]
    fn run_vector_pass<const IN_PARTS: bool>(
        &self,
        pass: &VectorPass<IGNORE_CASE>,
        text: &[u8],
        part: Range<usize>,
        steps: &mut Steps,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        // With what the last windows of the part read.
        let end = if IN_PARTS { part.end.saturating_add(const { WINDOW - 1 }) } else { text.len() };
        let read = text.get(..end).unwrap_or(text);
        let (mut at, mut blocks) = (part.start, [[0; LENGTHS]; BATCH]);
        loop {
            let (first, done) = pass.stage.candidates(read, at, &mut blocks);
            at = first;
            for block in blocks.iter().take(done) {
                if IN_PARTS && at >= part.end {
                    break;
                }
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
            if done == 0 || at >= part.end {
                return Ok(());
            }
        }
    }

    /// Runs a scan from where it is and verifies what its filter finds.
    #[inline(always)]
    fn run_scan<const MAY_END: bool>(
        &self,
        scan: &(Filter<IGNORE_CASE>, Scan<IGNORE_CASE>),
        text: &[u8],
        found: &mut ScanBuffers,
        steps: &mut Steps,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        match scan.1.layout.stride {
            Stride::One => self.run_scan_by::<MAY_END, 1>(scan, text, found, steps, hit),
            Stride::Two => self.run_scan_by::<MAY_END, 2>(scan, text, found, steps, hit),
            Stride::Four => self.run_scan_by::<MAY_END, 4>(scan, text, found, steps, hit),
        }
    }

    /// See [`run_scan`](Self::run_scan). Verifies first all anchors that may contain the windows of
    /// a block, then their keys, so that the processor does not wait for each by itself.
    #[inline(always)]
    fn run_scan_by<const MAY_END: bool, const STRIDE: usize>(
        &self,
        (filter, scan): &(Filter<IGNORE_CASE>, Scan<IGNORE_CASE>),
        text: &[u8],
        found: &mut ScanBuffers,
        steps: &mut Steps,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        let ScanBuffers { windows: found, anchors } = found;
        if MAY_END
            && found.progress.is_start()
            && let Some(mut windows) = filter.first::<STRIDE>(text)
        {
            while windows != 0 {
                let window = (windows.trailing_zeros() as usize).wrapping_mul(STRIDE);
                for at in (0..STRIDE).map_while(|before| window.checked_sub(before)) {
                    self.verify(scan, text, at, steps, hit)?;
                }
                windows &= windows.wrapping_sub(1);
            }
            found.progress = Progress::after(const { filter::FIRST * STRIDE });
        }
        while filter.search(scan.layout.stride, text, found) {
            for windows in found.offsets().chunks(const { ANCHORS / STRIDE }) {
                let first = windows.first().map_or(0, |first| usize::from(*first));
                steps.take(windows.len(), found.from.wrapping_add(first))?;
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
        steps: &mut Steps,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        steps.take(1, at)?;
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
        steps: &mut Steps,
        hit: &mut impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> Result<(), End> {
        for entry in scan.bucket(hash) {
            steps.take(1, at)?;
            if !entry.may_be::<IGNORE_CASE>(bytes) {
                continue;
            }
            steps.take((entry.length as usize).wrapping_div(BYTES_PER_STEP), at)?;
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
}
